#include "cli/output/isa_note.hpp"

namespace attn::cli {

std::optional<std::string> IsaNote::about(std::string_view because)
{
    if (!asked_ || because.empty() || said_.exchange(true)) {
        return std::nullopt;
    }
    return "--isa " + std::string(name_of(*asked_)) + " does not compute " + std::string(because) + "; the portable path did";
}

} // namespace attn::cli
