#include "cli/input/documents.hpp"

#include "attn/io/bytes.hpp"

#include <algorithm>

namespace attn::cli {
namespace {

constexpr std::string_view white_space = " \t\r\n"; ///< of JSON

/// The length of the object at the front of `text`, or of everything when it does not end.
std::size_t object_length(std::string_view text)
{
    Index depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            i += c == '\\' ? 1 : 0;
            in_string = c != '"';
            continue;
        }
        in_string = c == '"';
        depth += c == '{' || c == '[' ? 1 : 0;
        depth -= c == '}' || c == ']' ? 1 : 0;
        if (depth == 0) {
            return i + 1;
        }
    }
    return text.size();
}

} // namespace

bool begins_json(std::span<const std::byte> front)
{
    // A .safetensors that begins with a brace goes on with NUL, of which its length is full.
    const std::string_view text(reinterpret_cast<const char*>(front.data()), std::min<std::size_t>(front.size(), 8));
    const std::string_view json = io::without_byte_order_mark(text);
    const std::size_t first = json.find_first_not_of(white_space);
    return first != std::string_view::npos && json[first] == '{' && json.find('\0') == std::string_view::npos;
}

std::vector<JsonText> split_documents(std::string_view file)
{
    file = io::without_byte_order_mark(file);
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

} // namespace attn::cli
