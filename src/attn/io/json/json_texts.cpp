#include "attn/io/json/json_texts.hpp"

#include "attn/io/bytes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace attn::io {
namespace {

constexpr std::string_view white_space = " \t\r\n"; ///< of JSON

} // namespace

std::size_t object_length(std::string_view text)
{
    return OpenObject().end_in(text).value_or(text.size());
}

std::string_view json_of(std::string_view text)
{
    text = without_byte_order_mark(text);
    text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
    return text.starts_with('{') || text.starts_with('[') ? text : std::string_view{};
}

bool begins_json(std::span<const std::byte> front)
{
    // A .safetensors that begins with a brace goes on with NUL, of which its length is full.
    const std::string_view text(reinterpret_cast<const char*>(front.data()), std::min<std::size_t>(front.size(), 8));
    const std::string_view json = without_byte_order_mark(text);
    const std::size_t first = json.find_first_not_of(white_space);
    return first != std::string_view::npos && json[first] == '{' && json.find('\0') == std::string_view::npos;
}

std::vector<JsonText> split_documents(std::string_view file)
{
    file = without_byte_order_mark(file);
    std::vector<JsonText> documents;
    Index line = 1;
    for (std::string_view rest = file;;) {
        const std::size_t first = std::min(rest.find_first_not_of(white_space), rest.size());
        if (first == rest.size()) {
            break;
        }
        const std::size_t begin = rest.substr(0, first).rfind('\n') + 1; // of its line; 0 when there is no newline before it
        line += std::ranges::count(rest.substr(0, begin), '\n');
        const std::size_t object = rest[first] == '{' ? first + object_length(rest.substr(first)) : rest.size();
        const std::size_t end = std::min(rest.find('\n', object), rest.size());
        documents.push_back({rest.substr(begin, end - begin), line});
        line += std::ranges::count(documents.back().text, '\n');
        rest.remove_prefix(end);
    }
    if (documents.size() == 1) {
        documents.front().text = file;
    }
    return documents;
}

std::optional<std::size_t> OpenObject::end_in(std::string_view piece)
{
    constexpr std::string_view outside_strings = "{}[],:\"+-.0123456789eEtrufalsn \t\r\n"; // numbers, true, false, null
    for (std::size_t i = 0; i < piece.size(); ++i) {
        const char c = piece[i];
        if (std::exchange(escaped_, false)) {
            continue;
        }
        if (in_string_) {
            escaped_ = c == '\\';
            in_string_ = c != '"';
            is_json_ = is_json_ && c != '\n';
            continue;
        }
        is_json_ = is_json_ && outside_strings.find(c) != std::string_view::npos;
        in_string_ = c == '"';
        depth_ += c == '{' || c == '[' ? 1 : 0;
        depth_ -= c == '}' || c == ']' ? 1 : 0;
        if (depth_ == 0) {
            return i + 1;
        }
    }
    return std::nullopt;
}

bool OpenObject::goes_on(std::string_view piece)
{
    if (depth_ == 0) {
        piece = json_of(piece);
    }
    return !piece.empty() && !end_in(piece) && is_json_;
}

} // namespace attn::io
