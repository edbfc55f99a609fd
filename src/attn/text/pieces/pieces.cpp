#include "attn/text/pieces/pieces.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/utf8.hpp"
#include "attn/text/pieces/added_tokens.hpp"
#include "attn/text/pieces/characters.hpp"
#include "attn/text/pieces/models.hpp"
#include "attn/text/pieces/normalizer.hpp"
#include "attn/text/pieces/splitter.hpp"
#include "attn/text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace attn::text {
namespace {

constexpr std::size_t longest_piece = 2048; ///< bytes; GLM has one of 1024 spaces
constexpr std::string_view sentencepiece_space = "\u2581";

using Model = std::variant<WordPiece, BytePair, Unigram, WordLevel>;

Model prepared(const PieceIndex& vocabulary, PieceModel model)
{
    struct Prepare {
        const PieceIndex& vocabulary;
        Model operator()(WordPieceModel& each) const { return WordPiece(vocabulary, std::move(each)); }
        Model operator()(BytePairModel& each) const { return BytePair(vocabulary, std::move(each)); }
        Model operator()(UnigramModel& each) const { return Unigram(vocabulary, std::move(each)); }
        Model operator()(WordLevelModel& each) const { return WordLevel(vocabulary, each); }
    };
    return std::visit(Prepare{vocabulary}, model);
}

bool needs_beginnings(const PieceModel& model)
{
    return std::holds_alternative<WordPieceModel>(model) || std::holds_alternative<UnigramModel>(model);
}

void require_pieces(const PieceList& vocabulary, const std::vector<AddedToken>& added)
{
    const auto require = [](std::string_view what, std::size_t size) {
        if (size > longest_piece) {
            throw Error(ErrorKind::data, what, fmt::format("a piece of {} bytes", size),
                        fmt::format("up to {}", longest_piece));
        }
    };
    for (const PieceList::PieceEntry& entry : vocabulary.entries) {
        require("model.vocab", entry.size);
    }
    for (const AddedToken& token : added) {
        require("added_tokens", token.content.size());
    }
}

/// Ids and the pieces they stand for: an entry of the vocabulary, or an added token.
class PiecesById {
public:
    PiecesById(const PieceIndex& vocabulary, const std::vector<AddedToken>& added)
    {
        const PieceList& pieces = vocabulary.pieces();
        for (std::size_t entry = 0; entry < pieces.entries.size(); ++entry) {
            places_.push_back({pieces.entries[entry].id, false, static_cast<std::uint32_t>(entry)});
        }
        for (std::size_t token = 0; token < added.size(); ++token) {
            if (!vocabulary.find(added[token].content)) {
                places_.push_back({added[token].id, true, static_cast<std::uint32_t>(token)});
            }
        }
        const auto less = [](const Place& a, const Place& b) { return a.id < b.id; };
        if (!std::is_sorted(places_.begin(), places_.end(), less)) {
            std::stable_sort(places_.begin(), places_.end(), less);
        }
        refuse_twice(pieces, added);
    }

    [[nodiscard]] Index size() const { return places_.empty() ? 0 : Index{places_.back().id} + 1; }
    struct Place {
        std::int32_t id;
        bool added;
        std::uint32_t number; ///< of the entry or the token
    };
    [[nodiscard]] bool has(Index id) const
    {
        const auto place = first_from(id);
        return place != places_.end() && place->id == id;
    }
    /// Throws Error(data) for an id without a piece.
    [[nodiscard]] Place require(Index id) const
    {
        const auto place = first_from(id);
        if (place == places_.end() || place->id != id) {
            throw Error(ErrorKind::data, "id", std::to_string(id), fmt::format("the tokenizer's, up to {}", size() - 1));
        }
        return *place;
    }

private:
    [[nodiscard]] std::vector<Place>::const_iterator first_from(Index id) const
    {
        return std::lower_bound(places_.begin(), places_.end(), id, [](const Place& a, Index b) { return a.id < b; });
    }

