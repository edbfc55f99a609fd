#include "cli/output/isa_note.hpp"

#include <fmt/format.h>

namespace attn::cli {

std::optional<std::string> IsaNote::about(std::string_view because)
{
    if (!asked_ || because.empty() || said_.exchange(true)) {
        return std::nullopt;
    }
    return fmt::format("--isa {} does not compute {}; the portable path did", name_of(*asked_), because);
}

} // namespace attn::cli
