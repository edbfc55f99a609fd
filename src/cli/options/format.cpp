#include "cli/options/format.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"
#include "cli/options/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace attn::cli {
namespace {

struct Ending {
    std::string_view text;
    Format format;
};
/// That of each format, and two more of JSON, one result per line.
constexpr auto endings = [] {
    std::array<Ending, all_formats.size() + 2> list{};
    const auto more = std::ranges::transform(all_formats, list.begin(), [](const FormatInfo& info) {
        return Ending{info.ending, info.format};
    });
    std::ranges::copy(std::array{Ending{".jsonl", Format::json}, Ending{".ndjson", Format::json}}, more.out);
    return list;
}();

constexpr std::string_view digits_name = "--digits", notation_name = "--notation";

/// Why --digits is not for a format.
std::string_view digits_of(Format format)
{
    if (format == Format::html) {
        return "a page rounds what it shows, and saves JSON with all digits";
    }
    return info_of(format).is_binary ? "binary files do not round" : "JSON and CSV have all digits";
}

/// In small letters, from the last dot on, or from an earlier one where that is the ending of an allowed format.
std::string ending_of(const std::string& path, std::span<const Format> allowed)
{
    std::string name = path.substr(path.rfind('/') + 1);
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const std::size_t dot = name.rfind('.');
    const bool none = dot == std::string::npos || dot == 0 || dot + 1 == name.size(); // ".results" is a name
    std::string ending = none ? "" : name.substr(dot);
    for (const Format format : allowed) {
        const std::string_view longer = info_of(format).ending;
        if (longer.size() > ending.size() && name.size() > longer.size() && name.ends_with(longer)) {
            ending = longer;
        }
    }
    return ending;
}

/// What `text` makes of each, with commas between.
template <typename Text>
std::string listed(std::span<const Format> formats, Text text)
{
    std::string all;
    for (const Format format : formats) {
        all.append(all.empty() ? "" : ", ").append(text(info_of(format)));
    }
    return all;
}

/// "table (.txt), json (.json), csv (.csv)"
std::string list_of(std::span<const Format> allowed)
{
    return listed(allowed, [](const FormatInfo& info) { return fmt::format("{} ({})", info.name, info.ending); });
}

/// `said` tells whether the format is known without the ending.
std::optional<Format> format_of(const std::string& path, bool said, std::span<const Format> allowed, std::string_view elsewhere)
{
    const std::string text = ending_of(path, allowed);
    const auto ending = std::ranges::find(endings, text, &Ending::text);
    if (ending == endings.end()) {
        if (text.empty() || said) {
            return std::nullopt;
        }
        throw Error(ErrorKind::usage, model::option::output, in_quotes(path),
                    fmt::format("the formats {}, no ending, or any other with {}{}", list_of(allowed), format_name,
                                did_you_mean(text, names_of(endings, &Ending::text))));
    }
    if (std::ranges::find(allowed, ending->format) == allowed.end()) {
        throw Error(ErrorKind::usage, model::option::output, in_quotes(path),
                    fmt::format("the formats {}{}{}", list_of(allowed), elsewhere.empty() ? "" : "; ", elsewhere));
    }
    return ending->format;
}

Format format_called(const std::string& name, std::span<const Format> allowed)
{
    const auto other = std::ranges::find_if(
        allowed, [&](Format format) { return !info_of(format).alias.empty() && info_of(format).alias == name; });
    return other != allowed.end() ? *other : allowed[choice(format_name, name, names_of(allowed, name_of))];
}

/// "tables, pictures and recipes"
std::string rounded(std::span<const Format> allowed)
{
    std::vector<std::string_view> names;
    for (const Format format : allowed) {
        if (!info_of(format).rounds.empty()) {
            names.push_back(info_of(format).rounds);
        }
    }
    const std::string last(names.back());
    names.pop_back();
    return names.empty() ? last : fmt::format("{} and {}", joined(names), last);
}

} // namespace

