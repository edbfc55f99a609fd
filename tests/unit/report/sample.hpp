// Small results to report on.
#pragma once

#include "attn/model/run/result.hpp"
#include "attn/report/json/json.hpp"
#include "attn/tensor/buffer.hpp"

#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace sample {

/// What `write` writes, as one string.
template <typename Write>
std::string text_of(const Write& write)
{
    attn::Buffer text;
    write(text);
    return text.text();
}

/// As --json gives it, with --lines at a place.
inline std::string json_of(const attn::model::Result& result, std::optional<attn::Index> index = {})
{
    return text_of([&](auto& out) { attn::report::write_json(result, {.index = index}, out); });
}

/// "to be" with one head; every array but the parameters.
inline attn::model::Result two_words()
{
    using attn::Tensor;
    using attn::model::Item;
    attn::model::Result result;
    result.config() = attn::model::default_recipe();
    result.config().input = attn::model::SentenceInput{.sentence = "to be", .cross = {}};
    result.tokens = {"to", "be"};
    result.vocabulary = {"be", "to"};
    result.token_ids = {1, 0};
    result.front().arrays = {
        {"scores", Tensor<float>({1, 2, 2}, {1.0F, -2.5F, 0.125F, 4.0F})},
        {"weights", Tensor<float>({1, 2, 2}, {0.75F, 0.25F, 0.0005F, 0.9995F})},
        {"context", Tensor<float>({2, 3}, {1.0F, 2.0F, 3.0F, -0.0F, 5e-9F, 6.0F})},
    };
    result.show = {Item::tokens, Item::vocabulary, Item::weights, Item::context};
    return result;
}

/// A tensor of normals, some of them far out, zero or not finite.
template <typename Scalar>
attn::Tensor<Scalar> random_tensor(attn::Shape shape, std::mt19937& random)
{
    attn::Tensor<Scalar> tensor(std::move(shape));
    std::normal_distribution<Scalar> normal;
    for (Scalar& value : tensor.values) {
        const auto kind = random() % 20;
        const Scalar size = kind == 0 ? Scalar(1e30) : kind == 1 ? Scalar(1e-30) : kind == 2 ? Scalar(0) : Scalar(1);
        value = normal(random) * size;
        value = kind == 3   ? std::numeric_limits<Scalar>::infinity()
                : kind == 4 ? std::numeric_limits<Scalar>::quiet_NaN()
                            : value;
    }
    return tensor;
}

} // namespace sample
