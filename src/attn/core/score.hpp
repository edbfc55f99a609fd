// The functions that give a query q and a key k their score, a row each: what is said of it here, its formula in stages.cpp.
//
//   scaled_dot  q·k
//   dot         q·k, without a scale
//   cosine      q·k / (|q|·|k|)                                      0 where a vector is all zeros
//   general     q·(W_a·k + b_Wa)                                     W_a (d_k, d_k)
//   additive    v_a·tanh((W_a·q + b_Wa) + (U_a·k + b_Ua)) + b_va     W_a (d_a, d_k), U_a (d_a, size of a key), v_a (d_a)
//
// One without parameters is made of the product of both vectors and of their lengths. General and additive
// scores have parameters, of their own for every query head; W_a·q + b_Wa and its like are rounded to the type as queries and
// keys are, and the biases may be absent. (dot and general: Luong et al. 2015, "Effective Approaches to Attention-based Neural
// Machine Translation", equation 8; cosine: Graves et al. 2014, "Neural Turing Machines", equation 6; additive: Bahdanau et al.
// 2014, "Neural Machine Translation by Jointly Learning to Align and Translate", appendix A.1.2, whose names W_a, U_a, v_a
// are.)
#pragma once

#include "attn/tensor/view.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace attn::core {

/// What makes a score of a query and a key.
enum class Score { scaled_dot, dot, cosine, general, additive };

/// One of them in words, as formats of {q} and {k}.
struct ScoreFunction {
    std::string_view name;
    std::string_view formula = {};    ///< of both vectors; empty with parameters, whose biases may be absent
    std::string_view of_product = {}; ///< of the {product} and the lengths {q} and {k}; empty: the product
    bool has_parameters = false;

    /// Whether scores are products of queries and keys alone.
    [[nodiscard]] constexpr bool multiplies() const { return !has_parameters && of_product.empty(); }
};
inline constexpr std::array score_functions{
    ScoreFunction{.name = "scaled_dot", .formula = "{q}·{k}"},
    ScoreFunction{.name = "dot", .formula = "{q}·{k}"},
    ScoreFunction{.name = "cosine", .formula = "{q}·{k} / (|{q}|·|{k}|)", .of_product = "{product} / ({q}·{k})"},
    ScoreFunction{.name = "general", .has_parameters = true},
    ScoreFunction{.name = "additive", .has_parameters = true},
};
inline constexpr auto score_names = [] {
    std::array<std::string_view, score_functions.size()> names;
    std::ranges::transform(score_functions, names.begin(), &ScoreFunction::name);
    return names;
}();
[[nodiscard]] constexpr const ScoreFunction& function_of(Score score)
{
    return score_functions.at(static_cast<std::size_t>(score));
}
[[nodiscard]] constexpr std::string_view name_of(Score score)
{
    return function_of(score).name;
}
static_assert(name_of(Score::cosine) == "cosine" && name_of(Score::additive) == score_names.back(), "rows in another order");

/// Of one query head, what general and additive scores are made with, as right-hand factors.
struct ScoreParameters {
    Matrix<double> W_a = {};    ///< (d_k, d_a): of queries for additive scores; of keys, d_a = d_k, for general ones
    Matrix<double> U_a = {};    ///< (size of a key, d_a): of keys, for additive scores
    RowVector<double> v_a = {}; ///< (d_a), for additive scores
    RowVector<double> b_Wa = {}, b_Ua = {}; ///< (d_a), or empty
    double b_va = 0;
};

} // namespace attn::core