std::string names_of(std::span<const Format> formats)
{
    return listed(formats, [](const FormatInfo& info) { return info.name; });
}

void declare_output(Options& options, OutputOptions& output, std::span<const Format> allowed, std::string_view on_terminal)
{
    const std::string formats = names_of(allowed);
    const std::string allowed_endings = listed(allowed, [](const FormatInfo& info) { return info.ending; });
    const std::string meaning = formats + "; or by the ending of -o";
    const std::string terminal = on_terminal.empty() ? "" : fmt::format("; on a terminal {}", on_terminal);
    const std::string usual = std::string(name_of(allowed.front())) + terminal;
    options.add({format_name, "NAME", meaning, usual, model::allow::text, formats}, output.format);
    if (std::ranges::find(allowed, Format::json) != allowed.end()) {
        options.add(json_option(fmt::format("the same as {} {}", format_name, name_of(Format::json))), output.json);
    }
    declare_file(options, output, fmt::format("in the format of its ending ({})", allowed_endings));
}

void declare_file(Options& options, OutputOptions& output, std::string_view form)
{
    const std::string meaning = fmt::format("write to FILE {}", form);
    options.add({model::option::output, "FILE", meaning, "-, standard output"}, output.path);
}

void declare_digits(Options& options, OutputOptions& output, std::span<const Format> allowed)
{
    constexpr Index most = 17; // a double has no more
    const std::string meaning = "digits after the point in " + rounded(allowed);
    const bool draws = std::ranges::find(allowed, Format::svg) != allowed.end();
    options.add({digits_name, "N", meaning, draws ? "4, in pictures 2" : "4", model::allow::integer(0, most)}, output.digits);
}

void declare_notation(Options& options, OutputOptions& output)
{
    options.add(
        {notation_name, "NAME",
         "notation of numbers in tables; fixed: the same in a matrix; row: chosen for each row, as in PyTorch; torch: as "
         "print(tensor)",
         "fixed", model::allow::one_of(report::notation_names)},
        output.notation);
}

report::NotationRule decide_notation(const OutputOptions& output, Format format)
{
    if (output.notation && format != Format::table) {
        throw Error(ErrorKind::usage, std::string(notation_name) + " is for tables only");
    }
    return output.notation.value_or(report::NotationRule::fixed);
}

int decide_digits(const OutputOptions& output, Format format, std::span<const Format> allowed)
{
    constexpr int in_tables = 4, in_pictures = 2;
    if (output.digits && info_of(format).rounds.empty()) {
        throw Error(ErrorKind::usage, fmt::format("{0} is for {1} only; {2}; leave out {0}, or write a {3}", digits_name,
                                                  rounded(allowed), digits_of(format), name_of(Format::table)));
    }
    return output.digits.value_or(format == Format::svg ? in_pictures : in_tables);
}

Format decide_format(const OutputOptions& output, std::span<const Format> allowed, std::string_view elsewhere)
{
    const auto& [format, path, json, digits, notation] = output;
    const auto said = format ? std::optional(format_called(*format, allowed)) : std::nullopt;
    if (json && said.value_or(Format::json) != Format::json) {
        throw Error(ErrorKind::usage,
                    fmt::format("{} and {} {} cannot be used together", json_option("").name, format_name, *format));
    }
    const std::optional<Format> wanted = json ? Format::json : said;
    const std::optional<Format> by_ending = path ? format_of(*path, wanted.has_value(), allowed, elsewhere) : std::nullopt;
    if (wanted && by_ending && !info_of(*wanted).ending.ends_with(info_of(*by_ending).ending)) { // a recipe is JSON, too
        throw Error(ErrorKind::usage,
                    fmt::format("the format {} contradicts the ending of {}; allowed: {}, or an ending of no format",
                                name_of(*wanted), in_quotes(*path), info_of(*wanted).ending));
    }
    return wanted.value_or(by_ending.value_or(allowed.front()));
}

} // namespace attn::cli
