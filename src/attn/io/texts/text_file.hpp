// Arrays of numbers in a text of any form: which forms there are, and which one a text has.
#pragma once

#include "attn/io/texts/array_text.hpp"

#include <span>

namespace attn::io {

/// What is allowed where a text may be, for messages.
inline constexpr std::string_view text_forms = "an array as text (printed, np.savetxt, CSV, a list)";

/// Of the first bytes, which may be all or not: whether they may be such a text, and not something else.
[[nodiscard]] bool may_begin_text(std::string_view front);
/// Whether a whole text is.
[[nodiscard]] bool is_text_of_arrays(std::string_view text);

/// By what the text is, whatever its file is called. Throws Error(data), naming `what`, for what is broken in it, for two
/// arrays of one name, and where it is none of the forms; Error(too_large) for 4 GiB and more.
[[nodiscard]] std::vector<ArrayText> read_text_arrays(std::string_view text, const std::string& what);

} // namespace attn::io
