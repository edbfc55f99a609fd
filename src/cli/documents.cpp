#include "cli/documents.hpp"

#include <algorithm>

namespace attn::cli {
namespace {

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

std::vector<JsonText> split_documents(std::string_view file)
{
    std::vector<JsonText> documents;
    Index line = 1;
    while (true) {
        const std::size_t begin = std::min(file.find_first_not_of(" \t\r\n"), file.size());
        line += std::ranges::count(file.substr(0, begin), '\n');
        file.remove_prefix(begin);
        if (file.empty()) {
            return documents;
        }
        const std::size_t length = file.front() == '{' ? object_length(file) : file.size();
        documents.push_back({file.substr(0, length), line});
        line += std::ranges::count(file.substr(0, length), '\n');
        file.remove_prefix(length);
    }
}

} // namespace attn::cli
