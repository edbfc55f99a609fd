// Shapes and the glossary of their letters, which every comment, error message and recipe uses:
//
//   B batch   T query tokens   S key tokens   D model (embedding) dimension   V rows of the embedding table
//   H query heads   H_kv key/value heads   d_k size of a query or key of one head   d_v size of a value of one head
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace attn {

/// Signed, as Eigen's: differences and reversed loops need no cast. Of 64 bits also where an address has 32.
using Index = std::conditional_t<sizeof(std::ptrdiff_t) == sizeof(std::int64_t), std::ptrdiff_t, std::int64_t>;

/// Lengths, outermost first. The empty shape is one element.
using Shape = std::vector<Index>;

/// "(6, 16)"; "(6,)" for one dimension and "()" for none, as Python writes them.
[[nodiscard]] std::string to_string(const Shape& shape);

/// The product of the lengths. Throws Error(too_large) when it exceeds what can be addressed, Error(internal) for a negative
/// length.
[[nodiscard]] Index element_count(const Shape& shape);

/// The index of the element that is the `place`-th in row-major order, of a shape that has one.
[[nodiscard]] Shape index_of(const Shape& shape, Index place);

/// a·b and a+b for sizes ≥ 0. Throw Error(too_large), naming `what`, instead of overflowing.
[[nodiscard]] Index checked_product(Index a, Index b, const char* what);
[[nodiscard]] Index checked_sum(Index a, Index b, const char* what);

/// 0, 1, …, count-1.
[[nodiscard]] inline std::vector<Index> indices(Index count)
{
    std::vector<Index> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), Index{0});
    return all;
}

} // namespace attn
