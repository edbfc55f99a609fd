// fmt, compiled once. Debian has it as a shared library, which every run would load, and as headers, which every file would
// compile again. These are the templates that fmt/core.h and fmt/format.h leave to the library.
#include <fmt/format-inl.h>

namespace fmt::inline v9::detail {

template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API void buffer<char>::append(const char*, const char*);
template FMT_API void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);

} // namespace fmt::inline v9::detail
