// fmt, compiled once. Debian has it as a shared library, which every run would load, and as headers, which every file would
// compile again. Of the templates that its headers leave to the library, these are used here.
#include <fmt/format-inl.h>

template FMT_API auto fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref) -> fmt::detail::thousands_sep_result<char>;
template FMT_API auto fmt::detail::decimal_point_impl(fmt::detail::locale_ref) -> char;
template FMT_API void fmt::detail::buffer<char>::append(const char*, const char*);
template FMT_API void fmt::detail::vformat_to(fmt::detail::buffer<char>&, fmt::string_view,
                                              fmt::basic_format_args<FMT_BUFFER_CONTEXT(char)>, fmt::detail::locale_ref);
