#include "attn/text/tokenizer.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/utf8.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace attn::text {

// ---- UTF-8 -----------------------------------------------------------------------------------------------------------------

namespace {

void append(std::string& out, std::int32_t value)
{
    std::array<utf8proc_uint8_t, 4> bytes{};
    const utf8proc_ssize_t count = utf8proc_encode_char(value, bytes.data());
    out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(count));
}

/// The first bytes that are ASCII but no NUL, eight at a time, which is as far as most texts are looked at.
std::size_t count_plain(std::string_view bytes)
{
    constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
    constexpr std::uint64_t highest_bits = ones << 7;
    std::size_t count = 0;
    for (std::uint64_t eight = 0; count + sizeof eight <= bytes.size(); count += sizeof eight) {
        std::memcpy(&eight, bytes.data() + count, sizeof eight);
        if (((eight | (eight - ones)) & highest_bits) != 0) { // the lowest byte that is 0 borrows from its own highest bit
            break;
        }
    }
    return count;
}

} // namespace

void require_utf8(std::string_view bytes, std::string_view what)
{
    for (std::size_t offset = count_plain(bytes); offset < bytes.size();) {
        const CodePoint point = front(bytes.substr(offset));
        if (!point.well_formed || point.value == 0) {
            std::string byte = "byte 0x";
            append_hex(byte, static_cast<unsigned char>(bytes[offset]), 2);
            throw Error(ErrorKind::data, what, fmt::format("{} at offset {}", byte, offset),
                        "well-formed UTF-8 without NUL bytes");
        }
        offset += point.bytes;
        offset += count_plain(bytes.substr(offset));
    }
}

std::string casefold(std::string_view text)
{
    std::string folded;
    folded.reserve(text.size());
    while (!text.empty()) {
        const CodePoint point = front(text);
        // No code point folds to more than three (CaseFolding.txt, status F).
        std::array<std::int32_t, 4> parts{};
        const utf8proc_ssize_t count =
            utf8proc_decompose_char(point.value, parts.data(), parts.size(), UTF8PROC_CASEFOLD, nullptr);
        if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
            throw Error(ErrorKind::internal, fmt::format("case folding of {} failed", in_quotes(text.substr(0, point.bytes))));
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            append(folded, parts[i]);
        }
        text.remove_prefix(point.bytes);
    }
    return folded;
}

// ---- words -----------------------------------------------------------------------------------------------------------------

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

// ---- the vocabulary --------------------------------------------------------------------------------------------------------

std::vector<std::string> vocabulary(const std::vector<std::string>& words)
{
    // std::string compares bytes as unsigned, which for UTF-8 is the order of the code points.
    std::vector<std::string_view> distinct(words.begin(), words.end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    return {distinct.begin(), distinct.end()};
}

std::vector<Index> ids_of(const std::vector<std::string>& words, const std::vector<std::string>& vocabulary)
{
    std::vector<Index> ids;
    ids.reserve(words.size());
    for (const std::string& word : words) {
        const auto place = std::lower_bound(vocabulary.begin(), vocabulary.end(), word);
        if (place == vocabulary.end() || *place != word) {
            throw Error(ErrorKind::internal, fmt::format("word {} is not in the vocabulary", in_quotes(word)));
        }
        ids.push_back(place - vocabulary.begin());
    }
    return ids;
}

} // namespace attn::text
