#include "attn/core/positions.hpp"

#include "attn/math/elementary.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace attn::core {
namespace {

void require_positions(Index T, const char* kind)
{
    if (T > most_positions) {
        throw Error(ErrorKind::internal, std::string(kind) + " positions", fmt::format("{} tokens", T),
                    fmt::format("up to {}", most_positions));
    }
}

/// base^(-2i/r) for the pairs i = 0, 1, …
std::vector<double> frequencies(double base, Index r, Index pairs)
{
    const double log_base = math::log(base);
    std::vector<double> list;
    for (Index i = 0; i < pairs; ++i) {
        list.push_back(math::exp(-log_base * (static_cast<double>(2 * i) / static_cast<double>(r))));
    }
    return list;
}

math::SineCosine rotation(Index position, double frequency)
{
    return math::sincos(static_cast<double>(position) * frequency);
}

} // namespace

template <typename Scalar>
Tensor<Scalar> add_sinusoids(Tensor<Scalar> X)
{
    const Index T = X.rows();
    const Index D = X.columns();
    require_positions(T, "sinusoidal");
    const std::vector<double> frequency = frequencies(10000, D, (D + 1) / 2);
    for (Index p = 0; p < T; ++p) {
        const auto add = [&](Index column, double value) {
            if (column < D) { // an odd D ends with a sine
                Scalar& x = X.matrix()(p, column);
                x = static_cast<Scalar>(static_cast<double>(x) + value);
            }
        };
        for (Index i = 0; i < static_cast<Index>(frequency.size()); ++i) {
            const auto [sine, cosine] = rotation(p, frequency[static_cast<std::size_t>(i)]);
            add(2 * i, sine);
            add(2 * i + 1, cosine);
        }
    }
    return X;
}

template <typename Scalar>
Tensor<Scalar> apply_rope(Tensor<Scalar> X, const Rope& rope)
{
    const Index T = X.rows();
    const Index d = X.columns();
    const Index r = rope.dim.value_or(d);
    require_positions(T, "rope");
    if (r % 2 != 0 || r < 0 || r > d) {
        throw Error(ErrorKind::internal, "rotary dimension", std::to_string(r),
                    fmt::format("an even number up to the {} components of a query or key", d));
    }
    const bool half = rope.style == RopeStyle::half;
    const std::vector<double> frequency = frequencies(rope.base, r, r / 2);
    for (Index p = 0; p < T; ++p) {
        for (Index i = 0; i < r / 2; ++i) {
            const auto [sine, cosine] = rotation(p, frequency[static_cast<std::size_t>(i)]);
            for (Index h = 0; h < X.shape[0]; ++h) {
                Scalar& first = X.matrix(h)(p, half ? i : 2 * i);
                Scalar& second = X.matrix(h)(p, half ? i + r / 2 : 2 * i + 1);
                const auto a = static_cast<double>(first);
                const auto b = static_cast<double>(second);
                first = static_cast<Scalar>(a * cosine - b * sine);
                second = static_cast<Scalar>(a * sine + b * cosine);
            }
        }
    }
    return X;
}

std::vector<double> alibi_slopes(Index H)
{
    std::vector<double> slopes;
    // 2^(-8h/n)
    const auto slope = [](Index h, Index n) {
        const Index whole = 8 * h / n;
        const double rest = static_cast<double>(8 * h % n) / static_cast<double>(n);
        return std::ldexp(math::exp(-rest * std::numbers::ln2), -static_cast<int>(whole));
    };
    const auto n = static_cast<Index>(std::bit_floor(static_cast<std::size_t>(H)));
    for (Index h = 1; h <= n; ++h) {
        slopes.push_back(slope(h, n));
    }
    for (Index h = 1; static_cast<Index>(slopes.size()) < H; h += 2) {
        slopes.push_back(slope(h, 2 * n));
    }
    return slopes;
}

template Tensor<float> add_sinusoids(Tensor<float>);
template Tensor<double> add_sinusoids(Tensor<double>);
template Tensor<float> apply_rope(Tensor<float>, const Rope&);
template Tensor<double> apply_rope(Tensor<double>, const Rope&);

} // namespace attn::core
