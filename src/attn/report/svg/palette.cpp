#include "attn/report/svg/palette.hpp"

namespace attn::report {

const Palette& palette_of(Ground ground)
{
    static constexpr Palette light{.ground = "#fff",
                                   .ink = "#1b1f24",
                                   .grey_ink = "#57606a",
                                   .blank = "#fff",
                                   .blank_line = "#c6ccd3",
                                   .line = "#1f4e8c",
                                   .colour = ink_of};
    static constexpr Palette dark{.ground = "#14171c",
                                  .ink = "#e6eaef",
                                  .grey_ink = "#a3adb8",
                                  .blank = "#14171c",
                                  .blank_line = "#3a424c",
                                  .line = "#8ab8ff",
                                  .colour = colour_of};
    return ground == Ground::light ? light : dark;
}

} // namespace attn::report
