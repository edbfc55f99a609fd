#include "attn/model/layer/words.hpp"

#include "attn/model/layer/batch.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace attn::model {
namespace {

/// Bytes: shorter texts become words, and are sorted, within a second.
constexpr std::size_t long_text = std::size_t{1} << 20U;

const char* name_of_second(const Origin& origin)
{
    return origin.from_option(field::cross) ? "the --cross sentence" : "the second sentence";
}

Index count_of(const std::string& sentence, const SentenceInput& input, const char* what)
{
    text::require_utf8(sentence, what);
    const bool document = input.tokenizer == Tokenizer::document; // the case is not folded: that changes no count
    return static_cast<Index>(document ? text::count_document_words(sentence) : text::count_plain_words(sentence));
}

std::vector<std::string> words_of(const std::string& sentence, const SentenceInput& input, const char* what)
{
    text::require_utf8(sentence, what);
    const std::string folded = input.casefold ? text::casefold(sentence) : std::string();
    const std::string& text = input.casefold ? folded : sentence;
    auto words = input.tokenizer == Tokenizer::document ? text::document_words(text) : text::plain_words(text);
    if (words.empty()) {
        throw Error(ErrorKind::data,
                    fmt::format("no words in the input: {} is {}; allowed: at least one word", what, in_quotes(sentence)));
    }
    return words;
}

Words read(const SentenceInput& input, std::size_t entry, const Origin& origin)
{
    Words words;
    words.tokens = words_of(input.batch.empty() ? input.sentence : input.batch[entry], input, "the sentence");
    std::vector<std::string> all; // empty: no others than the tokens
    const auto add = [&](const std::vector<std::string>& more) { all.insert(all.end(), more.begin(), more.end()); };
    if (input.cross) {
        words.cross = true;
        words.key_tokens = words_of(*input.cross, input, name_of_second(origin));
        add(words.tokens);
        add(words.key_tokens);
    }
    for (const std::string& sentence : input.batch) {
        const std::vector<std::string> of_entry = words_of(sentence, input, "a sentence of the batch");
        words.ragged = words.ragged || of_entry.size() != words.tokens.size();
        add(of_entry);
    }
    words.vocabulary = text::vocabulary(all.empty() ? words.tokens : all);
    words.ids = text::ids_of(words.tokens, *words.vocabulary);
    words.key_ids = text::ids_of(words.key_tokens, *words.vocabulary);
    return words;
}

std::vector<std::string> labels_or_numbers(const std::vector<std::string>& labels, const std::vector<Index>& numbers,
                                           const char* what)
{
    if (numbers.empty()) {
        throw Error(ErrorKind::data, fmt::format("no words in the input: there are no {}; allowed: at least one", what));
    }
    if (!labels.empty() && labels.size() != numbers.size()) {
        throw Error(ErrorKind::data, "labels", fmt::format("{} labels", labels.size()),
                    fmt::format("one for each of the {} {}", numbers.size(), what));
    }
    for (const std::string& label : labels) {
        text::require_utf8(label, "a label");
    }
    if (!labels.empty()) {
        return labels;
    }
    std::vector<std::string> tokens(numbers.size());
    std::ranges::transform(numbers, tokens.begin(), [](Index number) { return std::to_string(number); });
    return tokens;
}

Words read(const IdsInput& input, std::size_t entry, const Origin&)
{
    Words words;
    words.tokens = labels_or_numbers(input.labels, input.ids, "ids");
    words.ids = input.ids;
    const auto entries = static_cast<std::size_t>(input.batch.value_or(1));
    if (input.ids.size() % entries != 0) {
        throw Error(ErrorKind::data, field::ids.key, counted(std::ssize(input.ids), "id"),
                    fmt::format("a multiple of {}, the entries of the batch", entries));
    }
    const auto keep_entry = [&](auto& list) {
        const std::size_t T = list.size() / entries;
        list = {list.begin() + static_cast<std::ptrdiff_t>(entry * T),
                list.begin() + static_cast<std::ptrdiff_t>((entry + 1) * T)};
    };
    if (input.batch) {
        keep_entry(words.tokens);
        keep_entry(words.ids);
    }
    return words;
}

Words read(const PositionsInput& input, std::size_t, const Origin&)
{
    Words words;
    words.tokens = labels_or_numbers(input.labels, indices(input.count), "positions");
    if (input.keys) {
        words.cross = true;
        words.key_tokens = labels_or_numbers(input.key_labels, indices(*input.keys), "key positions");
    }
    return words;
}

bool is_position(const std::string& text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "'Life', 'is', …"
std::string quoted_words(const std::vector<std::string>& words)
{
    constexpr std::size_t most = 8;
    std::string list;
    for (std::size_t i = 0; i < std::min(words.size(), most); ++i) {
        list += (i == 0 ? "" : ", ") + in_quotes(words[i], 30);
    }
    return list + (words.size() > most ? ", …" : "");
}

std::string_view without_spaces(std::string_view word)
{
    const std::size_t begin = word.find_first_not_of(' ');
    return begin == std::string_view::npos ? word : word.substr(begin, word.find_last_not_of(' ') + 1 - begin);
}

/// The places of the first pieces that a tokenizer has cut `word` into; none where it has not. A piece that goes on begins with
/// "##" or, where other pieces do, with no space.
std::vector<Index> pieces_of(const std::string& word, const std::vector<std::string>& pieces)
{
    constexpr std::string_view on = "##";
    const bool spaced = std::ranges::any_of(pieces, [](const std::string& piece) { return piece.starts_with(' '); });
    const std::string wanted = text::casefold(word);
    for (std::size_t first = 0; first + 1 < pieces.size(); ++first) {
        std::string joined(without_spaces(pieces[first]));
        std::vector<Index> places{static_cast<Index>(first)};
        for (std::size_t i = first + 1; i < pieces.size() && joined.size() < word.size(); ++i) {
            const bool hashes = pieces[i].starts_with(on);
            if (!hashes && (!spaced || pieces[i].starts_with(' '))) {
                break;
            }
            joined += pieces[i].substr(hashes ? on.size() : 0);
            places.push_back(static_cast<Index>(i));
        }
        if (places.size() > 1 && text::casefold(joined) == wanted) {
            return places;
        }
    }
    return {};
}

/// "; did you mean 'short'?", if one of the first words is near.
std::string near_word(const std::string& word, const std::vector<std::string>& words)
{
    constexpr std::size_t most = 10000;
    const auto first = std::span(words).first(std::min(words.size(), most));
    return did_you_mean(word, std::vector<std::string_view>(first.begin(), first.end()));
}

} // namespace

Words read_words(const Recipe& recipe, const Origin& origin)
{
    const auto entry = static_cast<std::size_t>(entry_of(recipe, origin));
    return std::visit([&](const auto& input) { return read(input, entry, origin); }, recipe.input);
}

bool is_cross(const Recipe& recipe)
{
    const auto* sentence = std::get_if<SentenceInput>(&recipe.input);
    const auto* positions = std::get_if<PositionsInput>(&recipe.input);
    return (sentence != nullptr && sentence->cross) || (positions != nullptr && positions->keys);
}

std::optional<WordCounts> count_words_of_long_text(const Recipe& recipe, const Origin& origin)
{
    const auto* input = std::get_if<SentenceInput>(&recipe.input);
    if (input == nullptr || input->sentence.size() + (input->cross ? input->cross->size() : 0) < long_text) {
        return std::nullopt;
    }
    const Index T = count_of(input->sentence, *input, "the sentence");
    return WordCounts{T, input->cross ? count_of(*input->cross, *input, name_of_second(origin)) : T};
}

std::vector<Index> places_of(const std::string& wanted, const std::vector<std::string>& words, const Lookup& lookup)
{
    const std::string positions = fmt::format("0 to {}", words.size() - 1);
    if (is_position(wanted)) {
        std::size_t position = 0;
        const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), position);
        if (error != std::errc() || position >= words.size()) {
            throw Error(lookup.fault, lookup.name, "position " + in_quotes(wanted),
                        lookup.allowed.empty() ? positions : lookup.allowed);
        }
        return {static_cast<Index>(position)};
    }
    if (lookup.casefold) {
        text::require_utf8(wanted, lookup.name);
    }
    const std::string word = lookup.casefold ? text::casefold(wanted) : wanted;
    std::vector<Index> places;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == word || without_spaces(words[i]) == word) {
            places.push_back(static_cast<Index>(i));
        }
    }
    if (places.empty()) {
        if (const std::vector<Index> pieces = pieces_of(word, words); !pieces.empty()) {
            throw Error(lookup.fault, lookup.name,
                        fmt::format("the word {}, which the tokenizer cuts into pieces", in_quotes(word)),
                        "one of them, by its position: " + numbered_words(pieces, words));
        }
        const std::string all = std::ranges::all_of(words, is_position) // nobody named them
                                    ? fmt::format("a position, {}", positions)
                                    : fmt::format("a word of {} ({}) or a position, {}{}", lookup.of, quoted_words(words),
                                                  positions, near_word(word, words));
        throw Error(lookup.fault, lookup.name, "the word " + in_quotes(word), lookup.allowed.empty() ? all : lookup.allowed);
    }
    return places;
}

