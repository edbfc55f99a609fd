// Small models for tests: a config as its values, tensors as a map, and what they are together.
#pragma once

#include "attn/tensor/view.hpp"
#include "attn/transformer/architectures/describe.hpp"
#include "attn/transformer/run/model.hpp"

#include <map>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace small {

namespace transformer = attn::transformer;
using attn::Index;

/// Tensors by name, in their own memory.
class Tensors {
public:
    void set(const std::string& name, const attn::Shape& shape, const std::vector<float>& values,
             attn::ElementType type = attn::ElementType::float32)
    {
        attn::StoredTensor tensor(name, type, shape);
        if (!attn::is_integer(type)) { // of those there are zeros alone
            attn::store(tensor, 0, std::span<const float>(values));
        }
        tensors_[name] = std::move(tensor);
    }

    void erase(const std::string& name) { tensors_.erase(name); }

    void rename(const std::string& from, const std::string& to)
    {
        auto node = tensors_.extract(from);
        node.key() = to;
        tensors_.insert(std::move(node));
    }

    [[nodiscard]] const attn::StoredTensor& at(const std::string& name) const { return tensors_.at(name); }

    [[nodiscard]] transformer::Weights weights() const
    {
        transformer::Weights weights;
        for (const auto& [name, tensor] : tensors_) {
            weights.add({.name = name, .view = tensor.view()});
        }
        return weights;
    }

    [[nodiscard]] std::vector<std::string> names() const
    {
        std::vector<std::string> names;
        for (const auto& [name, tensor] : tensors_) {
            names.push_back(name);
        }
        return names;
    }

private:
    std::map<std::string, attn::StoredTensor> tensors_;
};

inline Index count_of(const attn::Shape& shape)
{
    return attn::element_count(shape);
}

/// Everything that the description asks for, drawn from a normal distribution.
inline Tensors random_tensors(const transformer::Architecture& architecture, unsigned seed = 1)
{
    Tensors tensors;
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0, 0.3F);
    for (const transformer::NeededTensor& needed : transformer::needed_tensors(architecture)) {
        std::vector<float> values(static_cast<std::size_t>(count_of(needed.shape)));
        for (float& value : values) {
            value = normal(generator);
        }
        tensors.set(needed.name, needed.shape, values);
    }
    return tensors;
}

/// A config of BERT: one layer, two heads of two, ten words.
inline transformer::ConfigValues bert()
{
    return {{"model_type", "bert"}, {"hidden_size", 4.0},       {"num_hidden_layers", 1.0},       {"num_attention_heads", 2.0},
            {"vocab_size", 10.0},   {"intermediate_size", 3.0}, {"max_position_embeddings", 8.0}, {"type_vocab_size", 2.0}};
}

/// Of Llama: two layers, four query heads of two that share two key/value heads, ten words.
inline transformer::ConfigValues llama()
{
    return {{"model_type", "llama"},      {"hidden_size", 8.0}, {"num_hidden_layers", 2.0}, {"num_attention_heads", 4.0},
            {"num_key_value_heads", 2.0}, {"vocab_size", 10.0}, {"intermediate_size", 6.0}, {"tie_word_embeddings", false}};
}

/// `values` with one of them replaced.
inline transformer::ConfigValues with(transformer::ConfigValues values, const std::string& key, transformer::ConfigValue value)
{
    values[key] = std::move(value);
    return values;
}

inline transformer::Architecture described(transformer::ConfigValues values)
{
    return transformer::describe(transformer::Config(std::move(values)));
}

} // namespace small
