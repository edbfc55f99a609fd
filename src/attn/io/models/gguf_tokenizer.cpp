#include "attn/io/models/gguf_tokenizer.hpp"

#include "attn/io/models/scored_pieces.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/utf8.hpp"
#include "attn/text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attn::io {

using text::Behavior;
using text::Pattern;
using text::Split;
using text::TemplateItem;
using text::TokenizerSpec;

// ---- what the file has -----------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view tokens_key = "tokenizer.ggml.tokens", types_key = "tokenizer.ggml.token_type",
                           scores_key = "tokenizer.ggml.scores", merges_key = "tokenizer.ggml.merges",
                           model_key = "tokenizer.ggml.model", pre_key = "tokenizer.ggml.pre";
constexpr std::string_view word_begin = "\u2581"; ///< ▁

/// The metadata of the tokenizer.
class Tokens {
public:
    explicit Tokens(const GgufFile& file) : file_(file)
    {
        const GgufList& list = required_list(tokens_key);
        if (list.bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
            throw Error(ErrorKind::data, tokens_key, fmt::format("{} bytes", list.bytes.size()), "less than 4 GiB");
        }
        for (const std::string_view text : texts_of(list, tokens_key)) {
            add_piece(all_, {text}, tokens_key);
        }
        if (find(types_key) != nullptr) {
            read_types();
        }
    }

    [[nodiscard]] const std::vector<ScoredPiece>& all() const { return all_; }

    [[nodiscard]] const GgufValue* find(std::string_view key) const
    {
        const auto found = file_.metadata.find(key);
        return found == file_.metadata.end() ? nullptr : &found->second;
    }

    [[nodiscard]] const GgufList& required_list(std::string_view key) const
    {
        const GgufValue* value = find(key);
        const auto* list = value == nullptr ? nullptr : std::get_if<GgufList>(value);
        if (list == nullptr) {
            throw Error(ErrorKind::data, key, value == nullptr ? "nothing" : written(*value), "a list");
        }
        return *list;
    }

    [[nodiscard]] std::string_view required_text(std::string_view key, std::string_view allowed) const
    {
        const GgufValue* value = find(key);
        const auto* text = value == nullptr ? nullptr : std::get_if<std::string_view>(value);
        if (text == nullptr) {
            throw Error(ErrorKind::data, key, value == nullptr ? "nothing" : written(*value), allowed);
        }
        return *text;
    }

    [[nodiscard]] bool flag(std::string_view key, bool otherwise) const
    {
        const GgufValue* value = find(key);
        const auto* truth = value == nullptr ? nullptr : std::get_if<bool>(value);
        if (value != nullptr && truth == nullptr) {
            throw Error(ErrorKind::data, key, written(*value), "true or false");
        }
        return truth == nullptr ? otherwise : *truth;
    }

    /// The id that the first of these keys has.
    [[nodiscard]] std::optional<std::int32_t> id(std::initializer_list<std::string_view> keys) const
    {
        for (const std::string_view key : keys) {
            const GgufValue* value = find(key);
            if (value == nullptr) {
                continue;
            }
            const auto* number = std::get_if<double>(value);
            if (number == nullptr || !(*number >= 0 && *number < static_cast<double>(all_.size()))) {
                throw Error(ErrorKind::data, key, written(*value), fmt::format("the id of one of the {} tokens", all_.size()));
            }
            return static_cast<std::int32_t>(*number);
        }
        return std::nullopt;
    }

    /// The same, or where none of the keys is there the token `text`.
    [[nodiscard]] std::int32_t id(std::initializer_list<std::string_view> keys, std::string_view text) const
    {
        if (const auto found = id(keys)) {
            return *found;
        }
        const auto token = std::ranges::find(all_, text, &ScoredPiece::text);
        if (token == all_.end()) {
            throw Error(ErrorKind::data, *keys.begin(), "nothing", "the id of a token; there is no " + in_quotes(text));
        }
        return static_cast<std::int32_t>(token - all_.begin());
    }

    /// As many numbers as tokens.
    [[nodiscard]] std::vector<double> numbers(std::string_view key) const
    {
        std::vector<double> numbers = numbers_of(required_list(key), key);
        if (numbers.size() != all_.size()) {
            throw Error(ErrorKind::data, key, fmt::format("{} numbers", numbers.size()),
                        fmt::format("{}, one for each token", all_.size()));
        }
        return numbers;
    }

    /// With their scores.
    [[nodiscard]] std::vector<ScoredPiece> scored() const
    {
        const std::vector<double> scores = numbers(scores_key);
        std::vector<ScoredPiece> pieces = all_;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            if (!std::isfinite(scores[i])) {
                throw Error(ErrorKind::data, place_in(scores_key, i), fmt::format("{}", scores[i]), "a finite number");
            }
            pieces[i].score = scores[i];
        }
        return pieces;
    }

