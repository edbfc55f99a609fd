#include "attn/io/models/gguf_model.hpp"

#include "attn/io/models/gguf_names.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace attn::io {

using transformer::Architecture;
using transformer::ConfigScalar;
using transformer::ConfigValue;
using transformer::ConfigValues;

using gguf_names::families;
using gguf_names::Family;
using gguf_names::Name;
using gguf_names::TensorNames;

// ---- names -----------------------------------------------------------------------------------------------------------------

namespace {

std::optional<std::string_view> hub_name(std::span<const Name> names, std::string_view gguf)
{
    const auto found = std::ranges::find(names, gguf, &Name::gguf);
    return found == names.end() ? std::nullopt : std::optional(found->hub);
}

/// As the architecture calls the tensor; one that is not known keeps its name.
std::string tensor_name(const TensorNames& names, std::string_view gguf)
{
    const std::size_t dot = gguf.rfind('.');
    if (dot == std::string_view::npos) {
        return std::string(gguf);
    }
    const std::string_view suffix = gguf.substr(dot); // .weight
    const std::string_view whole = gguf.substr(0, dot);
    constexpr std::string_view block = "blk.";
    const std::size_t behind = whole.find('.', block.size());
    if (whole.starts_with(block) && behind != std::string_view::npos) {
        const std::string_view layer = whole.substr(block.size(), behind - block.size());
        const auto inside = hub_name(names.inside, whole.substr(behind + 1));
        return inside ? fmt::format("{}{}.{}{}", names.layers, layer, *inside, suffix) : std::string(gguf);
    }
    const auto outside = hub_name(names.outside, whole);
    return outside ? std::string(*outside).append(suffix) : std::string(gguf);
}

// ---- metadata --------------------------------------------------------------------------------------------------------------

const GgufValue* find(const GgufFile& file, std::string_view key)
{
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? nullptr : &found->second;
}

std::optional<double> number(const GgufFile& file, std::string_view key)
{
    const GgufValue* value = find(file, key);
    const auto* number = value == nullptr ? nullptr : std::get_if<double>(value);
    if (value != nullptr && number == nullptr) {
        throw Error(ErrorKind::data, key, written(*value), "a number");
    }
    return number == nullptr ? std::nullopt : std::optional(*number);
}

std::string_view text(const GgufFile& file, std::string_view key)
{
    const GgufValue* value = find(file, key);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string_view>(value);
    if (text == nullptr) {
        throw Error(ErrorKind::data, key, value == nullptr ? "nothing" : written(*value), "a text");
    }
    return *text;
}

const Family& family_of(const GgufFile& file)
{
    constexpr std::string_view key = "general.architecture";
    const std::string_view name = text(file, key);
    const auto found = std::ranges::find(families, name, &Family::architecture);
    if (found == families.end()) {
        std::vector<std::string_view> names;
        names.reserve(families.size());
        std::ranges::transform(families, std::back_inserter(names), &Family::architecture);
        throw Error(ErrorKind::data, key, in_quotes(name), joined(names));
    }
    return *found;
}

/// A whole model that looks where its type looks.
void require_usual(const GgufFile& file, const Family& family)
{
    const std::string causal = std::string(family.architecture) + ".attention.causal";
    const bool usual = family.model_type != "bert";
    if (const GgufValue* value = find(file, causal); value != nullptr && *value != GgufValue(usual)) {
        throw Error(ErrorKind::data, causal, written(*value), usual ? "true" : "false");
    }

    constexpr std::string_view parts = "split.count";
    if (const double count = number(file, parts).value_or(1); count > 1) {
        throw Error(ErrorKind::data, parts, fmt::format("{}", count),
                    "1, a whole model; `llama-gguf-split --merge` of llama.cpp makes one of the parts");
    }
    constexpr std::string_view type = "general.type";
    if (find(file, type) != nullptr && text(file, type) != "model") {
        throw Error(ErrorKind::data, type, in_quotes(text(file, type)), "'model'");
    }
}

ConfigValue config_value(const GgufValue& value, std::string_view key)
{
    if (const auto* truth = std::get_if<bool>(&value)) {
        return *truth;
    }
    if (const auto* number = std::get_if<double>(&value)) {
        return *number;
    }
    if (const auto* text = std::get_if<std::string_view>(&value)) {
        return std::string(*text);
    }
    std::vector<ConfigScalar> list;
    const auto& elements = std::get<GgufList>(value);
    if (elements.count > static_cast<std::size_t>(transformer::most_layers)) {
        throw Error(ErrorKind::data, key, written(value), fmt::format("a list of up to {}", transformer::most_layers));
    }
    if (elements.kind == GgufKind::text) {
        for (const std::string_view each : texts_of(elements, key)) {
            list.emplace_back(std::string(each));
        }
        return list;
    }
    for (const double each : numbers_of(elements, key)) {
        list.emplace_back(each);
    }
    return list;
}

/// Which layers have a window: all but each n-th, or those that a list names true.
void add_pattern(ConfigValues& values, const GgufValue& value, std::string_view key)
{
    if (const auto* list = std::get_if<GgufList>(&value)) {
        std::vector<ConfigScalar> types;
        for (const double slides : numbers_of(*list, key)) {
            types.emplace_back(std::string(slides == 0 ? "full_attention" : "sliding_attention"));
        }
        values["layer_types"] = std::move(types);
    } else {
        values["sliding_window_pattern"] = config_value(value, key);
    }
}

/// Of a head's numbers so many turn: as a share of them, which a config states, and from which the same number comes back.
double rotary_share(double turning, double head)
{
    return turning == head ? 1.0 : (turning + 0.5) / head;
}

/// What no key says, or another one than a config's.
void add_derived(ConfigValues& values, const Family& family, const GgufFile& file, const std::string& before)
{
    const auto of = [&](std::string_view key) { return number(file, before + std::string(key)); };
    const double D = of("embedding_length").value_or(0), H = of("attention.head_count").value_or(1);
    const double head = of("attention.key_length").value_or(D / H);
    if (family.like_llama) {
        values.try_emplace("head_dim", head);
    }
    if (const double value_head = of("attention.value_length").value_or(head); value_head != head) {
        throw Error(ErrorKind::data, before + "attention.value_length", fmt::format("{}", value_head),
                    fmt::format("{}, the size of a head's keys", head));
    }
    if (const auto turning = of("rope.dimension_count")) {
        values["partial_rotary_factor"] = rotary_share(*turning, head);
    }
    if (of("attention.head_count_kv") == H) {
        values.erase("num_key_value_heads");
    }
    if (!values.contains("vocab_size")) {
        if (const GgufValue* words = find(file, "tokenizer.ggml.tokens");
            words != nullptr && std::holds_alternative<GgufList>(*words)) {
            values["vocab_size"] = static_cast<double>(std::get<GgufList>(*words).count);
        }
    }
    if (family.like_llama) {
        values["attention_bias"] = file.tensors.contains("blk.0.attn_output.bias");
        values["mlp_bias"] = file.tensors.contains("blk.0.ffn_up.bias");
    }
    if (const auto scaling = values.find("rope_scaling.type");
        scaling != values.end() && scaling->second == ConfigValue(std::string("none"))) {
        scaling->second = std::string("default");
    }
}

/// By the type of the model: Gemma's largest models scale scores by their mean head, the others by their head; BERT's types of
/// tokens are counted among the keys of the tokenizer.
void add_of_type(ConfigValues& values, const Family& family, const GgufFile& file, const std::string& before)
{
    if (family.model_type == "gpt2") {
        for (const Name& name : gguf_names::gpt2_keys) {
            if (auto node = values.extract(std::string(name.gguf))) {
                node.key() = name.hub;
                values.insert(std::move(node));
            }
        }
    }
    if (family.model_type == "gemma2" || family.model_type == "gemma3_text") {
        const double layers = number(file, before + "block_count").value_or(0);
        const bool largest = layers == (family.model_type == "gemma2" ? 46 : 62);
        const double D = number(file, before + "embedding_length").value_or(1);
        const ConfigValue mean = D / number(file, before + "attention.head_count").value_or(1);
        values["query_pre_attn_scalar"] = largest ? mean : values["head_dim"];
    }
    if (family.model_type == "bert") {
        if (const auto types = number(file, "tokenizer.ggml.token_type_count")) {
            values["type_vocab_size"] = *types;
        }
    }
}

} // namespace

