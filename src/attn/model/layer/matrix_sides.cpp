#include "attn/model/layer/matrix_sides.hpp"

#include <algorithm>

namespace attn::model {

MatrixSizes sizes_of(const Shape& shape, Side side)
{
    const Index rows = shape[shape.size() - 2];
    const Index columns = shape.back();
    const bool left = side == Side::left;
    return {shape.size() == 3 ? shape.front() : 0, left ? rows : columns, left ? columns : rows};
}

Side side_in(MatrixLayout layout, Target matrix)
{
    const bool in_out = layout == MatrixLayout::in_out || (layout == MatrixLayout::run && matrix == Target::W_o);
    return in_out ? Side::right : Side::left;
}

MatrixSides sides_of(const Recipe& config)
{
    const bool file = config.parameters.has_value();
    MatrixSides sides;
    for (const Target matrix : matrices) {
        if (find_draw(config, matrix)) {
            sides[matrix] = side_of(config, matrix);
        } else if (file && config.parameters->layout) {
            sides[matrix] = side_in(*config.parameters->layout, matrix);
        }
    }
    return file && !config.parameters->layout ? MatrixSides() : sides;
}

MatrixLayout layout_of(const MatrixSides& sides)
{
    for (const MatrixLayout layout : {MatrixLayout::out_in, MatrixLayout::run, MatrixLayout::in_out}) {
        if (std::ranges::all_of(sides, [&](const auto& one) { return one.second == side_in(layout, one.first); })) {
            return layout;
        }
    }
    return MatrixLayout::run;
}

std::string text_of(const MatrixSides& sides)
{
    std::string text;
    for (const auto& [matrix, side] : sides) {
        text += side == Side::left ? "" : (text.empty() ? "" : " ") + std::string(name_of(matrix));
    }
    return text;
}

MatrixSides sides_in_text(std::string_view text)
{
    MatrixSides sides;
    for (const Target matrix : matrices) { // no name is part of another one
        sides[matrix] = text.find(name_of(matrix)) == std::string_view::npos ? Side::left : Side::right;
    }
    return sides;
}

} // namespace attn::model
