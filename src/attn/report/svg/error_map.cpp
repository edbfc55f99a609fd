#include "attn/report/svg/error_map.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/report/svg/svg.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace attn::report {
namespace {

using model::diagnose::Against;
using model::diagnose::ErrorMap;

/// "0", "1", …, or "0-15", "16-31", … of cells of several.
std::vector<std::string> places(Index cells, Index size)
{
    std::vector<std::string> names;
    for (Index cell = 0; cell < cells; ++cell) {
        const Index first = cell * size;
        names.push_back(size > 1 ? fmt::format("{}-{}", first, first + size - 1) : std::to_string(first));
    }
    return names;
}

std::vector<std::string> panel_names(const ErrorMap& map)
{
    std::vector<std::string> names;
    for (Index panel = 0; panel < map.B * map.H && map.B * map.H > 1; ++panel) {
        std::string name = map.B > 1 ? fmt::format("batch {}", panel / map.H) : "";
        if (map.H > 1) {
            name += fmt::format("{}head {}", name.empty() ? "" : ", ", panel % map.H);
        }
        names.push_back(std::move(name));
    }
    return names;
}

/// The power of ten that small differences are drawn in, so that two digits tell them apart.
std::string unit_of(double largest, double& unit)
{
    int exponent = 0;
    for (unit = 1; largest > 0 && largest < unit / 10 && exponent < 300; ++exponent) {
        unit /= 10;
    }
    return exponent == 0 ? "" : fmt::format("; in units of 1e-{}", exponent);
}

/// `scaled` becomes what it shows.
Picture picture_of(const Against& against, std::vector<double>& scaled)
{
    const ErrorMap& map = against.where->map;
    Picture picture;
    picture.heads = map.B * map.H;
    picture.rows = map.rows;
    picture.columns = map.columns;
    picture.head_names = panel_names(map);
    picture.row_words = places(map.rows, map.tall);
    picture.column_words = places(map.columns, map.wide);
    const bool several = map.tall * map.wide > 1;
    picture.note = fmt::format("rows are {}, columns {}{}", against.of_keys ? "keys" : "queries",
                               against.of_weights ? "keys" : "numbers of the result",
                               several ? fmt::format("; a cell is the largest of {} × {}", map.tall, map.wide) : "");
    double largest = 0;
    for (const double difference : map.largest) {
        largest = std::isfinite(difference) ? std::max(largest, difference) : largest;
        picture.blank = std::isfinite(difference) ? picture.blank : "not finite";
    }
    double unit = 1;
    picture.array = "differences";
    picture.note += unit_of(largest, unit);
    for (const double difference : map.largest) {
        scaled.push_back(difference / unit);
    }
    picture.values = std::span<const double>(scaled);
    picture.scale.high = largest > 0 ? largest / unit : 1;
    return picture;
}

} // namespace

void write_error_map(const Against& against, std::string_view name, Buffer& buffer)
{
    if (!against.where) {
        throw Error(ErrorKind::usage, std::string(model::option::output) +
                                          " with --against draws the differences of weights, context, lse or output");
    }
    SvgOptions options;
    options.title = fmt::format("where {} differs", name);
    std::vector<double> scaled;
    write_heat_map(picture_of(against, scaled), options, buffer);
}

} // namespace attn::report