private:
    void read_types()
    {
        const std::vector<double> types = numbers(types_key);
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (!(types[i] >= 1 && types[i] <= 6)) {
                throw Error(ErrorKind::data, place_in(types_key, i), fmt::format("{}", types[i]), "1 to 6");
            }
            all_[i].type = static_cast<PieceType>(static_cast<int>(types[i]));
        }
    }

    const GgufFile& file_;
    std::vector<ScoredPiece> all_;
};

// ---- the parts of a tokenizer that all have --------------------------------------------------------------------------------

/// Tokens that stand for themselves wherever a sentence holds them.
void add_tokens(TokenizerSpec& spec, const Tokens& tokens)
{
    for (std::size_t i = 0; i < tokens.all().size(); ++i) {
        const ScoredPiece& token = tokens.all()[i];
        const bool special = token.type == PieceType::control || token.type == PieceType::unknown;
        if ((special || token.type == PieceType::user_defined) && !token.text.empty()) {
            spec.added.push_back({.id = static_cast<std::int32_t>(i), .content = std::string(token.text), .special = special});
        }
    }
}

/// The beginning and the end of a text, as the flags say.
void set_template(TokenizerSpec& spec, const Tokens& tokens, bool usually_begins)
{
    const auto id_if = [&](std::string_view flag, bool usual, std::string_view key) -> std::optional<std::int32_t> {
        if (!tokens.flag(flag, usual)) {
            return std::nullopt;
        }
        const auto id = tokens.id({key});
        if (!id) {
            throw Error(ErrorKind::data, key, "nothing", "the id of a token, which " + std::string(flag) + " puts in");
        }
        return id;
    };
    put_around(spec, id_if("tokenizer.ggml.add_bos_token", usually_begins, "tokenizer.ggml.bos_token_id"),
               id_if("tokenizer.ggml.add_eos_token", false, "tokenizer.ggml.eos_token_id"));
}

// ---- byte-pair encoding over bytes -----------------------------------------------------------------------------------------

constexpr std::string_view llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen2_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// How text becomes words, by its name in tokenizer.ggml.pre.
struct PreTokenizer {
    std::string_view name, pattern;
    bool digits_alone = false;
    bool composed = false;       ///< the text first takes the form NFC
    bool whole_words = false;    ///< a word of the vocabulary is a piece, whatever the merges make of it
    bool usually_begins = false; ///< with the token for the beginning of a text
};

constexpr std::array pre_tokenizers{
    PreTokenizer{"dbrx", llama3_pattern},
    PreTokenizer{"gpt-2", text::gpt2_pattern},
    PreTokenizer{.name = "llama-bpe", .pattern = llama3_pattern, .whole_words = true, .usually_begins = true},
    PreTokenizer{.name = "llama3", .pattern = llama3_pattern, .whole_words = true, .usually_begins = true},
    PreTokenizer{"mpt", text::gpt2_pattern},
    PreTokenizer{"olmo", text::gpt2_pattern},
    PreTokenizer{"phi-2", text::gpt2_pattern},
    PreTokenizer{.name = "qwen2", .pattern = qwen2_pattern, .composed = true},
    PreTokenizer{"smaug-bpe", llama3_pattern},
    PreTokenizer{.name = "smollm", .pattern = text::gpt2_pattern, .digits_alone = true},
    PreTokenizer{.name = "starcoder", .pattern = text::gpt2_pattern, .digits_alone = true},
};

const PreTokenizer& pre_tokenizer_of(const Tokens& tokens)
{
    std::vector<std::string_view> names;
    names.reserve(pre_tokenizers.size());
    for (const PreTokenizer& each : pre_tokenizers) {
        names.push_back(each.name);
    }
    const std::string_view name = tokens.required_text(pre_key, joined(names));
    const auto found = std::ranges::find(pre_tokenizers, name, &PreTokenizer::name);
    if (found == pre_tokenizers.end()) {
        throw Error(ErrorKind::data, pre_key, in_quotes(name), joined(names));
    }
    return *found;
}

/// "a b"
void add_merge(text::MergeList& merges, std::string_view pair, std::size_t rank)
{
    const std::size_t space = pair.find(' ');
    if (space == std::string_view::npos || pair.find(' ', space + 1) != std::string_view::npos) {
        throw Error(ErrorKind::data, place_in(merges_key, rank), in_quotes(pair), "two pieces and a space between them");
    }
    merges.add(pair.substr(0, space), pair.substr(space + 1));
}

