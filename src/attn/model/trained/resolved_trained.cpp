#include "attn/model/trained/resolved_trained.hpp"

#include "attn/model/layer/words.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/model/run/compute.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/run/memory.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/utf8.hpp"
#include "attn/text/pieces/characters.hpp"
#include "attn/text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace attn::model {

// ---- tokens ----------------------------------------------------------------------------------------------------------------

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

Tokens pieces_of(const TrainedConfig& config, const text::PieceTokenizer& tokenizer)
{
    const std::vector<Piece> pieces = tokenizer.encode(config.sentence, config.pair);
    const std::array<Places, 2> places{Places(config.sentence), Places(config.pair ? *config.pair : std::string_view())};
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
    if (config.join == Join::words) {
        join(tokens, pieces, places);
    }
    return tokens;
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
    const Index rows = trained.model.architecture().embedding.V;
    Tokens tokens{.words = {}, .ids = config.ids, .piece_types = {}, .types = {}, .offsets = {}};
    for (const Index id : config.ids) {
        if (id >= rows) {
            throw Error(ErrorKind::data, "token id", std::to_string(id),
                        fmt::format("0 to {}, the rows of the model's embedding", rows - 1));
        }
        tokens.words.push_back(trained.tokenizer ? shown(id, *trained.tokenizer) : std::to_string(id));
    }
    return tokens;
}

Tensor<float> joined(const Tensor<float>& weights, const std::vector<Index>& word_of)
{
    const Index H = weights.shape.front();
    const Index T = std::ssize(word_of);
    const Index W = word_of.back() + 1;
    std::vector<double> pieces(static_cast<std::size_t>(W));
    for (const Index word : word_of) {
        ++pieces[static_cast<std::size_t>(word)];
    }
    Tensor<float> words({H, W, W});
    Matrix<double> sums(W, W);
    for (Index head = 0; head < H; ++head) {
        sums.setZero();
        for (Index i = 0; i < T; ++i) {
            for (Index j = 0; j < T; ++j) {
                sums(word_of[static_cast<std::size_t>(i)], word_of[static_cast<std::size_t>(j)]) +=
                    static_cast<double>(weights.matrix(head)(i, j));
            }
        }
        for (Index word = 0; word < W; ++word) {
            words.matrix(head).row(word) = (sums.row(word) / pieces[static_cast<std::size_t>(word)]).cast<float>();
        }
    }
    return words;
}

// ---- what is asked for -----------------------------------------------------------------------------------------------------

