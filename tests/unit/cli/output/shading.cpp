#include "cli/output/shading.hpp"

#include <gtest/gtest.h>

namespace {

using attn::cli::choose_shading;
using attn::cli::Colour;
using attn::report::Shading;

TEST(ChooseShading, TakesWhatTheTerminalCan)
{
    struct Case {
        std::string_view term, colorterm;
        Shading shading;
    };
    for (const Case& c : {Case{"xterm", "", Shading::colours_16},
                          Case{"xterm-256color", "", Shading::colours_256},
                          Case{"screen-256color", "", Shading::colours_256},
                          Case{"tmux-256color", "truecolor", Shading::colours_24_bit},
                          Case{"xterm-256color", "24bit", Shading::colours_24_bit},
                          Case{"xterm-direct", "", Shading::colours_24_bit},
                          Case{"xterm", "yes", Shading::colours_16},
                          Case{"linux", "", Shading::colours_16},
                          Case{"rxvt", "", Shading::colours_16},
                          Case{"something-new", "", Shading::colours_16},
                          Case{"vt100", "", Shading::blocks},
                          Case{"vt220", "", Shading::blocks},
                          Case{"vt100-w", "", Shading::blocks},
                          Case{"vt525", "", Shading::colours_16},
                          Case{"vte", "", Shading::colours_16},
                          Case{"ansi-m", "", Shading::blocks},
                          Case{"xterm-mono", "", Shading::blocks},
                          Case{"dumb", "", Shading::none},
                          Case{"dumb", "truecolor", Shading::none},
                          Case{"", "truecolor", Shading::none}}) {
        EXPECT_EQ(choose_shading(Colour::automatic, true, {c.term, c.colorterm, ""}), c.shading) << c.term;
        EXPECT_EQ(choose_shading(Colour::never, true, {c.term, c.colorterm, ""}), Shading::none) << c.term;
        EXPECT_EQ(choose_shading(Colour::automatic, false, {c.term, c.colorterm, ""}), Shading::none) << c.term;
        EXPECT_EQ(choose_shading(Colour::automatic, true, {c.term, c.colorterm, "1"}), Shading::none) << c.term;
    }
}

TEST(ChooseShading, AlwaysMeansColoursEverywhere)
{
    const auto always = [](std::string_view term, std::string_view colorterm) {
        const Shading shading = choose_shading(Colour::always, false, {term, colorterm, "1"});
        EXPECT_EQ(choose_shading(Colour::always, true, {term, colorterm, ""}), shading);
        return shading;
    };
    for (const std::string_view term : {"", "dumb", "vt100", "xterm", "ansi-m"}) {
        EXPECT_EQ(always(term, ""), Shading::colours_16) << term;
    }
    EXPECT_EQ(always("xterm-256color", ""), Shading::colours_256);
    EXPECT_EQ(always("", "truecolor"), Shading::colours_24_bit);
}

} // namespace
