// A query head on its way through the backward, in float64 and step by step (variant.hpp has the steps): what an edit reads and
// changes.
//
// A mistake of the forward is an edit here, too: the weights come from the same scores, and what follows is their derivative.
// It is made on both sides, or in the backward alone, whose weights are made again from the right lse.
#pragma once

#include "attn/model/diagnose/pieces.hpp"
#include "attn/model/recipe/items.hpp"

#include <functional>

namespace attn::model::diagnose {

/// What its rows read, with N = P+S.
struct HeadOperands {
    Matrix<double> Q, K, V, dO; ///< (T, d_k), (N, d_k), (N, d_v), (T, d_v)
    Matrix<double> kept;        ///< (T, N), 1 or 0, with dropout
    RowVector<double> dlse;     ///< (T)
};

/// What a forward makes of them.
struct HeadForward {
    Matrix<double> scaled;     ///< (T, N): q·k · scale, also of what is hidden
    Matrix<double> weights;    ///< (T, N)
    RowVector<double> lse;     ///< (T), as it is read
    RowVector<double> largest; ///< (T): masked scores
    std::vector<char> empty;   ///< (T): nothing is seen
};

/// What a backward makes of them.
struct HeadGradients {
    Matrix<double> dq, dk, dv;                 ///< not yet times the scale; dk and dv of this head alone
    Matrix<double> dweights, dmasked, dscores; ///< (T, N), where one is wanted; the last one not yet times the scale
    RowVector<double> delta;                   ///< (T)
    double sink = 0, scale = 0;
};

/// Without a mistake.
struct RightHead {
    HeadOperands in;
    HeadForward forward;
    Matrix<double> products; ///< dO·Vᵀ
    HeadGradients gradients;
};

/// As far as the backward has come; what is not made yet is empty.
struct HeadSteps {
    const Masking& masking; ///< of the call without a mistake
    core::RowPlace at;      ///< of the head
    Index tile;             ///< Variant::tile
    const HeadOperands& in;
    const HeadForward& forward;                           ///< which gives the weights
    const HeadForward& stored;                            ///< which has stored lse and context
    const std::function<RowVector<double>()>& first_head; ///< δ of head 0

    Matrix<double> W = {};        ///< (T, N)
    Matrix<double> products = {}; ///< (T, N): dO·Vᵀ
    Matrix<double> dW = {};       ///< (T, N): these after dropout
    Matrix<double> O = {};        ///< (T, d_v)
    RowVector<double> delta = {}; ///< (T)
    Matrix<double> dx = {};       ///< (T, N)
    Matrix<double> ds = {};       ///< (T, N), not yet times the scale
    Matrix<double> D = {};        ///< (T, N)

    /// M · kept/(1 - p); without dropout M.
    [[nodiscard]] Matrix<double> dropped(Matrix<double> M) const;
    /// Σ dO·O - dlse, over the first `width` numbers.
    [[nodiscard]] RowVector<double> delta_of(const Matrix<double>& context, Index width) const;
};

/// In an order that is the same on every machine.
[[nodiscard]] Matrix<double> product(const Matrix<double>& A, const Matrix<double>& B);

/// `at`: of the head; `g`: its key/value head.
[[nodiscard]] RightHead right_head(CallPiece& piece, core::RowPlace at, Show wanted);
/// Under a variant. `first_head` gives δ of head 0.
[[nodiscard]] HeadGradients differentiate_head(const Variant& variant, CallPiece& piece, const RightHead& right,
                                               core::RowPlace at, Show wanted,
                                               const std::function<RowVector<double>()>& first_head);

/// Whether anything but the backward is changed.
[[nodiscard]] bool changes_forward(Variant variant);

} // namespace attn::model::diagnose
