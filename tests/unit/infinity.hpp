// What no decimal can say.
#pragma once

#include <limits>

inline constexpr double infinity = std::numeric_limits<double>::infinity();
