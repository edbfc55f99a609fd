#include "kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace {

struct Sizes {
    std::size_t H, T, d, H_kv, S, d_v, rows; ///< rows: B·H·T

    Sizes(const Array& queries, const Array& keys, const Array& values)
        : H(queries.shape[1]), T(queries.shape[2]), d(queries.shape[3]), H_kv(keys.shape[1]), S(keys.shape[2]),
          d_v(values.shape[3]), rows(queries.shape[0] * H * T)
    {
    }
    /// The first key of the head that a row of queries reads.
    std::size_t first_key(std::size_t row) const { return row / T / (H / H_kv) * S; }
    /// How many it sees: the last query all, each one before it one less.
    std::size_t seen(std::size_t row) const { return S - T + row % T + 1; }
    float scale() const { return 1 / std::sqrt(static_cast<float>(d)); }
};

float dot(const float* a, const float* b, std::size_t size)
{
    return std::inner_product(a, a + size, b, 0.0F);
}

/// to += factor·from
void add(float factor, const float* from, float* to, std::size_t size)
{
    for (std::size_t c = 0; c < size; ++c) {
        to[c] += factor * from[c];
    }
}

Array zeros_like(const Array& array)
{
    return {array.shape, std::vector<float>(array.numbers.size())};
}

} // namespace

// In one pass over the keys, as flash kernels do: what was summed is rescaled when a larger score comes.
Array attention(const Array& queries, const Array& keys, const Array& values)
{
    const Sizes n(queries, keys, values);
    Array result{{queries.shape[0], n.H, n.T, n.d_v}, std::vector<float>(n.rows * n.d_v)};
    for (std::size_t row = 0; row < n.rows; ++row) {
        const float* q = &queries.numbers[row * n.d];
        float* context = &result.numbers[row * n.d_v];
        float largest = -std::numeric_limits<float>::infinity();
        float sum = 0;
        for (std::size_t j = 0; j < n.seen(row); ++j) {
            const std::size_t key = n.first_key(row) + j;
            const float score = dot(q, &keys.numbers[key * n.d], n.d) * n.scale();
            const float rescale = std::exp(largest - std::max(largest, score));
            largest = std::max(largest, score);
            const float weight = std::exp(score - largest);
            sum = sum * rescale + weight;
            for (std::size_t c = 0; c < n.d_v; ++c) {
                context[c] = context[c] * rescale + weight * values.numbers[key * n.d_v + c];
            }
        }
        for (std::size_t c = 0; c < n.d_v; ++c) {
            context[c] /= sum;
        }
    }
    return result;
}

// Row by row, with the weights made once more; the gradients of a key and its value are summed over all rows that see it, also
// over the query heads that share it.
Gradients attention_backward(const Array& queries, const Array& keys, const Array& values, const Array& gradient)
{
    const Sizes n(queries, keys, values);
    Gradients result{zeros_like(queries), zeros_like(keys), zeros_like(values)};
    std::vector<float> weights(n.S), dweights(n.S);
    for (std::size_t row = 0; row < n.rows; ++row) {
        const std::size_t first = n.first_key(row), seen = n.seen(row);
        const float* q = &queries.numbers[row * n.d];
        const float* d_context = &gradient.numbers[row * n.d_v];
        for (std::size_t j = 0; j < seen; ++j) {
            weights[j] = dot(q, &keys.numbers[(first + j) * n.d], n.d) * n.scale();
            dweights[j] = dot(d_context, &values.numbers[(first + j) * n.d_v], n.d_v);
        }
        const float largest = *std::max_element(weights.begin(), weights.begin() + seen);
        float sum = 0;
        for (std::size_t j = 0; j < seen; ++j) {
            sum += weights[j] = std::exp(weights[j] - largest);
        }
        for (std::size_t j = 0; j < seen; ++j) {
            weights[j] /= sum;
        }
        const float delta = dot(weights.data(), dweights.data(), seen);
        for (std::size_t j = 0; j < seen; ++j) {
            const float dscore = weights[j] * (dweights[j] - delta) * n.scale();
            add(dscore, &keys.numbers[(first + j) * n.d], &result.queries.numbers[row * n.d], n.d);
            add(dscore, q, &result.keys.numbers[(first + j) * n.d], n.d);
            add(weights[j], d_context, &result.values.numbers[(first + j) * n.d_v], n.d_v);
        }
    }
    return result;
}