    /// The same added token may be there twice.
    void refuse_twice(const PieceList& pieces, const std::vector<AddedToken>& added)
    {
        const auto text = [&](const Place& place) {
            return place.added ? std::string_view(added[place.number].content) : pieces.text(place.number);
        };
        const auto same = [&](const Place& a, const Place& b) { return a.id == b.id && text(a) == text(b); };
        places_.erase(std::unique(places_.begin(), places_.end(), same), places_.end());
        const auto twice = std::adjacent_find(places_.begin(), places_.end(), [](auto& a, auto& b) { return a.id == b.id; });
        if (twice != places_.end()) {
            throw Error(ErrorKind::data, fmt::format("the tokenizer's id {}", twice->id),
                        fmt::format("{} and {}", in_quotes(text(*twice)), in_quotes(text(*(twice + 1)))), "one piece");
        }
    }

    std::vector<Place> places_; ///< sorted by id
};

/// An added token that the vocabulary has too goes by the vocabulary's id.
std::vector<AddedToken> with_known_ids(std::vector<AddedToken> added, const PieceIndex& vocabulary)
{
    for (AddedToken& token : added) {
        if (const std::optional<std::uint32_t> entry = vocabulary.find(token.content)) {
            token.id = vocabulary.pieces().entries[*entry].id;
        }
    }
    return added;
}

/// The tokens to look for before, or after, the normalizer.
AddedTokens wanted(const std::vector<AddedToken>& added, const Normalizer& normalizer, bool normalized)
{
    std::size_t bytes = 0;
    for (const AddedToken& token : added) {
        bytes += token.content.size();
    }
    Budget budget(bytes / 4); // there may be very many of them
    std::vector<AddedTokens::Wanted> found;
    for (std::size_t token = 0; token < added.size(); ++token) {
        if (added[token].normalized == normalized) {
            const std::string& content = added[token].content;
            found.push_back({normalized && !added[token].as_written ? normalizer.normalized(content, budget) : content,
                             static_cast<std::uint32_t>(token)});
        }
    }
    return {added, found};
}

std::optional<PieceIndex> indexed(std::optional<PieceList> names)
{
    return names ? std::optional<PieceIndex>(std::in_place, std::move(*names), false, "the vocabulary") : std::nullopt;
}

bool writes_spaces(const std::vector<NormalizerStep>& steps)
{
    return std::any_of(steps.begin(), steps.end(), [](const NormalizerStep& step) {
        const auto* replace = std::get_if<Replace>(&step);
        const auto* rules = std::get_if<SentencePieceRules>(&step);
        return (replace != nullptr && replace->content == sentencepiece_space) || (rules != nullptr && rules->escape);
    });
}

/// \x and two digits for each byte that is no part of a whole character.
std::string with_escapes(std::string_view bytes)
{
    std::string text;
    while (!bytes.empty()) {
        const CodePoint point = front(bytes);
        if (point.well_formed) {
            text += bytes.substr(0, point.bytes);
        } else {
            text += "\\x";
            append_hex(text, static_cast<unsigned char>(bytes.front()), 2);
        }
        bytes.remove_prefix(point.bytes);
    }
    return text;
}

bool is_space_of_pieces(std::int32_t c)
{
    return c == 0x120 || is_white_space(c); // Ġ
}

/// How many spaces `piece` begins with, and how many it ends with; all of them, where there is nothing else.
Span spaces_around(std::string_view piece)
{
    Span spaces{0, 0};
    bool inner = false;
    each_character(piece, {0, static_cast<std::uint32_t>(piece.size())}, [&](std::int32_t c, Span) {
        const bool is_space = is_space_of_pieces(c);
        inner = inner || !is_space;
        spaces.begin += inner ? 0 : 1;
        spaces.end = is_space ? spaces.end + 1 : 0;
    });
    return spaces;
}

/// `piece` without so many characters of the sentence at its beginning, and then at its end.
void shorten(Piece& piece, std::string_view sentence, Span characters)
{
    for (std::uint32_t i = 0; i < characters.begin && piece.begin < piece.end; ++i) {
        piece.begin += front(sentence.substr(piece.begin)).bytes;
    }
    for (std::uint32_t i = 0; i < characters.end && piece.begin < piece.end; ++i) {
        do {
            --piece.end;
        } while (piece.begin < piece.end && (static_cast<unsigned char>(sentence[piece.end]) & 0xC0U) == 0x80U);
    }
}

} // namespace

