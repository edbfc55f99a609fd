#include "cli/format.hpp"

#include "attn/tensor/error.hpp"
#include "cli/suggest.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace attn::cli {
namespace {

constexpr std::array<std::string_view, 8> names{"table", "json",        "csv", "npy",
                                                "npz",   "safetensors", "svg", "html"}; // in the order of Format

struct Ending {
    std::string_view text;
    std::optional<Format> format; ///< nothing: a format that we do not write, which would only be found out later
};
constexpr std::array endings{
    Ending{".txt", Format::table},  Ending{".json", Format::json},
    Ending{".jsonl", Format::json}, Ending{".ndjson", Format::json},
    Ending{".csv", Format::csv},    Ending{".npy", Format::npy},
    Ending{".npz", Format::npz},    Ending{".svg", Format::svg},
    Ending{".html", Format::html},  Ending{".safetensors", Format::safetensors},
};

std::string_view name_of(Format format)
{
    return names[static_cast<std::size_t>(format)];
}

std::string ending_of(const std::string& path)
{
    const std::string name = path.substr(path.rfind('/') + 1);
    const std::size_t dot = name.rfind('.');
    const bool none = dot == std::string::npos || dot == 0 || dot + 1 == name.size(); // ".results" is a name
    std::string ending = none ? "" : name.substr(dot);
    std::ranges::transform(ending, ending.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return ending;
}

/// "table (.txt), json (.json), csv (.csv)"
std::string list_of(std::span<const Format> allowed)
{
    std::string text;
    for (const Format format : allowed) {
        const auto ending = std::ranges::find(endings, std::optional(format), &Ending::format);
        text += std::string(text.empty() ? "" : ", ") + std::string(name_of(format)) + " (" + std::string(ending->text) + ")";
    }
    return text;
}

/// `said` tells whether the format is known without the ending.
std::optional<Format> format_of(const std::string& path, bool said, std::span<const Format> allowed)
{
    const std::string text = ending_of(path);
    const auto ending = std::ranges::find(endings, text, &Ending::text);
    if (ending == endings.end()) {
        if (text.empty() || said) {
            return std::nullopt;
        }
        std::vector<std::string_view> known;
        std::ranges::transform(endings, std::back_inserter(known), &Ending::text);
        throw Error(ErrorKind::usage, "-o", quoted(path),
                    "the formats " + list_of(allowed) + ", no ending, or any ending with --format" + did_you_mean(text, known));
    }
    if (!ending->format || std::ranges::find(allowed, *ending->format) == allowed.end()) {
        throw Error(ErrorKind::usage, "-o", quoted(path), "the formats " + list_of(allowed));
    }
    return ending->format;
}

} // namespace

Format decide_format(const std::optional<std::string>& format, bool json, const std::optional<std::string>& output,
                     std::span<const Format> allowed)
{
    std::vector<std::string_view> allowed_names;
    std::ranges::transform(allowed, std::back_inserter(allowed_names), name_of);
    const auto said = format ? std::optional(allowed[choice("--format", *format, allowed_names)]) : std::nullopt;
    if (json && said.value_or(Format::json) != Format::json) {
        throw Error(ErrorKind::usage, "--json and --format " + *format + " exclude each other");
    }
    const std::optional<Format> wanted = json ? Format::json : said;
    const std::optional<Format> by_ending = output ? format_of(*output, wanted.has_value(), allowed) : std::nullopt;
    if (wanted && by_ending && *wanted != *by_ending) {
        throw Error(ErrorKind::usage,
                    "the format " + std::string(name_of(*wanted)) + " contradicts the ending of " + quoted(*output));
    }
    return wanted.value_or(by_ending.value_or(allowed.front()));
}

} // namespace attn::cli
