#include "attn/transformer/run/embedding.hpp"

namespace attn::transformer {

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
