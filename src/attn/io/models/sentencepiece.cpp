#include "attn/io/models/sentencepiece.hpp"

#include "attn/io/models/protobuf.hpp"
#include "attn/io/models/scored_pieces.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace attn::io {

// ---- what the file has -----------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view pieces_list = "pieces";
constexpr float most_score = 1e28F; ///< so that no sum leaves float32

/// The parts of a ModelProto that make pieces of a text.
struct ModelProto {
    std::vector<ScoredPiece> pieces;
    std::uint64_t model_type = 1;
    bool byte_fallback = false;
    text::SentencePieceRules rules;
};

/// read(field) for each field.
template <typename Read>
void each_field(ProtoMessage message, Read read)
{
    ProtoReader reader(message);
    while (const std::optional<ProtoField> field = reader.next()) {
        read(*field);
    }
}

void read_piece(ProtoMessage message, std::vector<ScoredPiece>& pieces)
{
    const std::string place = place_in(pieces_list, pieces.size());
    ScoredPiece piece;
    each_field(message, [&](const ProtoField& field) {
        if (field.number == 1) {
            piece.text = field.text();
        } else if (field.number == 2) {
            piece.score = field.float32();
        } else if (field.number == 3) {
            const std::uint64_t type = field.varint();
            if (type < 1 || type > 6) {
                throw Error(ErrorKind::data, place + ": type", std::to_string(type), "1 to 6");
            }
            piece.type = static_cast<PieceType>(type);
        }
    });
    if (piece.text.empty() || !(std::abs(piece.score) <= most_score)) {
        throw Error(ErrorKind::data, place, piece.text.empty() ? "no text" : fmt::format("a score of {}", piece.score),
                    fmt::format("text, and a score of up to {} on both sides of 0", most_score));
    }
    add_piece(pieces, piece, pieces_list);
}

void read_trainer(ProtoMessage message, ModelProto& model)
{
    each_field(message, [&](const ProtoField& field) {
        if (field.number == 3) {
            model.model_type = field.varint();
        } else if (field.number == 24) {
            model.rules.suffix = field.flag();
        } else if (field.number == 35) {
            model.byte_fallback = field.flag();
        }
    });
}

void read_normalizer(ProtoMessage message, text::SentencePieceRules& rules)
{
    each_field(message, [&](const ProtoField& field) {
        if (field.number == 2) {
            rules.map = field.text();
        } else if (field.number == 3) {
            rules.prefix = field.flag();
        } else if (field.number == 4) {
            rules.few_spaces = field.flag();
        } else if (field.number == 5) {
            rules.escape = field.flag();
        }
    });
}

ModelProto read_model_proto(Bytes file)
{
    constexpr std::size_t most_bytes = std::numeric_limits<std::uint32_t>::max();
    if (file.size() > most_bytes) {
        throw Error(ErrorKind::data, "the model", fmt::format("{} bytes", file.size()), "less than 4 GiB");
    }
    ModelProto model;
    each_field({file}, [&](const ProtoField& field) {
        if (field.number == 1) {
            read_piece(field.message(), model.pieces);
        } else if (field.number == 2) {
            read_trainer(field.message(), model);
        } else if (field.number == 3) {
            read_normalizer(field.message(), model.rules);
        }
    });
    // What is asked for goes to one end of the text.
    model.rules.suffix = model.rules.suffix && model.rules.prefix;
    model.rules.prefix = model.rules.prefix && !model.rules.suffix;
    return model;
}

std::ptrdiff_t count_of(const ModelProto& model, PieceType type)
{
    return std::ranges::count(model.pieces, type, &ScoredPiece::type);
}

void require_whole(const ModelProto& model)
{
    const auto require = [&](PieceType type, std::ptrdiff_t allowed, std::string_view name, std::string_view why) {
        const std::ptrdiff_t count = count_of(model, type);
        if (count != allowed) {
            throw Error(ErrorKind::data, fmt::format("pieces of type {}", name), std::to_string(count),
                        fmt::format("{}{}", allowed, why));
        }
    };
    require(PieceType::unknown, 1, "unknown", "; is it a model of SentencePiece?");
    require(PieceType::byte, model.byte_fallback ? 256 : 0, "byte", ", as its byte_fallback says");
}

