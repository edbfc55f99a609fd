#include "attn/report/svg/svg_panels.hpp"

#include "attn/model/run/summary.hpp"
#include "attn/report/svg/markup.hpp"
#include "attn/report/text/display.hpp"
#include "attn/tensor/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <variant>

namespace attn::report {
namespace {

constexpr double font = 12;
constexpr double caption_font = 11;
constexpr double caption_height = 20;
constexpr double word_gap = 8; // between a word and its lines
constexpr double longest_word = 160;
constexpr double least_share = 1.0 / 255; // what is fainter cannot be seen
constexpr double thickest = 5;
constexpr double sample_length = 28;
constexpr double sample_pitch = 20;

double thickness(double share)
{
    return 0.4 + (thickest - 0.4) * share;
}

double opacity(double share)
{
    return 0.05 + 0.85 * share; // many faint lines must not hide a strong one
}

/// stroke-width and stroke-opacity, with a space in front.
std::string style(double share)
{
    return attribute("stroke-width", thickness(share)) + attribute("stroke-opacity", opacity(share));
}

Index place_of(const std::vector<Index>& shown, Index word)
{
    return std::ranges::lower_bound(shown, word) - shown.begin();
}

constexpr Index most_lines = 500000; // of about 60 bytes

[[noreturn]] void refuse_lines(const Picture& picture)
{
    refuse_picture(picture,
                   fmt::format("more than {} lines between {} and {} words", most_lines, picture.rows, picture.columns),
                   fmt::format("up to {} lines", most_lines));
}

} // namespace

LineKey::LineKey(const Picture& picture, const Palette& colours)
    : palette(colours), thickest(picture.scale.high > 0 ? picture.scale.high : 1), samples(round_ticks(0, thickest)),
      height(sample_pitch * static_cast<double>(samples.values.size() - 1))
{
    samples.values.erase(samples.values.begin()); // 0 is no line
}

ArcPanels::ArcPanels(const Picture& picture, const SvgOptions& options)
    : picture_(picture), key_(picture, palette_of(options.ground)), most_(options.most)
{
    constexpr Index most_named = 4096;
    const Index words = std::max(picture.rows, picture.columns);
    if (!most_ && words >= many_arc_words) {
        most_ = 2 * words;
    }
    some_words_ = most_ && words > many_words;
    Index lines = 0;
    for (Index head = 0; head < picture.heads; ++head) {
        panels_.push_back(panel_of(head, most_lines - lines));
        lines += std::ssize(panels_.back().lines);
    }
    named_ = lines <= most_named;
    measure();
}

std::string ArcPanels::note() const
{
    std::string text =
        picture_.doubtful ? "the thicker a line, the larger the number above 0" : "the thicker a line, the heavier the weight";
    if (std::ranges::any_of(panels_, &Panel::some_lines)) {
        text += *most_ == 1 ? "; only the strongest line" : fmt::format("; only the {} strongest lines", *most_);
        text += picture_.heads == 1 ? "" : " of each head";
        text += *most_ == 1 ? " is drawn" : " are drawn";
    }
    return text;
}

/// Throws Error(too_large) for more than `most`.
std::vector<model::Pair> ArcPanels::visible_lines(Index head, Index most) const
{
    std::vector<model::Pair> lines;
    for (Index i = 0; i < picture_.rows; ++i) {
        for (Index j = 0; j < picture_.columns; ++j) {
            const double value = picture_.at(head, i, j);
            if (!(value > 0 && key_.share(value) >= least_share)) {
                continue;
            }
            if (std::ssize(lines) == most) {
                refuse_lines(picture_);
            }
            lines.push_back({i, j, value});
        }
    }
    std::ranges::sort(lines, model::is_stronger);
    return lines;
}

/// Throws Error(too_large) for more than `most` lines.
ArcPanels::Panel ArcPanels::panel_of(Index head, Index most) const
{
    Panel panel;
    if (most_) {
        const auto cells = static_cast<std::size_t>(picture_.rows * picture_.columns);
        std::visit(
            [&](const auto& all) {
                const auto values = all.subspan(picture_.place(head, 0, 0), cells);
                panel.lines = model::strongest_pairs(values, picture_.columns, std::min(*most_, most + 1));
                panel.some_lines =
                    std::ranges::count_if(values, [](auto value) { return value > 0; }) > std::ssize(panel.lines);
            },
            picture_.values);
        if (std::ssize(panel.lines) > most) {
            refuse_lines(picture_);
        }
    } else {
        panel.lines = visible_lines(head, most);
    }
    std::ranges::reverse(panel.lines);
    panel.rows = indices(picture_.rows);
    panel.columns = indices(picture_.columns);
    if (some_words_) {
        const auto keep_ends = [&](std::vector<Index>& places, Index model::Pair::*end) {
            places.clear();
            std::ranges::transform(panel.lines, std::back_inserter(places), end);
            std::ranges::sort(places);
            places.erase(std::unique(places.begin(), places.end()), places.end());
        };
        keep_ends(panel.rows, &model::Pair::query);
        keep_ends(panel.columns, &model::Pair::key);
    }
    return panel;
}

double ArcPanels::mirrored(double x, const PanelPlace& place) const
{
    return picture_.right_to_left ? 2 * place.x + size_.width - x : x;
}

std::string ArcPanels::label(const std::vector<std::string>& words, Index place) const
{
    const std::string& word = words[static_cast<std::size_t>(place)];
    const std::string position = some_words_ ? fmt::format("{} ", place) : "";
    return shortened_to(position + word, longest_word / font);
}

void ArcPanels::measure()
{
    constexpr double least_pitch = 16;
    constexpr double largest_pitch = 28;
    constexpr double room = 640;
    const auto room_for = [&](const std::vector<std::string>& words, const std::vector<Index>& places) {
        return widest(places, [&](Index place) { return text_width(label(words, place)) * font; });
    };
    left_ = right_ = std::max(text_width("query"), text_width("key")) * caption_font;
    Index tallest = 1;
    for (const Panel& panel : panels_) {
        tallest = std::max<Index>({tallest, std::ssize(panel.rows), std::ssize(panel.columns)});
        left_ = std::max(left_, room_for(picture_.row_words, panel.rows));
        right_ = std::max(right_, room_for(picture_.column_words, panel.columns));
    }
    pitch_ = std::clamp(std::floor(room / static_cast<double>(tallest)), least_pitch, largest_pitch);
    span_ = std::clamp(pitch_ * static_cast<double>(tallest), 140.0, picture_.heads == 1 ? 260.0 : 180.0);
    left_ = std::ceil(left_);
    right_ = std::ceil(right_);
    size_.width = left_ + right_ + span_ + 2 * word_gap;
    size_.height = pitch_ * static_cast<double>(tallest);
    size_.header = caption_height;
    size_.gutter_at_right = picture_.right_to_left;
}

void ArcPanels::append_words(std::string& out, const Panel& panel, const PanelPlace& place) const
{
    const std::string grey = attribute("fill", key_.palette.grey_ink);
    const std::string direction = picture_.right_to_left ? attribute("direction", "rtl") : "";
    const auto append_side = [&](bool of_keys, const std::vector<std::string>& words, const std::vector<Index>& places,
                                 double x) {
        append_text(out, of_keys ? "key" : "query", x, place.y - caption_height / 2, caption_font, grey);
        double middle = place.y + pitch_ / 2;
        for (const Index word : places) {
            append_text(out, label(words, word), x, middle, font);
            middle += pitch_;
        }
        out += "</g>\n";
    };
    out += "<g" + attribute("text-anchor", "end") + direction + ">\n";
    append_side(picture_.rows_are_keys, picture_.row_words, panel.rows, mirrored(place.x + left_, place));
    out += "<g" + direction + ">\n";
    append_side(!picture_.rows_are_keys, picture_.column_words, panel.columns, mirrored(place.x + size_.width - right_, place));
}

void ArcPanels::append_line(std::string& out, const model::Pair& line, double from, double to, const PanelPlace& place) const
{
    const double start = mirrored(place.x + left_ + word_gap, place);
    const double end = mirrored(place.x + left_ + word_gap + span_, place);
    const std::string curve = fmt::format("M{0} {1}C{2} {1} {2} {3} {4} {3}", length(start), length(from),
                                          length((start + end) / 2), length(to), length(end));
    out += "<path" + attribute("d", curve) + style(key_.share(line.weight));
    out += named_ ? "><title>" + escaped(picture_.relation(line.query, line.key, line.weight)) + "</title></path>\n" : "/>\n";
}

void ArcPanels::append_panel(std::string& out, Index head, const PanelPlace& place) const
{
    const Panel& panel = panels_[static_cast<std::size_t>(head)];
    out += "<g" + attribute("fill", "none") + attribute("stroke", key_.palette.line) + ">\n";
    for (const model::Pair& line : panel.lines) {
        const auto y = [&](Index i) { return place.y + pitch_ * (static_cast<double>(i) + 0.5); };
        append_line(out, line, y(place_of(panel.rows, line.query)), y(place_of(panel.columns, line.key)), place);
        require_size(out.size(), picture_);
    }
    out += "</g>\n";
    append_words(out, panel, place);
}

double LineKey::width() const
{
    const double text = widest(samples.values, [&](double sample) { return text_width(samples.text(sample)); });
    return sample_length + word_gap + text * caption_font;
}

void LineKey::append(std::string& out, double x, double y) const
{
    double middle = y + height - sample_pitch / 2;
    for (const double sample : samples.values) {
        const std::string sample_line = fmt::format("M{} {}h{}", length(x), length(middle), length(sample_length));
        out += "<path" + attribute("d", sample_line) + attribute("stroke", palette.line) + style(share(sample)) + "/>\n";
        append_text(out, samples.text(sample), x + sample_length + word_gap, middle, caption_font);
        middle -= sample_pitch;
    }
}

} // namespace attn::report
