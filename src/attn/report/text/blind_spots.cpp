#include "attn/report/text/blind_spots.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/text/display.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace attn::report {
namespace {

using model::diagnose::Blind;
using model::diagnose::BlindSpot;
using model::diagnose::BlindSpots;

/// Two digits.
std::string short_number(double value)
{
    return value == 0 ? "0" : math::scientific(value, 1);
}

/// What stands above those that go unseen for the same reason, and that the same change shows.
std::string title_of(const BlindSpot& spot, const BlindSpots& spots)
{
    std::string change(spot.change ? model::diagnose::change_names.at(static_cast<std::size_t>(*spot.change)) : "");
    if (const std::optional<std::string> sizes = sizes_that_show(spot, spots)) {
        change += fmt::format(" (sizes {})", *sizes);
    }
    std::string title;
    switch (spot.why) {
    case Blind::no_room: return fmt::format("these need {}:", change);
    case Blind::same: title = "these give the right numbers"; break;
    case Blind::tolerated:
        title = fmt::format("these stay within the tolerance, --rtol {} --atol {}", math::shortest(spots.tolerance.rtol),
                            math::shortest(spots.tolerance.atol));
        break;
    case Blind::as_type_allows:
        title = fmt::format("these stay as near to float64 as the type allows, {}", short_number(*spots.half_allowed));
        break;
    }
    return spot.change ? fmt::format("{}; {} would show them:", title, change) : title + ":";
}

/// Whether one is the other with another size of tiles, vectors or parts, unseen for the same reason.
bool is_sibling(const BlindSpot& a, const BlindSpot& b)
{
    const auto family = [](const BlindSpot& spot) { return spot.mistake->what.substr(0, spot.mistake->what.rfind(" (")); };
    return a.why == b.why && a.change == b.change && a.mistake->sized != nullptr && a.mistake->sized == b.mistake->sized &&
           family(a) == family(b);
}

/// Of siblings: "the last tile of keys left out (tiles of 16, 32, 64)".
std::string line_of(std::span<const BlindSpot> spots)
{
    const BlindSpot& first = spots.front();
    std::string text = "  " + first.mistake->what;
    double largest = 0;
    for (const BlindSpot& spot : spots) {
        largest = std::max(largest, spot.largest);
        if (&spot != &first) {
            text.insert(text.size() - 1, fmt::format(", {}", spot.mistake->size));
        }
    }
    if (largest > 0 && first.why != Blind::same) {
        text += fmt::format("; largest difference {}", short_number(largest));
    }
    if (const Index threads = first.mistake->threads; threads > 0) {
        text += fmt::format("; seen in {} public {}", threads, threads == 1 ? "issue" : "issues");
    }
    return text;
}

/// Those that go unseen, in groups.
void write_unseen(const BlindSpots& spots, Buffer& buffer)
{
    std::vector<BlindSpot> unseen = spots.unseen;
    std::ranges::stable_sort(unseen, {},
                             [](const BlindSpot& spot) { return std::tuple(spot.why, spot.change, -spot.mistake->threads); });
    for (auto first = unseen.begin(); first != unseen.end();) {
        if (first == unseen.begin() || title_of(*first, spots) != title_of(*(first - 1), spots)) {
            buffer.append(fmt::format("\n{}\n", title_of(*first, spots)));
        }
        const auto last =
            std::find_if_not(first + 1, unseen.end(), [&](const BlindSpot& each) { return is_sibling(*first, each); });
        buffer.append(line_of({first, last}) + "\n");
        first = last;
    }
}

/// What is lost if the file takes the place of the inputs.
void write_shown_here_alone(const BlindSpots& here, const RevealingFile& file, Buffer& buffer)
{
    const std::vector<BlindSpot> lost = unseen_here_alone(file.spots, here);
    if (!lost.empty()) {
        buffer.append(fmt::format("keep your own inputs: {} does not show\n", visible(file.path)));
        for (const BlindSpot& spot : lost) {
            buffer.append(line_of({&spot, 1}) + "\n");
        }
    }
}

/// Of the second, what the first does not see either.
BlindSpots unseen_in_both(const BlindSpots& first, BlindSpots second)
{
    std::erase_if(second.unseen, [&](const BlindSpot& spot) { return !first.has_unseen(*spot.mistake); });
    return second;
}

} // namespace

std::optional<std::string> sizes_that_show(const BlindSpot& spot, const BlindSpots& spots)
{
    const auto found = spot.change ? spots.sizes.find(*spot.change) : spots.sizes.end();
    if (found == spots.sizes.end()) {
        return std::nullopt;
    }
    const core::AttentionDims& l = found->second;
    const auto both = [](Index one, Index other) {
        return one == other ? fmt::format("{}", one) : fmt::format("{}/{}", one, other);
    };
    return fmt::format("{},{},{},{}{}", l.B, both(l.H, l.H_kv), both(l.T, l.S), both(l.d_k, l.d_v),
                       l.P > 0 ? fmt::format(" and a cache of {}", l.P) : "");
}

void write_blind_spots(const BlindSpots& spots, const RevealingFile* suggested, Buffer& buffer)
{
    buffer.append(fmt::format("this test sees {} of {} mistakes\n", spots.seen(), spots.possible));
    if (spots.noise > 1) {
        buffer.append(fmt::format("a right result may fail it: rounding alone takes {} times what is allowed\n",
                                  short_number(spots.noise)));
    }
    const bool written = suggested != nullptr && !suggested->path.empty();
    if (written) {
        buffer.append(fmt::format(
            "{}, of the same shapes, shows {} mistakes, {} of them new; run your attention on it, too, and then, with its "
            "result:\n  {}\n",
            visible(suggested->path), suggested->spots.seen(), unseen_here_alone(spots, suggested->spots).size(),
            visible(suggested->command)));
        write_shown_here_alone(spots, *suggested, buffer);
        buffer.append("what neither shows:\n");
    }
    write_unseen(written ? unseen_in_both(spots, suggested->spots) : spots, buffer);
    if (suggested != nullptr && !written) {
        buffer.append("\nno input is written: none that was drawn in these shapes shows anything new\n");
    }
}

} // namespace attn::report
