// Weights of scores, as a variant makes them.
#pragma once

#include "attn/model/diagnose/scoring.hpp"

namespace attn::model::diagnose {

/// The largest score and the sum of exp(s - largest) over more than one row: of each key, or of all; or of each row.
struct Spread {
    std::vector<double> maximum, sum;

    void add(const ScoreRow& row, bool by_key);
    void append(const ScoreRow& row);
    void add(const Spread& other);
};

/// The weights of a row's keys without padding; `over`: of what spans rows, otherwise nullptr.
[[nodiscard]] std::vector<double> weigh(const Call& call, const Variant& variant, const ScoreRow& row, const Spread* over);

} // namespace attn::model::diagnose