/// What a specification becomes.
struct PieceTokenizer::Parts {
    Normalizer normalizer;
    Splitter splitter;
    PieceIndex vocabulary;
    Model model;
    std::optional<PieceIndex> names;
    std::uint32_t unknown_name; ///< among them
    std::vector<AddedToken> added;
    PiecesById by_id;
    AddedTokens raw;
    AddedTokens normalized;
    std::array<std::vector<TemplateItem>, 2> templates;
    std::optional<TrimmedBounds> trimmed;
    bool writes_spaces;

    explicit Parts(TokenizerSpec spec)
        : normalizer(spec.normalizer), splitter(spec.splitter),
          vocabulary(std::move(spec.vocabulary), needs_beginnings(spec.model), "model.vocab"),
          model(prepared(vocabulary, std::move(spec.model))), names(indexed(std::move(spec.names))),
          unknown_name(names ? require_piece(*names, "<unk>", "the vocabulary's piece for what it does not know") : 0),
          added(with_known_ids(std::move(spec.added), with_ids())),
          by_id(with_ids(), names ? std::vector<AddedToken>() : added), raw(wanted(added, normalizer, false)),
          normalized(wanted(added, normalizer, true)), templates(std::move(spec.templates)), trimmed(spec.trimmed),
          writes_spaces(text::writes_spaces(spec.normalizer) || splitter.space() == sentencepiece_space)
    {
        for (const auto& items : templates) {
            for (const TemplateItem& item : items) {
                if (item.sentence < 0) {
                    (void)by_id.require(item.id);
                }
            }
        }
    }

    [[nodiscard]] const PieceIndex& with_ids() const { return names ? *names : vocabulary; }
    [[nodiscard]] Index id_by_name(std::string_view text, Index own) const
    {
        return names ? names->pieces().entries[names->find(text).value_or(unknown_name)].id : own;
    }
    [[nodiscard]] std::string_view text_of(Index id) const
    {
        const PiecesById::Place place = by_id.require(id);
        return place.added ? std::string_view(added[place.number].content) : with_ids().pieces().text(place.number);
    }
    [[nodiscard]] Piece piece_of(const AddedToken& token, Span source) const
    {
        const Index id = id_by_name(token.content, token.id);
        return {
            .id = id, .text = token.content, .begin = source.begin, .end = source.end, .special = token.special, .found = true};
    }
    [[nodiscard]] Piece piece_of(const Token& token, std::string_view word, Span source) const
    {
        const PieceList& pieces = vocabulary.pieces();
        const std::string_view text = token.unknown ? part(word, token.span) : pieces.text(token.entry);
        const Index id = id_by_name(text, pieces.entries[token.entry].id);
        return {.id = id, .text = std::string(text), .begin = source.begin, .end = source.end};
    }

    void append_words(std::vector<Piece>& pieces, AlignedText text) const;
    void append_text(std::vector<Piece>& pieces, AlignedText text) const;
    [[nodiscard]] std::vector<Piece> pieces(std::string_view sentence, Budget& budget) const;
    void trim(std::vector<Piece>& pieces, std::string_view sentence) const;
};

void PieceTokenizer::Parts::append_words(std::vector<Piece>& pieces, AlignedText text) const
{
    const SplitWords words = splitter.words(std::move(text));
    for (const Span span : words.spans) {
        const std::string_view word = part(words.text.text(), span);
        const auto tokens =
            std::visit([&](const auto& each) { return each.tokens(vocabulary, word, words.text.budget()); }, model);
        for (const Token& token : tokens) {
            const Span source = words.text.source(Span{span.begin + token.span.begin, span.begin + token.span.end});
            pieces.push_back(piece_of(token, word, source));
        }
    }
}

/// Of a part of the sentence without tokens that are looked for in it as it is.
void PieceTokenizer::Parts::append_text(std::vector<Piece>& pieces, AlignedText text) const
{
    text = normalizer.normalized(std::move(text));
    const std::vector<Section> sections = normalized.sections(text.text(), text.budget());
    if (sections.size() == 1 && !sections.front().token) {
        append_words(pieces, std::move(text));
        return;
    }
    for (const Section& each : sections) {
        if (each.token) {
            pieces.push_back(piece_of(added[*each.token], text.source(each.span)));
        } else {
            AlignedText between = text.fresh();
            between.append(text, each.span);
            append_words(pieces, std::move(between));
        }
    }
}

