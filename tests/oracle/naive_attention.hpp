// Attention the slow way: four nested loops over long double, straight from the formulas, sharing nothing with src/.
#pragma once

#include "oracle/heads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace oracle {

struct Stages {
    std::vector<double> scores, scaled, capped, masked, weights, context, entropy; // (H, T, S) …, (H, T, d_v), (H, T)
};

/// Whether the query at position p may see key j.
inline bool visible(const attn::core::AttentionOptions& options, attn::Index p, attn::Index j)
{
    const bool before = !options.causal || j <= p;
    const bool left = !options.window || options.window->left < 0 || j >= p - options.window->left;
    const bool right = !options.window || options.window->right < 0 || j <= p + options.window->right;
    return before && left && right;
}

/// Of query i of head h and key j of its key head g, from the formulas of core/attention.hpp.
template <typename Scalar>
long double score(const Heads<Scalar>& heads, attn::core::Score score, attn::Index h, attn::Index i, attn::Index j)
{
    using Long = long double;
    using attn::Index;
    const Index T = heads.queries.shape[1], S = heads.keys.shape[1], d_k = heads.queries.shape[2];
    const Index g = h / (heads.queries.shape[0] / heads.keys.shape[0]);
    const auto q = [&](Index d) { return Long(heads.queries.values[std::size_t((h * T + i) * d_k + d)]); };
    const auto k = [&](Index d) { return Long(heads.keys.values[std::size_t((g * S + j) * d_k + d)]); };
    const auto sum = [](Index count, const auto& term) {
        Long total = 0;
        for (Index d = 0; d < count; ++d) {
            total += term(d);
        }
        return total;
    };
    const Long product = sum(d_k, [&](Index d) { return q(d) * k(d); });
    if (score == attn::core::Score::cosine) {
        const Long lengths = std::sqrt(sum(d_k, [&](Index d) { return q(d) * q(d); })) *
                             std::sqrt(sum(d_k, [&](Index d) { return k(d) * k(d); }));
        return lengths == 0 ? 0 : product / lengths;
    }
    if (heads.score_parameters.empty()) {
        return product;
    }
    const attn::core::ScoreParameters& p = heads.score_parameters[std::size_t(h)];
    const auto bias = [](const attn::RowVector<double>& b, Index d) { return b.size() == 0 ? Long(0) : Long(b(d)); };
    const auto of_W = [&](Index d, const auto& x) {
        return sum(d_k, [&](Index e) { return x(e) * Long(p.W_a(e, d)); }) + bias(p.b_Wa, d);
    };
    if (score == attn::core::Score::general) {
        return sum(d_k, [&](Index d) { return q(d) * of_W(d, k); });
    }
    return sum(p.v_a.size(),
               [&](Index d) {
                   const Long u = sum(d_k, [&](Index e) { return k(e) * Long(p.U_a(e, d)); }) + bias(p.b_Ua, d);
                   return Long(p.v_a(d)) * std::tanh(of_W(d, q) + u);
               }) +
           Long(p.b_va);
}

template <typename Scalar>
Stages attention(const Heads<Scalar>& heads, const attn::core::AttentionOptions& options)
{
    using Long = long double;
    const attn::Index H = heads.queries.shape[0], T = heads.queries.shape[1], d_k = heads.queries.shape[2];
    const attn::Index H_kv = heads.keys.shape[0], S = heads.keys.shape[1], d_v = heads.values.shape[2];
    const Long scale = options.scale                                    ? Long(*options.scale)
                       : options.score == attn::core::Score::scaled_dot ? 1 / std::sqrt(Long(d_k))
                                                                        : 1;
    const bool mask_first = options.mask_at == attn::core::MaskAt::scores;
    Stages stages;
    for (attn::Index h = 0; h < H; ++h) {
        const attn::Index g = h / (H / H_kv);
        for (attn::Index i = 0; i < T; ++i) {
            const attn::Index p = heads.query_positions[std::size_t(i)];
            std::vector<Long> s(std::size_t(S), 0);
            Long largest = -std::numeric_limits<Long>::infinity();
            for (attn::Index j = 0; j < S; ++j) {
                Long& score = s[std::size_t(j)];
                score = oracle::score(heads, options.score, h, i, j);
                stages.scores.push_back(double(score));
                if (mask_first) {
                    score = visible(options, p, j) ? score : -std::numeric_limits<Long>::infinity();
                    stages.masked.push_back(double(score));
                }
                score *= scale;
                stages.scaled.push_back(double(score));
                score = options.softcap ? *options.softcap * std::tanh(score / *options.softcap) : score;
                stages.capped.push_back(double(score));
                if (!mask_first) {
                    score = visible(options, p, j) ? score : -std::numeric_limits<Long>::infinity();
                    stages.masked.push_back(double(score));
                }
                largest = std::max(largest, score);
            }
            Long sum = 0;
            for (const Long score : s) {
                sum += std::isinf(score) ? 0 : std::exp(score - largest);
            }
            std::vector<Long> context(std::size_t(d_v), 0);
            Long entropy = 0;
            for (attn::Index j = 0; j < S; ++j) {
                const Long score = s[std::size_t(j)];
                const Long weight = std::isinf(score) ? 0 : std::exp(score - largest) / sum;
                stages.weights.push_back(double(weight));
                entropy -= weight == 0 ? 0 : weight * std::log(weight);
                for (attn::Index d = 0; d < d_v; ++d) {
                    context[std::size_t(d)] += weight * Long(heads.values.values[std::size_t((g * S + j) * d_v + d)]);
                }
            }
            stages.entropy.push_back(double(entropy));
            stages.context.insert(stages.context.end(), context.begin(), context.end());
        }
    }
    return stages;
}

} // namespace oracle
