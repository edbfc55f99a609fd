// A row as a variant has it: its scores, up to the softmax (scoring.cpp), and its weights (weighing.cpp).
#pragma once

#include "attn/model/diagnose/masking.hpp"

namespace attn::model::diagnose {

/// What variants share: queries, keys and values as they are read, and their products. For many threads.
class SharedProducts {
public:
    /// `among`: how many calls share the memory that there is for numbers that are kept.
    explicit SharedProducts(const Call& call, std::size_t among = 1)
        : operands_(call, among), products_((std::size_t{16} << 20) / among)
    {
    }

    [[nodiscard]] Operands& operands() { return operands_; }
    /// q·k of query i of a head and every key, unrounded.
    [[nodiscard]] KeptNumbers products(const Call& call, const ProductKnobs& knobs, Index b, Index h, Index i);

private:
    struct Key {
        Index b, h, i;
        ProductKnobs knobs;

        auto operator<=>(const Key&) const = default; // NOLINT(modernize-use-nullptr): in code that the compiler writes
    };

    [[nodiscard]] std::vector<double> multiply(const Call& call, const ProductKnobs& knobs, Index b, Index h, Index i);

    Operands operands_;
    Kept<Key> products_;
};

/// A row that is ready for the softmax.
struct ScoreRow {
    std::vector<double> scores;     ///< of S keys, of padding or of keys that are taken again, and a sink; already times
                                    ///< Variant::exponent, but for a softmax in steps
    std::vector<char> counted;      ///< takes part in the softmax
    std::vector<char> hidden_after; ///< its weight becomes 0 afterwards; empty: none
    bool empty = false;             ///< nothing is seen
    bool sunk = false;              ///< the last score is a sink's
    Index keys = 0;                 ///< S
    Index end = 0;                  ///< of the keys that there are by the length
    Index padded = 0;               ///< the end of the padding behind them
    Index query = 0;                ///< i

    /// The largest score that counts; -inf of none.
    [[nodiscard]] double largest() const;
};

[[nodiscard]] ScoreRow score_row(const Masking& masking, SharedProducts& shared, core::RowPlace place);

/// What a variant multiplies q·k by.
[[nodiscard]] double scale_of(const Call& call, const Variant& v);

/// The key/value head of a query head.
[[nodiscard]] Index key_head(const core::AttentionDims& sizes, KeyHead which, Index h);

/// The largest score and the sum of exp(s - largest) over more than one row: of each key, or of all; or of each row.
struct Spread {
    std::vector<double> maximum, sum;

    void add(const ScoreRow& row, bool by_key);
    void append(const ScoreRow& row);
    void add(const Spread& other);
};

/// The log of a row's sum of exponentials, of a variant as_compared() with lse. `wide`: computed in float64.
[[nodiscard]] double log_of_sum(const Variant& variant, ScoreRow row, bool wide);

/// The weights of a row's keys without padding; `over`: of what spans rows, otherwise nullptr.
[[nodiscard]] std::vector<double> weigh(const Call& call, const Variant& variant, const ScoreRow& row, const Spread* over);

} // namespace attn::model::diagnose
