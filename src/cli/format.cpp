#include "cli/format.hpp"

#include "attn/tensor/error.hpp"
#include "cli/suggest.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace attn::cli {
namespace {

constexpr std::array<std::string_view, 3> names{"table", "json", "csv"}; // in the order of Format

/// Endings of files that hold tensors or pictures: a table in one of them would only be found out later.
constexpr std::array<std::string_view, 5> foreign{".npy", ".npz", ".safetensors", ".svg", ".html"};
constexpr std::array<std::string_view, 5> endings{".txt", ".json", ".jsonl", ".ndjson", ".csv"};

std::string ending_of(const std::string& path)
{
    const std::string name = path.substr(path.rfind('/') + 1);
    const std::size_t dot = name.rfind('.');
    const bool none = dot == std::string::npos || dot == 0 || dot + 1 == name.size(); // ".results" is a name
    std::string ending = none ? "" : name.substr(dot);
    std::ranges::transform(ending, ending.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return ending;
}

/// `said` tells whether the format is known without the ending.
std::optional<Format> format_of(const std::string& path, bool said)
{
    const std::string ending = ending_of(path);
    if (ending == ".txt") {
        return Format::table;
    }
    if (ending == ".json" || ending == ".jsonl" || ending == ".ndjson") {
        return Format::json;
    }
    if (ending == ".csv") {
        return Format::csv;
    }
    if (std::ranges::find(foreign, ending) != foreign.end()) {
        throw Error(ErrorKind::usage, "-o", quoted(path), "the formats table (.txt), json (.json), csv (.csv)");
    }
    if (!ending.empty() && !said) {
        throw Error(ErrorKind::usage, "-o", quoted(path),
                    "an ending of .txt (table), .json, .jsonl, .ndjson, .csv, none (table), or any with --format" +
                        did_you_mean(ending, endings));
    }
    return std::nullopt;
}

} // namespace

Format decide_format(const std::optional<std::string>& format, bool json, const std::optional<std::string>& output)
{
    const auto said = format ? std::optional(static_cast<Format>(choice("--format", *format, names))) : std::nullopt;
    if (json && said.value_or(Format::json) != Format::json) {
        throw Error(ErrorKind::usage, "--json and --format " + *format + " exclude each other");
    }
    const std::optional<Format> wanted = json ? Format::json : said;
    if (!output) {
        return wanted.value_or(Format::table);
    }
    const std::optional<Format> by_ending = format_of(*output, wanted.has_value());
    if (wanted && by_ending.value_or(*wanted) != *wanted) {
        throw Error(ErrorKind::usage, "the format " + std::string(names[static_cast<std::size_t>(*wanted)]) +
                                          " contradicts the ending of " + quoted(*output));
    }
    return wanted.value_or(by_ending.value_or(Format::table));
}

} // namespace attn::cli
