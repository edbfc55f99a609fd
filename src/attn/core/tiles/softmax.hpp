// The softmax of a tile, for kernels_body.hpp: powers of two of scores under a running maximum, and the weights that come
// of them. Contexts are divided by the sum in kernels_body.hpp, once, at the end.
#pragma once

#include "attn/core/tiles/functions.hpp"
#include "attn/core/tiles/kernels.hpp"

namespace attn::core {
// Every name here has internal linkage, in each of the files that include this; and std::array would bring weak symbols.
// NOLINTBEGIN(misc-definitions-in-headers, modernize-avoid-c-arrays)
namespace {

/// The exponents (s - base)·c of powers of two. Where scores are of ordinary size it takes one operation, and base·c is rounded
/// the same way for all scores of a query; where they are large, that rounding alone would be a power of two beyond float32.
template <bool far>
class Exponents {
public:
    Exponents() = default;
    Exponents(Vector maximum, Vector c) : c_(c)
    {
        const Vector base = maximum == all(minus_infinity) ? all(0) : maximum; // so that -inf stays -inf
        from_ = far ? base : -(base * c);
    }

    Vector of(Vector s) const { return far ? (s - from_) * c_ : fma(s, c_, from_); }
    /// Of what was gathered under another maximum.
    Vector of_maximum(Vector maximum) const { return far ? (maximum - from_) * c_ : maximum * c_ + from_; }

private:
    Vector c_, from_;
};

/// Columns of `vectors` vectors of queries.
template <int vectors, bool far>
__attribute__((noinline)) void power_columns(const Tile& tile, Index column, float factor)
{
    Exponents<far> exponents[vectors];
    Vector rescale[vectors], sum[vectors], none = all(0);
    keep_in_register(none); // or g++ would clear `sum` as bytes, slowly
    for (int n = 0; n < vectors; ++n) {
        const Index q = column + n * lanes;
        const Vector before = load(tile.maximum + q);
        const Vector now = max(before, load(tile.tile_maximum + q));
        exponents[n] = Exponents<far>(now, all(factor));
        rescale[n] = exponents[n].of_maximum(before);
        sum[n] = none; // of this tile alone: small numbers first
        store(tile.maximum + q, now);
    }
    exp2(rescale); // of the first tile they are 0
    for (Index j = 0; j < tile.keys; ++j) {
        float* at = tile.S + j * width + column;
        Vector p[vectors];
        for (int n = 0; n < vectors; ++n) {
            p[n] = exponents[n].of(load(at + n * lanes));
        }
        exp2(p);
        for (int n = 0; n < vectors; ++n) {
            store(at + n * lanes, p[n]);
            sum[n] = sum[n] + p[n];
        }
    }
    for (int n = 0; n < vectors; ++n) {
        const Index q = column + n * lanes;
        store(tile.rescale + q, rescale[n]);
        store(tile.sum + q, fma(load(tile.sum + q), rescale[n], sum[n]));
    }
}

template <bool far>
void powers_of(const Tile& tile, float factor)
{
    const Index vectors = vectors_for(tile.queries);
    Index n = 0;
    for (; n + most_power_vectors <= vectors; n += most_power_vectors) {
        power_columns<most_power_vectors, far>(tile, n * lanes, factor);
    }
    for (; n < vectors; ++n) {
        power_columns<1, far>(tile, n * lanes, factor);
    }
}

void powers(const Tile& tile, float factor)
{
    tile.far ? powers_of<true>(tile, factor) : powers_of<false>(tile, factor);
}

template <bool far>
void merge_of(const Tile& tile, const Tile& from, float factor)
{
    for (Index q = 0; q < tile.queries; q += lanes) {
        const Vector one = load(tile.maximum + q), other = load(from.maximum + q);
        const Vector now = max(one, other);
        const Exponents<far> exponents(now, all(factor));
        Vector rescale[] = {exponents.of_maximum(one), exponents.of_maximum(other)};
        exp2(rescale); // 0 where nothing was seen
        store(tile.maximum + q, now);
        store(tile.sum + q, fma(load(from.sum + q), rescale[1], load(tile.sum + q) * rescale[0]));
        store(tile.rescale + q, rescale[0]);
        store(from.rescale + q, rescale[1]);
    }
    for (Index i = 0; i < tile.queries; ++i) {
        const Vector rescale = all(tile.rescale[i]), other = all(from.rescale[i]);
        for (Index e = i * tile.features; e < (i + 1) * tile.features; e += lanes) {
            store(tile.O + e, fma(load(from.O + e), other, load(tile.O + e) * rescale));
        }
    }
}

void merge(const Tile& tile, const Tile& from, float factor)
{
    tile.far ? merge_of<true>(tile, from, factor) : merge_of<false>(tile, from, factor);
}

template <bool far>
void weights_of(const Tile& tile, float factor, float* information)
{
    const Index columns = vectors_for(tile.queries) * lanes;
    for (Index q = 0; q < columns; q += lanes) {
        const Exponents<far> exponents(load(tile.maximum + q), all(factor));
        const Vector sum = load(tile.sum + q);
        const Vector inverse = all(1) / (sum == all(0) ? all(1) : sum);
        Vector gathered = load(information + q);
        for (Index j = 0; j < tile.keys; ++j) {
            float* at = tile.S + j * width + q;
            const Vector t = exponents.of(load(at));
            const Vector w = exp2(t) * inverse;
            store(at, w);
            gathered = w == all(0) ? gathered : fma(w, t, gathered);
        }
        store(information + q, gathered);
    }
}

void weights(const Tile& tile, float factor, float* information)
{
    tile.far ? weights_of<true>(tile, factor, information) : weights_of<false>(tile, factor, information);
}

} // namespace
// NOLINTEND(misc-definitions-in-headers, modernize-avoid-c-arrays)
} // namespace attn::core
