#include "attn/text/tokenizer.hpp"

#include "attn/tensor/utf8.hpp"

#include <utf8proc.h>

namespace attn::text {
namespace {

/// Python's str.isspace: general category Zs, or bidirectional class WS, B or S (Python documentation, str.isspace).
/// The 29 code points below are all of them in Unicode 14 (Python 3.11) and 15.
bool is_python_space(std::int32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
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

/// take(bounds) for each of plain_words.
template <typename Take>
void each_plain_word(std::string_view sentence, Take take)
{
    WordBounds word;
    bool joiner = false; // behind the word, a part of it only if the word goes on
    const auto finish = [&] {
        if (word.end > word.begin) {
            take(word);
        }
        word = {};
        joiner = false;
    };
    for (std::size_t at = 0; at < sentence.size();) {
        const CodePoint point = front(sentence.substr(at));
        const std::size_t end = at + point.bytes;
        if (is_letter_mark_or_digit(point.value)) {
            word = {word.end > word.begin ? word.begin : at, end};
            joiner = false;
        } else if (is_joiner(point.value) && word.end > word.begin && !joiner) {
            joiner = true;
        } else {
            finish();
        }
        at = end;
    }
    finish();
}

} // namespace

bool is_letter_mark_or_digit(std::int32_t c)
{
    const utf8proc_category_t category = utf8proc_category(c); // LU LL LT LM LO MN MC ME ND, in a row
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ND;
}

std::vector<std::string> document_words(std::string_view sentence)
{
    std::vector<std::string> words;
    each_document_word(sentence, [&](std::string& word) { words.push_back(std::move(word)); });
    return words;
}

std::vector<std::string> plain_words(std::string_view sentence)
{
    std::vector<std::string> words;
    each_plain_word(sentence, [&](WordBounds word) { words.emplace_back(sentence.substr(word.begin, word.end - word.begin)); });
    return words;
}

std::vector<WordBounds> plain_word_bounds(std::string_view sentence)
{
    std::vector<WordBounds> bounds;
    each_plain_word(sentence, [&](WordBounds word) { bounds.push_back(word); });
    return bounds;
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
    each_plain_word(sentence, [&](WordBounds) { ++count; });
    return count;
}

} // namespace attn::text
