// What a test cannot see, as text and as JSON.
#pragma once

#include "attn/model/diagnose/blind_spots.hpp"
#include "attn/tensor/buffer.hpp"

namespace attn::report {

/// How many mistakes the test sees, and those that would pass it, by why.
void write_blind_spots(const model::diagnose::BlindSpots& spots, Buffer& buffer);

} // namespace attn::report
