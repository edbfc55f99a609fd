#include "attn/io/json/tokenizer_parts.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace attn::io {
namespace {

using text::Behavior;
using text::NormalizerStep;
using text::Pattern;
using text::Split;
using text::SplitterStep;

/// Of a normalizer, or of a pre-tokenizer, each cut into the smallest steps.
template <typename Step>
void require_few(const std::vector<Step>& steps, const JsonValue& value)
{
    constexpr std::size_t most = 64;
    if (steps.size() > most) {
        value.refuse(fmt::format("up to {} steps in all", most));
    }
}

/// {"String": "…"} or {"Regex": "…"}
Pattern read_pattern(const JsonValue& value)
{
    const Members members(value);
    if (const JsonValue* literal = members.find("String")) {
        return {Pattern::Kind::literal, literal->string()};
    }
    return {Pattern::Kind::regex, members.at("Regex").string()};
}

Split class_split(Pattern::Kind kind, Behavior behavior)
{
    return {.pattern = {.kind = kind, .text = {}}, .behavior = behavior};
}

Behavior read_behavior(const JsonValue& value)
{
    static constexpr std::array<std::string_view, 5> names{"Removed", "Isolated", "Contiguous", "MergedWithPrevious",
                                                           "MergedWithNext"};
    return static_cast<Behavior>(value.one_of(names));
}

unsigned sextet(char c)
{
    static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t found = digits.find(c);
    return found == std::string_view::npos ? 64U : static_cast<unsigned>(found);
}

/// Base64 (RFC 4648), with its padding.
std::string read_base64(const JsonValue& value)
{
    const std::string text = value.string();
    std::string bytes;
    unsigned held = 0;
    int bits = 0;
    const std::size_t end = std::min(text.find('='), text.size());
    for (std::size_t i = 0; i < end; ++i) {
        const unsigned digit = sextet(text[i]);
        if (digit == 64U) {
            value.refuse("base64");
        }
        held = (held << 6U | digit) & 0xFFFFU;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes += static_cast<char>(held >> static_cast<unsigned>(bits) & 0xFFU);
        }
    }
    if (text.size() % 4 != 0 || text.size() - end > 2 || text.find_first_not_of('=', end) != std::string::npos) {
        value.refuse("base64");
    }
    return bytes;
}

void add_bert_normalizer(const Members& members, std::vector<NormalizerStep>& steps)
{
    const bool lowercase = members.boolean("lowercase", true);
    if (members.boolean("clean_text", true)) {
        steps.emplace_back(text::CleanText());
    }
    if (members.boolean("handle_chinese_chars", true)) {
        steps.emplace_back(text::SpaceChinese());
    }
    if (members.boolean("strip_accents", lowercase)) {
        steps.emplace_back(text::Form::nfd);
        steps.emplace_back(text::DropMarks{.nonspacing_alone = true});
    }
    if (lowercase) {
        steps.emplace_back(text::Lowercase());
    }
}

void add_normalizer(const JsonValue& value, std::vector<NormalizerStep>& steps)
{
    static constexpr std::array<std::string_view, 12> names{"NFC",         "NFD",     "NFKC",    "NFKD",    "BertNormalizer",
                                                            "Lowercase",   "Strip",   "Prepend", "Replace", "StripAccents",
                                                            "Precompiled", "Sequence"};
    const Members members(value);
    const std::string_view type = names.at(members.at("type").one_of(names));
    if (type.starts_with("NF")) {
        steps.emplace_back(static_cast<text::Form>(std::find(names.begin(), names.end(), type) - names.begin()));
    } else if (type == "BertNormalizer") {
        add_bert_normalizer(members, steps);
    } else if (type == "Lowercase") {
        steps.emplace_back(text::Lowercase());
    } else if (type == "Strip") {
        steps.emplace_back(text::Strip{members.boolean("strip_left", true), members.boolean("strip_right", true)});
    } else if (type == "Prepend") {
        steps.emplace_back(text::Prepend{members.at("prepend").string()});
    } else if (type == "Replace") {
        steps.emplace_back(text::Replace{read_pattern(members.at("pattern")), members.at("content").string()});
    } else if (type == "StripAccents") {
        steps.emplace_back(text::DropMarks());
    } else if (type == "Precompiled") {
        steps.emplace_back(text::CharacterMap{read_base64(members.at("precompiled_charsmap"))});
    } else {
        for (const JsonValue& each : members.at("normalizers").elements()) {
            add_normalizer(each, steps);
            require_few(steps, each);
        }
    }
}

