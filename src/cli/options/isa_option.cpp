#include "cli/options/isa_option.hpp"

#include "attn/tensor/error.hpp"
#include "cli/options/suggest.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace attn::cli {

std::optional<core::Isa> isa_named(const std::string& name)
{
    if (name == "auto") {
        return std::nullopt;
    }
    std::vector<std::string_view> names;
    const std::vector<core::Isa> available = core::available_isas();
    std::ranges::transform(available, std::back_inserter(names), [](core::Isa isa) { return core::name_of(isa); });
    names.emplace_back("auto");
    if (std::ranges::find(core::isa_names, name) != core::isa_names.end() && std::ranges::find(names, name) == names.end()) {
        throw Error(ErrorKind::usage, fmt::format("--isa: this machine has no {}; allowed: {}", name, joined(names)));
    }
    return available.at(choice("--isa", name, names));
}

} // namespace attn::cli
