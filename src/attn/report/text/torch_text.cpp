#include "attn/report/text/torch_text.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/text/display.hpp"
#include "attn/report/text/notation.hpp"
#include "attn/tensor/tensor.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace attn::report {
namespace {

constexpr std::string_view beginning = "tensor(";
constexpr Index line_width = 80;
constexpr Index most_in_full = 1000; ///< elements; more are summarised
constexpr Index at_an_edge = 3;      ///< of a summary, along each dimension

/// How each number of a tensor is written.
struct NumberFormat {
    Notation notation = Notation::fixed;
    bool whole = true; ///< "1." in fixed notation
    int digits = 0;
    Index width = 1;

    [[nodiscard]] std::string unpadded(double value) const
    {
        if (std::isnan(value)) {
            return "nan"; // whatever its sign
        }
        if (notation == Notation::fixed && whole) {
            return math::fixed(value, 0) + (std::isfinite(value) ? "." : "");
        }
        return text_of(value, notation, digits);
    }
    [[nodiscard]] std::string text(double value) const { return aligned_right(unpadded(value), width); }
};

/// Zeros and what is not finite have no say, not even in the width.
NumberFormat format_of(const std::vector<double>& numbers, int digits)
{
    std::vector<double> counting;
    std::ranges::copy_if(numbers, std::back_inserter(counting), [](double x) { return std::isfinite(x) && x != 0; });
    NumberFormat format;
    format.notation = notation_of_row(std::span<const double>(counting));
    format.whole = std::ranges::all_of(counting, [](double value) { return value == std::floor(value); });
    format.digits = digits;
    format.width =
        std::max<Index>(format.width, widest(counting, [&](double value) { return std::ssize(format.unpadded(value)); }));
    return format;
}

/// A flat position, or nothing in place of those that a summary leaves out.
using Place = std::optional<Index>;

template <typename Scalar>
class TorchText {
public:
    TorchText(std::span<const Scalar> values, const Shape& shape, int digits)
        : values_(values), shape_(shape), summarised_(std::ssize(values) > most_in_full)
    {
        std::vector<double> written;
        gather(written, 0, 0);
        format_ = format_of(written, digits);
    }

    /// Of the part from flat position `first` on that dimension `depth` and those behind it span, its bracket in column
    /// `indent`.
    [[nodiscard]] std::string text(std::size_t depth, Index first, Index indent) const
    {
        const std::size_t left = shape_.size() - depth;
        if (left == 0) {
            return format_.text(number(first));
        }
        if (left == 1) {
            return vector(first, indent);
        }
        const std::string separator = "," + std::string(left - 1, '\n') + blanks(indent + 1);
        std::string parts;
        for (const Place& place : places(depth, first)) {
            parts += (parts.empty() ? "" : separator) + (place ? text(depth + 1, *place, indent + 1) : "...");
        }
        return "[" + parts + "]";
    }

private:
    [[nodiscard]] double number(Index place) const { return static_cast<double>(values_[static_cast<std::size_t>(place)]); }

    /// Where the parts along a dimension begin.
    [[nodiscard]] std::vector<Place> places(std::size_t depth, Index first) const
    {
        const Index length = shape_[depth];
        const Index step = element_count({shape_.begin() + static_cast<std::ptrdiff_t>(depth) + 1, shape_.end()});
        const bool shortened = summarised_ && length > 2 * at_an_edge;
        std::vector<Place> places;
        for (Index i = 0; i < length; ++i) {
            if (shortened && i == at_an_edge) {
                places.emplace_back();
                i = length - at_an_edge;
            }
            places.emplace_back(first + i * step);
        }
        return places;
    }

    /// The numbers that are written.
    void gather(std::vector<double>& written, std::size_t depth, Index first) const
    {
        if (depth == shape_.size()) {
            written.push_back(number(first));
            return;
        }
        for (const Place& place : places(depth, first)) {
            if (place) {
                gather(written, depth + 1, *place);
            }
        }
    }

    [[nodiscard]] std::string vector(Index first, Index indent) const
    {
        constexpr std::string_view separator = ", ";
        const Index per_line = std::max<Index>(1, (line_width - indent) / (format_.width + std::ssize(separator)));
        std::string text = "[";
        Index in_line = 0;
        for (const Place& place : places(shape_.size() - 1, first)) {
            if (in_line == per_line) {
                text += ",\n" + blanks(indent + 1);
                in_line = 0;
            }
            text += in_line == 0 ? "" : separator;
            text += place ? format_.text(number(*place)) : " ...";
            ++in_line;
        }
        return text + "]";
    }

    std::span<const Scalar> values_;
    const Shape& shape_;
    bool summarised_;
    NumberFormat format_;
};

/// On the last line of `text`, or on one of its own where it would reach too far. PyTorch counts that line two columns longer
/// than it is.
void add_suffix(std::string& text, const std::string& suffix)
{
    const std::size_t newline = text.rfind('\n');
    const auto last_line = static_cast<Index>(newline == std::string::npos ? text.size() : text.size() - newline - 1) + 2;
    const bool fits = last_line + std::ssize(suffix) + 2 <= line_width;
    text += (fits ? ", " : ",\n" + std::string(beginning.size(), ' ')) + suffix;
}

} // namespace

template <typename Scalar>
std::string torch_text(std::span<const Scalar> values, const Shape& shape, int digits)
{
    std::string text(beginning);
    if (values.empty()) {
        text += "[]";
        if (shape.size() != 1) {
            add_suffix(text, "size=" + to_string(shape));
        }
    } else {
        text += TorchText<Scalar>(values, shape, digits).text(0, 0, std::ssize(beginning));
    }
    if (dtype_of<Scalar> != Dtype::float32) {
        add_suffix(text, "dtype=torch." + std::string(name_of(dtype_of<Scalar>)));
    }
    return text + ")";
}

template std::string torch_text(std::span<const float>, const Shape&, int);
template std::string torch_text(std::span<const double>, const Shape&, int);

} // namespace attn::report
