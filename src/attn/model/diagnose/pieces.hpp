// Packed sequences are computed one by one, each as a call of its own. Which queries and keys are whose is decided here.
#pragma once

#include "attn/model/diagnose/scoring.hpp"

#include <deque>

namespace attn::model::diagnose {

/// A part of a call whose queries see its own keys alone; a call that has no sequences is one.
struct CallPiece {
    CallPiece(const Call& its_call, Index its_first, Index its_first_key, std::size_t among)
        : call(its_call), first(its_first), first_key(its_first_key), shared(call, among)
    {
    }

    const Call& call;
    Index first;     ///< of its queries among all
    Index first_key; ///< likewise
    SharedProducts shared;

    [[nodiscard]] Index queries() const { return call.views.sizes.T; }
    [[nodiscard]] bool has(Index query) const { return query >= first && query < first + queries(); }
};

/// All of a call, which outlives them, in order. For many threads.
class Pieces {
public:
    Pieces(const Call& call, Packing packing);

    [[nodiscard]] std::deque<CallPiece>& all() { return pieces_; }
    [[nodiscard]] const std::deque<CallPiece>& all() const { return pieces_; }
    /// The one that has a query.
    [[nodiscard]] CallPiece& with(Index query);
    /// Of all heads.
    [[nodiscard]] Index scores() const;

private:
    std::deque<Call> calls_; ///< of sequences
    std::deque<CallPiece> pieces_;
};

} // namespace attn::model::diagnose
