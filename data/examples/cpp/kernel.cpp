#include "kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

// In one pass over the keys, as flash kernels do: what was summed is rescaled when a larger score comes.
Array attention(const Array& queries, const Array& keys, const Array& values)
{
    const std::size_t B = queries.shape[0], H = queries.shape[1], T = queries.shape[2], d = queries.shape[3];
    const std::size_t H_kv = keys.shape[1], S = keys.shape[2], d_v = values.shape[3];
    Array result{{B, H, T, d_v}, std::vector<float>(B * H * T * d_v)};
    for (std::size_t row = 0; row < B * H * T; ++row) {
        const std::size_t head = row / T / (H / H_kv); // of the keys, counted through the batch
        const float* q = &queries.numbers[row * d];
        const float* k = &keys.numbers[head * S * d];
        const float* v = &values.numbers[head * S * d_v];
        float* context = &result.numbers[row * d_v];
        float largest = -std::numeric_limits<float>::infinity();
        float sum = 0;
        for (std::size_t j = 0; j < S && j + T <= row % T + S; ++j, k += d, v += d_v) {
            float score = 0;
            for (std::size_t c = 0; c < d; ++c) {
                score += q[c] * k[c];
            }
            score /= std::sqrt(static_cast<float>(d));
            const float rescale = std::exp(largest - std::max(largest, score));
            largest = std::max(largest, score);
            const float weight = std::exp(score - largest);
            sum = sum * rescale + weight;
            for (std::size_t c = 0; c < d_v; ++c) {
                context[c] = context[c] * rescale + weight * v[c];
            }
        }
        for (std::size_t c = 0; c < d_v; ++c) {
            context[c] /= sum;
        }
    }
    return result;
}
