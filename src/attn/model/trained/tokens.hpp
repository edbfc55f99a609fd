// What a sentence, or a target, is to a trained model: tokens, and where they stand; or the words that its tokens are joined
// to.
#pragma once

#include "attn/model/trained/run_trained.hpp"
#include "attn/tensor/tensor.hpp"

#include <string>
#include <vector>

namespace attn::model {

struct Tokens {
    std::vector<std::string> words;  ///< fit for people
    std::vector<Index> ids;          ///< (T) of the pieces, also where they are joined
    std::vector<Index> piece_types;  ///< (T) likewise; empty: all 0
    std::vector<Index> types;        ///< one per word, like the next
    std::vector<Index> offsets;      ///< begin and end of each, in characters
    std::vector<Index> word_of = {}; ///< (T) the word that a piece is joined to, ascending; empty: each is its own
};

/// The piece of an id; an embedding may have more rows than the tokenizer has pieces.
[[nodiscard]] std::string shown(Index id, const text::PieceTokenizer& tokenizer);

/// The pieces of the tokenizer, in its template. Joined to words, consecutive pieces of one word of text::plain_words() are
/// one, and so are those of one character; what is of no such word stays, as do special tokens. Throws Error(data).
[[nodiscard]] Tokens pieces_of(const TrainedConfig& config, const text::PieceTokenizer& tokenizer);

/// What the decoder is given: its start, and the pieces of the config's target in the tokenizer's template without the one that
/// ends it, since that is what the last row expects. Throws Error(data).
[[nodiscard]] Tokens target_of(const TrainedConfig& config, const text::PieceTokenizer& tokenizer,
                               const transformer::TargetPart& target);

/// Words are numbered in the order of their first appearance, or in their own, up to `most`. Throws Error: data, usage.
[[nodiscard]] Tokens words_of(const TrainedConfig& config, Index most, bool sorted);

/// The ids of the config in place of a sentence. Throws Error(data) for one that the model has no row for.
[[nodiscard]] Tokens ids_of(const TrainedConfig& config, const Trained& trained);

/// (H, T, S) → (H, W, W_key): what the query's pieces look at the key's, the mean of those, the sum of these. `rows` and
/// `columns` are the words of both.
[[nodiscard]] Tensor<float> joined(const Tensor<float>& weights, const std::vector<Index>& rows,
                                   const std::vector<Index>& columns);

} // namespace attn::model
