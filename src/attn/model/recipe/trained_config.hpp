// What a run of a whole trained model is asked for: the "config" of its result.
#pragma once

#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/transformer/architecture.hpp"
#include "attn/transformer/config.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace attn::model {

/// What the rows and columns of a result are.
enum class Join : std::uint8_t { pieces, words };
inline constexpr std::array<std::string_view, 2> join_names{"pieces", "words"};

/// What makes one vector of the hidden states of a sentence: the mean over its tokens, or one of them.
enum class Pool : std::uint8_t { mean, first, last };
inline constexpr std::array<std::string_view, 3> pool_names{"mean", "first", "last"};

using transformer::Part;
using transformer::part_names;

struct TrainedConfig {
    std::string sentence;
    std::optional<std::string> pair;       ///< the second sentence of the tokenizer's template
    std::vector<Index> ids;                ///< in place of a sentence; empty: there is one
    std::optional<std::string> target;     ///< of a model of two stacks: what the decoder is given, behind its start
    std::optional<Index> target_greedy;    ///< in its place: so many tokens at most, each the likeliest behind those before
    std::vector<Index> parts;              ///< of such a model: whose attentions are shown, as places among part_names
    std::string name;                      ///< of a built-in model, a .gguf, or a folder: with a slash
    std::vector<std::string> ignored_keys; ///< of its config.json or metadata
    std::string sha256;                    ///< of its files; empty: not stated
    std::string sha256_sample;             ///< of its files, where one is long; empty: not stated
    std::vector<Index> layers;             ///< empty: all
    Join join = Join::pieces;
    std::vector<std::string> query;       ///< only these rows, as in a recipe
    std::vector<Index> head;              ///< only these heads, as in a recipe
    std::vector<std::string> layer_heads; ///< "16.0": only these heads of that layer, one of `layers`, in place of `head`
    std::optional<Pool> pool;             ///< none: no pooled states

    bool operator==(const TrainedConfig&) const = default;

    [[nodiscard]] bool has(Part part) const { return std::ranges::find(parts, static_cast<Index>(part)) != parts.end(); }
    /// Whether a decoder runs.
    [[nodiscard]] bool decodes() const { return has(Part::decoder) || has(Part::cross); }
};

/// A layer of a whole trained model: its number in its stack, and of two stacks which attention of it.
struct LayerPlace {
    std::optional<Part> part = {};
    Index number = 0;

    auto operator<=>(const LayerPlace&) const = default; // NOLINT(modernize-use-nullptr): in code that the compiler writes
};
/// "layer 3", "cross layer 3".
[[nodiscard]] std::string name_of(const LayerPlace& place);
/// "layers.3.", "cross.layers.3.": what the names of its arrays begin with in files of tensors.
[[nodiscard]] std::string prefix_of(const LayerPlace& place);

namespace trained_field {

using Fields = Field<TrainedConfig>;

/// A field that a recipe has too, with another member.
[[nodiscard]] constexpr Fields as_in_recipe(const FieldInfo& field, const Access<TrainedConfig>& member)
{
    return {field, member};
}

using transformer::most_layers;

inline constexpr Fields sentence{{.key = field::sentence.key, .allowed = allow::text, .required = true},
                                 {.get = at<&TrainedConfig::sentence>.get,
                                  .set = at<&TrainedConfig::sentence>.set,
                                  .exists = [](const TrainedConfig& config) { return config.ids.empty(); }}};
inline constexpr Fields pair{{.key = "input.pair",
                              .allowed = allow::text,
                              .meaning = "a second sentence, for the second place of the model's template",
                              .symbol = "SENTENCE",
                              .spelling = Spelling::key},
                             at<&TrainedConfig::pair>};
/// In place of a sentence and its pair.
inline constexpr Fields ids{{.key = field::ids.key,
                             .allowed = field::ids.allowed,
                             .meaning = "token ids in place of a sentence; no tokenizer is run",
                             .required = true},
                            {.get = at<&TrainedConfig::ids>.get,
                             .set = at<&TrainedConfig::ids>.set,
                             .exists = [](const TrainedConfig& config) { return !config.ids.empty(); }}};
inline constexpr Index most_generated = 100'000;
inline constexpr Fields target{
    {.key = "target", .allowed = allow::text, .meaning = "the decoder's text, of an encoder with a decoder", .symbol = "TEXT"},
    at<&TrainedConfig::target>};
inline constexpr Fields target_greedy{{.key = "target_greedy",
                                       .allowed = allow::integer(1, most_generated),
                                       .meaning = "in its place what the decoder writes, N tokens at most",
                                       .symbol = "N"},
                                      at<&TrainedConfig::target_greedy>};
inline constexpr Fields parts{{.key = "parts",
                               .allowed = {.type = FieldType::choices,
                                           .fewest = 1,
                                           .longest = part_names.size(),
                                           .names = part_names,
                                           .in_words = "some of encoder, decoder, cross, each once"},
                               .meaning = "whose attention",
                               .usual = "cross",
                               .symbol = "LIST"},
                              at<&TrainedConfig::parts>};
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
                                      .meaning = "run although we do not know what these keys of its config.json or .gguf mean",
                                      .symbol = "KEY,…",
                                      .spelling = Spelling::key},
                                     at<&TrainedConfig::ignored_keys>};
inline constexpr Fields sha256{{.key = "model.sha256",
                                .allowed = field::digest_text,
                                .meaning = "SHA-256 of a text with a line per file: its SHA-256, two spaces, its name",
                                .spelling = Spelling::file},
                               at<&TrainedConfig::sha256>};
inline constexpr Fields sha256_sample{
    {.key = "model.sha256_sample",
     .allowed = field::digest_text,
     .meaning = "where a file has over 4 MiB: of such a text, where the line of that file is the SHA-256 of 64 pieces of 65536 "
                "bytes, piece i from byte i·(length - 65536)/63, rounded down, two spaces, its length, two spaces, its name",
     .spelling = Spelling::file},
    at<&TrainedConfig::sha256_sample>};
/// The last layer of any model, until there is one that says its number.
inline constexpr Index last_layer = field::largest_int32;
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
inline constexpr Fields layer_heads{{.key = "layer_heads",
                                     .allowed = field::texts,
                                     .meaning = "only these heads of several layers, such as 16.0: head 0 of layer 16",
                                     .spelling = Spelling::file},
                                    at<&TrainedConfig::layer_heads>};
inline constexpr Fields pool{{.key = "pool",
                              .allowed = allow::one_of(pool_names),
                              .meaning = "one vector for each sentence, of its hidden states",
                              .symbol = "NAME"},
                             at<&TrainedConfig::pool>};

/// In the order of the JSON.
inline constexpr std::array all{&sentence,      &pair,   &ids,   &target, &target_greedy, &name, &ignored_keys, &sha256,
                                &sha256_sample, &layers, &parts, &join,   &query,         &head, &layer_heads,  &pool};

} // namespace trained_field

/// A head of a layer.
struct LayerHead {
    Index layer = 0, head = 0;
};
/// "16.0". Nothing for a text of another form.
[[nodiscard]] std::optional<LayerHead> layer_head_called(std::string_view text);
[[nodiscard]] std::string name_of(const LayerHead& head);

/// Says the parts, in their order, and the number of the last layer where the config does not, of this model. Throws
/// Error(usage) where the last layers of two stacks are two numbers.
void complete(TrainedConfig& config, const transformer::Architecture& architecture);

} // namespace attn::model
