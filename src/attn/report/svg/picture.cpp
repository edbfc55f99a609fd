#include "attn/report/svg/picture.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/explain/plotted.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/model/run/masked_places.hpp"
#include "attn/report/axes.hpp"
#include "attn/report/svg/markup.hpp"
#include "attn/report/text/display.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace attn::report {
namespace {

constexpr double long_number = 1e6;
constexpr Index most_values = Index{1} << 24; // 128 MiB of them; many more than fit into the largest picture

/// A step between round numbers, and the digits after the point that its multiples have.
struct Step {
    double size;
    int digits;
};

/// 1, 2, 2.5 or 5 times a power of ten, not less than `least` > 0. Without a logarithm, whose last bit depends on the machine.
Step round_up(double least)
{
    double power = 1;
    int exponent = 0;
    for (; power * 10 <= least; power *= 10) {
        ++exponent;
    }
    for (; least * power < 1 && exponent > -300; power *= 10) { // from here on 1/power is meant
        --exponent;
    }
    const double slack = least * (1 - 1e-12);
    for (const double step : {1.0, 2.0, 2.5, 5.0, 10.0}) {
        const double size = exponent < 0 ? step / power : step * power;
        if (size >= slack) {
            return {size, std::max(0, -exponent + (step == 2.5 ? 1 : step == 10 ? -1 : 0))};
        }
    }
    return {least, -exponent};
}

/// Whether no query of any head sees a later key.
bool looks_causal(const Picture& picture)
{
    for (Index i = 0; i < picture.heads * picture.rows; ++i) {
        for (Index j = i % picture.rows + 1; j < picture.columns; ++j) {
            if (picture.at(0, i, j) != 0) {
                return false;
            }
        }
    }
    return picture.rows == picture.columns && picture.rows > 1;
}

/// Weights of 0 where a mask is, or may be: the causal one of another program is known by its looks alone.
void find_empty_zeros(Picture& picture, const model::MaskedPlaces& places, bool foreign)
{
    const bool all_zeros = !places.certain && (!foreign || looks_causal(picture));
    if (places.masked.empty() && !all_zeros) {
        return;
    }
    picture.empty_zeros.resize(static_cast<std::size_t>(picture.cells()));
    for (std::size_t i = 0; i < picture.empty_zeros.size(); ++i) {
        picture.empty_zeros[i] = picture.value(i) == 0 && (all_zeros || places.masked[i]);
    }
}

/// What the key says of blank places.
std::string blank_text(const Picture& picture, const std::vector<bool>& hidden)
{
    bool masked = false;
    bool zero = false;
    bool strange = false;
    const bool masked_scores = model::is_masked(model::item_called(picture.array));
    for (std::size_t i = 0; i < static_cast<std::size_t>(picture.cells()); ++i) {
        const double value = picture.value(i);
        if (!std::isfinite(value)) {
            (masked_scores && value < 0 ? masked : strange) = true;
        } else if (picture.is_blank(i)) {
            (!hidden.empty() && hidden[i] ? masked : zero) = true;
        }
    }
    std::string text;
    for (const auto& [is_there, name] :
         {std::pair(masked, "masked"), std::pair(zero, "exactly 0"), std::pair(strange, "not finite")}) {
        text += !is_there ? "" : text.empty() ? name : std::string(" or ") + name;
    }
    return text;
}

/// From 0 to the largest of weights, otherwise from the least to the largest.
template <typename Scalar>
ColourScale range_of(std::span<const Scalar> values, bool from_zero)
{
    double least = std::numeric_limits<double>::infinity();
    double largest = -least;
    for (const double value : values) {
        if (std::isfinite(value)) {
            least = std::min(least, value);
            largest = std::max(largest, value);
        }
    }
    if (from_zero || least > largest) {
        return {.low = 0, .high = largest > 0 ? largest : 1};
    }
    if (least == largest) { // one number alone, which is then an end of the bar
        return {.low = std::min(least, 0.0), .high = least > 0 ? least : least < 0 ? 0.0 : 1.0};
    }
    return {.low = least, .high = largest};
}

void choose_scale(Picture& picture, const ShadeOptions& shade)
{
    const bool of_weights = picture.weights && !picture.doubtful;
    const auto range_of_cells = [&](std::size_t first, Index count) {
        return std::visit(
            [&](const auto& values) { return range_of(values.subspan(first, static_cast<std::size_t>(count)), of_weights); },
            picture.values);
    };
    picture.scale = range_of_cells(0, picture.cells());
    if (of_weights) { // a little over 1 by rounding is drawn as 1
        picture.scale.high = picture.scale.high > 0.5 ? 1 : round_up(picture.scale.high).size;
    }
    picture.scale.shade = of_weights ? shade_of(shade, picture.columns) : shade.shade.value_or(Shade::absolute);
    if (picture.scale.shade == Shade::log && !of_weights) {
        throw Error(ErrorKind::usage, "shade log is for weights, which these numbers are not");
    }
    if (shade.most) {
        if (*shade.most <= picture.scale.low) {
            throw Error(ErrorKind::usage, most_of_shade, math::shortest(*shade.most),
                        fmt::format("a number above {}, the least that is drawn", math::shortest(picture.scale.low)));
        }
        picture.beyond = picture.scale.high > *shade.most;
        picture.scale.high = *shade.most;
    }
    if (picture.scale.shade == Shade::row && picture.columns > 0) {
        for (Index row = 0; row < picture.heads * picture.rows; ++row) {
            picture.row_scales.push_back(range_of_cells(picture.place(0, row, 0), picture.columns));
        }
    }
}

} // namespace