std::vector<Piece> PieceTokenizer::Parts::pieces(std::string_view sentence, Budget& budget) const
{
    std::vector<Piece> found;
    for (const Section& section : raw.sections(sentence, budget)) {
        if (section.token) {
            found.push_back(piece_of(added[*section.token], section.span));
        } else {
            append_text(found, AlignedText(sentence, section.span, budget));
        }
    }
    if (trimmed) {
        trim(found, sentence);
    }
    return found;
}

void PieceTokenizer::Parts::trim(std::vector<Piece>& pieces, std::string_view sentence) const
{
    for (Piece& piece : pieces) {
        const bool is_first = &piece == &pieces.front() || piece.begin == 0;
        const std::string_view itself = sentence.substr(piece.begin, piece.end - piece.begin);
        Span spaces = spaces_around(piece.found ? itself : std::string_view(piece.text));
        if (is_first && trimmed->prefix_space && spaces.begin > 0) {
            --spaces.begin; // it may have been put there
        }
        shorten(piece, sentence, spaces);
    }
}

PieceTokenizer::PieceTokenizer(TokenizerSpec spec)
{
    require_pieces(spec.vocabulary, spec.added);
    parts_ = std::make_unique<const Parts>(std::move(spec));
}

PieceTokenizer::~PieceTokenizer() = default;
PieceTokenizer::PieceTokenizer(PieceTokenizer&&) noexcept = default;
PieceTokenizer& PieceTokenizer::operator=(PieceTokenizer&&) noexcept = default;

std::vector<Piece> PieceTokenizer::encode(std::string_view sentence, std::optional<std::string_view> pair) const
{
    const std::array<std::string_view, 2> sentences{sentence, pair.value_or("")};
    const std::size_t count = pair ? 2 : 1;
    std::array<std::vector<Piece>, 2> pieces;
    Budget budget(sentences[0].size() + sentences[1].size());
    for (std::size_t i = 0; i < count; ++i) {
        if (sentences.at(i).size() >= std::numeric_limits<std::uint32_t>::max()) {
            throw Error(ErrorKind::too_large, "a sentence of 4 GiB");
        }
        require_utf8(sentences.at(i), "the sentence");
        pieces.at(i) = parts_->pieces(sentences.at(i), budget);
    }
    std::vector<Piece> all;
    const auto append = [&](Piece piece, const TemplateItem& item) {
        budget.spend(sizeof(Piece) + piece.text.size());
        piece.type = item.type;
        piece.sentence = item.sentence;
        all.push_back(std::move(piece));
    };
    for (const TemplateItem& item : parts_->templates.at(count - 1)) {
        if (item.sentence < 0) {
            append({.id = item.id, .text = std::string(parts_->text_of(item.id)), .special = true}, item);
            continue;
        }
        for (const Piece& piece : pieces.at(static_cast<std::size_t>(item.sentence))) {
            append(piece, item);
        }
    }
    return all;
}

Index PieceTokenizer::size() const
{
    return parts_->by_id.size();
}

bool PieceTokenizer::has(Index id) const
{
    return parts_->by_id.has(id);
}

std::optional<Index> PieceTokenizer::id_of(std::string_view piece) const
{
    const PieceIndex& pieces = parts_->with_ids();
    if (const std::optional<std::uint32_t> entry = pieces.find(piece)) {
        return pieces.pieces().entries[*entry].id;
    }
    const auto token =
        std::find_if(parts_->added.begin(), parts_->added.end(), [&](const AddedToken& each) { return each.content == piece; });
    return token == parts_->added.end() ? std::nullopt : std::optional<Index>(token->id);
}

std::string_view PieceTokenizer::text_of(Index id) const
{
    return parts_->text_of(id);
}

std::string PieceTokenizer::shown(Index id) const
{
    const std::string_view piece = parts_->text_of(id);
    if (parts_->by_id.require(id).added) {
        return std::string(piece);
    }
    if (parts_->splitter.byte_level()) {
        const std::optional<std::string> bytes = bytes_of_piece(piece);
        return bytes ? with_escapes(*bytes) : std::string(piece);
    }
    std::string text(piece);
    for (std::size_t at = text.find(sentencepiece_space); parts_->writes_spaces && at != std::string::npos;
         at = text.find(sentencepiece_space, at)) {
        text.replace(at, sentencepiece_space.size(), " ");
    }
    return text;
}

} // namespace attn::text
