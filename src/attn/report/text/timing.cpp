#include "attn/report/text/timing.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/json_writer.hpp"
#include "attn/report/text/display.hpp"
#include "attn/report/text/grid.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <string>
#include <vector>

namespace attn::report {
namespace {

constexpr std::array<std::string_view, 14> column_names{"seq",     "heads", "kv_heads", "head_dim", "value_dim",
                                                        "keys",    "dtype", "threads",  "isa",      "median ms",
                                                        "GFLOP/s", "peak",  "of peak",  "peak MiB"};
constexpr std::size_t first_common = 1, behind_common = 9; ///< what timings of one `bench` have in common
constexpr Index space = 2;                                 // between columns

using Row = std::array<std::string, column_names.size()>;

Row row_of(const Timing& timing)
{
    const model::Workload& w = timing.workload;
    return {std::to_string(w.seq),
            std::to_string(w.heads),
            std::to_string(w.kv_heads),
            std::to_string(w.head_dim),
            std::to_string(w.value_dim),
            w.keys ? std::to_string(*w.keys) : "",
            w.type == ElementType::float32 ? "" : std::string(name_of(w.type)),
            std::to_string(timing.threads),
            std::string(core::name_of(timing.isa)),
            math::fixed(timing.median_seconds * 1e3, 3),
            math::fixed(timing.gflops(), 1),
            math::fixed(timing.peak_gflops, 1),
            math::fixed(100 * timing.gflops() / timing.peak_gflops, 1) + "%",
            math::fixed(static_cast<double>(timing.peak_rss_bytes) / (1 << 20), 1)};
}

void write(JsonWriter& json, const Timing& timing)
{
    const model::Workload& w = timing.workload;
    json.begin_object();
    json.member("seq", w.seq);
    json.member("heads", w.heads);
    json.member("head_dim", w.head_dim);
    json.member("threads", timing.threads);
    json.member("isa", core::name_of(timing.isa));
    json.begin_object("seconds");
    json.member("min", timing.least_seconds);
    json.member("median", timing.median_seconds);
    json.end_object();
    json.member("gflops", timing.gflops());
    json.member("peak_gflops", timing.peak_gflops);
    json.member("peak_rss_bytes", timing.peak_rss_bytes);
    json.member("kv_heads", w.kv_heads);
    json.member("value_dim", w.value_dim);
    json.member("keys", w.key_count());
    json.member("dtype", name_of(w.type));
    json.member("causal", w.attention.causal);
    if (w.attention.window) {
        json.key("window");
        json.integers({w.attention.window->left, w.attention.window->right});
    }
    json.member("alibi", w.attention.alibi);
    json.member("mask", w.mask.has_value());
    if (w.attention.softcap) {
        json.member("softcap", *w.attention.softcap);
    }
    if (w.attention.weights_type) {
        json.member("weights_dtype", name_of(*w.attention.weights_type));
    }
    json.member("repeats", timing.repeats);
    json.end_object();
}

} // namespace

/// Without the columns that say nothing.
void write_timings(std::span<const Timing> timings, std::optional<Index> width, const Sink& sink)
{
    std::vector<Row> rows{Row{}};
    std::ranges::copy(column_names, rows.front().begin());
    std::ranges::transform(timings, std::back_inserter(rows), row_of);
    struct Shown {
        std::size_t place;
        Index width;
    };
    std::vector<Shown> columns;
    Index all = -space;
    for (std::size_t place = 0; place < column_names.size(); ++place) {
        const auto width_of = [&](const Row& row) { return std::ssize(row.at(place)); };
        if (widest(std::span(rows).subspan(1), width_of) > 0) {
            columns.push_back({place, widest(rows, width_of)});
            all += space + columns.back().width;
        }
    }
    Buffer buffer(sink);
    if (width && all > *width) {
        const auto is_common = [](const Shown& column) { return column.place >= first_common && column.place < behind_common; };
        std::vector<std::string> common;
        for (const Shown& column : columns | std::views::filter(is_common)) {
            common.push_back(fmt::format("{} {},", column_names.at(column.place), rows.back().at(column.place)));
        }
        common.back().pop_back();
        write_title(buffer, common, width);
        std::erase_if(columns, is_common);
    }
    for (const Row& row : rows) {
        for (const Shown& column : columns) {
            buffer.append(aligned_right(row.at(column.place), column.width + (column.place == 0 ? 0 : space)));
        }
        buffer.append("\n");
    }
    buffer.flush();
}

void write_timings_json(std::span<const Timing> timings, const Sink& sink)
{
    Buffer buffer(sink);
    JsonWriter json(buffer);
    if (timings.size() != 1) {
        json.begin_array();
    }
    std::ranges::for_each(timings, [&](const Timing& timing) { write(json, timing); });
    if (timings.size() != 1) {
        json.end_array();
    }
    json.newline();
    buffer.flush();
}

} // namespace attn::report