namespace {

// ---- what is asked for -----------------------------------------------------------------------------------------------

Show what_to_show(const TrainedConfig& config, const Trained& trained, const RunSettings& settings)
{
    const bool words = config.join == Join::words;
    const Show usual = config.pool             ? Show{Item::tokens, Item::pooled}
                       : words                 ? Show{Item::tokens, Item::weights}
                       : config.layers.empty() ? Show{Item::tokens, Item::summary}
                                               : Show{Item::tokens, Item::token_ids, Item::weights};
    Show asked = settings.show.empty() ? usual : settings.show;
    if (settings.top) {
        asked.insert(Item::summary);
    }
    if (config.pool) {
        asked.insert(Item::pooled);
    } else if (asked.contains(Item::pooled)) {
        throw Error(ErrorKind::usage, fmt::format("{} {} requires {}", option::show, name_of(Item::pooled), option::pool));
    }
    Show existing = everything(config, trained);
    existing.insert({Item::query_positions, Item::heads});
    if (!words) {
        existing.insert({Item::summary, Item::lens, Item::logits});
    }
    for (const Item item : asked.without(existing)) {
        std::string names;
        for (const Item each : existing) {
            names += is_choice(each) ? "" : (names.empty() ? "" : ", ") + std::string(name_of(each));
        }
        throw Error(ErrorKind::usage, option::show, name_of(item),
                    (words ? "with --set join=words: " : "what this model gives: ") + names);
    }
    const auto scores = std::ranges::find_if(asked, scores_words);
    if (scores != Show::end() && !trained.model.architecture().head) {
        throw Error(ErrorKind::data, fmt::format("{} {}", option::show, name_of(*scores)),
                    "a model without a head that scores words", "a model for causal or masked language modelling");
    }
    if (is_mean(config.head) && asked.contains(Item::summary)) {
        throw Error(settings.origin.fault({&trained_field::head}), settings.origin.name_of(trained_field::head),
                    field::head.allowed.instead, "heads; mean requires --layer, and a summary has a line per head");
    }
    return asked;
}

/// Of each layer the heads that are shown.
std::map<Index, std::vector<Index>> heads_of_layers(const TrainedConfig& config, const transformer::Architecture& architecture,
                                                    const std::vector<Index>& layers, const Origin& origin)
{
    const std::map<Index, std::vector<Index>> named = heads_by_layer(config);
    for (const auto& [layer, heads] : named) {
        if (!std::ranges::binary_search(layers, layer)) {
            throw Error(ErrorKind::data, trained_field::layer_heads.key, std::to_string(layer),
                        "one of the layers that are shown, " + to_string(layers));
        }
    }
    std::map<Index, std::vector<Index>> all;
    for (const Index layer : layers) {
        const auto own = named.find(layer);
        const Index H = architecture.layers[static_cast<std::size_t>(layer)].attention.H;
        all.emplace(layer, heads_of(own == named.end() ? config.head : own->second, H, origin));
    }
    return all;
}

transformer::Asked asked_of(const Show& show, const std::vector<Index>& layers,
                            const std::map<Index, std::vector<Index>>& heads)
{
    transformer::Asked asked;
    for (const auto& [layer, own] : heads) {
        asked.other_heads.emplace(layer, is_mean(own) ? std::vector<Index>() : own);
    }
    if (std::ranges::any_of(show, [](Item item) { return standing_of(item) == Standing::in_layer; })) {
        asked.layers = layers;
    }
    asked.stages = stages_of(what_to_compute(show));
    asked.queries_keys_values = show.contains(Item::queries) || show.contains(Item::keys) || show.contains(Item::values);
    asked.hidden_states = show.contains(Item::hidden_states) || show.contains(Item::embeddings) || show.contains(Item::pooled);
    asked.lens = show.contains(Item::lens);
    asked.logits = show.contains(Item::logits) ? transformer::Logits::all : transformer::Logits::none;
    return asked;
}

// ---- words -----------------------------------------------------------------------------------------------------------

/// The pieces or words of the sentence.
Tokens tokens_of(const TrainedConfig& config, const Trained& trained)
{
    const transformer::Architecture& architecture = trained.model.architecture();
    Tokens tokens = !config.ids.empty() ? ids_of(config, trained)
                    : trained.tokenizer ? pieces_of(config, *trained.tokenizer)
                                        : words_of(config, architecture.embedding.V, trained.drawn);
    const bool blank = config.ids.empty() && config.sentence.find_first_not_of(" \t\r\n") == std::string::npos;
    if (tokens.ids.empty() || blank) {
        throw Error(ErrorKind::data, "no words in the sentence; allowed: at least one");
    }
    transformer::require_tokens(architecture, {tokens.ids, tokens.piece_types}, ErrorKind::data);
    return tokens;
}

/// The rows that --query names.
std::vector<Index> rows_of(const TrainedConfig& config, const std::vector<std::string>& tokens, const Origin& origin)
{
    Recipe recipe;
    recipe.query = config.query;
    Words words;
    words.tokens = tokens;
    return query_positions(recipe, words, origin);
}

// ---- memory ----------------------------------------------------------------------------------------------------------

/// Throws Error(too_large) for what does not fit.
void require_room(const ResolvedTrained& run)
{
    constexpr Index at_once = 8; // hidden states, projections, the hidden layer of the MLP
    const transformer::Architecture& architecture = run.trained.model.architecture();
    const transformer::Asked& asked = run.asked;
    const Index T = std::ssize(run.tokens.ids);
    const Index rows = run.query_positions.empty() ? T : std::ssize(run.query_positions);
    const auto kept_of = [&](Index layer) {
        const transformer::AttentionPart& attention = architecture.layers[static_cast<std::size_t>(layer)].attention;
        const std::vector<Index>& own = run.heads.at(layer);
        const Index heads = own.empty() ? attention.H : std::ssize(own);
        Index count = asked.lens ? T * architecture.embedding.V : 0;
        for (const Item item : run.show) {
            const bool numbers = info_of(item).kind == ItemKind::numbers;
            count += info_of(item).axes == per_pair ? heads * rows * T : numbers ? heads * attention.d * T : 0;
        }
        return count;
    };
    Index kept = asked.hidden_states ? (std::ssize(architecture.layers) + 1) * T * architecture.D : 0;
    kept += asked.logits == transformer::Logits::none ? 0 : T * architecture.embedding.V;
    Index largest = 0;
    for (const Index layer : asked.layers) {
        const transformer::AttentionPart& attention = architecture.layers[static_cast<std::size_t>(layer)].attention;
        const std::vector<Index>& own = asked.other_heads.at(layer);
        kept += kept_of(layer);
        largest = std::max(largest, (own.empty() ? attention.H : std::ssize(own)) * T * T);
    }
    const Index total = static_cast<Index>(sizeof(float)) * (kept + largest + at_once * T * architecture.D);
    require_memory({.total = total, .draws = 0, .arrays = total, .largest_draw = {}, .from_files = false},
                   run.settings.memory_limit);
}

} // namespace

