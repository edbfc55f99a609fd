// On which side of the words the matrices of a layer lie, and which order in a file that is.
#pragma once

#include "attn/model/recipe/recipe.hpp"

#include <map>

namespace attn::model {

inline constexpr std::array matrices{Target::W_q, Target::W_k, Target::W_v, Target::W_o, Target::W_a, Target::U_a};

/// What the shape of a matrix says.
struct MatrixSizes {
    Index stack = 0; ///< heads, when each has a matrix of its own; 0: one matrix of all
    Index out = 0;   ///< of a head of the stack, or of all heads together
    Index in = 0;
};
/// (rows, columns), or (stack, rows, columns).
[[nodiscard]] MatrixSizes sizes_of(const Shape& shape, Side side);

[[nodiscard]] Side side_in(MatrixLayout layout, Target matrix);

/// Of some of them.
using MatrixSides = std::map<Target, Side>;

/// Of a result with this config: what its draws or the order of its file say. Nothing where that order has no name.
[[nodiscard]] MatrixSides sides_of(const Recipe& config);

/// The order that these sides have; `run` where none of them all.
[[nodiscard]] MatrixLayout layout_of(const MatrixSides& sides);

/// Sides as a text of Metadata: its name, and the matrices from the right, "W_q W_k". Others are from the left.
inline constexpr std::string_view right_matrices = "right";
[[nodiscard]] std::string text_of(const MatrixSides& sides);
[[nodiscard]] MatrixSides sides_in_text(std::string_view text);

} // namespace attn::model
