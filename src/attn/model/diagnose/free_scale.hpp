// A scale of the scores that is on no list: the one that gives the numbers of a file, and what it may be.
#pragma once

#include "attn/model/diagnose/call.hpp"

#include <functional>
#include <optional>
#include <string>

namespace attn::model::diagnose {

struct FreeScale {
    double scale = 1; ///< what Q·Kᵀ is multiplied by
    std::string what; ///< "scores times 0.0884, which is 1/√128; d_k is 80: a padded head?"
};

/// How far the numbers are, in tolerances, when Q·Kᵀ is multiplied by a scale; infinite of numbers that none can give.
using FarAt = std::function<double(double scale)>;

/// The scale at which they are nearest, between a thousandth and a thousand times the right one, or a scale that has a name, if
/// that is about as near. Nothing where the nearest is farther than a tolerance or two.
[[nodiscard]] std::optional<FreeScale> free_scale(const Call& call, const FarAt& far);

/// The factor of the scores of a call: --scale, or 1/√d_k.
[[nodiscard]] double right_scale(const Call& call);

} // namespace attn::model::diagnose
