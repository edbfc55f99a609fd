// How wide letters are, from DejaVu Sans by tests/oracle/letter_widths.py. Generated: do not edit.
#pragma once

#include <array>
#include <cstdint>

namespace attn::report {

// clang-format off
/// Of the characters from U+0020 to U+007E, in thousandths of the font's size.
inline constexpr std::array<std::uint16_t, 95> letter_widths{
    334, 401, 460, 838, 637, 951, 780, 334, 391, 391, 500, 838,
    334, 361, 334, 337, 637, 637, 637, 637, 637, 637, 637, 637,
    637, 637, 337, 337, 838, 838, 838, 531, 1000, 685, 687, 699,
    771, 632, 576, 775, 752, 334, 334, 656, 558, 863, 749, 788,
    604, 788, 695, 635, 611, 732, 685, 989, 686, 611, 686, 391,
    337, 391, 838, 500, 500, 613, 635, 550, 635, 616, 353, 635,
    634, 334, 334, 580, 334, 975, 634, 612, 635, 635, 412, 521,
    393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838,
};
// clang-format on

} // namespace attn::report
