#include "attn/report/text/compare_table.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/text/display.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace attn::report {
namespace {

/// "[0][2]"
std::string brackets(const Shape& index)
{
    std::string text;
    for (const Index i : index) {
        text += fmt::format("[{}]", i);
    }
    return text;
}

std::string describe(const model::Place& place)
{
    return fmt::format("{}{}{}, {}", brackets(place.index), place.index.empty() ? "" : " ", visible(place.a), visible(place.b));
}

/// "33.3%", "0.0001%"
std::string percent(double share)
{
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), share, std::chars_format::general, 3).ptr;
    return std::string(text.data(), end) + "%";
}

std::string describe(const model::TensorComparison& tensor)
{
    if (!tensor.why.empty()) {
        return tensor.why;
    }
    std::string text = tensor.mismatched == 0 ? fmt::format("{} compared", tensor.compared)
                                              : fmt::format("{} of {} ({}), first at {}", tensor.mismatched, tensor.compared,
                                                            percent(tensor.percentage()), describe(*tensor.first));
    if (tensor.unmeasured > 0) {
        text += fmt::format("; {} of these differ by NaN or infinity, first at {}", tensor.unmeasured,
                            describe(*tensor.first_unmeasured));
    }
    const std::string_view finite = tensor.unmeasured > 0 ? "finite " : "";
    if (tensor.absolute) {
        text += fmt::format("; largest {}difference {} at {}", finite, math::scientific(tensor.absolute->value, 2),
                            describe(tensor.absolute->place));
    } else if (tensor.mismatched == 0) {
        text += ", all equal";
    }
    if (tensor.relative) {
        text += fmt::format("; largest {}relative {} at {}", finite, math::scientific(tensor.relative->value, 2),
                            describe(tensor.relative->place));
    }
    return text;
}

std::string describe(const model::Finding& finding)
{
    const std::string difference = fmt::format("largest {}difference {}", finding.unmeasured ? "finite " : "",
                                               math::scientific(finding.largest_absolute, 1));
    if (!finding.first.empty()) {
        return fmt::format("{} of {}: {}{}{}", finding.mismatched, finding.compared, visible(finding.first),
                           finding.largest_absolute == 0 ? "" : "; " + difference,
                           finding.hint.empty() ? "" : "; " + finding.hint);
    }
    return fmt::format("{} compared, {}", finding.compared, finding.largest_absolute == 0 ? "all equal" : difference);
}

bool agrees(const model::Finding& finding)
{
    return finding.first.empty();
}
bool agrees(const model::TensorComparison& tensor)
{
    return tensor.agrees();
}

std::string shown_name(const model::Finding& finding)
{
    return visible(finding.what);
}
std::string shown_name(const model::TensorComparison& tensor)
{
    return tensor.name.empty() ? "tensor" : visible(tensor.name);
}

/// A line for each that was compared; with `failures_alone` nothing of what agrees.
template <typename Compared>
void write_judged(Buffer& buffer, const std::vector<Compared>& all, bool failures_alone)
{
    const Index width = widest(all, [](const Compared& each) { return display_width(shown_name(each)); });
    for (const Compared& each : all) {
        if (!(failures_alone && agrees(each))) {
            const std::string_view verdict = agrees(each) ? "ok        " : "MISMATCH  ";
            buffer.append(fmt::format("{}{}{}\n", verdict, aligned_left(shown_name(each), width + 2), describe(each)));
        }
    }
}

} // namespace

void write_check(const model::CheckReport& report, std::string_view name, bool failures_alone, Buffer& buffer)
{
    if (failures_alone && report.passed()) {
        return;
    }
    write_judged(buffer, report.findings, failures_alone);
    const auto failed = std::ranges::count_if(report.findings, [](const model::Finding& finding) { return !agrees(finding); });
    buffer.append(visible(name));
    buffer.append(failed == 0 ? ": passed\n" : fmt::format(": failed ({} of {} statements)\n", failed, report.findings.size()));
}

void write_comparison(const model::Comparison& comparison, std::string_view a, std::string_view b, bool failures_alone,
                      Buffer& buffer)
{
    if (failures_alone && comparison.agrees()) {
        return;
    }
    write_judged(buffer, comparison.tensors, failures_alone);
    const std::string verdict =
        comparison.agrees() ? "agree" : fmt::format("differ ({} of {})", comparison.differing(), comparison.tensors.size());
    buffer.append(fmt::format("{} and {} {}\n", visible(a), visible(b), verdict));
}

} // namespace attn::report