std::vector<Index> places_of(const std::vector<std::string>& wanted, const std::vector<std::string>& words,
                             const Lookup& lookup)
{
    std::set<Index> chosen;
    for (const std::string& each : wanted) {
        const std::vector<Index> places = places_of(each, words, lookup);
        chosen.insert(places.begin(), places.end());
    }
    return {chosen.begin(), chosen.end()};
}

Index only_place(const std::vector<Index>& places, const std::string& wanted, const std::vector<std::string>& words,
                 const Lookup& lookup)
{
    if (places.size() > 1) {
        throw Error(lookup.fault, lookup.name, fmt::format("{}, {} positions", in_quotes(wanted), places.size()),
                    "one of them: " + numbered_words(places, words));
    }
    return places.front();
}

std::string name_of_words(const Recipe& recipe, bool of_keys, const Origin& origin)
{
    if (!is_cross(recipe)) {
        return "the input";
    }
    if (!std::holds_alternative<SentenceInput>(recipe.input)) {
        return of_keys ? "the keys" : "the queries";
    }
    return of_keys ? name_of_second(origin) : "the first sentence";
}

Lookup lookup_of(const FieldInfo& field, const Recipe& recipe, const Origin& origin)
{
    return {.name = origin.name_of(field),
            .fault = origin.fault({&field}),
            .casefold = folds_case(recipe),
            .of = name_of_words(recipe, &field == &field::hide, origin)};
}

bool folds_case(const Recipe& recipe)
{
    const auto* sentence = std::get_if<SentenceInput>(&recipe.input);
    return sentence != nullptr && sentence->casefold;
}

std::string numbered_words(const std::vector<Index>& places, const std::vector<std::string>& words)
{
    constexpr std::size_t most = 12;
    std::string list;
    for (std::size_t i = 0; i < std::min(places.size(), most); ++i) {
        const Index place = places[i];
        list += fmt::format("{}{} {}", i == 0 ? "" : ", ", place, in_quotes(words[static_cast<std::size_t>(place)], 30));
    }
    return list + (places.size() > most ? fmt::format(", … up to {}", places.back()) : "");
}

std::vector<Index> query_positions(const Recipe& recipe, const Words& words, const Origin& origin)
{
    return recipe.query.empty() ? std::vector<Index>()
                                : places_of(recipe.query, words.tokens, lookup_of(field::query, recipe, origin));
}

} // namespace attn::model
