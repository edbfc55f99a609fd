#include "attn/report/svg/axis_labels.hpp"

#include "attn/report/svg/text_width.hpp"
#include "attn/tensor/shape.hpp"

#include <algorithm>
#include <cmath>

namespace attn::report {
namespace {

/// Places that are `step` apart at least.
std::vector<Index> spread(Index count, Index step, std::span<const double> importance)
{
    std::vector<Index> order = indices(count);
    if (!importance.empty()) {
        std::ranges::stable_sort(order, std::ranges::greater{},
                                 [&](Index i) { return importance[static_cast<std::size_t>(i)]; });
    }
    std::vector<bool> taken(static_cast<std::size_t>(count));
    for (const Index place : order) {
        const auto first = taken.begin() + std::max<Index>(place - step + 1, 0);
        const auto last = taken.begin() + std::min(place + step, count);
        if (std::find(first, last, true) == last) {
            taken[static_cast<std::size_t>(place)] = true;
        }
    }
    std::erase_if(order, [&](Index i) { return !taken[static_cast<std::size_t>(i)]; });
    std::ranges::sort(order);
    return order;
}

} // namespace

FittedLabels fit_rows(std::span<const std::string> words, const LabelRoom& room)
{
    const auto step = static_cast<Index>(std::ceil(line_height * room.font / room.pitch - 1e-9));
    FittedLabels fitted;
    for (const Index place : spread(std::ssize(words), std::max<Index>(step, 1), room.importance)) {
        fitted.labels.push_back({place, shortened_to(words[static_cast<std::size_t>(place)], room.longest / room.font)});
        fitted.extent = std::max(fitted.extent, text_width(fitted.labels.back().text) * room.font);
    }
    return fitted;
}

FittedLabels fit_columns(std::span<const std::string> words, const LabelRoom& room)
{
    constexpr double gap = 4; // between neighbours
    FittedLabels level;
    for (const std::string& word : words) {
        if (text_width(word) * room.font + gap > room.pitch) {
            FittedLabels turned = fit_rows(words, room); // on lines of their own across the columns
            turned.turned = true;
            return turned;
        }
        level.labels.push_back({std::ssize(level.labels), word});
    }
    level.extent = line_height * room.font;
    return level;
}

} // namespace attn::report
