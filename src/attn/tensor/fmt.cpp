// fmt, compiled once. Debian has it as a shared library, which every run would load, and as headers, which every file would
// compile again. Here they are compiled; the other files call what they declare, which is this one function.
#define FMT_HEADER_ONLY
#include <fmt/format.h>

namespace {

// Whoever takes the address of an inline function has it compiled.
[[gnu::used]] std::string (*const vformat)(fmt::string_view, fmt::format_args) = fmt::vformat;

} // namespace