TokenizerSpec byte_pairs(const Tokens& tokens)
{
    const PreTokenizer& pre = pre_tokenizer_of(tokens);
    TokenizerSpec spec;
    if (pre.composed) {
        spec.normalizer.emplace_back(text::Form::nfc);
    }
    if (tokens.flag("tokenizer.ggml.add_space_prefix", false)) {
        spec.splitter.emplace_back(text::PrefixSpace());
    }
    if (pre.digits_alone) {
        spec.splitter.emplace_back(Split{{Pattern::Kind::numeric, {}}, Behavior::isolated});
    }
    spec.splitter.emplace_back(Split{{Pattern::Kind::regex, std::string(pre.pattern)}});
    spec.splitter.emplace_back(text::ByteAlphabet());

    const std::vector<ScoredPiece>& all = tokens.all();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].type == PieceType::normal || all[i].type == PieceType::byte) {
            spec.vocabulary.add(all[i].text, static_cast<std::int32_t>(i));
        }
    }
    text::BytePairModel model{.ignore_merges = pre.whole_words};
    const GgufList& list = tokens.required_list(merges_key);
    if (list.bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(ErrorKind::data, merges_key, fmt::format("{} bytes", list.bytes.size()), "less than 4 GiB");
    }
    const std::vector<std::string_view> merges = texts_of(list, merges_key);
    for (std::size_t rank = 0; rank < merges.size(); ++rank) {
        text::require_utf8(merges[rank], place_in(merges_key, rank));
        add_merge(model.merges, merges[rank], rank);
    }
    spec.model = std::move(model);
    add_tokens(spec, tokens);
    set_template(spec, tokens, pre.usually_begins);
    return spec;
}

// ---- SentencePiece's pair encoding -----------------------------------------------------------------------------------------

TokenizerSpec sentencepiece_pairs(const Tokens& tokens)
{
    TokenizerSpec spec;
    if (tokens.flag("tokenizer.ggml.add_space_prefix", true)) {
        spec.normalizer.emplace_back(text::Prepend{std::string(word_begin)});
    }
    spec.normalizer.emplace_back(text::Replace{{Pattern::Kind::literal, " "}, std::string(word_begin)});
    spec.model = scored_pairs(tokens.scored());
    const std::vector<ScoredPiece>& all = tokens.all();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].type == PieceType::normal || all[i].type == PieceType::unknown || all[i].type == PieceType::byte) {
            spec.vocabulary.add(all[i].text, static_cast<std::int32_t>(i));
        }
    }
    add_tokens(spec, tokens);
    set_template(spec, tokens, true);
    return spec;
}

// ---- WordPiece -------------------------------------------------------------------------------------------------------------

/// As BERT's vocab.txt has it.
std::string word_piece(std::string_view token)
{
    if (token.starts_with('[') && token.ends_with(']')) {
        return std::string(token);
    }
    if (token.starts_with(word_begin) && token != word_begin) {
        return std::string(token.substr(word_begin.size()));
    }
    return "##" + std::string(token);
}

/// A model that knows capitals has pieces with them.
bool has_capitals(const std::vector<ScoredPiece>& all)
{
    return std::ranges::any_of(all, [](const ScoredPiece& token) {
        return token.type == PieceType::normal && !token.text.starts_with('[') &&
               std::ranges::any_of(token.text, [](char c) { return c >= 'A' && c <= 'Z'; });
    });
}

TokenizerSpec word_pieces(const Tokens& tokens)
{
    const std::vector<ScoredPiece>& all = tokens.all();
    TokenizerSpec spec;
    spec.normalizer = {text::CleanText(), text::SpaceChinese()};
    if (!has_capitals(all)) {
        spec.normalizer.insert(spec.normalizer.end(),
                               {text::Form::nfd, text::DropMarks{.nonspacing_alone = true}, text::Lowercase()});
    }
    spec.splitter = {Split{{Pattern::Kind::white_space, {}}, Behavior::removed},
                     Split{{Pattern::Kind::punctuation, {}}, Behavior::isolated}};
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].type != PieceType::unused) {
            spec.vocabulary.add(word_piece(all[i].text), static_cast<std::int32_t>(i));
        }
    }
    const auto text_of = [&](std::int32_t id) { return word_piece(all[static_cast<std::size_t>(id)].text); };
    spec.model = text::WordPieceModel{.unknown = text_of(tokens.id({"tokenizer.ggml.unknown_token_id"}, "[UNK]"))};
    add_tokens(spec, tokens);
    for (text::AddedToken& token : spec.added) {
        token.content = word_piece(token.content);
    }
    const std::int32_t begin = tokens.id({"tokenizer.ggml.cls_token_id", "tokenizer.ggml.bos_token_id"}, "[CLS]");
    const std::int32_t end = tokens.id({"tokenizer.ggml.seperator_token_id", "tokenizer.ggml.eos_token_id"}, "[SEP]");
    spec.templates = {
        std::vector<TemplateItem>{{-1, begin, 0}, {0, 0, 0}, {-1, end, 0}},
        std::vector<TemplateItem>{{-1, begin, 0}, {0, 0, 0}, {-1, end, 0}, {1, 0, 1}, {-1, end, 1}},
    };
    return spec;
}

} // namespace

// ---- the tokenizer ---------------------------------------------------------------------------------------------------------

TokenizerSpec gguf_tokenizer(const GgufFile& file)
{
    const Tokens tokens(file);
    constexpr std::string_view allowed = "gpt2, llama, bert";
    const std::string_view model = tokens.required_text(model_key, allowed);
    if (model == "gpt2") {
        return byte_pairs(tokens);
    }
    if (model == "llama") {
        return sentencepiece_pairs(tokens);
    }
    if (model == "bert") {
        return word_pieces(tokens);
    }
    throw Error(ErrorKind::data, model_key, in_quotes(model), allowed);
}

} // namespace attn::io
