#include "attn/tensor/view.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

namespace attn {
namespace {

template <typename Value>
Value value_at(const std::byte* at, bool swapped)
{
    std::array<std::byte, sizeof(Value)> bytes{};
    std::memcpy(bytes.data(), at, sizeof(Value));
    if (swapped) {
        std::ranges::reverse(bytes);
    }
    return std::bit_cast<Value>(bytes);
}

std::int64_t boolean_at(const std::byte* at)
{
    const auto value = std::to_integer<int>(*at);
    if (value > 1) {
        throw Error(ErrorKind::data, "element of a bool tensor", std::to_string(value), "0 or 1");
    }
    return value;
}

/// Calls `use` with a function that reads one element of the view's type.
template <typename Use>
decltype(auto) with_reader(const TensorView& view, Use use)
{
    const auto reads = [swapped = view.swapped]<typename Stored>(Stored) {
        return [swapped](const std::byte* at) { return value_at<Stored>(at, swapped); };
    };
    switch (view.type) {
    case ElementType::float16:
        return use([bits = reads(std::uint16_t{})](const std::byte* at) { return from_float16(bits(at)); });
    case ElementType::bfloat16:
        return use([bits = reads(std::uint16_t{})](const std::byte* at) { return from_bfloat16(bits(at)); });
    case ElementType::float32: return use(reads(float{}));
    case ElementType::float64: return use(reads(double{}));
    case ElementType::boolean: return use(boolean_at);
    case ElementType::uint8: return use(reads(std::uint8_t{}));
    case ElementType::int32: return use(reads(std::int32_t{}));
    case ElementType::int64: break;
    }
    return use(reads(std::int64_t{}));
}

/// The rows of a view: its last dimension, at every index of the others. A single element is one row.
struct Rows {
    Index length;
    Index step; ///< bytes from one element to the next
};

Rows rows_of(const TensorView& view)
{
    const Index size = size_of(view.type);
    return view.shape.empty() ? Rows{1, size} : Rows{view.shape.back(), view.strides.back() * size};
}

/// Calls `each(index, bytes of the first element)` for every row, in row-major order; `index` is that of the leading
/// dimensions.
template <typename Each>
void for_each_row(const TensorView& view, Each each)
{
    if (view.count() == 0) {
        return;
    }
    const Index size = size_of(view.type);
    const std::size_t leading = view.shape.empty() ? 0 : view.shape.size() - 1;
    Shape index(leading, 0);
    Index offset = 0;
    for (;;) {
        each(index, view.bytes.data() + offset * size);
        std::size_t d = leading;
        while (d > 0 && ++index[d - 1] == view.shape[d - 1]) {
            offset -= (view.shape[d - 1] - 1) * view.strides[d - 1];
            index[--d] = 0;
        }
        if (d == 0) {
            return;
        }
        offset += view.strides[d - 1];
    }
}

template <typename Scalar>
constexpr bool stores(ElementType type)
{
    return (std::is_same_v<Scalar, float> && type == ElementType::float32) ||
           (std::is_same_v<Scalar, double> && type == ElementType::float64) ||
           (std::is_same_v<Scalar, std::int64_t> && type == ElementType::int64);
}

/// All elements in row-major order to `out`.
template <typename Scalar>
void copy(const TensorView& view, Scalar* out)
{
    const Rows rows = rows_of(view);
    if (stores<Scalar>(view.type) && !view.swapped && rows.step == static_cast<Index>(sizeof(Scalar))) {
        for_each_row(view, [&](const Shape&, const std::byte* at) {
            std::memcpy(out, at, static_cast<std::size_t>(rows.length) * sizeof(Scalar));
            out += rows.length;
        });
        return;
    }
    with_reader(view, [&](auto read) {
        using Stored = decltype(read(nullptr));
        if constexpr (std::is_integral_v<Scalar> && !std::is_integral_v<Stored>) {
            throw Error(ErrorKind::data, "element type", std::string(name_of(view.type)), "uint8, int32, int64, bool");
        } else {
            for_each_row(view, [&](const Shape&, const std::byte* at) {
                for (Index i = 0; i < rows.length; ++i) {
                    out[i] = static_cast<Scalar>(read(at + i * rows.step));
                }
                out += rows.length;
            });
        }
    });
}

struct Sides {
    Index rows;
    Index columns;
};

/// Of at most two dimensions; a vector is one row.
Sides sides_of(std::span<const Index> matrix)
{
    if (matrix.size() > 2) {
        throw Error(ErrorKind::internal, "shape of a matrix", to_string(Shape(matrix.begin(), matrix.end())),
                    "at most two dimensions");
    }
    return {matrix.size() < 2 ? 1 : matrix.front(), matrix.empty() ? 1 : matrix.back()};
}

/// Throws Error(internal) unless `index` names an element, or a part, of the view.
void require_within(const TensorView& view, std::span<const Index> index)
{
    bool within = index.size() <= view.shape.size();
    for (std::size_t d = 0; within && d < index.size(); ++d) {
        within = index[d] >= 0 && index[d] < view.shape[d];
    }
    if (!within) {
        throw Error(ErrorKind::internal, "index", to_string(Shape(index.begin(), index.end())),
                    "below the shape " + to_string(view.shape));
    }
}

/// From the element at `leading` and zeros.
std::span<const std::byte> bytes_from(const TensorView& view, std::span<const Index> leading)
{
    require_within(view, leading);
    const Index offset = std::inner_product(leading.begin(), leading.end(), view.strides.begin(), Index{0});
    return view.bytes.subspan(static_cast<std::size_t>(offset * size_of(view.type)));
}

template <typename Float>
bool holds(std::int64_t integer)
{
    constexpr double beyond = 0x1p63;
    const auto held = static_cast<double>(static_cast<Float>(integer));
    return held < beyond && static_cast<std::int64_t>(held) == integer;
}

/// Calls `use` with a function that says whether a number keeps the rule.
template <typename Use>
decltype(auto) with_rule(NumberRule rule, Use use)
{
    const auto of_floats = [&](auto keeps) {
        return use([keeps]<typename Value>(Value value) {
            if constexpr (std::is_floating_point_v<Value>) {
                return keeps(value, std::numeric_limits<Value>());
            } else {
                return true;
            }
        });
    };
    const auto of_integers = [&](auto keeps) {
        return use([keeps]<typename Value>(Value value) { return std::is_floating_point_v<Value> || keeps(value); });
    };
    constexpr double least_beyond = 0x1.ffffffp127; // what is smaller rounds to a number of float32
    // Comparisons are false for NaN.
    switch (rule) {
    case NumberRule::finite: return of_floats([](auto x, auto type) { return x >= type.lowest() && x <= type.max(); });
    case NumberRule::finite_or_masked:
        return of_floats([](auto x, auto type) { return x >= -type.infinity() && x <= type.max(); });
    case NumberRule::within_float32:
        return of_floats([=](auto x, auto) {
            const double size = std::abs(static_cast<double>(x));
            return !(size >= least_beyond && size <= std::numeric_limits<double>::max());
        });
    case NumberRule::exact_in_float32: return of_integers([](auto x) { return holds<float>(static_cast<std::int64_t>(x)); });
    case NumberRule::exact_in_float64: return of_integers([](auto x) { return holds<double>(static_cast<std::int64_t>(x)); });
    case NumberRule::zero_or_one: break;
    }
    return use([](auto x) { return x == decltype(x){0} || x == decltype(x){1}; });
}

template <typename Value>
Breach breach_at(Shape index, Value value)
{
    Breach breach{std::move(index), static_cast<double>(value)};
    if constexpr (std::is_integral_v<Value>) {
        breach.integer = static_cast<std::int64_t>(value);
    }
    return breach;
}

template <typename Read, typename Keeps>
std::optional<Breach> breach_in(const TensorView& view, Read read, Keeps keeps)
{
    const Rows rows = rows_of(view);
    std::optional<Breach> found;
    for_each_row(view, [&](const Shape& leading, const std::byte* at) {
        if (found) {
            return;
        }
        bool all_keep = true; // without an early end, so that it is fast where nothing is wrong
        for (Index i = 0; i < rows.length; ++i) {
            all_keep &= keeps(read(at + i * rows.step));
        }
        for (Index i = 0; !all_keep && !found && i < rows.length; ++i) {
            if (const auto value = read(at + i * rows.step); !keeps(value)) {
                Shape index = leading;
                index.insert(index.end(), view.shape.empty() ? 0 : 1, i); // a single element has no index
                found = breach_at(std::move(index), value);
            }
        }
    });
    return found;
}

/// From the first element to behind the last, in elements.
Index extent_of(const TensorView& view)
{
    Index extent = view.count() == 0 ? 0 : 1;
    for (std::size_t d = 0; extent > 0 && d < view.shape.size(); ++d) {
        extent += (view.shape[d] - 1) * view.strides[d];
    }
    return extent;
}

/// From places in memory, in elements from the first, to indices.
class IndexOfPlace {
public:
    explicit IndexOfPlace(const TensorView& view) : view_(view), index_(view.shape.size()), order_(view.shape.size())
    {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::ranges::sort(order_, std::greater(), [&](std::size_t d) { return view.strides[d]; });
    }

