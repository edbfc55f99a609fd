// Values with a shape, row-major, and their views as Eigen matrices.
#pragma once

#include "attn/tensor/shape.hpp"

#include <Eigen/Core>

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace attn {

template <typename Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename Scalar>
using RowVector = Eigen::Matrix<Scalar, 1, Eigen::Dynamic, Eigen::RowMajor>;

/// Read-only view of a matrix or of a block of whole rows of one.
template <typename Scalar>
using MatrixView = Eigen::Ref<const Matrix<Scalar>>;

enum class Dtype { float32, float64 };
inline constexpr std::array<std::string_view, 2> dtype_names{"float32", "float64"};
[[nodiscard]] constexpr std::string_view name_of(Dtype dtype)
{
    return dtype_names[static_cast<std::size_t>(dtype)];
}
template <typename Scalar>
inline constexpr Dtype dtype_of = std::is_same_v<Scalar, float> ? Dtype::float32 : Dtype::float64;

/// A tensor of any rank; `values` has element_count(shape) elements, the last dimension varies fastest.
template <typename Scalar>
struct Tensor {
    Shape shape;
    std::vector<Scalar> values;

    Tensor() = default;
    /// All zeros. Throws Error(too_large) before allocating what cannot be addressed.
    explicit Tensor(Shape dims) : shape(std::move(dims)), values(static_cast<std::size_t>(element_count(shape))) {}
    Tensor(Shape dims, std::vector<Scalar> contents) : shape(std::move(dims)), values(std::move(contents)) {}

    [[nodiscard]] Index rows() const { return shape.size() < 2 ? 1 : shape[shape.size() - 2]; }
    [[nodiscard]] Index columns() const { return shape.empty() ? 1 : shape.back(); }

    /// The `index`-th of the (rows × columns) matrices that the last two dimensions form, counted over the leading ones.
    [[nodiscard]] Eigen::Map<const Matrix<Scalar>> matrix(Index index = 0) const
    {
        return {values.data() + index * rows() * columns(), rows(), columns()};
    }
    [[nodiscard]] Eigen::Map<Matrix<Scalar>> matrix(Index index = 0)
    {
        return {values.data() + index * rows() * columns(), rows(), columns()};
    }
};

/// Looks at the exponents' bits, all of which are set in infinities and NaN, so that it takes little beside what made the
/// values.
template <typename Scalar>
[[nodiscard]] bool all_finite(std::span<const Scalar> values)
{
    using Word = std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>;
    constexpr auto exponent = std::bit_cast<Word>(std::numeric_limits<Scalar>::infinity());
    constexpr Word lowest = exponent & (~exponent + 1);
    Word carried = 0; // into the sign's place by an exponent of ones alone
    for (const Scalar value : values) {
        carried |= (std::bit_cast<Word>(value) & exponent) + lowest;
    }
    return (carried & (exponent + lowest)) == 0;
}

/// A tensor whose type is known when the program runs.
using AnyTensor = std::variant<Tensor<float>, Tensor<double>>;

[[nodiscard]] inline const Shape& shape_of(const AnyTensor& tensor)
{
    return std::visit([](const auto& t) -> const Shape& { return t.shape; }, tensor);
}

} // namespace attn
