// The gradients of a call under a variant: head by head, with all scores of one in memory (steps.hpp), and what follows the
// products. What the right forward makes of a head is kept where there is room, so that most edits cost what comes after the
// step that they change.
#pragma once

#include "attn/model/diagnose/backward/steps.hpp"
#include "attn/model/diagnose/evaluate.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace attn::model::diagnose {

/// Whether the gradients of what a variant changes in the forward are known: scales, no softcap, masks and sinks, other
/// key/value heads.
[[nodiscard]] bool is_differentiable(const Variant& variant);

/// Which of them a variant may change.
[[nodiscard]] Show gradients_changed(const Variant& variant);

/// (B, H, T, width), of what is summed over queries (1, 1, 1, numbers).
[[nodiscard]] ComparedDims dims_of(const Call& call, Item gradient);
/// What attend() gave of it, in that order.
[[nodiscard]] std::vector<double> by_heads(const Call& call, Item gradient, std::vector<double> values);

/// The numbers of each that is wanted.
using Gradients = std::map<Item, std::vector<double>>;
/// Hears of numbers of a gradient, from place `at` on.
using UseGradient = std::function<void(Item gradient, std::size_t at, std::span<const double> numbers)>;

/// What is added up over all groups.
struct BackwardSums {
    std::vector<double> mask, sinks;
    double scale = 0;
};

/// For many threads. `call`, which outlives it, has gradients of its results.
class BackwardPass {
public:
    BackwardPass(const Call& call, Show wanted);

    /// Key/value heads of each batch entry and packed sequence, with the query heads that are summed into them.
    [[nodiscard]] Index groups() const { return static_cast<Index>(groups_.size()); }
    [[nodiscard]] Index scores(Index group) const;
    /// Whether something wanted needs all groups at once.
    [[nodiscard]] bool sums_groups() const;
    /// Whether a head has more scores than are held in memory.
    [[nodiscard]] bool is_too_large() const;

    /// Those of a group, with its part of the sums.
    void differentiate(const Variant& v, Index group, BackwardSums& sums, const UseGradient& use);
    [[nodiscard]] Gradients differentiate(const Variant& variant, const core::Work& work);

private:
    struct Group {
        CallPiece* piece;
        Index b, g;
    };

    [[nodiscard]] std::shared_ptr<const RightHead> head(CallPiece& piece, Index b, Index h);
    [[nodiscard]] std::shared_ptr<const HeadGradients> gradients(const Variant& variant, CallPiece& piece, Index b, Index h);

    const Call& call_;
    Show wanted_;
    Pieces pieces_;
    std::vector<Group> groups_;
    std::mutex mutex_;
    std::size_t room_; ///< numbers
    std::map<std::pair<const CallPiece*, std::array<Index, 2>>, std::shared_ptr<const RightHead>> heads_;
};

} // namespace attn::model::diagnose
