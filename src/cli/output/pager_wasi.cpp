// There are no other programs.
#include "cli/output/pager.hpp"

#include "cli/output/output.hpp"

namespace attn::cli {

void print_paged(std::string_view text)
{
    print(text);
}

} // namespace attn::cli
