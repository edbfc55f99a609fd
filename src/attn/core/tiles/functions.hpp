// Functions of one vector, for kernels_body.hpp: powers of two, tanh, conversion, transposition. Written once over the
// vectors of vector_….hpp, which comes before. Coefficients by tests/oracle/tile_polynomials.py.
#pragma once

#include "attn/tensor/element.hpp"

namespace attn::core {
// Every name here has internal linkage, in each of the files that include this; and std::array would bring weak symbols.
// NOLINTBEGIN(misc-definitions-in-headers, modernize-avoid-c-arrays)
namespace {

constexpr float minus_infinity = -__builtin_inff();
constexpr float least_power = -190; ///< 2^-190 rounds to 0

#ifndef ATTN_VECTOR_HAS_POWERS
/// 2^n for the integer n nearest to t, from least_power to 0, as the float32 n + power_origin, which has n in its lowest bits:
/// with 64 more, so that what they are added to stays a normal number.
using Power = Vector;
constexpr bool power_takes_any_number = false;
constexpr float power_origin = 0x1.8p23F + 64;
constexpr float power_coefficients[] = {
    0.000153458124F, 0.00133999309F, 0.00961848907F, 0.0555032864F, 0.240226462F, 0.693147182F, 1};

inline Power power_near(Vector t)
{
    return t + all(power_origin); // rounds to an integer
}
/// t - n, |t - n| ≤ 1/2
inline Vector rest(Vector t, Power power)
{
    return t - (power - all(power_origin));
}
/// p · 2^n, rounded once; p in [1/2, 2]
inline Vector times(Vector p, Power power)
{
    constexpr int fraction_bits = 23; // to the right of the exponent
    return (Vector)((Integers)p + ((Integers)power << fraction_bits)) * all(0x1p-64F);
}
#endif

/// 2^t for each t ≤ 0 or -inf, to 0.95 units in the last place, with AVX-512 to 1.6; denormal where it is small, exactly 0
/// below 2^-150. Several at a time, step by step, because one alone is a long chain in which each operation waits for the one
/// before.
template <int count>
inline void exp2(Vector (&t)[count])
{
    Power power[count];
    Vector r[count], p[count];
    for (int i = 0; i < count; ++i) {
        t[i] = power_takes_any_number ? t[i] : max(t[i], all(least_power));
        power[i] = power_near(t[i]);
    }
    for (int i = 0; i < count; ++i) {
        r[i] = rest(t[i], power[i]);
        p[i] = all(power_coefficients[0]);
    }
    for (std::size_t k = 1; k < sizeof(power_coefficients) / sizeof(float); ++k) {
        for (int i = 0; i < count; ++i) {
            p[i] = fma(p[i], r[i], all(power_coefficients[k]));
        }
    }
    for (int i = 0; i < count; ++i) {
        t[i] = times(p[i], power[i]);
    }
}

inline Vector exp2(Vector t)
{
    Vector one[] = {t};
    exp2(one);
    return one[0];
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
    constexpr std::uint32_t half = 0x7fff;
    constexpr std::uint32_t quiet = 0x40;
    const auto bits = (Integers)v;
    const Integers upper = (bits >> bfloat16_shift) & 0xffffU;
    const Integers rounded = ((bits + half + (upper & 1U)) >> bfloat16_shift) & 0xffffU;
    return v == v ? rounded : (upper | quiet); // NOLINT(misc-redundant-expression): NaN is not itself
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

/// As store_as and load_as would leave it.
template <ElementType type>
inline Vector rounded_to(Vector v)
{
    alignas(Vector) std::byte stored[sizeof(Vector)];
    store_as<type>(stored, v);
    return load_as<type>(stored);
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

constexpr Index width = query_vectors * lanes; ///< queries of a tile: the row length of S and of packed queries

constexpr Index smaller(Index a, Index b)
{
    return a < b ? a : b;
}

inline Index vectors_for(Index columns)
{
    return (columns + lanes - 1) / lanes;
}

/// `lanes` rows of at most `lanes` elements, `stride` bytes apart, as columns; zeros beyond `rows` and `columns`.
template <ElementType type>
inline void load_transposed(const std::byte* from, Index stride, Index rows, Index columns, Vector (&to)[lanes])
{
    if (rows >= lanes && columns >= lanes) { // without questions, so that all stays in registers
        for (int i = 0; i < lanes; ++i) {
            to[i] = load_as<type>(from + i * stride);
        }
    } else {
        for (int i = 0; i < lanes; ++i) {
            to[i] = i < rows ? load_part<type>(from + i * stride, columns) : all(0);
        }
    }
    transpose(to);
}

/// The first `count` vectors, `stride` floats apart.
inline void store_rows(const Vector (&rows)[lanes], Index count, float* to, Index stride)
{
    if (count >= lanes) {
        for (int i = 0; i < lanes; ++i) {
            store(to + i * stride, rows[i]);
        }
        return;
    }
    for (Index i = 0; i < count; ++i) {
        store(to + i * stride, rows[i]);
    }
}

} // namespace
// NOLINTEND(misc-definitions-in-headers, modernize-avoid-c-arrays)
} // namespace attn::core
