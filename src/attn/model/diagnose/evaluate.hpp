// The result of a call under a variant, in float64: all of it, or some of its rows.
#pragma once

#include "attn/core/parallel.hpp"
#include "attn/model/diagnose/pieces.hpp"

#include <array>

namespace attn::model::diagnose {

/// The array that is compared.
enum class Compared { context, weights, output, lse };
/// Of a stage of attend.
[[nodiscard]] std::optional<Compared> compared_stage(std::string_view name);

/// Its shape: the context (B, H, T, d_v), the weights (B, H, T, S), the output (B, 1, T, output_dim), lse (B, H, T, 1).
struct ComparedDims {
    Index B, H, T, width;
    [[nodiscard]] Index count() const { return B * H * T * width; }
};
[[nodiscard]] ComparedDims dims_of(const Call& call, Compared compared);

/// Whether there is such an array of a variant at all, of the right shape, and the variant shows there.
[[nodiscard]] bool can_compare(const Variant& variant, Compared compared);
/// The variant without what does not show there: of lse all that comes behind the sum, and what leaves no sum of its row.
[[nodiscard]] Variant as_compared(const Variant& variant, Compared compared);

/// What a variant needs of more than one row: of each head that was asked for, b·H + h.
struct Across {
    std::map<Index, Spread> spreads;
    std::map<Index, std::vector<double>> weights; ///< (T, S), for weights_transposed
};
/// `heads`: those that are needed, b·H + h; all of them count where the softmax is over everything.
[[nodiscard]] Across across(const Masking& masking, SharedProducts& shared, const std::vector<Index>& heads,
                            const core::Work& work);

/// What the rows of one piece are made with.
struct PieceRows {
    PieceRows(CallPiece& its_piece, const Variant& variant) : piece(its_piece), masking(its_piece.call, variant) {}

    CallPiece& piece;
    Masking masking;
    Across known = {};
};

/// Makes rows of the result. For one thread.
class Rows {
public:
    Rows(const Masking& masking, SharedProducts& shared, const Across& across)
        : masking_(masking), call_(masking.call), variant_(masking.variant), sizes_(masking.sizes), shared_(shared),
          across_(across)
    {
    }

    [[nodiscard]] std::vector<double> weights(core::RowPlace place);
    /// Of a head, as the variant computes it.
    [[nodiscard]] const std::vector<double>& head_context(core::RowPlace place);
    /// A row of the result, as it is written.
    [[nodiscard]] std::vector<double> result(core::RowPlace place);
    /// The log of a row's sum, as it is written.
    [[nodiscard]] double lse(core::RowPlace place);
    /// Of all heads: h does not count.
    [[nodiscard]] std::vector<double> output(core::RowPlace place);
    /// A row of a result or of an output, and what the variant adds to it: the columns of the head, or all.
    [[nodiscard]] std::vector<double> with_residual(std::vector<double> row, core::RowPlace place) const;
    void forget() { contexts_.clear(); }

private:
    [[nodiscard]] const Spread* spread(core::RowPlace place);
    [[nodiscard]] std::vector<double> summed(std::vector<double> weights, core::RowPlace place);
    [[nodiscard]] bool is_dropped(core::RowPlace place) const;
    /// Whose row of the variant is that row of the call's heads.
    [[nodiscard]] core::RowPlace computed_at(core::RowPlace place) const;
    [[nodiscard]] std::vector<double> merged(core::RowPlace place);

    const Masking& masking_;
    const Call& call_;
    const Variant& variant_;
    const core::AttentionDims& sizes_;
    SharedProducts& shared_;
    const Across& across_;
    std::map<std::array<Index, 3>, std::vector<double>> contexts_;
    std::array<Index, 2> over_heads_at_{-1, -1};
    Spread over_heads_;
};

/// A row of what is compared.
[[nodiscard]] std::vector<double> compared_row(Rows& rows, Compared compared, core::RowPlace place);

/// All of what is compared, row-major.
[[nodiscard]] std::vector<double> evaluate(const Call& call, const Variant& variant, Compared compared, const core::Work& work);

} // namespace attn::model::diagnose
