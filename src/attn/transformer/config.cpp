#include "attn/transformer/config.hpp"

#include "attn/math/decimal.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace attn::transformer {
namespace {

/// Of every model: what training, generation and bookkeeping need, and what says which tokens mean what.
// clang-format off
constexpr std::array<std::string_view, 111> harmless{
    "_attn_implementation", "_attn_implementation_autoset", "_commit_hash", "_flash_attn_2_enabled", "_model_name_or_path",
    "_name_or_path", "_sliding_window_pattern", "add_cross_attention", "architectures", "attention_dropout",
    "attention_probs_dropout_prob", "attn_implementation", "attn_pdrop", "auto_map", "bad_words_ids", "begin_suppress_tokens",
    "bos_token_id", "cache_implementation", "chunk_size_feed_forward", "classifier_activation", "classifier_bias",
    "classifier_dropout", "classifier_dropout_prob", "classifier_pooling", "cls_token_id", "cross_attention_hidden_size",
    "decoder_start_token_id", "directionality", "diversity_penalty", "do_sample", "dropout", "dtype", "early_stopping",
    "embd_pdrop", "embedding_dropout", "encoder_no_repeat_ngram_size", "eos_token_id", "exponential_decay_length_penalty",
    "finetuning_task", "forced_bos_token_id", "forced_eos_token_id", "gradient_checkpointing", "hidden_dropout",
    "hidden_dropout_prob", "id2label", "initializer_cutoff_factor", "initializer_factor", "initializer_range",
    "is_encoder_decoder", "is_llama_config", "keys_to_ignore_at_inference", "label2id", "length_penalty", "mask_token_id",
    "max_length", "min_length", "mlp_dropout", "model_type", "name_or_path", "no_repeat_ngram_size", "num_beam_groups",
    "num_beams", "num_labels", "num_return_sequences", "output_attentions", "output_hidden_states", "output_past",
    "output_scores", "pad_token_id", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
    "pooler_size_per_head", "pooler_type", "prefix", "pretraining_tp", "problem_type", "qa_dropout", "remove_invalid_values",
    "reorder_and_upcast_attn", "repetition_penalty", "resid_pdrop", "return_dict", "return_dict_in_generate", "sep_token_id",
    "seq_classif_dropout", "sparse_pred_ignore_index", "sparse_prediction", "summary_activation", "summary_first_dropout",
    "summary_proj_to_labels", "summary_type", "summary_use_proj", "suppress_tokens", "task_specific_params", "temperature",
    "tf_legacy_loss", "tie_encoder_decoder", "tokenizer_class", "top_k", "top_p", "torch_dtype", "torchscript",
    "transformers.js_config", "transformers_version", "typical_p", "unk_token_id", "unsloth_fixed", "unsloth_version",
    "use_bfloat16", "use_cache",
};
// clang-format on

bool is_inside(std::string_view key, std::string_view outer)
{
    return key == outer || (key.size() > outer.size() && key.starts_with(outer) && key[outer.size()] == '.');
}

/// The objects around a key, the outermost first: of "a.b.c" "a" and "a.b". None of a key that has dots in its name, as those
/// of a .gguf have.
std::vector<std::string> objects_around(const std::string& key, const ConfigValues& values)
{
    std::vector<std::string> objects;
    const bool is_inside_one = values.contains(key.substr(0, key.find('.')));
    for (std::size_t dot = key.find('.'); is_inside_one && dot != std::string::npos; dot = key.find('.', dot + 1)) {
        objects.push_back(key.substr(0, dot));
    }
    return objects;
}

std::string written(const ConfigScalar& value)
{
    if (std::holds_alternative<ConfigObject>(value)) {
        return "an object or a list";
    }
    if (const auto* truth = std::get_if<bool>(&value)) {
        return *truth ? "true" : "false";
    }
    if (const auto* number = std::get_if<double>(&value)) {
        const bool whole = *number == std::floor(*number) && std::fabs(*number) < 1e15;
        return whole ? std::to_string(static_cast<Index>(*number)) : math::shortest(*number);
    }
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? in_quotes(*text) : "null";
}

ConfigValue as_value(const ConfigScalar& scalar)
{
    return std::visit([](const auto& value) -> ConfigValue { return value; }, scalar);
}

/// As a message writes it.
std::string written(const ConfigValue& value)
{
    if (const auto* list = std::get_if<std::vector<ConfigScalar>>(&value)) {
        return fmt::format("a list of {}", list->size());
    }
    return std::visit(
        [](const auto& one) -> std::string {
            if constexpr (std::is_constructible_v<ConfigScalar, decltype(one)>) {
                return written(ConfigScalar(one));
            } else {
                return {};
            }
        },
        value);
}

/// What is inside an object counts, not the object.
bool is_nothing(const ConfigValue& value)
{
    return std::holds_alternative<ConfigNull>(value) || std::holds_alternative<ConfigObject>(value);
}

/// A config for pictures and text has one for each.
ConfigValues of_text(ConfigValues values)
{
    constexpr std::string_view part = "text_config.";
    ConfigValues inner;
    for (auto& [key, value] : values) {
        if (key.starts_with(part)) {
            inner.emplace(key.substr(part.size()), std::move(value));
        }
    }
    return inner.empty() ? std::move(values) : std::move(inner);
}

template <Index least, Index most = largest_count>
Index to_count(std::string_view key, const ConfigValue& value)
{
    const auto* number = std::get_if<double>(&value);
    if (number == nullptr || *number != std::floor(*number) || *number < static_cast<double>(least) ||
        *number > static_cast<double>(most)) {
        const std::string last = most == largest_count ? "1,000,000,000" : std::to_string(most);
        throw Error(ErrorKind::data, key, written(value), fmt::format("a whole number from {} to {}", least, last));
    }
    return static_cast<Index>(*number);
}

double to_positive(std::string_view key, const ConfigValue& value)
{
    const auto* number = std::get_if<double>(&value);
    if (number == nullptr || !(*number > 0) || !std::isfinite(*number)) {
        throw Error(ErrorKind::data, key, written(value), "a number above 0");
    }
    return *number;
}

bool to_flag(std::string_view key, const ConfigValue& value)
{
    const auto* truth = std::get_if<bool>(&value);
    if (truth == nullptr) {
        throw Error(ErrorKind::data, key, written(value), "true or false");
    }
    return *truth;
}

std::string to_text(std::string_view key, const ConfigValue& value)
{
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) {
        throw Error(ErrorKind::data, key, written(value), "a text");
    }
    return *text;
}

