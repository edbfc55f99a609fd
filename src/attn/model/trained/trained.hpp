// A whole trained model beside its tokenizer.
#pragma once

#include "attn/text/pieces/pieces.hpp"
#include "attn/transformer/run/model.hpp"

#include <optional>

namespace attn::model {

/// A model, and its own tokenizer; the tensors stay in the files that the caller has mapped, or are drawn. Without a tokenizer
/// document_words() of the sentence get ids, as many as there are rows: of a drawn model as a run's vocabulary has them,
/// sorted; of a trained one, which knows symbols and no words, in the order of their first appearance.
struct Trained {
    transformer::Model model;
    std::optional<text::PieceTokenizer> tokenizer;
    bool drawn = false;
    std::optional<text::PieceTokenizer> of_target; ///< where the target has its own

    /// Throws Error(data) where a tokenizer gives ids that its embedding has no row for.
    Trained(transformer::Model its_model, std::optional<text::PieceTokenizer> its_tokenizer, bool is_drawn = false,
            std::optional<text::PieceTokenizer> its_target = {});

    /// That of a decoder's target.
    [[nodiscard]] const std::optional<text::PieceTokenizer>& target_tokenizer() const
    {
        return of_target ? of_target : tokenizer;
    }
};

} // namespace attn::model
