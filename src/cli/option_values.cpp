#include "cli/option_values.hpp"

#include "attn/tensor/error.hpp"
#include "cli/numbers.hpp"
#include "cli/suggest.hpp"

#include <algorithm>
#include <iterator>

namespace attn::cli {
namespace {

/// Why --digits is not for a format.
std::string_view digits_of(Format format)
{
    if (format == Format::html) {
        return "a page rounds what it shows, and saves JSON with the shortest decimals that read back";
    }
    return is_binary(format) ? "binary files hold the numbers whole" : "JSON and CSV give the shortest decimals that read back";
}

} // namespace

void exclude(bool one, bool other, const char* names)
{
    if (one && other) {
        throw Error(ErrorKind::usage, std::string(names) + " exclude each other");
    }
}

std::optional<std::int64_t> integer_option(const Arguments& arguments, std::string_view option, std::int64_t least,
                                           std::int64_t most)
{
    const auto text = arguments.value(option);
    return text ? std::optional(integer(option, *text, least, most)) : std::nullopt;
}

std::optional<bool> switch_option(const Arguments& arguments, std::string_view option)
{
    return arguments.flag(option) ? std::optional(true) : std::nullopt;
}

std::optional<core::Window> window_option(const Arguments& arguments)
{
    const auto text = arguments.value("--window");
    if (!text) {
        return std::nullopt;
    }
    const std::vector<std::string_view> sides = list("--window", *text);
    if (sides.size() > 2) {
        throw Error(ErrorKind::usage, "--window", quoted(*text), "one number for both sides, or two: L,R");
    }
    return core::Window{integer("--window", sides.front(), -1, largest_int32),
                        integer("--window", sides.back(), -1, largest_int32)};
}

std::optional<double> scale_option(const Arguments& arguments)
{
    const auto text = arguments.value("--scale");
    if (!text || *text == "none") {
        return text ? std::optional(1.0) : std::nullopt;
    }
    return real("--scale", *text, {.allowed = "none, or a finite number such as 0.25 or 1e-3"});
}

std::optional<double> softcap_option(const Arguments& arguments)
{
    const auto text = arguments.value("--softcap");
    const RealRange positive{.least = 0, .least_itself = false, .allowed = "a finite number above 0 such as 30"};
    return text ? std::optional(real("--softcap", *text, positive)) : std::nullopt;
}

std::vector<std::string> query_option(const Arguments& arguments)
{
    std::vector<std::string> queries;
    const auto text = arguments.value("--query");
    for (const std::string_view item : text ? list("--query", *text) : std::vector<std::string_view>{}) {
        if (std::ranges::all_of(item, [](char c) { return c >= '0' && c <= '9'; })) {
            [[maybe_unused]] const std::int64_t position = integer("--query", item, 0, largest_int32);
        }
        queries.emplace_back(item);
    }
    return queries;
}

int digits_option(const Arguments& arguments, Format format)
{
    constexpr std::int64_t most = 17; // a double has no more
    constexpr int in_tables = 4, in_pictures = 2;
    const auto digits = integer_option(arguments, "--digits", 0, most);
    if (digits && format != Format::table && format != Format::svg) {
        throw Error(ErrorKind::usage, "--digits is for tables and pictures only; " + std::string(digits_of(format)));
    }
    return digits ? static_cast<int>(*digits) : format == Format::svg ? in_pictures : in_tables;
}

report::NotationRule notation_option(const Arguments& arguments, Format format)
{
    const auto rule = choice_option<report::NotationRule>(arguments, "--notation", report::notation_names);
    if (rule && format != Format::table) {
        throw Error(ErrorKind::usage, "--notation is for tables only");
    }
    return rule.value_or(report::NotationRule::fixed);
}

ShownNames show_option(const Arguments& arguments, std::span<const char* const> names)
{
    std::vector<std::string_view> allowed(names.begin(), names.end());
    allowed.emplace_back("all");
    const auto text = arguments.value("--show");
    ShownNames shown;
    for (const std::string_view item : text ? list_of_words("--show", *text) : std::vector<std::string_view>{}) {
        const std::size_t place = choice("--show", item, allowed);
        if (place == names.size()) {
            shown.all = true;
        } else {
            shown.places.push_back(place);
        }
    }
    return shown;
}

std::optional<core::Isa> isa_option(const Arguments& arguments)
{
    const std::optional<std::string> name = arguments.value("--isa");
    if (!name || name == "auto") {
        return std::nullopt;
    }
    std::vector<std::string_view> names;
    const std::vector<core::Isa> available = core::available_isas();
    std::ranges::transform(available, std::back_inserter(names), core::name_of);
    names.emplace_back("auto");
    if (std::ranges::find(core::isa_names, *name) != core::isa_names.end() && std::ranges::find(names, *name) == names.end()) {
        throw Error(ErrorKind::usage, "--isa: this machine has no " + *name + "; allowed: " + joined(names));
    }
    return available.at(choice("--isa", *name, names));
}

} // namespace attn::cli