bool Picture::is_blank(std::size_t place) const
{
    return !std::isfinite(value(place)) || (!empty_zeros.empty() && empty_zeros[place]);
}

std::string Picture::exact(double value) const
{
    return std::holds_alternative<std::span<const float>>(values) ? math::shortest(static_cast<float>(value))
                                                                  : math::shortest(value);
}

std::string Picture::relation(Index row, Index column, double value) const
{
    const std::string& row_word = row_words[static_cast<std::size_t>(row)];
    const std::string& column_word = column_words[static_cast<std::size_t>(column)];
    return fmt::format("{} → {}: {}", rows_are_keys ? column_word : row_word, rows_are_keys ? row_word : column_word,
                       exact(value));
}

std::string Picture::rounded(double value, int digits) const
{
    return std::abs(value) < long_number ? math::fixed(value, digits) : math::scientific(value, digits);
}

std::string drawn_names()
{
    std::string names;
    for (const model::ItemInfo& info : model::items) {
        if (is_drawn(info.item) && is_shown_by(info, model::ShownBy::run)) {
            names += (names.empty() ? "" : ", ") + std::string(info.name);
        }
    }
    return names;
}

void require_cells(const Shape& shape)
{
    if (element_count(shape) > most_values) {
        throw Error(ErrorKind::too_large, "picture", fmt::format("{} cells {}", element_count(shape), to_string(shape)),
                    fmt::format("up to {}; choose a few rows with --query", most_values));
    }
}

