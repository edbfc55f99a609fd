#include "attn/transformer/run/embedding.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace attn::transformer {
namespace {

/// Row `row` of a table, float32.
RowVector<float> row_of(const TensorView& table, Index row)
{
    return load_matrix<float>(row_block(table, row, 1), {});
}

} // namespace

void require_tokens(const Architecture& architecture, const std::vector<Index>& ids, const std::vector<Index>& types)
{
    const auto T = static_cast<Index>(ids.size());
    if (T < 1 || T > architecture.most_tokens) {
        throw Error(ErrorKind::data, "tokens", std::to_string(T),
                    fmt::format("1 to {}, for which this model has positions", architecture.most_tokens));
    }
    if (!types.empty() && types.size() != ids.size()) {
        throw Error(ErrorKind::data, "type ids", std::to_string(types.size()),
                    fmt::format("{}, one for each token, or none", T));
    }
}

void require_rows(const EmbeddingPart& part, const std::vector<Index>& ids, const std::vector<Index>& types)
{
    const auto require_row = [](const char* thing, Index row, Index rows) {
        if (row < 0 || row >= rows) {
            throw Error(ErrorKind::data, thing, std::to_string(row), fmt::format("0 to {}, the rows of its table", rows - 1));
        }
    };
    for (std::size_t t = 0; t < ids.size(); ++t) {
        require_row("token id", ids[t], part.V);
        require_row("type id", types.empty() ? 0 : types[t], part.types.empty() ? 1 : part.type_rows);
    }
}

std::vector<Index> position_rows(const std::vector<Index>& ids, std::optional<Index> padding)
{
    std::vector<Index> rows;
    rows.reserve(ids.size());
    Index next = padding ? *padding + 1 : 0;
    for (const Index id : ids) {
        rows.push_back(padding && id == *padding ? *padding : next++);
    }
    return rows;
}

Matrix<float> embed(const Model& model, const std::vector<Index>& ids, const std::vector<Index>& types)
{
    const EmbeddingPart& part = model.architecture().embedding;
    const std::vector<Index> places = position_rows(ids, part.padding);
    const auto scale = static_cast<float>(part.scale);
    Matrix<float> X(static_cast<Index>(ids.size()), part.size);
    for (std::size_t t = 0; t < ids.size(); ++t) {
        RowVector<float> x = row_of(model.table(part.words), ids[t]) * scale;
        if (!part.types.empty()) {
            x += row_of(model.table(part.types), types.empty() ? 0 : types[t]);
        }
        if (!part.positions.empty()) {
            x += row_of(model.table(part.positions), places[t]);
        }
        X.row(static_cast<Index>(t)) = x;
    }
    if (part.norm) {
        normalise(X, model.norm(*part.norm));
    }
    return X;
}

} // namespace attn::transformer
