#include "attn/tensor/error.hpp"

#include "attn/tensor/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace attn {

// ---- the exception, and quotes ---------------------------------------------------------------------------------------------

Error::Error(ErrorKind kind, std::string_view thing, std::string_view value, std::string_view allowed)
    : Error(kind, fmt::format("{}: got {}; allowed: {}", thing, value, allowed))
{
}

std::string in_quotes(std::string_view bytes, std::size_t most)
{
    std::string text = "'";
    while (!bytes.empty()) {
        const CodePoint point = front(bytes);
        const std::string_view character = bytes.substr(0, point.bytes);
        std::string piece;
        if (point.well_formed && !steers(point.value)) {
            piece = character;
        } else {
            for (const char byte : character) {
                append_escape(piece, static_cast<unsigned char>(byte), "\\x", 2);
            }
        }
        if (text.size() + piece.size() > most) {
            text += "…";
            break;
        }
        text += piece;
        bytes.remove_prefix(character.size());
    }
    return text + "'";
}

std::string counted(std::int64_t count, std::string_view thing)
{
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

// ---- what may have been meant ----------------------------------------------------------------------------------------------

namespace {

/// Longer than any name of ours: what a user pasted by mistake is not worth a quadratic search.
constexpr std::size_t longest = 64;

std::string_view without_dashes(std::string_view name)
{
    const std::size_t first = name.find_first_not_of('-');
    return first == std::string_view::npos ? std::string_view{} : name.substr(first);
}

} // namespace

std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            const std::size_t substituted = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, substituted});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[a.size()][b.size()];
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates, std::span<const Alias> aliases)
{
    const std::string_view typed = without_dashes(text);
    if (typed.empty() || typed.size() > longest) {
        return {};
    }
    if (const auto known = std::ranges::find(aliases, typed, &Alias::first); known != aliases.end()) {
        return fmt::format("; did you mean {}?", in_quotes(known->second));
    }
    std::string_view best;
    std::size_t smallest = longest;
    for (const std::string_view candidate : candidates) {
        const std::string_view name = without_dashes(candidate);
        const bool abbreviated = typed.size() > 1 && name.starts_with(typed);
        const std::size_t distance = abbreviated ? 1 : edit_distance(typed, name);
        const std::size_t near = name.size() < 2 ? 0 : std::max<std::size_t>(1, std::max(typed.size(), name.size()) / 3);
        if (distance <= near && distance < smallest) {
            smallest = distance;
            best = candidate;
        }
    }
    return best.empty() ? std::string{} : fmt::format("; did you mean {}?", in_quotes(best));
}

std::string joined(std::span<const std::string_view> names)
{
    std::string text;
    for (const std::string_view name : names) {
        text.append(text.empty() ? "" : ", ").append(name);
    }
    return text;
}

std::string quoted_list(std::span<const std::string> names, std::size_t most)
{
    std::string list;
    for (const std::string& name : names.first(std::min(most, names.size()))) {
        list += (list.empty() ? "" : ", ") + in_quotes(name);
    }
    return list + (names.size() > most ? ", …" : "");
}

} // namespace attn