Picture picture_of(const model::Result& result, const model::Layer& layer, const ShadeOptions& shade)
{
    const auto item = std::ranges::find_if(result.show, model::is_drawn);
    const AnyTensor* tensor = item == model::Show::end() ? nullptr : layer.find(*item);
    if (tensor == nullptr) {
        throw Error(ErrorKind::internal, model::option::show,
                    item == model::Show::end() ? "nothing to draw" : std::string(name_of(*item)),
                    "an array that this result has: " + drawn_names());
    }
    Picture picture;
    picture.array = model::name_of(*item);
    picture.weights = *item == model::Item::weights;
    picture.rows_are_keys = layer.config.attention.order == model::ScoreOrder::key_query;
    const Shape& shape = shape_of(*tensor);
    picture.heads = shape.at(0);
    picture.head_names = head_names(layer, picture.heads);
    picture.rows = shape.at(1);
    picture.columns = shape.at(2);
    require_cells(shape);
    std::visit([&](const auto& numbers) { picture.values = std::span(numbers.values); }, *tensor);
    const Axes axes = axes_of(picture.array);
    picture.row_words = texts_of(labels_of(result, layer, axes.row, picture.rows), drawable);
    picture.column_words = texts_of(labels_of(result, layer, axes.column, picture.columns), drawable);
    picture.right_to_left = runs_right_to_left(picture.column_words);
    if (picture.weights && model::doubt_about(result, layer)) {
        picture.doubtful = true;
        picture.array = "numbers";
    }
    const model::MaskedPlaces places = picture.weights ? model::masked_places(result, layer) : model::MaskedPlaces{};
    find_empty_zeros(picture, places, result.foreign);
    picture.blank = blank_text(picture, places.masked);
    if (layer.number) {
        picture.title = fmt::format("{} of {}", picture.array, name_of(layer.place()));
    }
    choose_scale(picture, shade);
    return picture;
}

std::string row_scale_text(const Picture& picture)
{
    if (picture.row_scales.empty()) {
        return "";
    }
    const auto [low, high] = std::ranges::minmax(picture.row_scales, {}, &ColourScale::high);
    return fmt::format("; colours: each row to its own largest, {} to {}", picture.rounded(low.high, 2),
                       picture.rounded(high.high, 2));
}

std::vector<std::pair<double, std::string>> bar_texts(const Picture& picture)
{
    const ColourScale& scale = picture.scale;
    std::vector<std::pair<double, std::string>> texts;
    if (scale.shade == Shade::row) {
        return {{0, picture.weights ? "0" : "row’s least"}, {1, "row’s largest"}};
    }
    if (scale.shade == Shade::log) {
        for (int decade = ColourScale::decades; decade >= 0; --decade) {
            const double value = scale.high * std::pow(10.0, -decade);
            texts.emplace_back(scale.share(value), math::shortest(static_cast<float>(value)));
        }
    } else {
        const Ticks ticks = round_ticks(scale.low, scale.high);
        for (const double tick : ticks.values) {
            texts.emplace_back(scale.share(tick), ticks.text(tick));
        }
    }
    if (picture.beyond) {
        constexpr double close = 0.05; // to the end of the bar: there the texts would overlap
        std::erase_if(texts, [](const auto& text) { return text.first > 1 - close; });
        texts.emplace_back(1, "≥ " + math::shortest(static_cast<float>(scale.high)));
    }
    return texts;
}

std::string Ticks::text(double value) const
{
    constexpr int most_digits = 6;
    const bool is_short = digits <= most_digits && std::abs(value) < long_number;
    return is_short ? math::fixed(value, digits) : math::scientific(value, 1);
}

Ticks round_ticks(double low, double high)
{
    constexpr int steps = 5;
    if (!std::isfinite(high - low)) {
        return {{low, high}, 0};
    }
    const auto [step, digits] = round_up((high - low) / steps);
    const double slack = step * 1e-6;
    constexpr double most = std::numeric_limits<double>::max();
    const double first = std::ceil(std::max(low - slack, -most) / step);
    Ticks ticks{{}, digits};
    const double last = std::min(high + slack, most);
    for (int i = 0; i <= steps && (first + i) * step <= last; ++i) {
        ticks.values.push_back((first + i) * step + 0.0); // never -0
    }
    return ticks;
}

void refuse_picture(const Picture& picture, const std::string& size, const std::string& allowed, bool rows_help)
{
    const std::string rows = rows_help && picture.rows > 1 ? "choose a few rows with --query" : "";
    const std::string lines = picture.weights ? "the strongest lines with --plot arcs --top 100" : "";
    const std::string instead = rows + (rows.empty() || lines.empty() ? "" : ", or ") + lines;
    throw Error(ErrorKind::too_large, "picture", size, allowed + (instead.empty() ? "" : "; " + instead));
}

} // namespace attn::report
