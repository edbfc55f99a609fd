// Some places of one dimension of a tensor.
#pragma once

#include "attn/tensor/tensor.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace attn::model {

/// (…, n, …) → (…, places, …): what lies at these places of this dimension, in their order.
template <typename Scalar>
[[nodiscard]] Tensor<Scalar> taken(const Tensor<Scalar>& tensor, std::size_t dimension, const std::vector<Index>& places)
{
    Shape shape = tensor.shape;
    const auto at = shape.begin() + static_cast<std::ptrdiff_t>(dimension);
    const Index outer = std::accumulate(shape.begin(), at, Index{1}, std::multiplies());
    const Index inner = std::accumulate(at + 1, shape.end(), Index{1}, std::multiplies());
    const Index count = std::exchange(*at, std::ssize(places));
    Tensor<Scalar> kept(std::move(shape));
    auto to = kept.values.begin();
    for (Index block = 0; block < outer; ++block) {
        for (const Index place : places) {
            to = std::copy_n(tensor.values.begin() + (block * count + place) * inner, inner, to);
        }
    }
    return kept;
}

} // namespace attn::model