    /// nullptr where no element of the view lies.
    const Shape* at(Index place)
    {
        for (const std::size_t d : order_) {
            index_[d] = view_.shape[d] > 1 && view_.strides[d] > 0 ? place / view_.strides[d] : 0;
            place -= index_[d] * view_.strides[d];
            if (index_[d] >= view_.shape[d]) {
                return nullptr;
            }
        }
        return place == 0 ? &index_ : nullptr;
    }

private:
    const TensorView& view_;
    Shape index_;
    std::vector<std::size_t> order_; ///< of the dimensions, the widest step first
};

template <typename Read, typename Keeps>
std::optional<Breach> breach_among(const Arriving& arriving, const TensorView& view, Read read, Keeps keeps)
{
    const auto address = [](const std::byte* at) { return static_cast<Index>(reinterpret_cast<std::uintptr_t>(at)); };
    const Index size = size_of(view.type);
    const Index count = std::ssize(arriving.bytes) / size;
    const Index first = (address(arriving.place) - address(view.bytes.data())) / size;
    if (first >= extent_of(view) || first + count <= 0) { // it is another's
        return std::nullopt;
    }
    bool all_keep = true;
    const std::byte* const bytes = arriving.bytes.data();
    for (Index i = 0; i < count; ++i) {
        all_keep &= keeps(read(bytes + i * size));
    }
    if (all_keep) {
        return std::nullopt;
    }
    IndexOfPlace index_of_place(view);
    for (Index i = std::max<Index>(0, -first); i < count; ++i) {
        if (const auto value = read(bytes + i * size); !keeps(value)) {
            if (const Shape* const index = index_of_place.at(first + i)) {
                return breach_at(*index, value);
            }
        }
    }
    return std::nullopt;
}

/// The largest of `least` and what `of` gives for the elements; NaN if one is.
template <typename Of>
double largest_of(const TensorView& view, double least, Of of)
{
    const Rows rows = rows_of(view);
    with_reader(view, [&](auto read) {
        for_each_row(view, [&](const Shape&, const std::byte* at) {
            for (Index i = 0; i < rows.length; ++i) {
                const double value = of(static_cast<double>(read(at + i * rows.step)));
                least = value <= least || std::isnan(least) ? least : value; // takes NaN, and keeps it
            }
        });
    });
    return least;
}

} // namespace

double TensorView::at(std::span<const Index> index) const
{
    if (index.size() != shape.size()) {
        throw Error(ErrorKind::internal, "index", to_string(Shape(index.begin(), index.end())),
                    "one for each dimension of " + to_string(shape));
    }
    const TensorView element = slice(*this, index);
    return with_reader(element, [&](auto read) { return static_cast<double>(read(element.bytes.data())); });
}

Shape row_major_strides(const Shape& shape)
{
    Index stride = element_count(shape) == 0 ? 0 : 1;
    Shape strides(shape.size());
    for (std::size_t d = shape.size(); d-- > 0;) {
        strides[d] = stride;
        stride *= shape[d];
    }
    return strides;
}

Shape column_major_strides(const Shape& shape)
{
    Shape strides = row_major_strides({shape.rbegin(), shape.rend()});
    std::ranges::reverse(strides);
    return strides;
}

TensorView row_major_view(ElementType type, Shape shape, std::span<const std::byte> bytes)
{
    const Index needed = checked_product(element_count(shape), size_of(type), "bytes of a tensor");
    if (needed != static_cast<Index>(bytes.size())) {
        throw Error(ErrorKind::internal, "bytes of a tensor", std::to_string(bytes.size()), std::to_string(needed));
    }
    Shape strides = row_major_strides(shape);
    return {type, std::move(shape), std::move(strides), false, bytes};
}

TensorView slice(const TensorView& view, std::span<const Index> leading)
{
    const std::span<const std::byte> bytes = bytes_from(view, leading);
    const auto dropped = std::ssize(leading);
    return {view.type, Shape(view.shape.begin() + dropped, view.shape.end()),
            Shape(view.strides.begin() + dropped, view.strides.end()), view.swapped, bytes};
}

TensorView row_block(const TensorView& view, Index first, Index count)
{
    const std::size_t rows = view.shape.size() - 2;
    if (view.shape.size() < 2 || first < 0 || count < 0 || first + count > view.shape[rows]) {
        throw Error(ErrorKind::internal, "row_block", fmt::format("{} rows from {}", count, first),
                    "rows of " + to_string(view.shape));
    }
    TensorView block = view;
    block.shape[rows] = count;
    block.bytes =
        view.bytes.subspan(static_cast<std::size_t>(count == 0 ? 0 : first * view.strides[rows] * size_of(view.type)));
    return block;
}

template <typename Scalar>
std::optional<StridedMatrix<Scalar>> matrix_in_place(const TensorView& view, std::span<const Index> leading)
{
    const std::span<const std::byte> bytes = bytes_from(view, leading);
    const Sides sides = sides_of(std::span(view.shape).subspan(leading.size()));
    const Index outer = sides.rows > 1 ? view.strides[leading.size()] : sides.columns;
    const bool gapless = sides.columns <= 1 || view.strides.back() == 1;
    const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Scalar) == 0;
    if (!stores<Scalar>(view.type) || view.swapped || !aligned || !gapless || outer < sides.columns) {
        return std::nullopt;
    }
    const auto* front = reinterpret_cast<const Scalar*>(bytes.data());
    return StridedMatrix<Scalar>(front, sides.rows, sides.columns, Eigen::OuterStride<>(outer));
}

