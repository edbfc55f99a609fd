// What a test cannot see, as text and as JSON.
#pragma once

#include "attn/model/diagnose/blind_spots.hpp"
#include "attn/tensor/buffer.hpp"

#include <optional>
#include <string>

namespace attn::report {

/// Inputs on which a test sees more, what it does not see on them, and the command that a result on them is held against.
struct RevealingFile {
    model::diagnose::BlindSpots spots;
    std::string path, command; ///< both empty: nothing was written, since no input that was drawn shows anything new
};

/// How many mistakes the test sees, and those that would pass it, by why; where a file is suggested, those that the inputs of
/// the call show and it does not, and those that pass a test on both. `suggested`: nullptr where none was asked for.
void write_blind_spots(const model::diagnose::BlindSpots& spots, const RevealingFile* suggested, Buffer& buffer);

/// The sizes of a change, as --random takes them, and a cache; nothing where they are those of the call.
[[nodiscard]] std::optional<std::string> sizes_that_show(const model::diagnose::BlindSpot& spot,
                                                         const model::diagnose::BlindSpots& spots);

} // namespace attn::report
