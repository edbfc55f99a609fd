// A tensor in bytes that it does not own: what a mapped file holds, without a copy; and tensors with names.
#pragma once

#include "attn/tensor/element.hpp"
#include "attn/tensor/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

template <typename Scalar>
inline constexpr ElementType element_type_of = std::is_same_v<Scalar, float> ? ElementType::float32 : ElementType::float64;

/// `strides` are in elements and ≥ 0; bytes need not be aligned, and hold every element that strides can reach. They outlive
/// the view.
struct TensorView {
    ElementType type = ElementType::float32;
    Shape shape;
    Shape strides;                    ///< row-major unless the file was in Fortran order or dimensions were split or swapped
    bool swapped = false;             ///< the other byte order
    std::span<const std::byte> bytes; ///< of element (0, …, 0) and on

    [[nodiscard]] Index count() const { return element_count(shape); }

    /// The element at one index a dimension, as double (int64 beyond 2^53 rounds). Throws Error(internal) for an index out of
    /// range, Error(data) for a boolean that is neither 0 nor 1.
    [[nodiscard]] double at(std::span<const Index> index) const;
};

/// Strides of a tensor whose last (row-major) or first (Fortran order) dimension varies fastest; all 0 when there is no
/// element.
[[nodiscard]] Shape row_major_strides(const Shape& shape);
[[nodiscard]] Shape column_major_strides(const Shape& shape);

/// Row-major view of exactly as many bytes as the shape needs; throws Error(internal) for another number.
[[nodiscard]] TensorView row_major_view(ElementType type, Shape shape, std::span<const std::byte> bytes);

/// The same leading dimensions, and of the rows (the last dimension but one) `count` from `first` on. Throws Error(internal)
/// for rows that are not there.
[[nodiscard]] TensorView row_block(const TensorView& view, Index first, Index count);

/// The part of `view` at `leading` indices of its first dimensions. Throws Error(internal) for one out of range.
[[nodiscard]] TensorView slice(const TensorView& view, std::span<const Index> leading);

/// A matrix in the bytes of a view, converted to MatrixView without a copy.
template <typename Scalar>
using StridedMatrix = Eigen::Map<const Matrix<Scalar>, Eigen::Unaligned, Eigen::OuterStride<>>;

/// The matrix that the last two dimensions form at `leading` indices (a vector is one row), when the bytes can serve as one
/// without a copy: Scalar (float or double) itself, native byte order, aligned, every row without gaps.
template <typename Scalar>
[[nodiscard]] std::optional<StridedMatrix<Scalar>> matrix_in_place(const TensorView& view, std::span<const Index> leading);
/// The same matrix converted to Scalar (float or double), whatever the bytes are. Fast for rows that are contiguous. Throws
/// Error(data) for a boolean that is neither 0 nor 1.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> load_matrix(const TensorView& view, std::span<const Index> leading);
/// The whole tensor, converted, row-major. Scalar is float, double, or std::int64_t for views of int64 and boolean alone
/// (others throw Error(data)).
template <typename Scalar>
[[nodiscard]] Tensor<Scalar> load(const TensorView& view);

/// Numbers of a tensor on their way to `place`, where its view will find them. What is refused on the way takes no memory.
struct Arriving {
    const std::byte* place = nullptr;
    std::span<const std::byte> bytes = {}; ///< of whole elements

    /// Whether all of the view is where it belongs, and may be read.
    [[nodiscard]] bool holds(const TensorView& view) const
    {
        return bytes.data() == place && view.bytes.data() == place && view.bytes.size() <= bytes.size();
    }
};

/// What every number may have to be.
enum class NumberRule {
    finite,
    finite_or_masked, ///< or -inf
    within_float32,   ///< where it is finite
    exact_in_float32, ///< where it is an integer of int32 or int64
    exact_in_float64,
    zero_or_one,
};

