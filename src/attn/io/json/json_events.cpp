#include "attn/io/json/json_events.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::io {
namespace {

/// "line 3, column 7" of the byte at `offset`; columns count characters.
std::string position(std::string_view text, std::size_t offset)
{
    const std::string_view before = text.substr(0, offset);
    const std::size_t newline = before.rfind('\n');
    const std::string_view line = newline == std::string_view::npos ? before : before.substr(newline + 1);
    const auto column =
        std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    return fmt::format("line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'), 1 + column);
}

/// What nlohmann says is wrong with the text, without its own prefix, position and the bytes it read. Of no text at all its
/// versions say different things.
std::string reason_of(std::string_view what, std::string_view text)
{
    if (text.empty()) {
        return "unexpected end of input; expected '[', '{', or a literal";
    }
    const std::size_t dash = what.find(" - ");
    std::string_view reason = dash == std::string_view::npos ? "a number beyond the range of float64" : what.substr(dash + 3);
    return std::string(reason.substr(0, reason.find("; last read: '")));
}

} // namespace

bool JsonEvents::parse_error(std::size_t read, const std::string&, const nlohmann::detail::exception& error)
{
    fail(reason_of(error.what(), text_), read == 0 ? 0 : read - 1);
}

void JsonEvents::fail(const std::string& reason, std::size_t offset) const
{
    throw Error(ErrorKind::data, fmt::format("{}malformed JSON at {}: {}", prefix(), position(text_, offset), reason));
}

void JsonEvents::refuse(const std::string& reason, std::size_t offset) const
{
    throw Error(ErrorKind::data, fmt::format("{}{}: {}", prefix(), position(text_, offset), reason));
}

std::string JsonEvents::prefix() const
{
    return what_.empty() ? "" : std::string(what_) + ": ";
}

bool JsonEvents::enter()
{
    if (++depth_ > deepest_json) {
        fail(fmt::format("nested deeper than {} levels", deepest_json), here() - 1);
    }
    return true;
}

void JsonEvents::refuse_nul() const
{
    const std::size_t nul = text_.find('\0'); // where nlohmann would believe the text to end
    if (nul != std::string_view::npos) {
        fail("NUL byte", nul);
    }
}

} // namespace attn::io