template <typename Scalar>
Matrix<Scalar> load_matrix(const TensorView& view, std::span<const Index> leading)
{
    const TensorView matrix = slice(view, leading);
    const Sides sides = sides_of(matrix.shape);
    Matrix<Scalar> loaded(sides.rows, sides.columns);
    copy(matrix, loaded.data());
    return loaded;
}

template <typename Scalar>
Tensor<Scalar> load(const TensorView& view)
{
    Tensor<Scalar> loaded(view.shape);
    copy(view, loaded.values.data());
    return loaded;
}

void require_floating(const TensorView& view, std::string_view what)
{
    if (view.type == ElementType::boolean || is_integer(view.type)) {
        throw Error(ErrorKind::data, what, name_of(view.type), "float16, bfloat16, float32, float64");
    }
}

std::optional<Breach> first_breach(const TensorView& view, NumberRule rule, const Arriving* arriving)
{
    if (view.type == ElementType::boolean) { // any byte may be judged
        TensorView bytes = view;
        bytes.type = ElementType::uint8;
        return first_breach(bytes, rule, arriving);
    }
    return with_reader(view, [&](auto read) {
        return with_rule(rule, [&](auto keeps) {
            return arriving == nullptr ? breach_in(view, read, keeps) : breach_among(*arriving, view, read, keeps);
        });
    });
}