/// A number that breaks a rule.
struct Breach {
    Shape index;
    double value = 0;         ///< rounded where it is an integer beyond 2^53
    std::int64_t integer = 0; ///< of a view of integers
};

/// The first in row-major order; of those that arrive, the first in memory, and nothing of what lies outside of the view.
[[nodiscard]] std::optional<Breach> first_breach(const TensorView& view, NumberRule rule, const Arriving* arriving = nullptr);

/// Throws Error(data) naming `what` and the first index that is NaN or infinite; with `or_masked` -inf counts as a finite
/// number. `way_out` is the option that accepts any number, where there is one.
void require_finite(const TensorView& view, std::string_view what, bool or_masked = false, std::string_view way_out = {},
                    const Arriving* arriving = nullptr);

/// Of bytes of bool: throws Error(data) naming `what` and the first index that is neither 0 nor 1.
void require_truths(const TensorView& view, std::string_view what, const Arriving* arriving = nullptr);

/// Throws Error(data) naming `what` and the type when it is bool or an integer.
void require_floating(const TensorView& view, std::string_view what);

/// The largest |x| of a floating-point view; infinite or NaN if one of its elements is. 0 without elements.
[[nodiscard]] double largest_magnitude(const TensorView& view);
/// The largest element; NaN if one is. -inf without elements.
[[nodiscard]] double largest(const TensorView& view);

// Tensors with names, as they come from files and go to files.

/// Sees numbers before those of any tensor take much memory: what is there as a whole, everything else piece by piece. Throws
/// what refuses them.
using NumberJudge = std::function<void(const Arriving&)>;

/// How numbers come to where a view points, or are checked there.
struct Unread {
    std::function<void()> read; ///< brings them, once; from whichever thread
    /// Shows all of them to a judge and brings none, if they are not there; only of those that take far more than their file.
    std::function<void(const NumberJudge&)> show = {};
};

/// What every reader of files gives and every writer of them takes: its bytes belong to another (a mapped file, a result), or
/// `owner`'s. Small: a file may hold a hundred thousand.
struct NamedTensor {
    std::string name; ///< UTF-8; "" where a file holds one without a name
    TensorView view;
    std::shared_ptr<const Unread> unread = {}; ///< empty: the numbers are there
    std::shared_ptr<const void> owner = {};    ///< of the view's bytes, where they go when the last copy goes

    [[nodiscard]] bool is_squeezed() const { return unread && unread->show; } ///< it takes far more than its file
    /// Bytes of memory that its numbers take once they are inflated; 0 where they are in a file, or were there from the start.
    [[nodiscard]] Index inflated() const { return unread && owner ? std::ssize(view.bytes) : 0; }
    /// For a caller that has checked type and shape and reads the numbers next. Throws Error(data) for damaged data, each time.
    void read_numbers(const NumberJudge& judge = {}) const;
};

/// The same of several. Where some of them take much memory, `judge` sees all numbers of all before; otherwise it sees none.
void read_numbers(std::span<const NamedTensor* const> tensors, const NumberJudge& judge = {});

/// A tensor that is being made: its type, shape and row-major little-endian bytes.
struct StoredTensor {
    std::string name;
    ElementType type = ElementType::float32;
    Shape shape;
    std::vector<std::byte> bytes;

    StoredTensor() = default;
    /// Zeros. Throws Error(too_large) for what cannot be addressed.
    StoredTensor(std::string tensor_name, ElementType element, Shape dims);

    [[nodiscard]] TensorView view() const { return row_major_view(type, shape, bytes); }
};

/// The same, which owns its bytes from now on.
[[nodiscard]] NamedTensor owned(StoredTensor tensor);
template <typename Scalar>
[[nodiscard]] NamedTensor owned(const std::string& name, Tensor<Scalar> tensor);

/// Writes `values`, each rounded once to the tensor's type, from flat position `first` on.
template <typename Scalar>
void store(StoredTensor& tensor, Index first, std::span<const Scalar> values);

} // namespace attn
