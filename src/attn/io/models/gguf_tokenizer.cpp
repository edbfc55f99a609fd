#include "attn/io/models/gguf_tokenizer.hpp"

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
#include <unordered_map>
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

/// What tokenizer.ggml.token_type says of a token.
enum class TokenType { normal = 1, unknown, control, user_defined, unused, byte };

struct FoundToken {
    std::string_view text;
    TokenType type = TokenType::normal;
};

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
            text::require_utf8(text, place(tokens_key, all_.size()));
            if (text.size() > most_bytes) {
                throw Error(ErrorKind::data, place(tokens_key, all_.size()), fmt::format("a piece of {} bytes", text.size()),
                            fmt::format("up to {}", most_bytes));
            }
            all_.push_back({text});
        }
        if (find(types_key) != nullptr) {
            read_types();
        }
    }

    [[nodiscard]] const std::vector<FoundToken>& all() const { return all_; }

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
        const auto token = std::ranges::find(all_, text, &FoundToken::text);
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

    [[nodiscard]] static std::string place(std::string_view key, std::size_t i) { return fmt::format("{}[{}]", key, i); }

private:
    static constexpr std::size_t most_bytes = 2048; ///< of a piece, as in a tokenizer.json

    void read_types()
    {
        const std::vector<double> types = numbers(types_key);
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (!(types[i] >= 1 && types[i] <= 6)) {
                throw Error(ErrorKind::data, place(types_key, i), fmt::format("{}", types[i]), "1 to 6");
            }
            all_[i].type = static_cast<TokenType>(static_cast<int>(types[i]));
        }
    }

    const GgufFile& file_;
    std::vector<FoundToken> all_;
};

// ---- the parts of a tokenizer that all have --------------------------------------------------------------------------------

/// Tokens that stand for themselves wherever a sentence holds them.
void add_tokens(TokenizerSpec& spec, const Tokens& tokens)
{
    for (std::size_t i = 0; i < tokens.all().size(); ++i) {
        const FoundToken& token = tokens.all()[i];
        const bool special = token.type == TokenType::control || token.type == TokenType::unknown;
        if ((special || token.type == TokenType::user_defined) && !token.text.empty()) {
            spec.added.push_back({.id = static_cast<std::int32_t>(i), .content = std::string(token.text), .special = special});
        }
    }
}

/// `begin` and `end`, where there are some, around each sentence.
void set_template(TokenizerSpec& spec, std::optional<std::int32_t> begin, std::optional<std::int32_t> end)
{
    for (std::vector<TemplateItem>& items : spec.templates) {
        items.clear();
    }
    for (std::size_t count = 0; count < 2; ++count) {
        for (int sentence = 0; sentence <= static_cast<int>(count); ++sentence) {
            std::vector<TemplateItem>& items = spec.templates.at(count);
            if (begin) {
                items.push_back({-1, *begin, sentence});
            }
            items.push_back({sentence, 0, sentence});
            if (end) {
                items.push_back({-1, *end, sentence});
            }
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
    set_template(spec, id_if("tokenizer.ggml.add_bos_token", usually_begins, "tokenizer.ggml.bos_token_id"),
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
        throw Error(ErrorKind::data, Tokens::place(merges_key, rank), in_quotes(pair), "two pieces and a space between them");
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

    const std::vector<FoundToken>& all = tokens.all();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].type == TokenType::normal || all[i].type == TokenType::byte) {
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
        text::require_utf8(merges[rank], Tokens::place(merges_key, rank));
        add_merge(model.merges, merges[rank], rank);
    }
    spec.model = std::move(model);
    add_tokens(spec, tokens);
    set_template(spec, tokens, pre.usually_begins);
    return spec;
}

// ---- SentencePiece's pair encoding -----------------------------------------------------------------------------------------

/// Every way to make a piece out of two, the piece of the highest score first.
class ScoredMerges {
public:
    explicit ScoredMerges(const Tokens& tokens) : all_(tokens.all()), scores_(tokens.numbers(scores_key))
    {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (!std::isfinite(scores_[i])) {
                throw Error(ErrorKind::data, Tokens::place(scores_key, i), fmt::format("{}", scores_[i]), "a finite number");
            }
            if (is_joined(i)) {
                pieces_.emplace(all_[i].text, i);
            }
        }
    }

    [[nodiscard]] text::MergeList list()
    {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (is_joined(i)) {
                add_ways(i);
            }
        }
        std::ranges::stable_sort(ways_, [&](const Way& a, const Way& b) { return scores_[a.piece] > scores_[b.piece]; });
        text::MergeList merges;
        for (const Way& way : ways_) {
            const std::string_view piece = all_[way.piece].text;
            merges.add(piece.substr(0, way.left), piece.substr(way.left));
        }
        return merges;
    }

