#include "attn/report/colour_map.hpp"

#include "attn/math/elementary.hpp"
#include "attn/report/cividis.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace attn::report {
namespace {

const cividis::Stop& stop_of(double share)
{
    return cividis::stops[step_of(share, cividis::stops.size())];
}

/// sRGB to linear light.
double linear(std::uint8_t level)
{
    const double share = level / 255.0;
    return share <= 0.04045 ? share / 12.92 : math::exp(2.4 * math::log((share + 0.055) / 1.055));
}

} // namespace

std::size_t step_of(double share, std::size_t count)
{
    const double inside = share > 0 ? std::min(share, 1.0) : 0; // NaN is not above 0
    return static_cast<std::size_t>(std::lround(inside * static_cast<double>(count - 1)));
}

Rgb colour_of(double share)
{
    return stop_of(share).colour;
}

Rgb ink_of(double share)
{
    // Each channel falls from stop to stop, so luminance does.
    constexpr std::array<Rgb, 5> stops{{{247, 250, 253}, {185, 211, 238}, {107, 163, 214}, {38, 96, 164}, {8, 26, 63}}};
    const double place = (share > 0 ? std::min(share, 1.0) : 0) * (stops.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(place), stops.size() - 2);
    const double part = place - static_cast<double>(below);
    const auto mixed = [&](std::uint8_t Rgb::*channel) {
        return static_cast<std::uint8_t>(
            std::lround((1 - part) * stops.at(below).*channel + part * stops.at(below + 1).*channel));
    };
    return {mixed(&Rgb::r), mixed(&Rgb::g), mixed(&Rgb::b)};
}

int xterm_colour_of(double share)
{
    return stop_of(share).xterm;
}

Rgb xterm_rgb(int colour)
{
    constexpr std::array<std::uint8_t, 6> levels{0, 95, 135, 175, 215, 255};
    constexpr int cube = 16;
    constexpr int greys = 232;
    if (colour >= greys) {
        const auto grey = static_cast<std::uint8_t>(8 + 10 * (colour - greys));
        return {grey, grey, grey};
    }
    const auto level = [&](int step) { return levels[static_cast<std::size_t>((colour - cube) / step % 6)]; };
    return {level(36), level(6), level(1)};
}

double luminance(Rgb colour)
{
    return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b);
}

double contrast(Rgb a, Rgb b)
{
    const auto [darker, lighter] = std::minmax({luminance(a), luminance(b)});
    return (lighter + 0.05) / (darker + 0.05);
}

bool takes_dark_text(Rgb background)
{
    return contrast(background, {0, 0, 0}) > contrast(background, {255, 255, 255});
}

} // namespace attn::report