void add_byte_level(const Members& members, std::vector<SplitterStep>& steps)
{
    if (members.boolean("add_prefix_space", true)) {
        steps.emplace_back(text::PrefixSpace());
    }
    if (members.boolean("use_regex", true)) {
        steps.emplace_back(Split{{Pattern::Kind::regex, std::string(text::gpt2_pattern)}});
    }
    steps.emplace_back(text::ByteAlphabet());
}

void add_metaspace(const Members& members, std::vector<SplitterStep>& steps)
{
    text::Metaspace meta{.replacement = members.string("replacement", "\u2581")};
    if (const JsonValue* scheme = members.find("prepend_scheme")) {
        meta.scheme = static_cast<text::Metaspace::Scheme>(scheme->one_of({"always", "first", "never"}));
    } else if (!members.boolean("add_prefix_space", true)) {
        meta.scheme = text::Metaspace::Scheme::never;
    }
    if (meta.replacement.empty()) {
        members.at("replacement").refuse("a character");
    }
    steps.emplace_back(meta);
    if (members.boolean("split", true)) {
        steps.emplace_back(Split{{Pattern::Kind::literal, meta.replacement}, Behavior::merged_with_next});
    }
}

/// \w+|[^\w\s]+: what matches is kept. This is no Split: its \w is Unicode's, with the joiners U+200C and U+200D.
Split words_and_marks()
{
    return {{Pattern::Kind::regex, R"([\w\u200C\u200D]+|[^\w\u200C\u200D\s]+)"}, Behavior::removed, true};
}

void add_pre_tokenizer(const JsonValue& value, std::vector<SplitterStep>& steps)
{
    static constexpr std::array<std::string_view, 10> names{"BertPreTokenizer",   "ByteLevel",       "Metaspace", "Split",
                                                            "Whitespace",         "WhitespaceSplit", "Digits",    "Punctuation",
                                                            "CharDelimiterSplit", "Sequence"};
    const Members members(value);
    const std::string_view type = names.at(members.at("type").one_of(names));
    if (type == "BertPreTokenizer") {
        steps.emplace_back(class_split(Pattern::Kind::white_space, Behavior::removed));
        steps.emplace_back(class_split(Pattern::Kind::punctuation, Behavior::isolated));
    } else if (type == "ByteLevel") {
        add_byte_level(members, steps);
    } else if (type == "Metaspace") {
        add_metaspace(members, steps);
    } else if (type == "Split") {
        steps.emplace_back(Split{read_pattern(members.at("pattern")), read_behavior(members.at("behavior")),
                                 members.boolean("invert", false)});
    } else if (type == "Whitespace") {
        steps.emplace_back(words_and_marks());
    } else if (type == "WhitespaceSplit") {
        steps.emplace_back(class_split(Pattern::Kind::white_space, Behavior::removed));
    } else if (type == "Digits") {
        steps.emplace_back(class_split(
            Pattern::Kind::numeric, members.boolean("individual_digits", false) ? Behavior::isolated : Behavior::contiguous));
    } else if (type == "Punctuation") {
        const JsonValue* behavior = members.find("behavior");
        steps.emplace_back(
            class_split(Pattern::Kind::punctuation, behavior == nullptr ? Behavior::isolated : read_behavior(*behavior)));
    } else if (type == "CharDelimiterSplit") {
        steps.emplace_back(Split{{Pattern::Kind::literal, members.at("delimiter").string()}, Behavior::removed});
    } else {
        for (const JsonValue& each : members.at("pretokenizers").elements()) {
            add_pre_tokenizer(each, steps);
            require_few(steps, each);
        }
    }
}

std::int32_t read_id(const JsonValue& value)
{
    return static_cast<std::int32_t>(value.integer(0, std::numeric_limits<std::int32_t>::max() - 1));
}

/// ["[SEP]", 102]
std::int32_t read_named_id(const JsonValue& value)
{
    const std::vector<JsonValue> elements = value.elements();
    if (elements.size() != 2) {
        value.refuse("a token and its id");
    }
    return read_id(elements[1]);
}

class PostProcessorReader {
public:
    explicit PostProcessorReader(text::TokenizerSpec& spec) : spec_(spec) {}