// ---- its steps -------------------------------------------------------------------------------------------------------------

/// With the package's own scores (0.2.3) of pieces that a user defines and of the unknown.
text::UnigramModel unigram(const ModelProto& model)
{
    constexpr double bonus = 0.1; // for each byte but one
    constexpr float unknown_penalty = 10;
    float least = most_score;
    text::UnigramModel found;
    found.byte_fallback = model.byte_fallback;
    for (std::size_t i = 0; i < model.pieces.size(); ++i) {
        const ScoredPiece& piece = model.pieces[i];
        switch (piece.type) {
        case PieceType::normal:
            found.scores.push_back(piece.score);
            least = std::min(least, static_cast<float>(piece.score));
            break;
        case PieceType::user_defined:
            found.scores.push_back(static_cast<float>(bonus * static_cast<double>(piece.text.size() - 1)));
            break;
        case PieceType::unknown: found.unknown = i; [[fallthrough]];
        default: found.scores.push_back(text::no_score);
        }
    }
    found.unknown_score = least - unknown_penalty;
    return found;
}

/// What the package does with these is not done here: it takes a pair of unused pieces apart again, and joins characters that
/// are no pieces. None of its trainers leaves such pieces.
void require_pairs_of_pieces(const ModelProto& model)
{
    std::unordered_set<std::string_view> parts;
    for (const ScoredPiece& piece : model.pieces) {
        if (piece.type == PieceType::normal || piece.type == PieceType::user_defined) {
            parts.insert(piece.text);
        }
    }
    for (std::size_t i = 0; i < model.pieces.size(); ++i) {
        const ScoredPiece& piece = model.pieces[i];
        if (piece.type == PieceType::unused) {
            throw Error(ErrorKind::data, place_in(pieces_list, i), "an unused piece", "others in a byte-pair encoding");
        }
        for (std::string_view rest = piece.text; piece.type == PieceType::normal && !rest.empty();) {
            const std::string_view character = rest.substr(0, front(rest).bytes);
            if (!parts.contains(character)) {
                throw Error(ErrorKind::data, place_in(pieces_list, i),
                            fmt::format("{}, whose {} is no piece", in_quotes(piece.text), in_quotes(character)),
                            "pieces made of others in a byte-pair encoding");
            }
            rest.remove_prefix(character.size());
        }
    }
}

/// Pairs, and characters alone, which are pairs that are never joined.
void set_pairs(text::TokenizerSpec& spec, const ModelProto& model, bool joined)
{
    if (joined) {
        require_pairs_of_pieces(model);
    }
    text::BytePairModel pairs = scored_pairs(joined ? model.pieces : std::vector<ScoredPiece>());
    pairs.show_unknown = true;
    pairs.byte_fallback = model.byte_fallback;
    for (std::size_t i = 0; i < model.pieces.size(); ++i) {
        const ScoredPiece& piece = model.pieces[i];
        if (piece.type == PieceType::unknown) {
            pairs.unknown = std::string(piece.text);
        }
        if (piece.type == PieceType::user_defined) {
            spec.added.push_back({.id = static_cast<std::int32_t>(i),
                                  .content = std::string(piece.text),
                                  .normalized = true,
                                  .as_written = true});
        } else if (piece.type != PieceType::normal) {
            pairs.never_in_text.push_back(static_cast<std::uint32_t>(i));
        }
    }
    spec.model = std::move(pairs);
}

std::int32_t id_of(const text::PieceList& pieces, std::string_view piece)
{
    for (std::size_t i = 0; i < pieces.entries.size(); ++i) {
        if (pieces.text(i) == piece) {
            return pieces.entries[i].id;
        }
    }
    throw Error(ErrorKind::data, "the vocabulary", "no " + in_quotes(piece), "one that has this piece");
}

} // namespace