std::vector<Index> layers_of(const TrainedConfig& config, Index count, const Origin& origin)
{
    if (config.layers.empty() || config.layers == std::vector<Index>{-1}) {
        return indices(count);
    }
    std::vector<Index> layers = config.layers;
    std::ranges::sort(layers);
    layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
    if (layers.back() >= count) {
        throw Error(origin.fault({&trained_field::layers}), origin.name_of(trained_field::layers),
                    std::to_string(layers.back()), fmt::format("a layer from 0 to {}", count - 1));
    }
    return layers;
}

std::map<Index, std::vector<Index>> heads_by_layer(const TrainedConfig& config)
{
    std::map<Index, std::vector<Index>> heads;
    for (const std::string& text : config.layer_heads) {
        const std::optional<LayerHead> named = layer_head_called(text);
        if (!named) {
            throw Error(ErrorKind::data, trained_field::layer_heads.key, in_quotes(text), "LAYER.HEAD, such as 16.0");
        }
        heads[named->layer].push_back(named->head);
    }
    return heads;
}

Show everything(const TrainedConfig& config, const Trained& trained)
{
    const transformer::Architecture& architecture = trained.model.architecture();
    const auto any_layer = [&](auto has) { return std::ranges::any_of(architecture.layers, has); };
    return existing_items(
        {.command = ShownBy::run,
         .needs = {{Needs::ids, true},
                   {Needs::embeddings, true},
                   {Needs::softcap, any_layer([](const auto& layer) { return layer.attention.softcap.has_value(); })},
                   {Needs::mask, architecture.causal || architecture.relative_bias ||
                                     any_layer([](const auto& layer) { return layer.attention.window.has_value(); })},
                   {Needs::output_projection, true},
                   {Needs::model, true},
                   {Needs::pool, config.pool.has_value()},
                   {Needs::tokenizer, trained.tokenizer.has_value() && config.ids.empty()}},
         .mean = is_mean(config.head),
         .joined = config.join == Join::words});
}

ResolvedTrained::ResolvedTrained(const TrainedConfig& its_config, const Trained& its_model, const RunSettings& its_settings)
    : config(its_config), trained(its_model), settings(its_settings), show(what_to_show(config, trained, settings)),
      layers(layers_of(config, std::ssize(trained.model.architecture().layers), settings.origin)),
      tokens(tokens_of(config, trained)), heads(heads_of_layers(config, trained.model.architecture(), layers, settings.origin)),
      asked(asked_of(show, layers, heads)), query_positions(rows_of(config, tokens.words, settings.origin))
{
    require_room(*this);
    const transformer::Architecture& architecture = trained.model.architecture();
    input = {tokens.ids, architecture.embedding.types.empty() ? std::vector<Index>() : tokens.piece_types};
    transformer::require_rows(architecture, input, asked, ErrorKind::data);
}

} // namespace attn::model
