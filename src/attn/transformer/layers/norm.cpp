#include "attn/transformer/layers/norm.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>

namespace attn::transformer {
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
