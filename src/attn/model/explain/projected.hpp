// One number of a projection, x·W + b, term by term.
//
// Added up in index order, as the portable core does, and rounded to the type of the arithmetic, the products give the number
// before the bias; with the bias added, and rounded again, `value`. Everything is double.
#pragma once

#include "attn/model/run/result.hpp"

#include <optional>
#include <vector>

namespace attn::model {

/// What a norm of queries or keys makes of the number: (value - mean)·factor·weight + bias.
struct Normed {
    double mean = 0;   ///< of all numbers that the norm reads; 0 of an RMS norm
    double factor = 1; ///< 1 / √(mean of the squares + ε)
    double weight = 1;
    std::optional<double> bias = {};
    double value = 0; ///< rounded
};

/// What RoPE makes of the number together with the other one of its pair: value·own + other·others.
struct Turn {
    Index partner = 0;          ///< where the other one stands
    double other = 0;           ///< it, before the turn
    double own = 1, others = 0; ///< a cosine, and a sine or minus a sine
    double value = 0;           ///< after the turn, rounded
};

struct Projected {
    Target W = Target::W_q;
    Side side = Side::left;
    Index position = 0;           ///< of the word that it is of
    std::vector<double> x;        ///< (D) what W reads: of the word, in W_o the contexts side by side
    std::vector<double> weights;  ///< (D) the row of W that makes the number, from the right the column
    std::vector<double> products; ///< (D) weights[i]·x[i]
    std::optional<double> bias = {};
    double value = 0;
    std::optional<Normed> norm = {}; ///< of a whole trained model
    std::optional<Turn> turn = {};

    [[nodiscard]] double before_turn() const { return norm ? norm->value : value; }
};

/// Which number it is.
struct Component {
    Target W = Target::W_q; ///< W_q, W_k, W_v or W_o
    Index position = 0;     ///< of the word: W_k and W_v read a word of the keys
    Index head = 0;         ///< of W_k and W_v, of the key/value heads; of W_o 0
    Index number = 0;       ///< of the vector of this head
};

/// `result` is one of run_for(); `context` is what W_o reads, the others read a word. Nothing where the vector is shorter.
[[nodiscard]] std::optional<Projected> projected(const Result& result, const Component& component,
                                                 const std::vector<double>& context);

} // namespace attn::model
