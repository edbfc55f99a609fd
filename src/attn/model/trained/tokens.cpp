#include "attn/model/trained/tokens.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/utf8.hpp"
#include "attn/text/pieces/characters.hpp"
#include "attn/text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace attn::model {
namespace {

using text::Piece;
using text::WordBounds;

/// A sentence, with what is looked up by a place in its bytes.
class Places {
public:
    explicit Places(std::string_view sentence) : sentence_(sentence), words_(text::plain_word_bounds(sentence))
    {
        Index count = 0;
        for (const char byte : sentence) {
            characters_.push_back(count);
            count += (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U ? 0 : 1;
        }
        characters_.push_back(count);
    }

    /// How many characters begin before the byte; inside of a character that one too.
    [[nodiscard]] Index character(std::size_t byte) const { return characters_[byte]; }

    /// Without white space at its ends, unless there is nothing else.
    [[nodiscard]] WordBounds without_space(WordBounds bounds) const
    {
        WordBounds inner{bounds.end, bounds.end};
        for (std::size_t at = bounds.begin; at < bounds.end;) {
            const CodePoint point = front(sentence_.substr(at));
            const std::size_t end = at + point.bytes;
            if (!text::is_white_space(point.value)) {
                inner = {std::min(inner.begin, at), end};
            }
            at = end;
        }
        return inner.begin < inner.end ? inner : bounds;
    }

    /// The number of the word that the byte is in.
    [[nodiscard]] std::optional<std::size_t> word_at(std::size_t byte) const
    {
        const auto behind = std::ranges::upper_bound(words_, byte, {}, &WordBounds::begin);
        const bool inside = behind != words_.begin() && byte < std::prev(behind)->end;
        return inside ? std::optional(static_cast<std::size_t>(behind - words_.begin())) : std::nullopt;
    }

    [[nodiscard]] std::string part(WordBounds bounds) const
    {
        return std::string(sentence_.substr(bounds.begin, bounds.end - bounds.begin));
    }

private:
    std::string_view sentence_;
    std::vector<WordBounds> words_;
    std::vector<Index> characters_; ///< that begin before each byte
};

/// Whether the two, one behind the other, are parts of one word, or of one character.
bool belong_together(const Piece& a, const Piece& b, const Places& places)
{
    if (a.special || b.special || a.sentence != b.sentence || a.begin == a.end || b.begin == b.end) {
        return false;
    }
    const auto word_of = [&](const Piece& piece) {
        return places.word_at(places.without_space({piece.begin, piece.end}).begin);
    };
    return b.begin < a.end || (word_of(a) && word_of(a) == word_of(b));
}

/// The words that pieces are joined to, in place of the pieces.
void join(Tokens& tokens, const std::vector<Piece>& pieces, const std::array<Places, 2>& places)
{
    Tokens joined{.words = {}, .ids = tokens.ids, .piece_types = tokens.piece_types, .types = {}, .offsets = {}};
    for (std::size_t begin = 0, end = 1; begin < pieces.size(); begin = end++) {
        const Piece& first = pieces[begin];
        const Places& around = places.at(static_cast<std::size_t>(std::max(first.sentence, 0)));
        WordBounds bounds{first.begin, first.end};
        while (end < pieces.size() && belong_together(pieces[end - 1], pieces[end], around)) {
            bounds.end = std::max(bounds.end, pieces[end++].end);
        }
        const bool stays = first.special || first.begin == first.end;
        bounds = stays ? bounds : around.without_space(bounds);
        joined.words.push_back(stays ? tokens.words[begin] : around.part(bounds));
        joined.types.push_back(first.type);
        joined.offsets.insert(joined.offsets.end(), {around.character(bounds.begin), around.character(bounds.end)});
        joined.word_of.resize(end, std::ssize(joined.words) - 1);
    }
    tokens = std::move(joined);
}

} // namespace

std::string shown(Index id, const text::PieceTokenizer& tokenizer)
{
    return tokenizer.has(id) ? tokenizer.shown(id) : std::to_string(id);
}

namespace {

Tokens tokens_of(const std::vector<Piece>& pieces, const std::array<Places, 2>& places, const text::PieceTokenizer& tokenizer,
                 Join how)
{
    Tokens tokens;
    for (const Piece& piece : pieces) {
        const Places& around = places.at(static_cast<std::size_t>(std::max(piece.sentence, 0)));
        tokens.words.push_back(piece.special ? piece.text : shown(piece.id, tokenizer));
        tokens.ids.push_back(piece.id);
        tokens.types.push_back(piece.type);
        tokens.offsets.insert(tokens.offsets.end(), {around.character(piece.begin), around.character(piece.end)});
    }
    if (!std::ranges::all_of(tokens.types, [](Index type) { return type == 0; })) {
        tokens.piece_types = tokens.types;
    }
    if (how == Join::words) {
        join(tokens, pieces, places);
    }
    return tokens;
}

} // namespace

Tokens pieces_of(const TrainedConfig& config, const text::PieceTokenizer& tokenizer)
{
    const std::array<Places, 2> places{Places(config.sentence), Places(config.pair ? *config.pair : std::string_view())};
    return tokens_of(tokenizer.encode(config.sentence, config.pair), places, tokenizer, config.join);
}

Tokens target_of(const TrainedConfig& config, const text::PieceTokenizer& tokenizer, const transformer::TargetPart& target)
{
    constexpr int of_template = -1;
    text::require_utf8(*config.target, "the target");
    std::vector<Piece> pieces = tokenizer.encode(*config.target);
    if (!pieces.empty() && pieces.back().sentence == of_template) {
        pieces.pop_back();
    }
    pieces.insert(pieces.begin(),
                  {.id = target.start, .text = shown(target.start, tokenizer), .sentence = of_template, .special = true});
    return tokens_of(pieces, {Places(*config.target), Places("")}, tokenizer, config.join);
}

Tokens words_of(const TrainedConfig& config, Index most, bool sorted)
{
    text::require_utf8(config.sentence, "SENTENCE");
    if (config.pair) {
        throw Error(ErrorKind::usage, "--set input.pair is for models with a template for two sentences");
    }
    Tokens tokens{.words = text::document_words(config.sentence), .ids = {}, .piece_types = {}, .types = {}, .offsets = {}};
    std::map<std::string_view, Index> known;
    const std::set<std::string_view> vocabulary(tokens.words.begin(), tokens.words.end());
    for (const std::string_view word : sorted ? vocabulary : std::set<std::string_view>()) {
        known.try_emplace(word, std::ssize(known));
    }
    for (const std::string& word : tokens.words) {
        tokens.ids.push_back(known.try_emplace(word, std::ssize(known)).first->second);
        if (std::ssize(known) > most) {
            throw Error(ErrorKind::data, "SENTENCE", fmt::format("more than {} different words", most),
                        fmt::format("up to {}, the words that this model can tell apart", most));
        }
    }
    return tokens;
}

Tokens ids_of(const TrainedConfig& config, const Trained& trained)
{
    if (config.join == Join::words) {
        throw Error(ErrorKind::usage, "--set join=words is for a sentence, whose words the pieces are joined to, not for ids");
    }
    const transformer::Architecture& architecture = trained.model.architecture();
    const bool encodes = architecture.encoder != nullptr;
    const Index rows = (encodes ? *architecture.encoder : architecture).embedding.V;
    Tokens tokens{.words = {}, .ids = config.ids, .piece_types = {}, .types = {}, .offsets = {}};
    for (const Index id : config.ids) {
        if (id >= rows) {
            throw Error(ErrorKind::data, encodes ? "token id of the sentence" : "token id", std::to_string(id),
                        fmt::format("0 to {}, the rows of the {}'s embedding", rows - 1, encodes ? "encoder" : "model"));
        }
        tokens.words.push_back(trained.tokenizer ? shown(id, *trained.tokenizer) : std::to_string(id));
    }
    return tokens;
}

Tensor<float> joined(const Tensor<float>& weights, const std::vector<Index>& rows, const std::vector<Index>& columns)
{
    const Index H = weights.shape.front();
    const Index W = rows.back() + 1;
    const Index W_key = columns.back() + 1;
    std::vector<double> pieces(static_cast<std::size_t>(W));
    for (const Index word : rows) {
        ++pieces[static_cast<std::size_t>(word)];
    }
    Tensor<float> words({H, W, W_key});
    Matrix<double> sums(W, W_key);
    for (Index head = 0; head < H; ++head) {
        sums.setZero();
        for (Index i = 0; i < std::ssize(rows); ++i) {
            for (Index j = 0; j < std::ssize(columns); ++j) {
                sums(rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]) +=
                    static_cast<double>(weights.matrix(head)(i, j));
            }
        }
        for (Index word = 0; word < W; ++word) {
            words.matrix(head).row(word) = (sums.row(word) / pieces[static_cast<std::size_t>(word)]).cast<float>();
        }
    }
    return words;
}

} // namespace attn::model