void require_finite(const TensorView& view, std::string_view what, bool or_masked, std::string_view way_out,
                    const Arriving* arriving)
{
    const NumberRule rule = or_masked ? NumberRule::finite_or_masked : NumberRule::finite;
    if (const std::optional<Breach> breach = first_breach(view, rule, arriving)) {
        throw Error(ErrorKind::data, fmt::format("{} at {}", what, to_string(breach->index)),
                    std::isnan(breach->value) ? "nan"
                    : breach->value < 0       ? "-inf"
                                              : "inf",
                    fmt::format("finite numbers{}{}", or_masked ? ", or -inf" : "",
                                way_out.empty() ? "" : fmt::format(", or any with {}", way_out)));
    }
}

void require_truths(const TensorView& view, std::string_view what, const Arriving* arriving)
{
    if (const std::optional<Breach> breach = first_breach(view, NumberRule::zero_or_one, arriving)) {
        throw Error(ErrorKind::data, fmt::format("{} at {}", what, to_string(breach->index)), std::to_string(breach->integer),
                    "0 or 1 in a bool tensor");
    }
}

double largest_magnitude(const TensorView& view)
{
    return largest_of(view, 0, [](double value) { return std::abs(value); });
}

double largest(const TensorView& view)
{
    return largest_of(view, -std::numeric_limits<double>::infinity(), [](double value) { return value; });
}

