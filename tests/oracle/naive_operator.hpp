// The ONNX Attention operator (opset 23 to 25) the slow way: plain loops in float64 over (b, h, i, j), sharing nothing with
// src/.
//
// The rules, from the operator's specification:
//   - query head h reads key/value head h / (H / H_kv); the cache comes before the new keys;
//   - scores, times scale (1/√d_k), cap·tanh(s/cap), plus mask, softmax, times V;
//   - a boolean mask says true for a key that is seen, any other is added; it broadcasts from the right, and a last dimension
//   that
//     is too short goes on with false or -inf;
//   - causal: j ≤ i + offset; window: i + offset - left ≤ j ≤ i + offset + right, -1 leaving a side open; lengths: j < length;
//   - the offset is the past length, or the batch's valid length - T, or 0;
//   - a row without any key gives zeros, and what is masked contributes nothing, be it NaN.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace oracle {

struct OperatorMask {
    bool boolean = false;
    std::vector<long> shape; ///< one to four dimensions, (…, ≤ P+S)
    std::vector<double> values;
};

enum class Alignment { offset, top_left, bottom_right };

struct Operator {
    long B = 1, H = 1, H_kv = 1, T = 1, S = 1, P = 0, d_k = 1, d_v = 1;
    std::vector<double> Q;                    ///< (B, H, T, d_k)
    std::vector<double> K, V;                 ///< (B, H_kv, S, d_k), (B, H_kv, S, d_v)
    std::vector<double> past_key, past_value; ///< (B, H_kv, P, d_k), (B, H_kv, P, d_v)
    std::optional<OperatorMask> mask;
    std::vector<long> lengths; ///< (B), or none
    std::optional<double> scale, softcap;
    bool causal = false;
    std::optional<std::pair<long, long>> window; ///< left, right
    Alignment alignment = Alignment::offset;
    double empty = 0; ///< what a row without keys gives
};

struct OperatorStages {
    std::vector<double> scores, scaled, capped, masked, weights; ///< (B, H, T, P+S)
    std::vector<double> context;                                 ///< (B, H, T, d_v)
    std::vector<double> entropy;                                 ///< (B, H, T)
    std::vector<double> present_key, present_value;              ///< (B, H_kv, P+S, d)
};

/// What the mask adds to the score of query i, key j: -inf for a masked key.
inline double mask_value(const Operator& o, long b, long h, long i, long j)
{
    const double hidden = -std::numeric_limits<double>::infinity();
    if (!o.mask) {
        return 0;
    }
    const std::vector<long>& shape = o.mask->shape;
    const long index[4] = {b, h, i, j};
    long place = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const long at = index[4 - shape.size() + axis];
        if (axis + 1 == shape.size()) {
            if (at >= shape[axis]) {
                return hidden;
            }
            place = place * shape[axis] + at;
        } else {
            place = place * shape[axis] + (shape[axis] == 1 ? 0 : at);
        }
    }
    const double value = o.mask->values[std::size_t(place)];
    return o.mask->boolean ? (value != 0 ? 0 : hidden) : value;
}

inline long offset_of(const Operator& o, long b)
{
    const bool has_lengths = !o.lengths.empty();
    if (o.alignment == Alignment::top_left) {
        return 0;
    }
    if (has_lengths) {
        return o.lengths[std::size_t(b)] - o.T;
    }
    return o.alignment == Alignment::bottom_right ? o.P + o.S - o.T : o.P;
}

/// What is added to the score: the mask's value, or -inf for a key that causality, window or length hide.
inline double bias(const Operator& o, long b, long h, long i, long j)
{
    const double hidden = -std::numeric_limits<double>::infinity();
    const long p = i + offset_of(o, b);
    if (o.causal && j > p) {
        return hidden;
    }
    if (o.window && o.window->first >= 0 && j < p - o.window->first) {
        return hidden;
    }
    if (o.window && o.window->second >= 0 && j > p + o.window->second) {
        return hidden;
    }
    if (!o.lengths.empty() && j >= o.lengths[std::size_t(b)]) {
        return hidden;
    }
    return mask_value(o, b, h, i, j);
}

inline bool is_hidden(double value)
{
    return value == -std::numeric_limits<double>::infinity();
}

/// past (B, H_kv, P, d) and fresh (B, H_kv, S, d), joined along the keys.
inline std::vector<double> join(const Operator& o, const std::vector<double>& past, const std::vector<double>& fresh, long d)
{
    std::vector<double> joined;
    for (long bg = 0; bg < o.B * o.H_kv; ++bg) {
        for (long e = 0; e < o.P * d; ++e) {
            joined.push_back(past[std::size_t(bg * o.P * d + e)]);
        }
        for (long e = 0; e < o.S * d; ++e) {
            joined.push_back(fresh[std::size_t(bg * o.S * d + e)]);
        }
    }
    return joined;
}

/// One query row: b and h fixed, query i.
inline void attend_row(const Operator& o, long b, long h, long i, OperatorStages& stages)
{
    const long keys = o.P + o.S, g = b * o.H_kv + h / (o.H / o.H_kv);
    const double scale = o.scale ? *o.scale : 1 / std::sqrt(double(o.d_k));
    std::vector<double> s, w;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0, entropy = 0;
    for (long j = 0; j < keys; ++j) {
        double score = 0;
        for (long e = 0; e < o.d_k; ++e) {
            score += o.Q[std::size_t(((b * o.H + h) * o.T + i) * o.d_k + e)] *
                     stages.present_key[std::size_t((g * keys + j) * o.d_k + e)];
        }
        stages.scores.push_back(score);
        stages.scaled.push_back(score * scale);
        const double capped = o.softcap ? *o.softcap * std::tanh(score * scale / *o.softcap) : score * scale;
        stages.capped.push_back(capped);
        const double added = bias(o, b, h, i, j);
        s.push_back(is_hidden(added) ? added : capped + added);
        stages.masked.push_back(s.back());
        largest = is_hidden(s.back()) ? largest : std::fmax(largest, s.back());
    }
    for (const double score : s) {
        w.push_back(is_hidden(score) ? 0 : std::exp(score - largest));
        sum += w.back();
    }
    const bool empty = is_hidden(largest);
    for (double& weight : w) {
        weight = empty ? o.empty : weight / sum;
        entropy -= weight == 0 ? 0 : weight * std::log(weight);
        stages.weights.push_back(weight);
    }
    stages.entropy.push_back(empty ? o.empty : entropy);
    for (long e = 0; e < o.d_v; ++e) {
        double total = empty ? o.empty : 0;
        for (long j = 0; j < keys && !empty; ++j) {
            const double value = stages.present_value[std::size_t((g * keys + j) * o.d_v + e)];
            total += w[std::size_t(j)] == 0 ? 0 : w[std::size_t(j)] * value;
        }
        stages.context.push_back(total);
    }
}

inline OperatorStages attend(const Operator& o)
{
    OperatorStages stages;
    stages.present_key = join(o, o.past_key, o.K, o.d_k);
    stages.present_value = join(o, o.past_value, o.V, o.d_v);
    for (long b = 0; b < o.B; ++b) {
        for (long h = 0; h < o.H; ++h) {
            for (long i = 0; i < o.T; ++i) {
                attend_row(o, b, h, i, stages);
            }
        }
    }
    return stages;
}

} // namespace oracle
