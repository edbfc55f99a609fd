// Functions of one vector, for tile_kernels_body.hpp: powers of two, tanh, transposition, conversion. Written once over the
// vectors of vector_….hpp, which comes before. Coefficients by tests/oracle/tile_polynomials.py.
#pragma once

#include "attn/tensor/element.hpp"

namespace attn::core {
namespace {

constexpr float minus_infinity = -__builtin_inff();

/// 2^t for t ≤ 0 or -inf, to 0.91 units in the last place; denormal where it is small, exactly 0 below 2^-150.
inline Vector exp2(Vector t)
{
    constexpr float least = -190; // 2^-190 rounds to 0, and 2^(-190 + 64) is still a normal number
    // Adding it rounds to an integer n, which is then in the lowest bits: with 64 more, so that the sum below stays normal.
    constexpr float rounder = 0x1.8p23F + 64;
    t = max(t, all(least));
    const Vector shifted = t + all(rounder);
    const Vector r = t - (shifted - all(rounder)); // |r| ≤ 1/2
    Vector p = all(0.000153458124F);
    p = fma(p, r, all(0.00133999309F));
    p = fma(p, r, all(0.00961848907F));
    p = fma(p, r, all(0.0555032864F));
    p = fma(p, r, all(0.240226462F));
    p = fma(p, r, all(0.693147182F));
    p = fma(p, r, all(1));
    constexpr int exponent_bits = 23; // to the right of the exponent
    const Integers scaled = (Integers)p + ((Integers)shifted << exponent_bits);
    return (Vector)scaled * all(0x1p-64F);
}

/// To 2 units in the last place.
inline Vector tanh(Vector x)
{
    constexpr float small = 0.625F;
    const Vector size = max(x, -x);
    const Vector y = x * x;
    Vector p = all(0.00229894184F);
    p = fma(p, y, all(-0.00835000817F));
    p = fma(p, y, all(0.0217709951F));
    p = fma(p, y, all(-0.0539595485F));
    p = fma(p, y, all(0.133333057F));
    p = fma(p, y, all(-0.333333343F));
    const Vector near_zero = fma(x * y, p, x);
    const Vector u = exp2(size * all(-2 * 1.44269504F)); // e^(-2|x|)
    const Vector far = (all(1) - u) / (all(1) + u);
    return size < all(small) ? near_zero : (x < all(0) ? -far : far);
}

/// Rows become columns: log2(lanes) times each row is zipped with the one half of them further on.
inline void transpose(Vector (&rows)[lanes])
{
    for (int round = 1; round < lanes; round *= 2) {
        Vector zipped[lanes];
        for (int i = 0; i < lanes / 2; ++i) {
            zipped[2 * i] = zip_low(rows[i], rows[i + lanes / 2]);
            zipped[2 * i + 1] = zip_high(rows[i], rows[i + lanes / 2]);
        }
        for (int i = 0; i < lanes; ++i) {
            rows[i] = zipped[i];
        }
    }
}

constexpr int bfloat16_shift = 16; // bfloat16 is the upper half of a float32

/// The `lanes` elements at p.
template <ElementType type>
inline Vector load_as(const std::byte* p)
{
    if constexpr (type == ElementType::float16) {
        return load_float16(p);
    } else if constexpr (type == ElementType::bfloat16) {
        return (Vector)(load_halves(p) << bfloat16_shift);
    } else {
        return load(reinterpret_cast<const float*>(p));
    }
}

/// Rounded to nearest, ties to even; NaN stays NaN.
inline Integers bfloat16_bits(Vector v)
{
    constexpr int half = 0x7fff;
    constexpr int quiet = 0x40;
    const Integers bits = (Integers)v;
    const Integers upper = (bits >> bfloat16_shift) & 0xffff;
    const Integers rounded = ((bits + half + (upper & 1)) >> bfloat16_shift) & 0xffff;
    return v == v ? rounded : (upper | quiet);
}

template <ElementType type>
inline void store_as(std::byte* p, Vector v)
{
    if constexpr (type == ElementType::float16) {
        store_float16(p, v);
    } else if constexpr (type == ElementType::bfloat16) {
        store_halves(p, bfloat16_bits(v));
    } else {
        store(reinterpret_cast<float*>(p), v);
    }
}

template <ElementType type>
constexpr Index bytes_each = type == ElementType::float32 ? 4 : 2;

/// `count` elements at p, at most `lanes`; zeros after them.
template <ElementType type>
inline Vector load_part(const std::byte* p, Index count)
{
    if (count >= lanes) {
        return load_as<type>(p);
    }
    alignas(Vector) std::byte part[sizeof(Vector)] = {};
    __builtin_memcpy(part, p, static_cast<std::size_t>(count * bytes_each<type>));
    return load_as<type>(part);
}
template <ElementType type>
inline void store_part(std::byte* p, Vector v, Index count)
{
    if (count >= lanes) {
        return store_as<type>(p, v);
    }
    alignas(Vector) std::byte part[sizeof(Vector)];
    store_as<type>(part, v);
    __builtin_memcpy(p, part, static_cast<std::size_t>(count * bytes_each<type>));
}

} // namespace
} // namespace attn::core
