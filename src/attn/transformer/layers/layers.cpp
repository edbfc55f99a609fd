#include "attn/transformer/layers/layers.hpp"

#include "attn/core/isa.hpp"
#include "attn/core/parallel.hpp"
#include "attn/tensor/error.hpp"
#include "attn/transformer/layers/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace attn::transformer {

// ---- which kernels this processor runs -------------------------------------------------------------------------------------

std::vector<const LayerKernels*> available_layer_kernels()
{
    std::vector<const LayerKernels*> available{&baseline_layer_kernels};
#if defined(__x86_64__)
    if (core::is_available(core::Isa::avx2)) {
        available.push_back(&avx2_layer_kernels);
    }
    if (core::is_available(core::Isa::avx512)) {
        available.push_back(&avx512_layer_kernels);
    }
#endif
    return available;
}

const LayerKernels& layer_kernels_of([[maybe_unused]] core::Isa isa)
{
#if defined(__x86_64__)
    if (isa == core::Isa::avx2) {
        return avx2_fused_layer_kernels;
    }
    if (isa == core::Isa::avx512) {
        return avx512_fused_layer_kernels;
    }
#endif
    static const LayerKernels& best = *available_layer_kernels().back(); // asked once: see core/isa.cpp
    return best;
}

// ---- linear layers ---------------------------------------------------------------------------------------------------------

namespace {

/// Outputs of one block: its weights stay in the second-level cache while the tiles of tokens pass by.
constexpr Index outputs_per_block = 8 * panel;

/// Multiplications that are done before a second thread has started.
constexpr double worth_a_thread = 4e6;

/// `panel` outputs from `first` on, of which `count` exist.
struct Panel {
    Index first, count;
};

/// Hands the kernels the weights of a panel, in place where they can be read there.
class PanelWeights {
public:
    /// Of these outputs. `again`: their weights are read more than once.
    PanelWeights(const Linear& linear, const LayerKernels& kernels, const Panel& outputs, bool again)
        : linear_(linear), stored_(linear.weight.stored), kernels_(kernels), first_(outputs.first)
    {
        const auto address = reinterpret_cast<std::uintptr_t>(stored_.bytes.data());
        in_place_ = stored_.type == ElementType::float32 && address % alignof(float) == 0;
        if (again && !in_place_) {
            std::vector<float> all(static_cast<std::size_t>(outputs.count * linear.in));
            for (Index j = 0; j < outputs.count; ++j) {
                float* const to = all.data() + j * linear.in;
                for (Index k = 0; k < linear.in; k += chunk) {
                    (void)row(first_ + j, k, std::min(chunk, linear.in - k), to + k);
                }
            }
            widened_ = std::move(all);
        }
    }

    /// sums += the products of inputs k … k + count of the tile with the panel's weights
    void add_products(const Panel& of, Index k, Index count, const TokenTile& tile, float* sums)
    {
        const float* X = tile.X + k * tile.width;
        if (linear_.input_major && in_place_ && of.count == panel && is_together(of)) {
            const Index step = stored_.shape[1];
            const float* first = floats() + k * step + linear_.row(of.first);
            return kernels_.add_column_products(first, step, count, X, tile.width, sums);
        }
        std::array<const float*, panel> rows{};
        for (Index j = 0; j < panel; ++j) { // those that do not exist are computed as the last one that does
            rows[static_cast<std::size_t>(j)] = row(of.first + std::min(j, of.count - 1), k, count, buffer_.data() + j * chunk);
        }
        kernels_.add_products(rows.data(), count, X, tile.width, sums);
    }

    [[nodiscard]] Index in() const { return linear_.in; }

private:
    [[nodiscard]] const float* floats() const { return reinterpret_cast<const float*>(stored_.bytes.data()); }

    /// Whether the outputs of a whole panel are neighbours in the file.
    [[nodiscard]] bool is_together(const Panel& of) const
    {
        return linear_.rows.turned == 0 && linear_.row(of.first + panel - 1) - linear_.row(of.first) == panel - 1;
    }

