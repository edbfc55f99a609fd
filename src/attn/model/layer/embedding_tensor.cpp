#include "attn/model/layer/embedding_tensor.hpp"

#include "attn/model/layer/float32_range.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <utility>

namespace attn::model {
namespace {

constexpr Index most_rows = std::numeric_limits<std::int32_t>::max(); // ids are as large

void require_rows(const EmbeddingTensor& tensor, const RowOf& row_of, std::span<const std::string> words)
{
    for (const std::string& word : words) {
        if (const auto row = row_of(word)) {
            const std::string what = fmt::format("{}, row {}, {},", tensor.name, *row, in_quotes(word));
            const TensorView numbers = row_block(tensor.rows, *row, 1);
            require_exact_integers(numbers, Dtype::float64, what);
            if (!tensor.allow_nonfinite) {
                require_finite(numbers, what);
            }
        }
    }
}

FoundVectors find_rows(const TensorView& rows, const RowOf& row_of, const WantedWords& wanted)
{
    const auto count = static_cast<Index>(wanted.words.size());
    FoundVectors found{.rows = Tensor<double>({count, rows.shape[1]}), .found = std::vector<bool>(wanted.words.size())};
    for (Index i = 0; i < count; ++i) {
        if (const auto row = row_of(wanted.words[static_cast<std::size_t>(i)])) {
            found.rows.matrix().row(i) = load_matrix<double>(row_block(rows, *row, 1), {});
            found.found[static_cast<std::size_t>(i)] = true;
        }
    }
    for (const std::string& word : wanted.noticed) {
        found.noticed.push_back(row_of(word).has_value());
    }
    return found;
}

} // namespace

EmbeddingTensor embedding_tensor(EmbeddingTensor tensor)
{
    require_numbers(tensor.rows, "type of " + tensor.name);
    const Shape& shape = tensor.rows.shape;
    const bool fits =
        shape.size() == 2 && shape[0] >= 1 && shape[0] <= most_rows && shape[1] >= 1 && shape[1] <= largest_vector;
    if (!fits) {
        throw Error(ErrorKind::data, tensor.name, "the shape " + to_string(shape),
                    fmt::format("(rows, D), D up to {}", largest_vector));
    }
    return tensor;
}

VectorsOfIds vectors_of_ids(EmbeddingTensor tensor)
{
    VectorsOfIds vectors{.name = tensor.name,
                         .dim = tensor.rows.shape[1],
                         .count = tensor.rows.shape[0],
                         .rows = {},
                         .integers = is_integer(tensor.rows.type)};
    vectors.rows = [tensor = std::move(tensor)] {
        if (!tensor.allow_nonfinite) {
            require_finite(tensor.rows, tensor.name);
        }
        require_exact_integers(tensor.rows, Dtype::float64, tensor.name);
        return load<double>(tensor.rows);
    };
    return vectors;
}

VectorsOfWords vectors_of_words(EmbeddingTensor tensor, RowOf row_of)
{
    VectorsOfWords vectors{
        .name = tensor.name, .dim = tensor.rows.shape[1], .find = {}, .integers = is_integer(tensor.rows.type)};
    vectors.find = [tensor = std::move(tensor), row_of = std::move(row_of)](const WantedWords& wanted) {
        require_rows(tensor, row_of, wanted.words);
        return find_rows(tensor.rows, row_of, wanted);
    };
    return vectors;
}

} // namespace attn::model
