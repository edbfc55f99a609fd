#include "cli/output/shading.hpp"

#include "cli/system/system.hpp"

namespace attn::cli {
namespace {

/// The DEC terminals vt52 … vt420 ("vt100-w" too), and those that terminfo calls -m or -mono.
bool is_colourless(std::string_view term)
{
    const std::string_view name = term.substr(0, term.find('-'));
    const bool dec = name.size() > 2 && name.starts_with("vt") && name[2] >= '0' && name[2] <= '9' && name != "vt525";
    return dec || term.ends_with("-m") || term.ends_with("-mono");
}

} // namespace

report::Shading choose_shading(Colour colour, bool terminal, const TerminalVariables& variables)
{
    using report::Shading;
    const auto& [term, colorterm, no_color] = variables;
    const bool asked = colour == Colour::always;
    const bool able = terminal && no_color.empty() && !term.empty() && term != "dumb";
    if (colour == Colour::never || (!asked && !able)) {
        return Shading::none;
    }
    if (colorterm == "truecolor" || colorterm == "24bit" || term.ends_with("-direct")) {
        return Shading::colours_24_bit;
    }
    if (term.find("256color") != std::string_view::npos) {
        return Shading::colours_256;
    }
    return is_colourless(term) && !asked ? Shading::blocks : Shading::colours_16;
}

report::Shading shading_of(const Output& output, Colour colour)
{
    const bool terminal = output.columns().has_value();
    if (!terminal && colour != Colour::always) {
        return report::Shading::none;
    }
    return choose_shading(colour, terminal, {environment("TERM"), environment("COLORTERM"), environment("NO_COLOR")});
}

} // namespace attn::cli
