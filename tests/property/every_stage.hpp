// What keeps all stages of attention, to compare them; but for those of dropout, which no tiles compute.
#pragma once

#include "attn/core/attention.hpp"

namespace oracle {

inline constexpr attn::core::StageSelection every_stage{attn::core::Stage::scores,
                                                        attn::core::Stage::scaled_scores,
                                                        attn::core::Stage::capped_scores,
                                                        attn::core::Stage::masked_scores,
                                                        attn::core::Stage::weights,
                                                        attn::core::Stage::entropy,
                                                        attn::core::Stage::lse};

} // namespace oracle
