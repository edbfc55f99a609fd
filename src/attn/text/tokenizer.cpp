#include "attn/text/tokenizer.hpp"

#include "attn/tensor/utf8.hpp"

#include <utf8proc.h>

#include <cstdint>

namespace attn::text {
namespace {

/// Python's str.isspace: general category Zs, or bidirectional class WS, B or S (Python documentation, str.isspace).
/// The 29 code points below are all of them in Unicode 14 (Python 3.11) and 15.
bool is_python_space(std::int32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/// General categories L*, M* and Nd.
bool is_word_part(std::int32_t c)
{
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND: return true;
    default: return false;
    }
}

/// Apostrophes and hyphens, which belong to a word when they stand alone between two parts of it.
bool is_joiner(std::int32_t c)
{
    return c == '\'' || c == 0x2019 || c == '-' || c == 0x2010 || c == 0x2011;
}

/// take(word) for each of document_words; it may move the word away.
template <typename Take>
void each_document_word(std::string_view sentence, Take take)
{
    std::string word;
    const auto finish = [&] {
        if (!word.empty()) {
            take(word);
            word.clear();
        }
    };
    while (!sentence.empty()) {
        const CodePoint point = front(sentence);
        if (is_python_space(point.value)) {
            finish();
        } else if (point.value != ',') {
            word += sentence.substr(0, point.bytes);
        }
        sentence.remove_prefix(point.bytes);
    }
    finish();
}

/// take(word) for each of plain_words; it may move the word away.
template <typename Take>
void each_plain_word(std::string_view sentence, Take take)
{
    std::string word;
    std::string joiner; // seen after `word`, kept only if the word goes on
    const auto finish = [&] {
        if (!word.empty()) {
            take(word);
            word.clear();
        }
        joiner.clear();
    };
    while (!sentence.empty()) {
        const CodePoint point = front(sentence);
        const std::string_view bytes = sentence.substr(0, point.bytes);
        if (is_word_part(point.value)) {
            word += joiner;
            word += bytes;
            joiner.clear();
        } else if (is_joiner(point.value) && !word.empty() && joiner.empty()) {
            joiner = bytes;
        } else {
            finish();
        }
        sentence.remove_prefix(point.bytes);
    }
    finish();
}

} // namespace

std::vector<std::string> document_words(std::string_view sentence)
{
    std::vector<std::string> words;
    each_document_word(sentence, [&](std::string& word) { words.push_back(std::move(word)); });
    return words;
}

std::vector<std::string> plain_words(std::string_view sentence)
{
    std::vector<std::string> words;
    each_plain_word(sentence, [&](std::string& word) { words.push_back(std::move(word)); });
    return words;
}

std::size_t count_document_words(std::string_view sentence)
{
    std::size_t count = 0;
    each_document_word(sentence, [&](const std::string&) { ++count; });
    return count;
}

std::size_t count_plain_words(std::string_view sentence)
{
    std::size_t count = 0;
    each_plain_word(sentence, [&](const std::string&) { ++count; });
    return count;
}

} // namespace attn::text
