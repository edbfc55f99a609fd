#include "attn/report/text/timing.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/recipe/items.hpp"
#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/report/json_writer.hpp"
#include "attn/report/text/display.hpp"
#include "attn/report/text/grid.hpp"
#include "attn/report/text/prose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

namespace attn::report {
namespace {

namespace field = model::field;

// As JSON and the table call them alike.
constexpr std::string_view seq = "seq", head_dim = "head_dim", value_dim = "value_dim", keys = name_of(model::Item::keys),
                           threads = "threads", isa = "isa";

/// Of the table, for people.
struct TimingColumn {
    std::string_view name;
    bool common; ///< to all timings of one `bench`
    std::string (*text)(const Timing&);
};
constexpr std::array timing_columns{
    TimingColumn{seq, false, [](const Timing& t) { return std::to_string(t.workload.seq); }},
    TimingColumn{field::heads.name(), true, [](const Timing& t) { return std::to_string(t.workload.heads); }},
    TimingColumn{field::kv_heads.name(), true, [](const Timing& t) { return std::to_string(t.workload.kv_heads); }},
    TimingColumn{head_dim, true, [](const Timing& t) { return std::to_string(t.workload.head_dim); }},
    TimingColumn{value_dim, true, [](const Timing& t) { return std::to_string(t.workload.value_dim); }},
    TimingColumn{keys, true, [](const Timing& t) { return t.workload.keys ? std::to_string(*t.workload.keys) : ""; }},
    TimingColumn{
        field::dtype.name(), true,
        [](const Timing& t) { return t.workload.type == ElementType::float32 ? "" : std::string(name_of(t.workload.type)); }},
    TimingColumn{threads, true, [](const Timing& t) { return std::to_string(t.threads); }},
    TimingColumn{isa, true, [](const Timing& t) { return std::string(core::name_of(t.isa)); }},
    TimingColumn{"median ms", false, [](const Timing& t) { return math::fixed(t.median_seconds * 1e3, 3); }},
    TimingColumn{"GFLOP/s", false, [](const Timing& t) { return math::fixed(t.gflops(), 1); }},
    TimingColumn{"peak", false, [](const Timing& t) { return math::fixed(t.peak_gflops, 1); }},
    TimingColumn{"of peak", false, [](const Timing& t) { return math::fixed(100 * t.gflops() / t.peak_gflops, 1) + "%"; }},
    TimingColumn{"peak MiB", false,
                 [](const Timing& t) { return math::fixed(static_cast<double>(t.peak_rss_bytes) / (1 << 20), 1); }},
};

void write(JsonWriter& json, const Timing& timing)
{
    const model::Workload& w = timing.workload;
    json.begin_object();
    json.member(seq, w.seq);
    json.member(field::heads.name(), w.heads);
    json.member(head_dim, w.head_dim);
    json.member(threads, timing.threads);
    json.member(isa, core::name_of(timing.isa));
    json.begin_object("seconds");
    json.member("min", timing.least_seconds);
    json.member("median", timing.median_seconds);
    json.end_object();
    json.member("gflops", timing.gflops());
    json.member("peak_gflops", timing.peak_gflops);
    json.member("peak_rss_bytes", timing.peak_rss_bytes);
    json.member(field::kv_heads.name(), w.kv_heads);
    json.member(value_dim, w.value_dim);
    json.member(keys, w.key_count());
    json.member(field::dtype.name(), name_of(w.type));
    json.member(field::causal.name(), w.attention.causal);
    if (w.attention.window) {
        json.key(field::window.name());
        json.integers({w.attention.window->left, w.attention.window->right});
    }
    json.member("alibi", w.attention.alibi);
    json.member("mask", w.mask.has_value());
    if (w.attention.softcap) {
        json.member(field::softcap.name(), *w.attention.softcap);
    }
    if (w.attention.weights_type) {
        json.member("weights_dtype", name_of(*w.attention.weights_type));
    }
    json.member("repeats", timing.repeats);
    json.end_object();
}

} // namespace

/// Without the columns that say nothing.
void write_timings(std::span<const Timing> timings, std::optional<Index> width, Buffer& buffer)
{
    constexpr Index space = 2; // between columns
    struct Shown {
        Column text;
        bool common;
        Index width;
    };
    std::vector<Shown> shown;
    Index all = -space;
    for (const TimingColumn& column : timing_columns) {
        Column text{std::string(column.name), {}};
        std::ranges::transform(timings, std::back_inserter(text.cells), column.text);
        if (const Index cells = widest(text.cells, display_width); cells > 0) {
            shown.push_back({text, column.common, std::max(cells, display_width(text.title))});
            all += space + shown.back().width;
        }
    }
    if (width && all > *width) {
        std::vector<std::string> common;
        for (const Shown& each : shown) {
            if (each.common) {
                common.push_back(fmt::format("{} {},", each.text.title, each.text.cells.back()));
            }
        }
        common.back().pop_back();
        write_title(buffer, common, width);
        std::erase_if(shown, [](const Shown& each) { return each.common; });
    }
    for (std::size_t line = 0; line <= timings.size(); ++line) {
        for (const Shown& each : shown) {
            buffer.append(aligned_right(each.text.at(line), each.width + (&each == &shown.front() ? 0 : space)));
        }
        buffer.append("\n");
    }
}

void write_timings_json(std::span<const Timing> timings, Buffer& buffer)
{
    JsonWriter json(buffer);
    if (timings.size() != 1) {
        json.begin_array();
    }
    std::ranges::for_each(timings, [&](const Timing& timing) { write(json, timing); });
    if (timings.size() != 1) {
        json.end_array();
    }
    json.newline();
}

} // namespace attn::report
