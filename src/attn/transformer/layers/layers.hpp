// The layers of a transformer beside attention, with their numbers: linear layers and norms.
#pragma once

#include "attn/core/parallel.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/tensor/view.hpp"
#include "attn/transformer/architecture.hpp"
#include "attn/transformer/layers/kernels.hpp"
#include "attn/transformer/layers/weight_matrix.hpp"

#include <vector>

namespace attn::transformer {

// Y = X·Wᵀ + b, with weights read where they lie in a mapped file.
//
// The sum of each element is S₀ + S₁ + … + b in this order, where S_c sums the 256 products from k = 256·c on one after the
// other, from zero: all in float32, each product and each sum rounded. No number of threads changes a bit, and no processor,
// unless `work` names an instruction set: there a product may join its sum unrounded.

/// A weight and its bias, as a LinearPart describes them.
struct Linear {
    WeightMatrix weight;          ///< (out, in), or (in, out) with input_major: float32, float16, bfloat16, or rows of blocks
    std::vector<float> bias = {}; ///< as the tensor has it, one number per stored row; or empty
    Index in = 0, out = 0;
    bool input_major = false;
    FusedRows rows = {};

    /// The stored row (column, with input_major) of output o.
    [[nodiscard]] Index row(Index o) const { return rows.of(o); }
    /// What the inputs are multiplied by for output o, float32: (in).
    [[nodiscard]] RowVector<float> weights_of(Index o) const;
};

struct TokenTile {
    Index first, tokens; ///< rows of X
    Index width;         ///< tokens, filled up with zeros to whole vectors
    const float* X;      ///< (in, width)
};

/// The rows of X, arranged as the kernels read them: in tiles of tokens, k outermost in each. Made once for all that is
/// computed of them.
class TokenTiles {
public:
    TokenTiles(const MatrixView<float>& X, const LayerKernels& kernels);

    [[nodiscard]] const std::vector<TokenTile>& tiles() const { return tiles_; }
    [[nodiscard]] Index tokens() const { return tokens_; }
    [[nodiscard]] Index in() const { return in_; }
    [[nodiscard]] const LayerKernels& kernels() const { return *kernels_; }

private:
    const LayerKernels* kernels_;
    Index tokens_, in_;
    std::vector<float> values_;
    std::vector<TokenTile> tiles_;
};

/// X (T, in) → (T, out). Throws Error(internal) for another `in`, and for blocks with input_major.
[[nodiscard]] Matrix<float> apply(const Linear& linear, const TokenTiles& X, const core::Work& work);
[[nodiscard]] Matrix<float> apply(const Linear& linear, const MatrixView<float>& X, const core::Work& work);

/// Whether weights of this type are read in place.
[[nodiscard]] bool is_weight_type(ElementType type);

// Layer norm and RMS norm: see NormKind. In double, rounded once, with sums in one fixed order.
// (Ba, Kiros, Hinton 2016, "Layer Normalization"; Zhang and Sennrich 2019, "Root Mean Square Layer Normalization".)

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
