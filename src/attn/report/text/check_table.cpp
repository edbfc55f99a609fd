// The report of `check`, declared in table.hpp.
#include "attn/math/decimal.hpp"
#include "attn/report/buffer.hpp"
#include "attn/report/text/display.hpp"
#include "attn/report/text/table.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace attn::report {
namespace {

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

} // namespace

void write_check(const model::CheckReport& report, std::string_view name, bool failures_alone, const Sink& sink)
{
    if (failures_alone && report.passed()) {
        return;
    }
    Buffer buffer(sink);
    Index width = 0;
    Index failed = 0;
    for (const model::Finding& finding : report.findings) {
        width = std::max(width, display_width(visible(finding.what)));
        failed += finding.first.empty() ? 0 : 1;
    }
    for (const model::Finding& finding : report.findings) {
        if (failures_alone && finding.first.empty()) {
            continue;
        }
        const std::string what = visible(finding.what);
        buffer.append(finding.first.empty() ? "ok        " : "MISMATCH  ");
        buffer.append(what);
        buffer.append(std::string(static_cast<std::size_t>(width - display_width(what) + 2), ' '));
        buffer.append(describe(finding));
        buffer.append("\n");
    }
    buffer.append(visible(name));
    buffer.append(failed == 0 ? ": passed\n" : fmt::format(": failed ({} of {} statements)\n", failed, report.findings.size()));
    buffer.flush();
}

} // namespace attn::report
