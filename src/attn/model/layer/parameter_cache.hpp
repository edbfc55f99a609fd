// What a computation needs before it looks at the words: parameters, and their projections ready for use.
//
// A sentence is looked up in an embedding table whose rows are as many as its distinct words, and the same seed draws the same
// numbers. So sentences with as many distinct words share all parameters, and also the projection of each row of the table:
// every element of a product is summed on its own, so that the row of a table and the row of a sentence come out the same.
#pragma once

#include "attn/model/layer/parameters.hpp"

#include <array>
#include <map>
#include <tuple>

namespace attn::model {

/// x·W + b of all heads.
template <typename Scalar>
struct PreparedLayer {
    Target target;                  ///< W_q, W_k, W_v, W_o
    Matrix<double> W;               ///< (D, heads·d)
    RowVector<double> b;            ///< (heads·d), or empty
    Tensor<Scalar> of_table{};      ///< (heads, V, d), the table of its words projected; empty for W_o, without a table, and
                                    ///< where positions are added to the words
    std::vector<bool> overflowed{}; ///< (V), the rows of that in which a product overflowed; empty where none did
};

template <typename Scalar>
struct PreparedParameters {
    std::vector<Parameter<Scalar>> parameters; ///< in the order of Target
    std::vector<PreparedLayer<Scalar>> layers; ///< empty: to be made as they are used
    std::optional<random::Stream> stream;      ///< as the draws leave it

    [[nodiscard]] const Parameter<Scalar>* parameter(Target target) const;
    [[nodiscard]] const PreparedLayer<Scalar>* layer(Target target) const;
};

/// Of W_q, W_k, W_v or W_o.
[[nodiscard]] Target bias_of(Target W);

/// W_… and its bias, as factors.
template <typename Scalar>
[[nodiscard]] PreparedLayer<Scalar> make_layer(const PreparedParameters<Scalar>& prepared, Target W, Index heads);

/// What the scores of query head h of H are made with.
template <typename Scalar>
[[nodiscard]] core::ScoreParameters score_parameters_of(const PreparedParameters<Scalar>& prepared, Index h, Index H);

/// Of x·W + b (heads, T, d) the rows that are not finite although what they were made of is; empty where all are finite.
template <typename Scalar>
[[nodiscard]] std::vector<bool> overflowed_rows(const Tensor<Scalar>& X, const PreparedLayer<Scalar>& layer,
                                                const Tensor<Scalar>& projected);

/// Remembers what was prepared for a recipe, by the lengths it was prepared for, within a few megabytes. It changes no number.
/// A value; not for two threads at a time.
class ParameterCache {
public:
    /// For this recipe alone, with any sentence.
    explicit ParameterCache(const Recipe& recipe);

    /// Whether all that such a run takes is remembered, so that nothing has to be drawn.
    [[nodiscard]] bool remembers(const Recipe& recipe, const ParameterInputs& inputs) const;

    /// Valid until the next call. Without a plan what is remembered.
    template <typename Scalar>
    [[nodiscard]] const PreparedParameters<Scalar>& of(const std::optional<DrawPlan>& plan, const Recipe& recipe,
                                                       const ParameterInputs& inputs);

private:
    using Key = std::array<Index, 3>; ///< V, T, S; the other lengths are the recipe's

    template <typename Scalar>
    struct Store {
        std::map<Key, PreparedParameters<Scalar>> all;
        PreparedParameters<Scalar> large; ///< the last one that was too large to be kept with the others
        Key key_of_large{};
        Index bytes = 0;

        /// nullptr: not remembered.
        [[nodiscard]] const PreparedParameters<Scalar>* find(const Key& key) const;
    };

    [[nodiscard]] Key key_of(const ParameterInputs& inputs) const;

    bool by_tokens_; ///< a shape depends on T or S
    std::tuple<Store<float>, Store<double>> stores_;
};

extern template struct PreparedParameters<float>;
extern template struct PreparedParameters<double>;

} // namespace attn::model
