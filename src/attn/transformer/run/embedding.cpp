#include "attn/transformer/run/embedding.hpp"

#include "attn/transformer/layers/positions.hpp"

namespace attn::transformer {

std::vector<Index> position_rows(const EmbeddingPart& part, const std::vector<Index>& ids)
{
    const std::optional<Index>& padding = part.padding;
    std::vector<Index> rows;
    rows.reserve(ids.size());
    Index next = padding ? *padding + 1 : part.first_position;
    for (const Index id : ids) {
        rows.push_back(padding && id == *padding ? *padding : next++);
    }
    return rows;
}

Matrix<float> embed(const Model& model, const EmbeddingPart& part, const std::vector<Index>& ids,
                    const std::vector<Index>& types, Index first)
{
    const std::vector<Index> places = position_rows(part, ids);
    const auto scale = static_cast<float>(part.scale);
    Matrix<float> X(std::ssize(ids) - first, part.size);
    for (auto t = static_cast<std::size_t>(first); t < ids.size(); ++t) {
        RowVector<float> x = row_of(model.table(part.words), ids[t]) * scale;
        if (!part.types.empty()) {
            x += row_of(model.table(part.types), types.empty() ? 0 : types[t]);
        }
        if (!part.positions.empty()) {
            x += row_of(model.table(part.positions), places[t]);
        }
        if (part.sinusoidal) {
            x += sinusoid(places[t], part.size);
        }
        X.row(static_cast<Index>(t) - first) = x;
    }
    if (part.norm) {
        normalise(X, model.norm(*part.norm));
    }
    return X;
}

} // namespace attn::transformer
