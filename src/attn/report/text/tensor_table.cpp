#include "attn/report/text/tensor_table.hpp"

#include "attn/report/text/display.hpp"
#include "attn/report/text/grid.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace attn::report {
namespace {

std::vector<std::string> positions(Index count)
{
    std::vector<std::string> names;
    for (Index i = 0; i < count; ++i) {
        names.push_back(std::to_string(i));
    }
    return names;
}

/// "context, batch 0, head 1 (6, 4)"
std::vector<std::string> title_of(const TensorTable& options, const Shape& leading, const Shape& shape)
{
    std::vector<std::string> parts{std::string(options.name)};
    for (std::size_t d = 0; d < leading.size(); ++d) {
        parts.back() += ',';
        parts.push_back(fmt::format("{} {}", d + 1 == leading.size() ? "head" : "batch", leading[d]));
    }
    parts.push_back(to_string(shape));
    return parts;
}

template <typename Scalar>
void write_matrix(const TensorView& tensor, const Shape& leading, const TensorTable& options, Buffer& buffer)
{
    const Matrix<Scalar> matrix = load_matrix<Scalar>(tensor, leading);
    const bool vector = tensor.shape.size() < 2;
    GridStyle style;
    style.column_labels = positions(matrix.cols());
    if (!vector) {
        style.row_labels = positions(matrix.rows());
    }
    style.numbered_rows = true;
    style.sums = options.sums;
    style.masked = options.masked;
    style.width = options.width;
    write_title(buffer, title_of(options, leading, vector ? Shape{matrix.cols()} : Shape{matrix.rows(), matrix.cols()}),
                options.width);
    write_grid(buffer, std::span<const Scalar>(matrix.data(), static_cast<std::size_t>(matrix.size())), style);
}

} // namespace

void write_tensor_table(const TensorView& tensor, const TensorTable& options, Buffer& buffer)
{
    const std::size_t outer = tensor.shape.size() - std::min<std::size_t>(tensor.shape.size(), 2);
    const Shape leading(tensor.shape.begin(), tensor.shape.begin() + static_cast<std::ptrdiff_t>(outer));
    const Index matrices = element_count(leading);
    for (Index i = 0; i < matrices; ++i) {
        buffer.append(i == 0 ? "" : "\n");
        const Shape at = index_of(leading, i);
        if (tensor.type == ElementType::float64) {
            write_matrix<double>(tensor, at, options, buffer);
        } else {
            write_matrix<float>(tensor, at, options, buffer);
        }
    }
}

} // namespace attn::report