template <auto read>
auto to_list(std::string_view key, const ConfigValue& value)
{
    const auto* elements = std::get_if<std::vector<ConfigScalar>>(&value);
    if (elements == nullptr) {
        throw Error(ErrorKind::data, key, written(value), "a list");
    }
    std::vector<decltype(read(key, value))> list;
    list.reserve(elements->size());
    for (const ConfigScalar& element : *elements) {
        list.push_back(read(key, as_value(element)));
    }
    return list;
}

} // namespace

struct Config::Found {
    std::string_view key;
    const ConfigValue& value;
};

Config::Config(ConfigValues values, const std::vector<std::string>& ignored, ConfigNames names)
    : values_(of_text(std::move(values))), names_(std::move(names))
{
    for (const std::string& key : ignored) {
        if (std::erase_if(values_, [&](const auto& entry) { return is_inside(shown(entry.first), key); }) == 0) {
            throw Error(ErrorKind::usage, "--set model.ignore_config", in_quotes(key), "a key that this model states");
        }
    }
}

std::string_view Config::shown(std::string_view key) const
{
    const auto name = names_.find(key);
    return name == names_.end() ? key : name->second;
}

template <typename Value>
Value Config::needed(std::optional<Value> value, Keys keys) const
{
    if (value) {
        return *std::move(value);
    }
    std::string names;
    for (const std::string_view key : keys) {
        names.append(names.empty() ? "" : " or ").append(shown(key));
    }
    throw Error(ErrorKind::data, fmt::format("it has no {}, which this model_type needs", names));
}

std::optional<Config::Found> Config::find(Keys keys)
{
    std::optional<Found> found;
    for (const std::string_view key : keys) {
        const auto entry = values_.find(key);
        if (entry == values_.end()) {
            continue;
        }
        used_.insert(entry->first);
        const bool is_null = std::holds_alternative<ConfigNull>(entry->second);
        if (!found || (std::holds_alternative<ConfigNull>(found->value) && !is_null)) {
            found.emplace(Found{entry->first, entry->second});
        }
    }
    return found;
}

bool Config::has(Keys keys) const
{
    return std::ranges::any_of(values_, [&](const auto& entry) {
        return !is_nothing(entry.second) &&
               std::ranges::any_of(keys, [&](std::string_view key) { return is_inside(entry.first, key); });
    });
}

bool Config::says(std::string_view key, std::string_view text) const
{
    const auto entry = values_.find(key);
    return entry != values_.end() && entry->second == ConfigValue(std::string(text));
}

