#include "cli/options/words.hpp"

#include "cli/options/command.hpp"

namespace attn::cli {
namespace {

constexpr std::string_view mark = "@", mark_of_option = "--@";

} // namespace

bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool looks_like_option(std::string_view word)
{
    return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

std::string marked(std::string_view word)
{
    std::string text(word);
    if (word.size() > 2 && word.starts_with("--") && is_letter(word[2])) {
        const std::size_t equals = text.find('=');
        return equals == std::string::npos ? text : text.insert(equals + 1, mark);
    }
    const bool letter = word.size() == 2 && word[0] == '-' && is_letter(word[1]);
    if (letter || find_command(word) != nullptr) {
        return text;
    }
    return text.insert(0, looks_like_option(word) ? mark_of_option : mark);
}

std::string unmarked(std::string word)
{
    for (const std::string_view start : {mark, mark_of_option}) {
        if (word.starts_with(start)) {
            return word.substr(start.size());
        }
    }
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    return equals == std::string::npos ? word : word.erase(equals + 1, mark.size());
}

} // namespace attn::cli
