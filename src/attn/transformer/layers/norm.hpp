// Layer norm and RMS norm: see NormKind. In double, rounded once, with sums in one fixed order.
// (Ba, Kiros, Hinton 2016, "Layer Normalization"; Zhang and Sennrich 2019, "Root Mean Square Layer Normalization".)
#pragma once

#include "attn/tensor/tensor.hpp"
#include "attn/transformer/architecture.hpp"

#include <vector>

namespace attn::transformer {

/// A norm with its numbers.
struct Norm {
    NormKind kind = NormKind::layer;
    double epsilon = 1e-5;
    std::vector<double> weight;    ///< (size), with the shift of its part
    std::vector<double> bias = {}; ///< (size), or empty
};

/// Normalises each group of weight.size() neighbours: a row of X, or each head in a row. Throws Error(internal) when a row is
/// no whole number of groups.
void normalise(Matrix<float>& X, const Norm& norm);

} // namespace attn::transformer