text::TokenizerSpec sentencepiece_tokenizer(Bytes file)
{
    ModelProto model = read_model_proto(file);
    require_whole(model);
    text::TokenizerSpec spec;
    for (std::size_t i = 0; i < model.pieces.size(); ++i) {
        spec.vocabulary.add(model.pieces[i].text, static_cast<std::int32_t>(i));
        if (model.pieces[i].type == PieceType::user_defined) {
            model.rules.kept.emplace_back(model.pieces[i].text);
        }
    }
    switch (model.model_type) {
    case 1: spec.model = unigram(model); break;
    case 2: set_pairs(spec, model, true); break;
    case 4: set_pairs(spec, model, false); break;
    default:
        throw Error(ErrorKind::data, "trainer_spec.model_type",
                    model.model_type == 3 ? "3, words" : std::to_string(model.model_type), "1, 2 or 4: unigram, bpe, char");
    }
    spec.normalizer.emplace_back(std::move(model.rules));
    return spec;
}

// ---- around a text ---------------------------------------------------------------------------------------------------------

namespace {

/// A class of transformers whose ids are SentencePiece's own.
struct TokenizerClass {
    std::string_view name;
    std::array<std::string_view, 3> model_types; ///< that have it unless they say otherwise
    std::string_view begin, end;                 ///< its pieces for the beginning and the end of a text
    bool begins, ends;                           ///< whether it puts them there
};
constexpr std::array tokenizer_classes{
    TokenizerClass{"GemmaTokenizer", {"gemma", "gemma2", "gemma3_text"}, "<bos>", "<eos>", true, false},
    TokenizerClass{"LlamaTokenizer", {"llama", "mistral", "mixtral"}, "<s>", "</s>", true, false},
    TokenizerClass{"T5Tokenizer", {"t5", "mt5", "umt5"}, "", "</s>", false, true},
};

const TokenizerClass& class_of(const std::string& name, std::string_view model_type)
{
    const std::string_view plain = std::string_view(name).substr(0, name.size() - (name.ends_with("Fast") ? 4 : 0));
    std::vector<std::string_view> allowed;
    for (const TokenizerClass& each : tokenizer_classes) {
        const bool usual = std::ranges::find(each.model_types, model_type) != each.model_types.end();
        if (plain.empty() ? usual : plain == each.name) {
            return each;
        }
        allowed.push_back(each.name);
    }
    throw Error(ErrorKind::data, "tokenizer_class",
                plain.empty() ? fmt::format("none, and model_type {}", in_quotes(model_type)) : in_quotes(name),
                joined(allowed) + "; of others save_pretrained() of the Python package transformers writes a tokenizer.json");
}

} // namespace

TextEnds text_ends(transformer::ConfigValues settings, std::string_view model_type)
{
    transformer::Config config(std::move(settings));
    const std::string name = config.text({"tokenizer_class"}, "");
    const TokenizerClass& found = class_of(name, model_type);
    TextEnds ends;
    if (config.flag({"add_bos_token"}, found.begins)) {
        ends.begin = config.text({"bos_token.content", "bos_token"}, found.begin);
    }
    if (config.flag({"add_eos_token"}, found.ends)) {
        ends.end = config.text({"eos_token.content", "eos_token"}, found.end);
    }
    return ends;
}

void put_around(text::TokenizerSpec& spec, const TextEnds& ends)
{
    const auto id = [&](const std::optional<std::string>& piece) {
        return piece ? std::optional(id_of(spec.vocabulary, *piece)) : std::nullopt;
    };
    put_around(spec, id(ends.begin), id(ends.end));
}

text::TokenizerSpec marian_tokenizer(Bytes file, text::PieceList vocabulary)
{
    text::TokenizerSpec spec = sentencepiece_tokenizer(file);
    const std::int32_t end = id_of(vocabulary, "</s>");
    spec.templates = {std::vector<text::TemplateItem>{{0, 0, 0}, {-1, end, 0}},
                      std::vector<text::TemplateItem>{{0, 0, 0}, {1, 0, 0}, {-1, end, 0}}};
    for (std::size_t i = 0; i < vocabulary.entries.size(); ++i) {
        const std::string_view piece = vocabulary.text(i);
        if (piece.starts_with(">>") && piece.ends_with("<<")) {
            spec.added.push_back({.id = vocabulary.entries[i].id, .content = std::string(piece), .special = true});
        }
    }
    spec.names = std::move(vocabulary);
    return spec;
}

} // namespace attn::io
