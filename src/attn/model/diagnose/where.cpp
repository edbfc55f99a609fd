#include "attn/model/diagnose/where.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::model::diagnose {
namespace {

/// The largest of each `size` neighbours.
std::vector<double> tiled(const std::vector<double>& differences, Index size)
{
    std::vector<double> tiles;
    for (std::size_t at = 0; at < differences.size(); ++at) {
        if (at % static_cast<std::size_t>(size) == 0) {
            tiles.push_back(0);
        }
        tiles.back() = std::max(tiles.back(), differences[at]);
    }
    return tiles;
}

ErrorMap empty_map(const ComparedDims& dims)
{
    constexpr Index most_cells = 64;
    const auto parts = [](Index count, Index size) { return (count + size - 1) / size; };
    ErrorMap map;
    map.B = dims.B;
    map.H = dims.H;
    map.tall = std::max<Index>(parts(dims.T, most_cells), 1);
    map.wide = std::max<Index>(parts(dims.width, most_cells), 1);
    map.rows = parts(dims.T, map.tall);
    map.columns = parts(dims.width, map.wide);
    map.largest.resize(static_cast<std::size_t>(map.B * map.H * map.rows * map.columns));
    return map;
}

double difference(double number, double right)
{
    const double found = absolute_difference(number, right);
    const bool both_nan = std::isnan(number) && std::isnan(right);
    return both_nan ? 0 : std::isnan(found) ? std::numeric_limits<double>::infinity() : found;
}

} // namespace

Where where(const ComparedDims& dims, bool of_weights, const std::vector<double>& numbers, const std::vector<double>& right,
            const Tolerance& tolerance)
{
    const auto zeros = [](Index count) { return std::vector<double>(static_cast<std::size_t>(count)); };
    Where found{zeros(dims.B), zeros(dims.H), zeros(dims.T), zeros(dims.width), {}, {}, 16, {}};
    ErrorMap& map = found.map;
    map = empty_map(dims);
    std::size_t at = 0;
    const auto keep = [](std::vector<double>& largest, Index place, double value) {
        double& kept = largest[static_cast<std::size_t>(place)];
        kept = std::max(kept, value);
    };
    for (Index b = 0; b < dims.B; ++b) {
        for (Index h = 0; h < dims.H; ++h) {
            for (Index i = 0; i < dims.T; ++i) {
                for (Index x = 0; x < dims.width; ++x, ++at) {
                    const double value = difference(numbers[at], right[at]);
                    keep(map.largest, ((b * dims.H + h) * map.rows + i / map.tall) * map.columns + x / map.wide, value);
                    if (!within(numbers[at], right[at], tolerance)) {
                        keep(found.batches, b, value);
                        keep(found.heads, h, value);
                        keep(found.rows, i, value);
                        keep(found.columns, x, value);
                    }
                }
            }
        }
    }
    found.tiles = tiled(found.rows, found.tile);
    if (of_weights) {
        found.key_tiles = tiled(found.columns, found.tile);
    }
    return found;
}

} // namespace attn::model::diagnose
