#include "attn/transformer/run/model.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace attn::transformer {
namespace {

using Entries = Weights::Entries;

/// Whether `name` is the pattern, in which each * stands for any text.
bool matches(std::string_view name, std::string_view pattern)
{
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) {
        return name == pattern;
    }
    if (!name.starts_with(pattern.substr(0, star))) {
        return false;
    }
    const std::string_view rest = pattern.substr(star + 1);
    for (name.remove_prefix(star);; name.remove_prefix(1)) {
        if (matches(name, rest)) {
            return true;
        }
        if (name.empty()) {
            return false;
        }
    }
}

/// Buffers and heads that classify, which many models have and no attention needs.
constexpr std::array<std::string_view, 9> never_needed{"*rotary_emb.inv_freq",
                                                       "*position_ids",
                                                       "*.masked_bias",
                                                       "pooler.*",
                                                       "classifier.*",
                                                       "pre_classifier.*",
                                                       "score.*",
                                                       "qa_outputs.*",
                                                       "embeddings.token_type_ids"};

bool is_passed_over(std::string_view name, const Architecture& architecture)
{
    const auto is = [&](std::string_view pattern) { return matches(name, pattern); };
    return std::ranges::any_of(never_needed, is) || std::ranges::any_of(architecture.passed_over, is);
}

std::string_view without_prefix(std::string_view name, std::string_view prefix)
{
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

/// The prefix that the files put before the names: the first of the architecture's before which the words stand.
std::string prefix_of(const Entries& entries, const Architecture& architecture)
{
    std::vector<std::string> words = architecture.embedding.others;
    words.push_back(architecture.embedding.words);
    for (const std::string& prefix : architecture.prefixes) {
        if (std::ranges::any_of(words, [&](const std::string& name) { return entries.contains(prefix + name + ".weight"); })) {
            return prefix;
        }
    }
    return {};
}

/// As files of 2018 and 2019 have it.
std::string modern_name(std::string_view name)
{
    const auto replaced = [&](std::string_view old, std::string_view modern) {
        return std::string(name.substr(0, name.size() - old.size())).append(modern);
    };
    return name.ends_with("LayerNorm.gamma")  ? replaced("gamma", "weight")
           : name.ends_with("LayerNorm.beta") ? replaced("beta", "bias")
                                              : std::string(name);
}

/// The entries by the names of the architecture.
Entries renamed(const Entries& entries, const Architecture& architecture)
{
    const std::string prefix = prefix_of(entries, architecture);
    Entries by_name;
    for (const auto& [name, entry] : entries) {
        if (!by_name.emplace(modern_name(without_prefix(name, prefix)), entry).second) {
            throw Error(ErrorKind::data, fmt::format("tensor {}: the files have it twice, under two names", in_quotes(name)));
        }
    }
    return by_name;
}

/// Names the words as the files do.
void settle_words(EmbeddingPart& embedding, const Entries& entries)
{
    const auto is_there = [&](const std::string& name) { return entries.contains(name + ".weight"); };
    if (const auto other = std::ranges::find_if(embedding.others, is_there);
        !is_there(embedding.words) && other != embedding.others.end()) {
        embedding.words = *other;
    }
}

/// Takes the head away that the files do not have, and gives the other one its words.
void settle_head(Architecture& architecture, const Entries& entries)
{
    HeadPart& head = *architecture.head;
    if (head.bias_is_row && !entries.contains(head.bias)) {
        head.bias.clear();
    }
    const std::string own = head.words + ".weight";
    const bool tied = head.tied == Tied::yes || (head.tied == Tied::unless_there && !entries.contains(own));
    const std::string sign = !head.sign.empty() ? head.sign : tied ? std::string() : own;
    if (!sign.empty() && !entries.contains(sign)) {
        architecture.passed_over.push_back(own);
        architecture.head.reset();
    } else if (tied) {
        architecture.passed_over.push_back(own);
        head.words = architecture.embedding.words;
    }
}

/// `asked_by`: config.json, say.
void require_tensor(const NeededTensor& needed, const Entries& entries, const std::string& asked_by)
{
    const auto entry = entries.find(needed.name);
    if (entry == entries.end()) {
        throw Error(ErrorKind::data, fmt::format("tensor {}: missing; {} asks for it, with the shape {}",
                                                 in_quotes(needed.name), asked_by, to_string(needed.shape)));
    }
    const std::string thing = "tensor " + in_quotes(needed.name);
    const auto& [tensor, unread, blocks] = entry->second;
    const TensorView& view = tensor.view;
    const bool is_read = unread.empty() && (blocks != nullptr ? needed.shape.size() == 2 : is_weight_type(view.type));
    if (!is_read) {
        const std::string_view type = !unread.empty() ? unread : blocks != nullptr ? blocks->name : name_of(view.type);
        throw Error(ErrorKind::data, thing + ": element type", type, "float32, float16, bfloat16");
    }
    const Shape shape = WeightMatrix{view, blocks}.shape();
    if (shape != needed.shape) {
        throw Error(ErrorKind::data, thing + ": shape", to_string(shape),
                    fmt::format("{}, which {} asks for", to_string(needed.shape), asked_by));
    }
    if (view.swapped || view.strides != row_major_strides(view.shape)) {
        throw Error(ErrorKind::data, thing + ": order of its bytes", "another one", "row-major, little-endian");
    }
}

void refuse_unknown(const Entries& entries, const Architecture& architecture, const std::set<std::string, std::less<>>& needed)
{
    for (const auto& [name, entry] : entries) {
        if (!needed.contains(name) && !is_passed_over(name, architecture)) {
            throw Error(ErrorKind::data,
                        fmt::format("tensor {}: not known in a model of the type {}, so what it would change is not either",
                                    in_quotes(name), architecture.type));
        }
    }
}

} // namespace