    void read(const JsonValue& value)
    {
        static constexpr std::array<std::string_view, 5> names{"TemplateProcessing", "BertProcessing", "RobertaProcessing",
                                                               "ByteLevel", "Sequence"};
        const Members members(value);
        const std::string_view type = names.at(members.at("type").one_of(names));
        if (type == "Sequence") {
            for (const JsonValue& each : members.at("processors").elements()) {
                read(each);
            }
            return;
        }
        if (type == "ByteLevel" || type == "RobertaProcessing") {
            if (members.boolean("trim_offsets", true)) {
                spec_.trimmed = text::TrimmedBounds{members.boolean("add_prefix_space", true)};
            }
        }
        if (type == "ByteLevel") {
            return;
        }
        if (std::exchange(has_template_, true)) {
            throw Error(ErrorKind::data, value.place(), "a second template", "one");
        }
        if (type == "TemplateProcessing") {
            read_templates(members);
        } else {
            const std::int32_t begin = read_named_id(members.at("cls"));
            const std::int32_t end = read_named_id(members.at("sep"));
            spec_.templates = type == "BertProcessing" ? bert(begin, end) : roberta(begin, end);
        }
    }

private:
    using Items = std::vector<text::TemplateItem>;

    static std::array<Items, 2> bert(std::int32_t begin, std::int32_t end)
    {
        return {Items{{-1, begin, 0}, {0, 0, 0}, {-1, end, 0}},
                Items{{-1, begin, 0}, {0, 0, 0}, {-1, end, 0}, {1, 0, 1}, {-1, end, 1}}};
    }
    /// All of one type.
    static std::array<Items, 2> roberta(std::int32_t begin, std::int32_t end)
    {
        return {Items{{-1, begin, 0}, {0, 0, 0}, {-1, end, 0}},
                Items{{-1, begin, 0}, {0, 0, 0}, {-1, end, 0}, {-1, end, 0}, {1, 0, 0}, {-1, end, 0}}};
    }
    void read_templates(const Members& members)
    {
        const JsonValue* special = members.find("special_tokens");
        if (special != nullptr && special->size() > most) {
            special->refuse(fmt::format("up to {} tokens", most));
        }
        const std::vector<JsonValue::Member> tokens =
            special == nullptr ? std::vector<JsonValue::Member>() : special->members();
        spec_.templates = {read_items(members.at("single"), tokens, 1), read_items(members.at("pair"), tokens, 2)};
    }
    static constexpr std::size_t most = 1000; ///< places of a template, and tokens for them

    static Items read_items(const JsonValue& list, const std::vector<JsonValue::Member>& tokens, std::size_t sentences)
    {
        Items items;
        for (const JsonValue& each : list.elements()) {
            const Members members(each);
            if (const JsonValue* sequence = members.find("Sequence")) {
                const Members inner(*sequence);
                const std::size_t sentence = inner.at("id").one_of({"A", "B"});
                if (sentence >= sentences) {
                    inner.at("id").refuse("A");
                }
                items.push_back({static_cast<int>(sentence), 0, read_type(inner)});
            } else {
                const Members inner(members.at("SpecialToken"));
                for (const std::int32_t id : ids_of(inner.at("id"), tokens)) {
                    items.push_back({-1, id, read_type(inner)});
                }
            }
            if (items.size() > most) {
                list.refuse(fmt::format("up to {} places", most));
            }
        }
        return items;
    }
    static Index read_type(const Members& members)
    {
        const JsonValue* type = members.find("type_id");
        return type == nullptr ? 0 : type->integer(0, std::numeric_limits<std::int32_t>::max());
    }
    static std::vector<std::int32_t> ids_of(const JsonValue& name, const std::vector<JsonValue::Member>& tokens)
    {
        const auto found =
            std::find_if(tokens.begin(), tokens.end(), [&](const auto& each) { return each.first == name.string(); });
        if (found == tokens.end()) {
            name.refuse("one of special_tokens");
        }
        std::vector<std::int32_t> ids;
        for (const JsonValue& id : Members(found->second).at("ids").elements()) {
            ids.push_back(read_id(id));
        }
        return ids;
    }

    text::TokenizerSpec& spec_;
    bool has_template_ = false;
};

/// What stands before or behind the characters of a piece.
std::string read_affix(const Members& members, std::string_view key, std::string_view otherwise)
{
    constexpr std::size_t longest = 256;
    std::string affix = members.string(key, otherwise);
    if (affix.size() > longest) {
        members.at(key).refuse(fmt::format("up to {} bytes", longest));
    }
    return affix;
}

/// null, and a string that is not empty.
std::optional<std::string> read_optional(const Members& members, std::string_view key)
{
    const JsonValue* value = members.find(key);
    return value == nullptr ? std::nullopt : std::optional(value->string());
}

text::BytePairModel read_byte_pair(const Members& members, ModelTables& tables)
{
    if (const JsonValue* dropout = members.find("dropout")) {
        if (dropout->number("null or 0: pieces are the same every time") != 0) {
            dropout->refuse("null or 0: pieces are the same every time");
        }
    }
    return {.merges = std::move(tables.merges),
            .unknown = read_optional(members, "unk_token"),
            .prefix = read_affix(members, "continuing_subword_prefix", ""),
            .suffix = read_affix(members, "end_of_word_suffix", ""),
            .fuse_unknown = members.boolean("fuse_unk", false),
            .byte_fallback = members.boolean("byte_fallback", false),
            .ignore_merges = members.boolean("ignore_merges", false)};
}