ConfigValues gguf_config(const GgufFile& file)
{
    const Family& family = family_of(file);
    require_usual(file, family);
    const std::string before = std::string(family.architecture) + ".";
    ConfigValues values{{"model_type", std::string(family.model_type)}};
    for (const auto& [key, value] : file.metadata) {
        if (!key.starts_with(before)) {
            continue;
        }
        const std::string_view own = key.substr(before.size());
        if (own == "attention.sliding_window_pattern") {
            add_pattern(values, value, key);
        } else if (std::ranges::find(gguf_names::read_apart, own) == gguf_names::read_apart.end()) {
            const std::string_view name = hub_name(gguf_names::keys, own).value_or(key);
            if (!name.empty()) {
                values[std::string(name)] = config_value(value, key);
            }
        }
    }
    add_derived(values, family, file, before);
    add_of_type(values, family, file, before);
    return values;
}

transformer::ConfigNames gguf_key_names(const GgufFile& file)
{
    const Family& family = family_of(file);
    transformer::ConfigNames names{{"model_type", "general.architecture"}};
    for (const Name& name : gguf_names::keys) {
        names.emplace(name.hub, fmt::format("{}.{}", family.architecture, name.gguf));
    }
    for (const Name& name : gguf_names::gpt2_keys) {
        names.emplace(name.hub, names.at(std::string(name.gguf)));
    }
    return names;
}

