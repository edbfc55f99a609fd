// Text that is longer than a screen.
#pragma once

#include <string_view>

namespace attn::cli {

/// `text` to standard output; on a terminal through $PAGER, or less where it is not set and less is there. A PAGER that is
/// empty or "cat", and one that cannot be run, leave it as it is. What becomes of a pager that runs is no error of ours.
void print_paged(std::string_view text);

} // namespace attn::cli
