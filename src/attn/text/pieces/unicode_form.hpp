// Unicode's normalization forms of text that remembers where it comes from.
#pragma once

#include "attn/text/pieces/aligned.hpp"
#include "attn/text/pieces/tokenizer_spec.hpp"

namespace attn::text {

/// What a character decomposes into stands for that character; a composed one for all that it was composed of (Unicode 15,
/// UAX #15).
[[nodiscard]] AlignedText in_form(const AlignedText& text, Form form);

} // namespace attn::text