// ---- tensors ---------------------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view divisors = "rope_freqs.weight"; ///< of the frequencies of rotary positions

/// Queries, keys and values in one tensor, one behind the other.
void fuse(transformer::AttentionPart& attention)
{
    const Index stored = attention.query.out + attention.key.out + attention.value.out;
    Index first = 0;
    for (transformer::LinearPart* part : {&attention.query, &attention.key, &attention.value}) {
        part->rows = {.stored = stored, .first = first};
        first += part->out;
    }
}

void settle_norm(std::optional<transformer::NormPart>& norm)
{
    if (norm) {
        norm->weight_shift = 0;
    }
}

void settle(transformer::LayerPart& layer, const Family& family)
{
    for (auto* norm : {&layer.attention_in, &layer.attention_out, &layer.attention_sum, &layer.mlp_in, &layer.mlp_out,
                       &layer.mlp_sum, &layer.attention.query_norm, &layer.attention.key_norm}) {
        settle_norm(*norm);
    }
    transformer::AttentionPart& attention = layer.attention;
    for (auto* linear :
         {&attention.query, &attention.key, &attention.value, &attention.output, &layer.mlp.up, &layer.mlp.down}) {
        linear->input_major = false;
    }
    if (attention.query.name == attention.key.name) {
        fuse(attention);
    }
    if (family.interleaved) {
        attention.query.rows.turned = attention.key.rows.turned = attention.d;
    }
}

/// Phi's of 2023.
void fuse_phi(Architecture& architecture, const GgufFile& file)
{
    for (std::size_t l = 0; l < architecture.layers.size(); ++l) {
        transformer::AttentionPart& attention = architecture.layers[l].attention;
        if (file.tensors.contains(fmt::format("blk.{}.attn_qkv.weight", l))) {
            attention.query.name = fmt::format("layers.{}.self_attn.qkv_proj", l);
            attention.key.name = attention.value.name = attention.query.name;
            fuse(attention);
        }
    }
}

/// The frequencies of Llama 3's rotary positions, as numbers that they are divided by.
void list_divisors(Architecture& architecture, const GgufFile& file)
{
    const auto found = file.tensors.find(divisors);
    if (found == file.tensors.end()) {
        return;
    }
    const TensorView& view = found->second.view;
    for (transformer::LayerPart& layer : architecture.layers) {
        if (!layer.attention.rope) {
            continue;
        }
        transformer::RopePart& rope = *layer.attention.rope;
        const Shape pairs{(rope.dim + 1) / 2};
        if (view.type != ElementType::float32 || view.shape != pairs) {
            throw Error(ErrorKind::data, "tensor " + in_quotes(divisors),
                        fmt::format("{} {}", name_of(view.type), to_string(view.shape)),
                        fmt::format("float32 {}, one for each pair of a head", to_string(pairs)));
        }
        if (rope.scaling != transformer::RopeScaling::none) {
            throw Error(ErrorKind::data, "tensor " + in_quotes(divisors), "together with rope.scaling.type", "one of them");
        }
        rope.divisors = load<float>(view).values;
        for (const float divisor : rope.divisors) {
            if (!(divisor > 0) || !std::isfinite(divisor)) {
                throw Error(ErrorKind::data, "tensor " + in_quotes(divisors), fmt::format("{}", divisor), "numbers above 0");
            }
        }
        rope.scaling = transformer::RopeScaling::listed;
    }
    architecture.passed_over.emplace_back(divisors);
}

} // namespace

void settle_for_gguf(Architecture& architecture, const GgufFile& file)
{
    const Family& family = family_of(file);
    for (transformer::LayerPart& layer : architecture.layers) {
        const transformer::AttentionPart& attention = layer.attention;
        if (family.interleaved && (attention.d % 2 != 0 || attention.rope->dim != attention.d)) {
            throw Error(ErrorKind::data, "numbers of a head that turn", std::to_string(attention.rope->dim),
                        fmt::format("all {} of them, in pairs", attention.d));
        }
        settle(layer, family);
    }
    settle_norm(architecture.final_norm);
    architecture.stated_in = "the metadata";
    if (family.model_type == "phi") {
        fuse_phi(architecture, file);
    }
    list_divisors(architecture, file);
}

transformer::Weights gguf_weights(const GgufFile& file)
{
    const Family& family = family_of(file);
    transformer::Weights weights;
    for (const auto& [name, tensor] : file.tensors) {
        weights.add({.name = tensor_name(family.names, name), .view = tensor.view}, {}, tensor.blocks);
    }
    return weights;
}

} // namespace attn::io
