// The sizes of one run: what the letters of the glossary stand for, and the shapes of parameters made of them.
#pragma once

#include "attn/model/layer/words.hpp"
#include "attn/model/recipe/items.hpp"
#include "attn/model/recipe/overrides.hpp"
#include "attn/model/recipe/recipe.hpp"

namespace attn::model {

struct ModelDims {
    Index V = 0, T = 0, S = 0, D = 0, H = 0, H_kv = 0, d_k = 0, d_v = 0;
    Index key_dim = 0, value_dim = 0; ///< what W_k and W_v read; 0: as W_q, as W_k
    Index output_dim = 0;             ///< what W_o makes; 0: D
    Index d_a = 0;                    ///< what W_a makes; 0: the scores have none
    Index key_size = 0;               ///< numbers of a key where additive scores read another width; 0: d_k

    [[nodiscard]] Index keys_read() const { return key_dim == 0 ? D : key_dim; }
    [[nodiscard]] Index values_read() const { return value_dim == 0 ? keys_read() : value_dim; }
    [[nodiscard]] Index of_a_key() const { return key_size == 0 ? d_k : key_size; }
    [[nodiscard]] Index outputs() const { return output_dim == 0 ? D : output_dim; }
};

/// Fills in the defaults. Throws Error when H does not divide D or H_kv does not divide H, when a
/// product is too large, when ids come without vocab_size: usage or data, as `origin` says who is at fault. Error(data) for an
/// id that is not below V or a vocabulary of more words than V.
[[nodiscard]] ModelDims resolve(const Recipe& recipe, const Words& words, const Origin& origin = {});
/// The same for words of which only the numbers are known: V is 0 where the words decide it.
[[nodiscard]] ModelDims least_dims(const Recipe& recipe, const WordCounts& words, const Origin& origin = {});
/// What resolve() gives, from what least_dims() gives for the recipe and any words.
[[nodiscard]] ModelDims with_words(ModelDims least, const Words& words, const Recipe& recipe, const Origin& origin = {});

/// Throws Error(data) for an identity W_v that would cut numbers off the values, or add zeros to them: no new recipe
/// means that.
void require_whole_identity(const Recipe& recipe);

/// The part of a layer that a W_… and its bias make: each of so many heads makes so many numbers of what it reads.
struct HeadsPart {
    Index heads, size, reads;
};
[[nodiscard]] HeadsPart heads_part(Target target, const ModelDims& dims);
/// As the draw says, or as is usual.
[[nodiscard]] Side side_of(const Draw& draw);

/// How many heads W_q, W_k, W_v and their biases have.
[[nodiscard]] Index heads_of(Target target, const ModelDims& dims);
/// The shape of a draw in this run, before `take`.
[[nodiscard]] Shape shape_of(const Draw& draw, const ModelDims& dims);
/// That of an array of numbers in a layer that `run` gives, of all rows and heads. `extra_keys`: after those of the words.
[[nodiscard]] Shape shape_of(Item item, const ModelDims& dims, Index extra_keys = 0);
/// The recipe with the sizes, sides and shapes that it leaves to defaults, as a form to fill in; it gives the same result. What
/// follows from the words, such as the rows of a table, stands as a letter, so that other words may take their place.
[[nodiscard]] Recipe spelled_out(Recipe recipe, const ModelDims& dims);
/// What `take` may leave of a draw with a target: the natural shape first.
[[nodiscard]] std::vector<Shape> allowed_shapes(const Draw& draw, const ModelDims& dims);

} // namespace attn::model
