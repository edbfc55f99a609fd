#include "attn/model/words.hpp"

#include "attn/tensor/error.hpp"
#include "attn/text/tokenizer.hpp"
#include "attn/text/utf8.hpp"
#include "attn/text/vocabulary.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace attn::model {
namespace {

std::vector<std::string> words_of(const std::string& sentence, const SentenceInput& input, const char* what)
{
    text::require_utf8(sentence, what);
    const std::string folded = input.casefold ? text::casefold(sentence) : std::string();
    const std::string& text = input.casefold ? folded : sentence;
    auto words = input.tokenizer == Tokenizer::document ? text::document_words(text) : text::plain_words(text);
    if (words.empty()) {
        throw Error(ErrorKind::data,
                    std::string("no words in the input: ") + what + " is " + quoted(sentence) + "; allowed: at least one word");
    }
    return words;
}

Words read(const SentenceInput& input, const Given& given)
{
    Words words;
    words.tokens = words_of(input.sentence, input, "the sentence");
    if (input.cross) {
        words.cross = true;
        words.key_tokens =
            words_of(*input.cross, input, given.contains(Setting::cross) ? "the --cross sentence" : "the second sentence");
        std::vector<std::string> all = words.tokens;
        all.insert(all.end(), words.key_tokens.begin(), words.key_tokens.end());
        words.vocabulary = text::vocabulary(all);
    } else {
        words.vocabulary = text::vocabulary(words.tokens);
    }
    words.ids = text::ids_of(words.tokens, *words.vocabulary);
    words.key_ids = text::ids_of(words.key_tokens, *words.vocabulary);
    return words;
}

std::vector<std::string> labels_or_numbers(const std::vector<std::string>& labels, const std::vector<Index>& numbers,
                                           const char* what)
{
    if (numbers.empty()) {
        throw Error(ErrorKind::data, std::string("no words in the input: there are no ") + what + "; allowed: at least one");
    }
    if (!labels.empty() && labels.size() != numbers.size()) {
        throw Error(ErrorKind::data, "labels", std::to_string(labels.size()) + " labels",
                    "one for each of the " + std::to_string(numbers.size()) + " " + what);
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

Words read(const IdsInput& input, const Given&)
{
    Words words;
    words.tokens = labels_or_numbers(input.labels, input.ids, "ids");
    words.ids = input.ids;
    return words;
}

Words read(const PositionsInput& input, const Given&)
{
    std::vector<Index> positions;
    for (Index i = 0; i < input.count; ++i) {
        positions.push_back(i);
    }
    Words words;
    words.tokens = labels_or_numbers(input.labels, positions, "positions");
    return words;
}

bool is_position(const std::string& text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

} // namespace

Words read_words(const Recipe& recipe, const Given& given)
{
    return std::visit([&](const auto& input) { return read(input, given); }, recipe.input);
}

std::vector<Index> query_positions(const Recipe& recipe, const Words& words, const Given& given)
{
    const ErrorKind fault = given.fault({Setting::query});
    const std::string name = given.name_of(Setting::query);
    std::set<Index> chosen;
    for (std::string query : recipe.query) {
        if (is_position(query)) {
            Index position = 0;
            const auto [end, error] = std::from_chars(query.data(), query.data() + query.size(), position);
            if (error != std::errc() || position >= words.T()) {
                throw Error(fault, name, "position " + quoted(query), "0 to " + std::to_string(words.T() - 1));
            }
            chosen.insert(position);
            continue;
        }
        const auto* sentence = std::get_if<SentenceInput>(&recipe.input);
        if (sentence != nullptr && sentence->casefold) {
            text::require_utf8(query, name);
            query = text::casefold(query);
        }
        const std::size_t before = chosen.size();
        for (Index i = 0; i < words.T(); ++i) {
            if (words.tokens[static_cast<std::size_t>(i)] == query) {
                chosen.insert(i);
            }
        }
        if (chosen.size() == before && std::find(words.tokens.begin(), words.tokens.end(), query) == words.tokens.end()) {
            std::string allowed = "a word of the input (";
            for (std::size_t i = 0; i < std::min<std::size_t>(words.tokens.size(), 8); ++i) {
                allowed += (i == 0 ? "" : ", ") + quoted(words.tokens[i], 30);
            }
            throw Error(fault, name, "the word " + quoted(query),
                        allowed + (words.tokens.size() > 8 ? ", …" : "") + ") or a position, 0 to " +
                            std::to_string(words.T() - 1));
        }
    }
    return {chosen.begin(), chosen.end()};
}

} // namespace attn::model