    /// The weights of output o and `count` inputs from k on; `buffer` holds them where they cannot be read in place.
    const float* row(Index o, Index k, Index count, float* buffer) const
    {
        if (!widened_.empty()) {
            return widened_.data() + (o - first_) * linear_.in + k;
        }
        const Index stored = linear_.row(o);
        if (linear_.input_major) {
            const Index step = stored_.shape[1];
            for (Index i = 0; i < count; ++i) {
                widen((k + i) * step + stored, 1, buffer + i);
            }
            return buffer;
        }
        if (linear_.weight.blocks != nullptr) {
            widen_blocks(linear_.weight, stored, k, count, buffer);
            return buffer;
        }
        const Index place = stored * linear_.in + k;
        if (in_place_) {
            return floats() + place;
        }
        widen(place, count, buffer);
        return buffer;
    }

    /// `count` neighbours from `place` on, as float32.
    void widen(Index place, Index count, float* to) const
    {
        const std::byte* from = stored_.bytes.data() + place * size_of(stored_.type);
        switch (stored_.type) {
        case ElementType::float16: return kernels_.widen_float16(from, count, to);
        case ElementType::bfloat16: return kernels_.widen_bfloat16(from, count, to);
        default: std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
        }
    }

    const Linear& linear_;
    const TensorView& stored_;
    const LayerKernels& kernels_;
    bool in_place_ = false;
    Index first_;
    std::vector<float> widened_; ///< (outputs, in), where they are read more than once and not in place
    std::array<float, panel * chunk> buffer_{};
};

/// X (tokens, in) → (in, width)
void fill(const MatrixView<float>& X, Index width, float* to)
{
    constexpr Index at_once = 16; // inputs, whose places in the tile stay in the first-level cache from token to token
    for (Index first = 0; first < X.cols(); first += at_once) {
        const Index end = std::min(first + at_once, X.cols());
        for (Index t = 0; t < X.rows(); ++t) {
            const float* const row = X.data() + t * X.outerStride();
            for (Index k = first; k < end; ++k) {
                to[k * width + t] = row[k];
            }
        }
    }
}

/// The biases of these outputs. Where there are none, what changes no sum: x + -0 is x, of both zeros, too.
std::vector<float> biases_of(const Linear& linear, const Panel& outputs)
{
    std::vector<float> biases(static_cast<std::size_t>(outputs.count), -0.0F);
    for (Index o = 0; !linear.bias.empty() && o < outputs.count; ++o) {
        biases[static_cast<std::size_t>(o)] = linear.bias[static_cast<std::size_t>(linear.row(outputs.first + o))];
    }
    return biases;
}

/// These outputs of all tokens of a tile.
void compute_tile(PanelWeights& weights, const TokenTile& tile, const Panel& outputs, std::span<const float> biases,
                  Matrix<float>& Y)
{
    const Index panels = (outputs.count + panel - 1) / panel;
    const auto panel_at = [&](Index p) { return Panel{outputs.first + p * panel, std::min(panel, outputs.count - p * panel)}; };
    std::vector<float> sums(static_cast<std::size_t>(panels * panel * tile.width));
    for (Index k = 0; k < weights.in(); k += chunk) {
        for (Index p = 0; p < panels; ++p) {
            weights.add_products(panel_at(p), k, std::min(chunk, weights.in() - k), tile, sums.data() + p * panel * tile.width);
        }
    }
    for (Index t = 0; t < tile.tokens; ++t) {
        float* const y = Y.row(tile.first + t).data() + outputs.first;
        const float* const sum = sums.data() + t;
        for (Index o = 0; o < outputs.count; ++o) {
            y[o] = sum[o * tile.width] + biases[static_cast<std::size_t>(o)];
        }
    }
}

} // namespace

RowVector<float> Linear::weights_of(Index o) const
{
    if (!input_major) {
        return row_of(weight, row(o));
    }
    RowVector<float> column(in);
    for (Index i = 0; i < in; ++i) {
        column[i] = static_cast<float>(weight.stored.at(std::array{i, row(o)}));
    }
    return column;
}

