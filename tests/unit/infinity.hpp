// What no decimal can say.
#pragma once

#include <limits>

inline constexpr float infinity = std::numeric_limits<float>::infinity(); ///< a double takes it unchanged