void Weights::add(const NamedTensor& tensor, const std::string& unread, const BlockFormat* blocks)
{
    if (!entries_.emplace(tensor.name, StoredWeights{tensor, unread, blocks}).second) {
        throw Error(ErrorKind::data, fmt::format("tensor {}: two files of the model have it", in_quotes(tensor.name)));
    }
}

Model::Model(Architecture architecture, const Weights& weights) : architecture_(std::move(architecture))
{
    const Entries entries = renamed(weights.entries(), architecture_);
    settle_words(architecture_.embedding, entries);
    if (architecture_.encoder) {
        Architecture encoder = *architecture_.encoder;
        settle_words(encoder.embedding, entries);
        architecture_.encoder = std::make_shared<const Architecture>(std::move(encoder));
    }
    if (architecture_.head) {
        settle_head(architecture_, entries);
    }
    std::set<std::string, std::less<>> needed;
    for (NeededTensor& tensor : needed_tensors(architecture_)) {
        require_tensor(tensor, entries, architecture_.stated_in);
        tensors_.emplace(tensor.name, entries.find(tensor.name)->second);
        needed.insert(std::move(tensor.name));
    }
    refuse_unknown(entries, architecture_, needed);
}

Linear Model::linear(const LinearPart& part) const
{
    Linear linear{
        .weight = table(part.name), .in = part.in, .out = part.out, .input_major = part.input_major, .rows = part.rows};
    if (part.bias) {
        linear.bias = vector(part.name + ".bias");
    }
    return linear;
}

Norm Model::norm(const NormPart& part) const
{
    const auto wide = [&](const std::string& name) { return load<double>(tensors_.at(part.name + name).tensor.view).values; };
    Norm norm{.kind = part.kind, .epsilon = part.epsilon, .weight = wide(".weight")};
    for (double& weight : norm.weight) {
        weight += part.weight_shift;
    }
    if (part.kind == NormKind::layer && part.bias) {
        norm.bias = wide(".bias");
    }
    return norm;
}

WeightMatrix Model::table(std::string_view name) const
{
    const auto& entry = tensors_.at(std::string(name) + ".weight");
    return {entry.tensor.view, entry.blocks};
}

std::vector<float> Model::vector(std::string_view name) const
{
    return load<float>(tensors_.at(std::string(name)).tensor.view).values;
}

} // namespace attn::transformer
