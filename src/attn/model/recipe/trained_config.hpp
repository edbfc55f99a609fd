// What a run of a whole trained model is asked for: the "config" of its result.
#pragma once

#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/transformer/config.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace attn::model {

/// What the rows and columns of a result are.
enum class Join : std::uint8_t { pieces, words };
inline constexpr std::array<std::string_view, 2> join_names{"pieces", "words"};

struct TrainedConfig {
    std::string sentence;
    std::optional<std::string> pair;       ///< the second sentence of the tokenizer's template
    std::string name;                      ///< of a built-in model, a .gguf, or a folder: with a slash
    std::vector<std::string> ignored_keys; ///< of its config.json
    std::string sha256;                    ///< of its files; empty: not stated
    std::vector<Index> layers;             ///< empty: all
    Join join = Join::pieces;
    std::vector<std::string> query; ///< only these rows, as in a recipe
    std::vector<Index> head;        ///< only these heads, as in a recipe

    bool operator==(const TrainedConfig&) const = default;
};

namespace trained_field {

using Fields = Field<TrainedConfig>;

/// A field that a recipe has too, with another member.
[[nodiscard]] constexpr Fields as_in_recipe(const FieldInfo& field, const Access<TrainedConfig>& member)
{
    return {field, member};
}

using transformer::most_layers;

inline constexpr Fields sentence{{.key = field::sentence.key, .allowed = allow::text, .required = true},
                                 at<&TrainedConfig::sentence>};
inline constexpr Fields pair{{.key = "input.pair",
                              .allowed = allow::text,
                              .meaning = "a second sentence, for the second place of the model's template",
                              .symbol = "SENTENCE",
                              .spelling = Spelling::key},
                             at<&TrainedConfig::pair>};
inline constexpr Fields name{
    {.key = "model.name",
     .allowed = allow::text,
     .meaning = "a whole model: a folder (its path has a slash) with config.json, tokenizer.json and model.safetensors, "
                "or a .gguf; or a built-in one: induction (trained), two-blocks (random weights)",
     .symbol = "NAME|PATH",
     .required = true},
    at<&TrainedConfig::name>};
inline constexpr Fields ignored_keys{{.key = "model.ignore_config",
                                      .allowed = field::texts,
                                      .meaning = "run although we do not know what these keys of its config.json mean",
                                      .symbol = "KEY,…",
                                      .spelling = Spelling::key},
                                     at<&TrainedConfig::ignored_keys>};
inline constexpr Fields sha256{{.key = "model.sha256",
                                .allowed = field::digest_text,
                                .meaning = "SHA-256 of a text with a line per file: its SHA-256, two spaces, its name",
                                .spelling = Spelling::file},
                               at<&TrainedConfig::sha256>};
inline constexpr Fields layers{{.key = "model.layers",
                                .allowed = {.type = FieldType::integers,
                                            .least = 0,
                                            .most = most_layers - 1,
                                            .fewest = 1,
                                            .in_words = "all, or layers from 0 to 4095",
                                            .instead = "all"},
                                .meaning = "the layers to show, from 0; those above the last one are not computed",
                                .usual = "a summary of all",
                                .symbol = "N|LIST|all"},
                               at<&TrainedConfig::layers>};
inline constexpr Fields join{{.key = "join",
                              .allowed = allow::one_of(join_names),
                              .meaning = "words: join the pieces of the tokenizer to words; the weight of a word on another is "
                                         "the mean over its own pieces of the sum over the other's",
                              .usual = "pieces",
                              .symbol = "NAME",
                              .left_out = 0,
                              .spelling = Spelling::key},
                             at<&TrainedConfig::join>};
inline constexpr Fields query = as_in_recipe(field::query, at<&TrainedConfig::query>);
inline constexpr Fields head = as_in_recipe(field::head, at<&TrainedConfig::head>);

/// In the order of the JSON.
inline constexpr std::array all{&sentence, &pair, &name, &ignored_keys, &sha256, &layers, &join, &query, &head};

} // namespace trained_field
} // namespace attn::model