template <typename Read>
auto Config::value(Keys keys, const Read& read)
{
    const auto found = find(keys);
    return found && !std::holds_alternative<ConfigNull>(found->value) ? std::optional(read(shown(found->key), found->value))
                                                                      : std::nullopt;
}

std::optional<Index> Config::optional_count(Keys keys, std::optional<Index> absent)
{
    return find(keys) ? value(keys, to_count<1>) : absent;
}

Index Config::count(Keys keys)
{
    return needed(value(keys, to_count<1>), keys);
}

Index Config::layers(Keys keys)
{
    return needed(value(keys, to_count<1, most_layers>), keys);
}

Index Config::count(Keys keys, Index otherwise)
{
    return value(keys, to_count<1>).value_or(otherwise);
}

Index Config::place(Keys keys, Index otherwise)
{
    return value(keys, to_count<0>).value_or(otherwise);
}

std::optional<double> Config::optional_positive(Keys keys, std::optional<double> absent)
{
    return find(keys) ? value(keys, to_positive) : absent;
}

double Config::positive(Keys keys)
{
    return needed(value(keys, to_positive), keys);
}

double Config::positive(Keys keys, double otherwise)
{
    return value(keys, to_positive).value_or(otherwise);
}

std::optional<bool> Config::optional_flag(Keys keys)
{
    return value(keys, to_flag);
}

bool Config::flag(Keys keys, bool otherwise)
{
    return value(keys, to_flag).value_or(otherwise);
}

std::string Config::text(Keys keys)
{
    return needed(value(keys, to_text), keys);
}

std::string Config::text(Keys keys, std::string_view otherwise)
{
    return value(keys, to_text).value_or(std::string(otherwise));
}

std::vector<std::string> Config::texts(Keys keys)
{
    return value(keys, to_list<to_text>).value_or(std::vector<std::string>());
}

std::vector<Index> Config::places(Keys keys)
{
    return value(keys, to_list<to_count<0>>).value_or(std::vector<Index>());
}

void Config::require(std::string_view key, const ConfigScalar& value)
{
    const auto found = find({key});
    if (found && !std::holds_alternative<ConfigNull>(found->value) && found->value != as_value(value)) {
        throw Error(ErrorKind::data, shown(key), written(found->value), written(value) + ", the one that is computed here");
    }
}

void Config::pass_over(Keys keys)
{
    for (const auto& entry : values_) {
        if (std::ranges::any_of(keys, [&](std::string_view outer) { return is_inside(entry.first, outer); })) {
            used_.insert(entry.first);
        }
    }
}

void Config::require_all_used() const
{
    const auto is_known = [&](const auto& entry) {
        return is_nothing(entry.second) || used_.contains(entry.first) ||
               std::ranges::any_of(harmless, [&](std::string_view outer) { return is_inside(entry.first, outer); });
    };
    std::set<std::string> partly_known;
    for (const auto& entry : values_) {
        if (!is_nothing(entry.second) && is_known(entry)) {
            std::ranges::copy(objects_around(entry.first, values_), std::inserter(partly_known, partly_known.end()));
        }
    }
    std::set<std::string> unknown;
    for (const auto& entry : values_) {
        if (!is_known(entry)) {
            const std::vector<std::string> objects = objects_around(entry.first, values_);
            const auto whole =
                std::ranges::find_if(objects, [&](const auto& object) { return !partly_known.contains(object); });
            unknown.insert(whole == objects.end() ? entry.first : *whole);
        }
    }
    if (unknown.empty()) {
        return;
    }
    constexpr std::size_t most = 1000; // bytes of keys that a message lists
    std::string stated, keys;
    std::size_t told = 0;
    for (const std::string& key : unknown) {
        if (keys.size() > most) {
            stated += fmt::format(" and {} more", unknown.size() - told);
            break;
        }
        ++told;
        const auto entry = values_.find(key);
        const bool is_object = entry == values_.end() || std::holds_alternative<ConfigObject>(entry->second);
        stated += fmt::format("{}{} = {}", stated.empty() ? "" : ", ", in_quotes(shown(key)),
                              is_object ? "an object" : written(entry->second));
        keys.append(keys.empty() ? "" : ",").append(shown(key));
    }
    const bool one = unknown.size() == 1;
    throw Error(ErrorKind::data, fmt::format("{} {} not known here and may change what the model computes; if {} not, "
                                             "--set model.ignore_config={} leaves {} out",
                                             stated, one ? "is" : "are", one ? "it does" : "they do", in_quotes(keys, 2 * most),
                                             one ? "it" : "them"));
}

} // namespace attn::transformer