template std::optional<StridedMatrix<float>> matrix_in_place(const TensorView&, std::span<const Index>);
template std::optional<StridedMatrix<double>> matrix_in_place(const TensorView&, std::span<const Index>);
template Matrix<float> load_matrix(const TensorView&, std::span<const Index>);
template Matrix<double> load_matrix(const TensorView&, std::span<const Index>);
template Tensor<float> load(const TensorView&);
template Tensor<double> load(const TensorView&);
template Tensor<std::int64_t> load(const TensorView&);

// ---- tensors with names ----------------------------------------------------------------------------------------------------

void NamedTensor::read_numbers(const NumberJudge& judge) const
{
    attn::read_numbers(std::array{this}, judge);
}

void read_numbers(std::span<const NamedTensor* const> tensors, const NumberJudge& judge)
{
    constexpr std::size_t much = std::size_t{32} << 20U; // half of what refused input may take
    std::size_t shown = 0;
    for (const NamedTensor* tensor : tensors) {
        shown += tensor->is_squeezed() ? tensor->view.bytes.size() : 0;
    }
    const auto read_all = [&](bool large) {
        for (const NamedTensor* tensor : tensors) {
            if (tensor->unread && large == tensor->is_squeezed()) {
                tensor->unread->read();
            }
        }
    };
    read_all(false);
    for (const NamedTensor* tensor : tensors) {
        if (shown > much && tensor->is_squeezed()) {
            tensor->unread->show(judge);
        } else if (shown > much && judge) {
            judge({tensor->view.bytes.data(), tensor->view.bytes});
        }
    }
    read_all(true);
}

StoredTensor::StoredTensor(std::string tensor_name, ElementType element, Shape dims)
    : name(std::move(tensor_name)), type(element), shape(std::move(dims)),
      bytes(static_cast<std::size_t>(checked_product(element_count(shape), size_of(type), "bytes of a tensor")))
{
}

NamedTensor owned(StoredTensor tensor)
{
    const auto owner = std::make_shared<const StoredTensor>(std::move(tensor));
    return {.name = owner->name, .view = owner->view(), .owner = owner};
}

template <typename Scalar>
NamedTensor owned(const std::string& name, Tensor<Scalar> tensor)
{
    const auto owner = std::make_shared<const Tensor<Scalar>>(std::move(tensor));
    const auto bytes = std::as_bytes(std::span(owner->values));
    return {.name = name, .view = row_major_view(element_type_of<Scalar>, owner->shape, bytes), .owner = owner};
}

template NamedTensor owned(const std::string& name, Tensor<float> tensor);
template NamedTensor owned(const std::string& name, Tensor<double> tensor);

template <typename Scalar>
void store(StoredTensor& tensor, Index first, std::span<const Scalar> values)
{
    const Index size = size_of(tensor.type);
    if (first < 0 || (first + static_cast<Index>(values.size())) * size > static_cast<Index>(tensor.bytes.size())) {
        throw Error(ErrorKind::internal, "store", fmt::format("{} values at {}", values.size(), first),
                    "within " + to_string(tensor.shape));
    }
    require_floating(tensor.view(), "store");
    to_bytes(tensor.type, values, tensor.bytes.data() + first * size);
}

template void store(StoredTensor&, Index, std::span<const float>);
template void store(StoredTensor&, Index, std::span<const double>);

} // namespace attn