private:
    struct Way {
        std::uint32_t piece;
        std::uint32_t left; ///< bytes
    };
    static constexpr std::size_t most = std::size_t{1} << 28U; ///< bytes of all of them: Gemma's take 5 million

    [[nodiscard]] bool is_joined(std::size_t i) const { return all_[i].type == TokenType::normal && !all_[i].text.empty(); }

    void add_ways(std::size_t i)
    {
        const std::string_view piece = all_[i].text;
        for (std::size_t left = front(piece).bytes; left < piece.size(); left += front(piece.substr(left)).bytes) {
            if (pieces_.contains(piece.substr(0, left)) && pieces_.contains(piece.substr(left))) {
                bytes_ += piece.size();
                ways_.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(left)});
            }
        }
        if (bytes_ > most) {
            throw Error(ErrorKind::data, tokens_key, "pieces that are made of each other in too many ways",
                        fmt::format("{} bytes of merges", most));
        }
    }

    const std::vector<FoundToken>& all_;
    std::vector<double> scores_;
    std::unordered_map<std::string_view, std::size_t> pieces_;
    std::vector<Way> ways_;
    std::size_t bytes_ = 0;
};

TokenizerSpec scored_pairs(const Tokens& tokens)
{
    TokenizerSpec spec;
    if (tokens.flag("tokenizer.ggml.add_space_prefix", true)) {
        spec.normalizer.emplace_back(text::Prepend{std::string(word_begin)});
    }
    spec.normalizer.emplace_back(text::Replace{{Pattern::Kind::literal, " "}, std::string(word_begin)});
    text::BytePairModel model{.merges = ScoredMerges(tokens).list(), .fuse_unknown = true};
    const std::vector<FoundToken>& all = tokens.all();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const FoundToken& token = all[i];
        if (token.type == TokenType::unknown) {
            model.unknown = std::string(token.text);
        }
        model.byte_fallback = model.byte_fallback || token.type == TokenType::byte;
        if (token.type == TokenType::normal || token.type == TokenType::unknown || token.type == TokenType::byte) {
            spec.vocabulary.add(token.text, static_cast<std::int32_t>(i));
        }
    }
    spec.model = std::move(model);
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
bool has_capitals(const std::vector<FoundToken>& all)
{
    return std::ranges::any_of(all, [](const FoundToken& token) {
        return token.type == TokenType::normal && !token.text.starts_with('[') &&
               std::ranges::any_of(token.text, [](char c) { return c >= 'A' && c <= 'Z'; });
    });
}

TokenizerSpec word_pieces(const Tokens& tokens)
{
    const std::vector<FoundToken>& all = tokens.all();
    TokenizerSpec spec;
    spec.normalizer = {text::CleanText(), text::SpaceChinese()};
    if (!has_capitals(all)) {
        spec.normalizer.insert(spec.normalizer.end(),
                               {text::Form::nfd, text::DropMarks{.nonspacing_alone = true}, text::Lowercase()});
    }
    spec.splitter = {Split{{Pattern::Kind::white_space, {}}, Behavior::removed},
                     Split{{Pattern::Kind::punctuation, {}}, Behavior::isolated}};
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].type != TokenType::unused) {
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
        return scored_pairs(tokens);
    }
    if (model == "bert") {
        return word_pieces(tokens);
    }
    throw Error(ErrorKind::data, model_key, in_quotes(model), allowed);
}

} // namespace attn::io
