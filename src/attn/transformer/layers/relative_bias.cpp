#include "attn/transformer/layers/relative_bias.hpp"

#include "attn/math/elementary.hpp"

#include <algorithm>
#include <cstdlib>

namespace attn::transformer {

Index bucket_of(Index distance, const RelativeBiasPart& part)
{
    const Index buckets = part.buckets / 2;
    const Index exact = buckets / 2;
    const Index first = distance > 0 ? buckets : 0;
    const Index size = std::abs(distance);
    if (size < exact) {
        return first + size;
    }
    const auto log_of = [](Index above, Index below) {
        return math::log(static_cast<double>(above) / static_cast<double>(below));
    };
    const double share = log_of(size, exact) / log_of(part.most_distance, exact);
    const Index grown = exact + static_cast<Index>(share * static_cast<double>(buckets - exact));
    return first + std::min(grown, buckets - 1);
}

Tensor<float> relative_bias(const RelativeBiasPart& part, const Matrix<float>& table, Index T)
{
    Tensor<float> bias({table.cols(), T, T});
    for (Index h = 0; h < table.cols(); ++h) {
        for (Index i = 0; i < T; ++i) {
            for (Index j = 0; j < T; ++j) {
                bias.matrix(h)(i, j) = table(bucket_of(j - i, part), h);
            }
        }
    }
    return bias;
}

} // namespace attn::transformer
