// What keeps all stages of attention, to compare them.
#pragma once

#include "attn/core/attention.hpp"

namespace oracle {

inline constexpr attn::core::StageSelection every_stage{true, true, true, true, true, true};

} // namespace oracle
