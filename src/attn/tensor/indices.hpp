// The places of a list.
#pragma once

#include "attn/tensor/shape.hpp"

#include <numeric>
#include <vector>

namespace attn {

/// 0, 1, …, count-1.
[[nodiscard]] inline std::vector<Index> indices(Index count)
{
    std::vector<Index> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), Index{0});
    return all;
}

} // namespace attn
