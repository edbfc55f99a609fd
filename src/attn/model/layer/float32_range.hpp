// Numbers of a file or of a recipe that a run in its type cannot hold.
#pragma once

#include "attn/tensor/view.hpp"

#include <span>
#include <string>
#include <string_view>

namespace attn::model {

/// Throws Error(data) naming `what` and the type when it is bool.
void require_numbers(const TensorView& view, const std::string& what);

/// What a message names that takes a number as it is, of `run`.
inline constexpr std::string_view wider_run = "--dtype float64";

/// Throws Error(data) naming `what` and the first finite number that float32 would make infinite; only float64 has such.
void require_float32_range(const TensorView& view, const std::string& what, std::string_view wider = wider_run,
                           const Arriving* arriving = nullptr);

/// Throws Error(data) naming `what` and the first integer that the type would round; only int32 and int64 have such.
void require_exact_integers(const TensorView& view, Dtype dtype, const std::string& what, std::string_view wider = wider_run,
                            const Arriving* arriving = nullptr);
/// The same of float64 numbers, of which those at `places` are integers.
void require_exact_integers(const TensorView& view, std::span<const Index> places, Dtype dtype, const std::string& what);

} // namespace attn::model
