#include "attn/model/diagnose/free_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace attn::model::diagnose {
namespace {

// ---- names of scales -------------------------------------------------------------------------------------------------------

struct NamedScale {
    double scale;
    std::string is, hint; ///< "1/√128", "d_k is 80: a padded head?"
};

double root_of(Index number)
{
    return 1 / std::sqrt(static_cast<double>(number));
}

/// d_k rounded up to what kernels pad a head to.
std::vector<Index> padded_sizes(Index d_k)
{
    std::vector<Index> sizes;
    for (const Index multiple : {8, 16, 32, 64, 128}) {
        sizes.push_back((d_k + multiple - 1) / multiple * multiple);
    }
    for (Index power = 1, more = 0; more < 2; power *= 2) { // the next powers of two
        if (power > d_k) {
            sizes.push_back(power);
            ++more;
        }
    }
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    std::erase(sizes, d_k);
    return sizes;
}

/// What comes first is told first. Those that the list of mistakes has are not among them.
std::vector<NamedScale> named_scales(const Call& call)
{
    const core::AttentionDims& l = call.views.sizes;
    const double right = right_scale(call);
    const std::string right_one = fmt::format("the right scale is {:.3g}", right);
    std::vector<NamedScale> names;
    const auto add_root = [&](Index number, std::string hint) {
        const auto root = static_cast<Index>(std::lround(1 / root_of(number)));
        const std::string whole = root > 1 && root * root == number ? fmt::format(" = 1/{}", root) : "";
        names.push_back({root_of(number), fmt::format("1/√{}{}", number, whole), std::move(hint)});
    };
    const auto add_part = [&](Index number, std::string hint) {
        names.push_back({1 / static_cast<double>(number), fmt::format("1/{}", number), std::move(hint)});
    };
    for (const Index size : padded_sizes(l.d_k)) {
        add_root(size, fmt::format("d_k is {}: a padded head?", l.d_k));
    }
    add_root(l.H, fmt::format("there are {} heads", l.H));
    add_root(l.H_kv, fmt::format("there are {} key/value heads", l.H_kv));
    add_root(l.H_kv * l.d_k, fmt::format("{} is the size of all key heads together", l.H_kv * l.d_k));
    add_root(l.H * l.d_v, fmt::format("{} is the size of all heads of the result together", l.H * l.d_v));
    add_root(l.d_k + l.d_v, fmt::format("{} is d_k and d_v together", l.d_k + l.d_v));
    add_root(l.T, fmt::format("there are {} queries", l.T));
    add_root(l.H * l.d_k, fmt::format("{} is the size of all heads together", l.H * l.d_k));
    add_root(l.d_k, fmt::format("d_k is {}, and {}", l.d_k, right_one));
    add_part(l.H * l.d_k, fmt::format("{} is the size of all heads together", l.H * l.d_k));
    add_part(l.H, fmt::format("there are {} heads", l.H));
    add_part(l.d_v, fmt::format("d_v is {}", l.d_v));
    for (const Index size : padded_sizes(l.d_k)) {
        add_part(size, fmt::format("d_k is {}: a padded head, and no root?", l.d_k));
    }
    names.push_back({std::pow(static_cast<double>(l.d_k), -0.25), fmt::format("1/√√{}", l.d_k),
                     "are the queries scaled by it, and the keys not, or the other way round?"});
    struct Times {
        double factor;
        std::string_view is;
    };
    for (const auto& [factor, is] : std::array{
             Times{2, "twice the right one"}, Times{0.5, "half the right one"},
             Times{std::numbers::sqrt2, "√2 times the right one"}, Times{1 / std::numbers::sqrt2, "1/√2 times the right one"},
             Times{std::numbers::log2e, "log2(e) times the right one"}, Times{std::numbers::ln2, "ln 2 times the right one"},
             Times{std::numbers::log2e * std::numbers::log2e, "log2(e) times the right one, and once more"}}) {
        names.push_back({factor * right, std::string(is), right_one});
    }
    for (const Index number : {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
        add_part(number, right_one);
    }
    for (Index size = 8; size <= 1024; size += 8) {
        add_root(size, right_one);
    }
    names.push_back({1, "1", right_one});
    names.push_back({std::numbers::sqrt2, "√2", right_one});
    names.push_back({1 / std::numbers::sqrt2, "1/√2", right_one});
    return names;
}

// ---- the nearest -----------------------------------------------------------------------------------------------------------

struct Found {
    double log, far;
};

/// By the golden section, between two places of the logarithm.
Found nearest_between(const FarAt& far, double low, double high)
{
    constexpr int steps = 44; // of an interval of half an octave down to the last digits of float32
    constexpr double share = 1 / std::numbers::phi;
    const auto at = [&](double log) { return Found{log, far(std::exp2(log))}; };
    Found left = at(high - share * (high - low)), right = at(low + share * (high - low));
    for (int n = 0; n < steps; ++n) {
        if (left.far <= right.far) {
            high = right.log;
            right = left;
            left = at(high - share * (high - low));
        } else {
            low = left.log;
            left = right;
            right = at(low + share * (high - low));
        }
    }
    return left.far <= right.far ? left : right;
}

/// On a grid, then about the lowest places of it.
Found nearest_scale(const FarAt& far, double right)
{
    constexpr int octaves = 10, per_octave = 4;
    constexpr std::size_t valleys = 3;
    std::vector<Found> grid;
    for (int n = -octaves * per_octave; n <= octaves * per_octave; ++n) {
        const double log = std::log2(right) + static_cast<double>(n) / per_octave;
        grid.push_back({log, far(std::exp2(log))});
    }
    std::vector<Found> low;
    for (std::size_t at = 1; at + 1 < grid.size(); ++at) {
        if (grid[at].far <= grid[at - 1].far && grid[at].far <= grid[at + 1].far && std::isfinite(grid[at].far)) {
            low.push_back(grid[at]);
        }
    }
    std::ranges::stable_sort(low, {}, &Found::far);
    Found best{0, std::numeric_limits<double>::infinity()};
    for (std::size_t n = 0; n < std::min(valleys, low.size()); ++n) {
        const Found found = nearest_between(far, low[n].log - 1.0 / per_octave, low[n].log + 1.0 / per_octave);
        best = found.far < best.far ? found : best;
    }
    return best;
}

} // namespace

double right_scale(const Call& call)
{
    return call.options.scale.value_or(root_of(call.views.sizes.d_k));
}

std::optional<FreeScale> free_scale(const Call& call, const FarAt& far)
{
    constexpr double most = 2;     // tolerances; all numbers say whether it fits
    constexpr double alike = 0.03; // of the scale: what may be meant by it
    constexpr double as_near = 1.5, least = 0.05;
    const Found found = nearest_scale(far, right_scale(call));
    if (!(found.far <= most)) {
        return std::nullopt;
    }
    const double scale = std::exp2(found.log);
    for (const NamedScale& name : named_scales(call)) {
        if (std::abs(name.scale / scale - 1) <= alike && far(name.scale) <= std::max(as_near * found.far, least)) {
            return FreeScale{name.scale, fmt::format("scores times {:.3g}, which is {}; {}", name.scale, name.is, name.hint)};
        }
    }
    return FreeScale{scale, fmt::format("scores times {:.3g}; the right scale is {:.3g}", scale, right_scale(call))};
}

} // namespace attn::model::diagnose
