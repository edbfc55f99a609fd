// Llama, from which its kin start.
#pragma once

#include "attn/transformer/architecture.hpp"
#include "attn/transformer/config.hpp"

#include <optional>

namespace attn::transformer {

/// What holds where the config does not say, and what no key says.
struct LlamaDefaults {
    std::optional<Index> head_dim = {}; ///< D / H when absent
    double epsilon = 1e-6;
    std::optional<double> rope = 10000;        ///< the base; absent: the caller sets rotary positions
    std::optional<Activation> activation = {}; ///< hidden_act when absent
    double weight_shift = 0;                   ///< of every norm
};

[[nodiscard]] Architecture llama_like(Config& config, const LlamaDefaults& defaults);

} // namespace attn::transformer