TokenTiles::TokenTiles(const MatrixView<float>& X, const LayerKernels& kernels)
    : kernels_(&kernels), tokens_(X.rows()), in_(X.cols())
{
    const auto filled_up = [&](Index tokens) { return (tokens + kernels.lanes - 1) / kernels.lanes * kernels.lanes; };
    values_.resize(static_cast<std::size_t>(filled_up(tokens_) * in_)); // most_tokens is a whole number of vectors
    float* to = values_.data();
    for (Index first = 0; first < tokens_; first += kernels.most_tokens) {
        const Index tokens = std::min(kernels.most_tokens, tokens_ - first);
        const Index width = filled_up(tokens);
        fill(X.middleRows(first, tokens), width, to);
        tiles_.push_back({first, tokens, width, to});
        to += width * in_;
    }
}

Matrix<float> apply(const Linear& linear, const TokenTiles& X, const core::Work& work)
{
    if (X.in() != linear.in) {
        throw Error(ErrorKind::internal, "inputs of a linear layer", std::to_string(X.in()), std::to_string(linear.in));
    }
    if (linear.input_major && linear.weight.blocks != nullptr) {
        throw Error(ErrorKind::internal, "weights of a linear layer", "columns of blocks", "rows of blocks");
    }
    Matrix<float> Y(X.tokens(), linear.out);
    core::Work part = work;
    if (static_cast<double>(X.tokens() * linear.in) * static_cast<double>(linear.out) < worth_a_thread) {
        part.threads = 1;
    }
    const Index blocks = (linear.out + outputs_per_block - 1) / outputs_per_block;
    core::for_each_block(blocks, part, [&](Index block) {
        const Index first = block * outputs_per_block;
        const Panel outputs{first, std::min(outputs_per_block, linear.out - first)};
        PanelWeights weights(linear, X.kernels(), outputs, X.tiles().size() > 1);
        const std::vector<float> biases = biases_of(linear, outputs);
        for (const TokenTile& tile : X.tiles()) {
            compute_tile(weights, tile, outputs, biases, Y);
        }
    });
    return Y;
}

Matrix<float> apply(const Linear& linear, const MatrixView<float>& X, const core::Work& work)
{
    return apply(linear, TokenTiles(X, layer_kernels_of(work.isa)), work);
}

bool is_weight_type(ElementType type)
{
    return type == ElementType::float32 || type == ElementType::float16 || type == ElementType::bfloat16;
}

// ---- norms -----------------------------------------------------------------------------------------------------------------

namespace {

/// Σ of(x[i]), in eight sums side by side that are joined in pairs: a single one would leave the processor waiting.
template <typename Of>
double sum(const float* x, Index size, const Of& of)
{
    constexpr Index side_by_side = 8;
    std::array<double, side_by_side> sums{};
    Index i = 0;
    for (; i + side_by_side <= size; i += side_by_side) {
        for (Index j = 0; j < side_by_side; ++j) {
            sums[static_cast<std::size_t>(j)] += of(static_cast<double>(x[i + j]));
        }
    }
    for (Index j = 0; i < size; ++i, ++j) {
        sums[static_cast<std::size_t>(j)] += of(static_cast<double>(x[i]));
    }
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

void normalise_group(float* x, const Norm& norm)
{
    const auto size = static_cast<Index>(norm.weight.size());
    const auto count = static_cast<double>(size);
    const double mean = norm.kind == NormKind::layer ? sum(x, size, [](double v) { return v; }) / count : 0.0;
    const double variance = sum(x, size, [mean](double v) { return (v - mean) * (v - mean); }) / count;
    const double factor = 1.0 / std::sqrt(variance + norm.epsilon);
    for (Index i = 0; i < size; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double scaled = (static_cast<double>(x[i]) - mean) * factor * norm.weight[at];
        x[i] = static_cast<float>(norm.bias.empty() ? scaled : scaled + norm.bias[at]);
    }
}

} // namespace

void normalise(Matrix<float>& X, const Norm& norm)
{
    const auto size = static_cast<Index>(norm.weight.size());
    if (size == 0 || X.cols() % size != 0) {
        throw Error(ErrorKind::internal, "numbers of a row to normalise", std::to_string(X.cols()),
                    fmt::format("a whole number of groups of {}", size));
    }
    for (Index place = 0; place < X.size(); place += size) {
        normalise_group(X.data() + place, norm);
    }
}

} // namespace attn::transformer