text::UnigramModel read_unigram(const Members& members, ModelTables& tables)
{
    text::UnigramModel model{.scores = std::move(tables.scores), .byte_fallback = members.boolean("byte_fallback", false)};
    if (const JsonValue* unknown = members.find("unk_id")) {
        const auto pieces = static_cast<Index>(tables.vocabulary.entries.size());
        if (pieces == 0) {
            unknown->refuse("null, as there are no pieces");
        }
        model.unknown = static_cast<std::size_t>(unknown->integer(0, pieces - 1));
    }
    return model;
}

/// Files of before 2021 do not say which model they hold.
std::string_view likely_type(const Members& members, const ModelTables& tables)
{
    if (tables.has_merges) {
        return "BPE";
    }
    if (tables.is_list) {
        return "Unigram";
    }
    return members.find("max_input_chars_per_word") != nullptr ? "WordPiece" : "WordLevel";
}

} // namespace

const JsonValue* Members::find(std::string_view key) const
{
    const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& member) { return member.first == key; });
    return found == members_.end() || found->second.kind() == JsonKind::null ? nullptr : &found->second;
}

const JsonValue& Members::at(std::string_view key) const
{
    const JsonValue* found = find(key);
    if (found == nullptr) {
        throw Error(ErrorKind::data,
                    fmt::format("{}key {} is missing", value_.place().empty() ? "" : value_.place() + ": ", in_quotes(key)));
    }
    return *found;
}

bool Members::boolean(std::string_view key, bool otherwise) const
{
    const JsonValue* found = find(key);
    return found == nullptr ? otherwise : found->boolean();
}

std::string Members::string(std::string_view key, std::string_view otherwise) const
{
    const JsonValue* found = find(key);
    return found == nullptr ? std::string(otherwise) : found->string();
}

std::vector<NormalizerStep> read_normalizer(const JsonValue& value)
{
    std::vector<NormalizerStep> steps;
    add_normalizer(value, steps);
    return steps;
}

std::vector<SplitterStep> read_pre_tokenizer(const JsonValue& value)
{
    std::vector<SplitterStep> steps;
    add_pre_tokenizer(value, steps);
    return steps;
}

std::vector<text::AddedToken> read_added_tokens(const JsonValue& value)
{
    std::vector<text::AddedToken> tokens;
    for (const JsonValue& each : value.elements()) {
        const Members members(each);
        const bool special = members.boolean("special", false);
        tokens.push_back({.id = read_id(members.at("id")),
                          .content = members.at("content").string(),
                          .single_word = members.boolean("single_word", false),
                          .lstrip = members.boolean("lstrip", false),
                          .rstrip = members.boolean("rstrip", false),
                          .normalized = members.boolean("normalized", !special),
                          .special = special});
    }
    return tokens;
}

text::PieceModel read_model(const JsonValue& rest, ModelTables& tables)
{
    static constexpr std::array<std::string_view, 4> names{"BPE", "WordPiece", "WordLevel", "Unigram"};
    const Members members(rest);
    const JsonValue* stated = members.find("type");
    const std::string_view type = stated == nullptr ? likely_type(members, tables) : names.at(stated->one_of(names));
    if (tables.is_list != (type == "Unigram")) {
        throw Error(ErrorKind::data, "model.vocab", tables.is_list ? "an array" : "an object",
                    tables.is_list ? "an object of pieces and ids" : "an array of pieces and scores");
    }
    if (type == "BPE") {
        if (!tables.has_merges) {
            throw Error(ErrorKind::data, "model: key 'merges' is missing");
        }
        return read_byte_pair(members, tables);
    }
    if (type == "WordPiece") {
        constexpr Index most = std::numeric_limits<std::int32_t>::max();
        const JsonValue* longest = members.find("max_input_chars_per_word");
        return text::WordPieceModel{.unknown = members.string("unk_token", "[UNK]"),
                                    .prefix = read_affix(members, "continuing_subword_prefix", "##"),
                                    .longest_word = longest == nullptr ? 100 : longest->integer(0, most)};
    }
    if (type == "Unigram") {
        return read_unigram(members, tables);
    }
    return text::WordLevelModel{.unknown = members.at("unk_token").string()};
}

void read_post_processor(const JsonValue& value, text::TokenizerSpec& spec)
{
    PostProcessorReader(spec).read(value);
}

} // namespace attn::io
