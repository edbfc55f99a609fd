// Where a report's bytes go. A report hands over large pieces, in order; what the sink throws ends the report.
#pragma once

#include <functional>
#include <string_view>

namespace attn::report {

using Sink = std::function<void(std::string_view bytes)>;

} // namespace attn::report
