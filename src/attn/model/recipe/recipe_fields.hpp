// The fields of a recipe, in the order of its JSON: the one place that knows their keys, ranges and meanings.
//
// A new field is a member of a struct in recipe.hpp, or of core::AttentionOptions, and a row here, in two lists: its
// declaration and its place in the order. The draws, the published numbers and the precision claims are arrays of objects with
// readers of their own (io/json/recipe.hpp); the fields of a draw are below.
#pragma once

#include "attn/model/recipe/field.hpp"
#include "attn/model/recipe/recipe.hpp"

#include <array>

namespace attn::model::field {

inline constexpr Index largest_length = 1048576;
inline constexpr Index largest_int32 = 2147483647;
inline constexpr Index most_heads = 65536;
inline constexpr Index most_entries = 1024; ///< more sentences than this are no batch but lines
inline constexpr Allowed length = allow::integer(1, largest_length);
inline constexpr Allowed digest_text{.type = FieldType::digest};
inline constexpr Allowed texts{.type = FieldType::texts};
inline constexpr Allowed file_bytes = allow::integer(0, std::numeric_limits<Index>::max());
inline constexpr std::string_view of_file = "SHA-256 of the file";

using Recipes = Field<Recipe>;

// ---- for people ------------------------------------------------------------------------------------------------------

inline constexpr std::array<std::string_view, 1> schema_names{"attn-cli/recipe/1"};
inline constexpr Recipes schema{
    {.key = "schema", .allowed = allow::one_of(schema_names), .required = true, .spelling = Spelling::file},
    {.get = [](const Recipe&) { return FieldValue(Index{0}); },
     .set = [](Recipe&, const FieldValue&) {},
     .exists = [](const Recipe&) { return true; }}};
inline constexpr Recipes name{{.key = "name", .allowed = allow::text, .spelling = Spelling::key}, at<&Recipe::name>};
inline constexpr Recipes title{{.key = "title", .allowed = allow::text, .spelling = Spelling::key}, at<&Recipe::title>};
inline constexpr Recipes source{{.key = "source", .allowed = allow::text, .spelling = Spelling::key}, at<&Recipe::source>};
inline constexpr Recipes note{
    {.key = "note", .allowed = allow::text, .meaning = "for whoever reads the file; ignored", .spelling = Spelling::file},
    {.get = [](const Recipe&) { return FieldValue(); },
     .set = [](Recipe&, const FieldValue&) {},
     .exists = [](const Recipe&) { return false; }}};

// ---- input: a sentence, ids or positions -----------------------------------------------------------------------------

inline constexpr Recipes sentence{
    {.key = "input.sentence",
     .allowed = {.type = FieldType::text_or_texts,
                 .fewest = 1,
                 .longest = most_entries,
                 .in_words = "a sentence, or a batch of 1 to 1024"},
     .meaning = "several make a batch, with one vocabulary for all",
     .required = true},
    {.get = [](const Recipe& recipe) -> FieldValue {
         const auto* input = std::get_if<SentenceInput>(&recipe.input);
         return input == nullptr ? FieldValue() : input->batch.empty() ? FieldValue(input->sentence) : FieldValue(input->batch);
     },
     .set =
         [](Recipe& recipe, const FieldValue& value) {
             const bool several = std::holds_alternative<std::vector<std::string>>(value);
             at<&Recipe::input, &SentenceInput::sentence>.set(recipe, several ? FieldValue(std::string()) : value);
             at<&Recipe::input, &SentenceInput::batch>.set(recipe, several ? value : FieldValue(std::vector<std::string>()));
         },
     .exists = at<&Recipe::input, &SentenceInput::sentence>.exists}};
inline constexpr Recipes cross{{.key = "input.cross",
                                .allowed = allow::text,
                                .meaning = "a second sentence, from which keys and values come; one vocabulary for both",
                                .symbol = "SENTENCE"},
                               at<&Recipe::input, &SentenceInput::cross>};
inline constexpr Recipes tokenizer{{.key = "input.tokenizer",
                                    .allowed = allow::one_of(tokenizer_names),
                                    .meaning = "how to find words; document: remove commas, split at white space; words: runs "
                                               "of letters, marks and digits with inner ' and -",
                                    .usual = "document",
                                    .symbol = "RULE"},
                                   at<&Recipe::input, &SentenceInput::tokenizer>};
inline constexpr Recipes casefold{
    {.key = "input.casefold", .allowed = allow::flag, .meaning = "fold case (Unicode) before the vocabulary is made"},
    at<&Recipe::input, &SentenceInput::casefold>};
inline constexpr Recipes ids{
    {.key = "input.ids",
     .allowed =
         {.type = FieldType::integers, .least = 0, .most = largest_int32 - 1, .fewest = 1, .in_words = "at least one id"},
     .meaning = "token ids in place of a sentence, such as 2,6,8,3,1; with --model, --vocab-size, or a file with an embedding "
                "table",
     .symbol = "LIST",
     .required = true},
    at<&Recipe::input, &IdsInput::ids>};
inline constexpr Allowed entries = allow::integer(1, most_entries);
inline constexpr Recipes batch_of_ids{{.key = "input.batch",
                                       .allowed = entries,
                                       .meaning = "entries of one length, whose ids follow one another",
                                       .spelling = Spelling::key},
                                      at<&Recipe::input, &IdsInput::batch>};
inline constexpr Recipes labels_of_ids{
    {.key = "input.labels", .allowed = texts, .meaning = "one name per id, such as my,name,is", .symbol = "LIST"},
    at<&Recipe::input, &IdsInput::labels>};
inline constexpr Recipes positions_count{{.key = "input.positions",
                                          .allowed = length,
                                          .meaning = "number of bare positions, without a vocabulary",
                                          .required = true,
                                          .spelling = Spelling::key},
                                         at<&Recipe::input, &PositionsInput::count>};
inline constexpr Recipes batch_of_positions{
    {.key = "input.batch", .allowed = entries, .meaning = "entries of so many positions", .spelling = Spelling::key},
    at<&Recipe::input, &PositionsInput::batch>};
inline constexpr Recipes labels_of_positions{{.key = "input.labels", .allowed = texts, .meaning = "one name per position"},
                                             at<&Recipe::input, &PositionsInput::labels>};
inline constexpr Recipes key_positions{{.key = "input.key_positions",
                                        .allowed = length,
                                        .meaning = "number of positions of keys and values, where they are others",
                                        .spelling = Spelling::key},
                                       at<&Recipe::input, &PositionsInput::keys>};
inline constexpr Recipes key_labels{
    {.key = "input.key_labels", .allowed = texts, .meaning = "one name per key position", .spelling = Spelling::key},
    at<&Recipe::input, &PositionsInput::key_labels>};

// ---- numbers and sizes -----------------------------------------------------------------------------------------------

inline constexpr Recipes generator{{.key = "generator",
                                    .allowed = allow::one_of(generator_names),
                                    .meaning = "whose random stream to reproduce",
                                    .usual = "torch",
                                    .symbol = "NAME"},
                                   at<&Recipe::generator>};
inline constexpr Recipes dtype{{.key = "dtype",
                                .allowed = allow::one_of(dtype_names),
                                .meaning = "type of the results",
                                .usual = "float32",
                                .symbol = "TYPE"},
                               at<&Recipe::dtype>};
inline constexpr Recipes rounding{{.key = "rounding",
                                   .allowed = allow::one_of(core::rounding_names),
                                   .meaning = "when to round to the type; stage: once per stage, with sums in float64; step: "
                                              "after every operation, as PyTorch does for small matrices",
                                   .usual = "stage",
                                   .symbol = "NAME",
                                   .left_out = 0,
                                   .spelling = Spelling::key},
                                  at<&Recipe::rounding>};
inline constexpr Recipes embed_dim{
    {.key = "dims.embed_dim", .allowed = length, .meaning = "components per embedding", .usual = "16", .symbol = "D"},
    at<&Recipe::dims, &Dims::embed_dim>};
inline constexpr Recipes heads{
    {.key = "dims.heads", .allowed = allow::integer(1, most_heads), .meaning = "query heads", .usual = "1", .symbol = "H"},
    at<&Recipe::dims, &Dims::heads>};
inline constexpr Recipes kv_heads{{.key = "dims.kv_heads",
                                   .allowed = allow::integer(1, most_heads),
                                   .meaning = "key/value heads, a divisor of the heads",
                                   .usual = "as many",
                                   .symbol = "H_KV"},
                                  at<&Recipe::dims, &Dims::kv_heads>};
inline constexpr Recipes d_k{{.key = "dims.d_k",
                              .allowed = length,
                              .meaning = "components per query or key of one head",
                              .usual = "24, D with identity projections, D/H with more heads",
                              .symbol = "N"},
                             at<&Recipe::dims, &Dims::d_k>};
inline constexpr Recipes d_v{{.key = "dims.d_v",
                              .allowed = length,
                              .meaning = "components per value of one head",
                              .usual = "28, D with identity projections, D/H with more heads",
                              .symbol = "N"},
                             at<&Recipe::dims, &Dims::d_v>};
inline constexpr Recipes vocab_size{{.key = "dims.vocab_size",
                                     .allowed = allow::integer(1, largest_int32),
                                     .meaning = "rows of the embedding table",
                                     .usual = "the distinct words",
                                     .symbol = "N"},
                                    at<&Recipe::dims, &Dims::vocab_size>};
inline constexpr Recipes key_dim{{.key = "dims.key_dim",
                                  .allowed = length,
                                  .meaning = "components that W_k reads of a word",
                                  .usual = "D",
                                  .spelling = Spelling::key},
                                 at<&Recipe::dims, &Dims::key_dim>};
inline constexpr Recipes value_dim{{.key = "dims.value_dim",
                                    .allowed = length,
                                    .meaning = "components that W_v reads of a word",
                                    .usual = "key_dim",
                                    .spelling = Spelling::key},
                                   at<&Recipe::dims, &Dims::value_dim>};
inline constexpr Recipes output_dim{{.key = "dims.output_dim",
                                     .allowed = length,
                                     .meaning = "components per word of the output, which W_o makes",
                                     .usual = "D",
                                     .symbol = "N",
                                     .spelling = Spelling::key},
                                    at<&Recipe::dims, &Dims::output_dim>};

inline constexpr Recipes d_a{{.key = "dims.d_a",
                              .allowed = length,
                              .meaning = "hidden numbers of additive scores, for each head",
                              .usual = "d_k",
                              .symbol = "N",
                              .spelling = Spelling::key},
                             at<&Recipe::dims, &Dims::d_a>};

// ---- one layer's projections from a file -----------------------------------------------------------------------------

inline constexpr Recipes parameters_file{{.key = "parameters.file",
                                          .allowed = allow::text,
                                          .meaning = "the projections of a layer from .npz, .safetensors or a result as JSON "
                                                     "or text, by plain names (W_q, b_q, …) or those "
                                                     "of nn.MultiheadAttention, BERT, GPT-2 and Llama",
                                          .symbol = "FILE",
                                          .required = true},
                                         at<&Recipe::parameters, &FileParameters::file>};
inline constexpr Recipes prefix{{.key = "parameters.prefix",
                                 .allowed = allow::text,
                                 .meaning = "which layer of the file, such as h.0.attn",
                                 .symbol = "LAYER"},
                                at<&Recipe::parameters, &FileParameters::prefix>};
inline constexpr Recipes layout{{.key = "parameters.layout",
                                 .allowed = allow::one_of(layout_names),
                                 .meaning = "row and column order of matrices with plain names whose shape does not tell it; "
                                            "run is the order in which run saves them: W_q, W_k, W_v out-in, W_o in-out",
                                 .symbol = "NAME",
                                 .spelling = Spelling::key},
                                at<&Recipe::parameters, &FileParameters::layout>};
inline constexpr Recipes output_projection{{.key = "parameters.output_projection",
                                            .allowed = allow::flag,
                                            .meaning = "apply W_o to the context",
                                            .usual = "with more than one head, or where the file holds it"},
                                           at<&Recipe::parameters, &FileParameters::output_projection>};
inline constexpr Recipes allow_nonfinite{{.key = "parameters.allow_nonfinite",
                                          .allowed = allow::flag,
                                          .meaning = "accept infinities and NaN in the file",
                                          .left_out = 0,
                                          .spelling = Spelling::key},
                                         at<&Recipe::parameters, &FileParameters::allow_nonfinite>};
inline constexpr Recipes parameters_sha256{
    {.key = "parameters.sha256", .allowed = digest_text, .meaning = of_file, .spelling = Spelling::file},
    at<&Recipe::parameters, &FileParameters::sha256>};

// ---- the embedding table from a file ---------------------------------------------------------------------------------

inline constexpr Recipes embeddings_file{
    {.key = "embeddings.file",
     .allowed = allow::text,
     .meaning = "word vectors as text (GloVe, word2vec, fastText .vec), or a table as .npy, .npz or .safetensors",
     .symbol = "FILE[:NAME]",
     .required = true},
    at<&Recipe::embeddings, &FileEmbeddings::file>};
inline constexpr Recipes embeddings_name{
    {.key = "embeddings.name", .allowed = allow::text, .meaning = "of the tensor, where the file holds several"},
    at<&Recipe::embeddings, &FileEmbeddings::name>};
inline constexpr Recipes words_file{{.key = "embeddings.words.file",
                                     .allowed = allow::text,
                                     .meaning = "the words of the tensor's rows, one per line",
                                     .usual = "rows are ids",
                                     .symbol = "FILE",
                                     .required = true,
                                     .spelling = Spelling::key},
                                    at<&Recipe::embeddings, &FileEmbeddings::words, &WordListFile::file>};
inline constexpr Recipes words_bytes{
    {.key = "embeddings.words.bytes", .allowed = file_bytes, .meaning = "length of the file", .spelling = Spelling::file},
    at<&Recipe::embeddings, &FileEmbeddings::words, &WordListFile::digest, &FileDigest::bytes>};
inline constexpr Recipes words_sha256{
    {.key = "embeddings.words.sha256", .allowed = digest_text, .meaning = of_file, .spelling = Spelling::file},
    at<&Recipe::embeddings, &FileEmbeddings::words, &WordListFile::digest, &FileDigest::sha256>};
inline constexpr Recipes words_sample{
    {.key = "embeddings.words.sha256_sample",
     .allowed = digest_text,
     .meaning = "as that of the embeddings",
     .spelling = Spelling::file},
    at<&Recipe::embeddings, &FileEmbeddings::words, &WordListFile::digest, &FileDigest::sha256_sample>};
inline constexpr Recipes unknown{{.key = "embeddings.unknown",
                                  .allowed = allow::text,
                                  .meaning = "words missing from the file get the vector of TOKEN",
                                  .symbol = "TOKEN"},
                                 at<&Recipe::embeddings, &FileEmbeddings::unknown>};
inline constexpr Recipes embeddings_allow_nonfinite{{.key = "embeddings.allow_nonfinite",
                                                     .allowed = allow::flag,
                                                     .meaning = "accept infinities and NaN in the file",
                                                     .left_out = 0,
                                                     .spelling = Spelling::key},
                                                    at<&Recipe::embeddings, &FileEmbeddings::allow_nonfinite>};
inline constexpr Recipes embeddings_bytes{
    {.key = "embeddings.bytes", .allowed = file_bytes, .meaning = "length of the file", .spelling = Spelling::file},
    at<&Recipe::embeddings, &FileEmbeddings::digest, &FileDigest::bytes>};
inline constexpr Recipes embeddings_sha256{
    {.key = "embeddings.sha256", .allowed = digest_text, .meaning = of_file, .spelling = Spelling::file},
    at<&Recipe::embeddings, &FileEmbeddings::digest, &FileDigest::sha256>};
inline constexpr Recipes embeddings_sample{
    {.key = "embeddings.sha256_sample",
     .allowed = digest_text,
     .meaning =
         "of a file over 4 MiB: SHA-256 of 64 pieces of 65536 bytes, piece i from byte i·(bytes - 65536)/63, rounded down",
     .spelling = Spelling::file},
    at<&Recipe::embeddings, &FileEmbeddings::digest, &FileDigest::sha256_sample>};

/// These three are arrays of objects, which io/json/recipe.hpp and report/json/recipe_json.hpp know.
inline constexpr Recipes draws{
    {.key = "draws", .allowed = {.type = FieldType::objects}, .required = true, .spelling = Spelling::file}, {}};
inline constexpr Recipes published{{.key = "published", .allowed = {.type = FieldType::objects}, .spelling = Spelling::file},
                                   {}};
inline constexpr Recipes precision{{.key = "precision", .allowed = {.type = FieldType::objects}, .spelling = Spelling::file},
                                   {}};

// ---- attention -------------------------------------------------------------------------------------------------------

inline constexpr Recipes causal{
    {.key = "attention.causal", .allowed = allow::flag, .meaning = "a query sees no later key", .left_out = 0},
    at<&Recipe::attention, &Attention::causal>};
inline constexpr Recipes window{{.key = "attention.window",
                                 .allowed = {.type = FieldType::integers,
                                             .least = -1,
                                             .most = largest_int32,
                                             .fewest = 2,
                                             .longest = 2,
                                             .in_words = "[left, right]"},
                                 .meaning = "a query sees L keys back and R ahead; -1 is no limit; one number means both",
                                 .symbol = "L[,R]"},
                                at<&Recipe::attention, &Attention::window>};
inline constexpr std::array<Alias, 7> score_aliases{{{"scaled_dot_product", "scaled_dot"},
                                                     {"dot_product", "dot"},
                                                     {"luong", "general"},
                                                     {"bilinear", "general"},
                                                     {"multiplicative", "general"},
                                                     {"bahdanau", "additive"},
                                                     {"concat", "additive"}}};
inline constexpr Recipes score{
    {.key = "attention.score",
     .allowed = allow::one_of(core::score_names, score_aliases),
     .meaning = "how query q and key k are scored; only scaled_dot is scaled by default; cosine: q·k/(|q|·|k|); general "
                "(Luong): q·(W_a k); additive (Bahdanau): v_a·tanh(W_a q + U_a k)",
     .usual = "scaled_dot",
     .symbol = "NAME",
     .left_out = 0},
    at<&Recipe::attention, &Attention::score>};
inline constexpr Recipes mask_at{{.key = "attention.mask_at",
                                  .allowed = allow::one_of(core::mask_at_names),
                                  .meaning = "what is masked: scaled, the scores after the scale; scores, those before it",
                                  .usual = "scaled",
                                  .symbol = "STAGE",
                                  .left_out = 0,
                                  .spelling = Spelling::key},
                                 at<&Recipe::attention, &Attention::mask_at>};
inline constexpr Recipes scale{
    {.key = "attention.scale",
     .allowed = {.type = FieldType::real, .none = 1, .in_words = "none, or a finite number such as 0.25 or 1e-3"},
     .meaning = "factor of the scores",
     .usual = "1/√d_k with scaled_dot, else none",
     .symbol = "X|none"},
    at<&Recipe::attention, &Attention::scale>};
inline constexpr Recipes softcap{{.key = "attention.softcap",
                                  .allowed = allow::real_or_0("a finite number above 0 such as 30, or 0 for none"),
                                  .meaning = "X·tanh(s/X) of each scaled score s, before masks; 0: none",
                                  .symbol = "X"},
                                 at<&Recipe::attention, &Attention::softcap>};
inline constexpr Recipes dropout{
    {.key = "attention.dropout.p",
     .allowed = allow::real_between(0, 1, "a finite number from 0 to below 1, such as 0.5"),
     .meaning = "set each weight to 0 with probability P, as nn.Dropout does in training, and divide the others by 1 - P",
     .symbol = "P",
     .required = true},
    at<&Recipe::attention, &Attention::dropout, &core::Dropout::p>};
inline constexpr Recipes dropout_seed{{.key = "attention.dropout.seed",
                                       .allowed = {.type = FieldType::natural},
                                       .meaning = "seed of the dropout alone",
                                       .usual = "the stream of the draws goes on",
                                       .symbol = "N",
                                       .spelling = Spelling::key},
                                      at<&Recipe::attention, &Attention::dropout, &core::Dropout::seed>};
inline constexpr Recipes dropout_mkl{{.key = "attention.dropout.mkl",
                                      .allowed = allow::flag,
                                      .meaning = "drop what PyTorch's packages for x86-64 drop, which use Intel MKL; those for "
                                                 "Arm and Apple silicon, and Debian's, do not",
                                      .left_out = 0,
                                      .spelling = Spelling::key},
                                     at<&Recipe::attention, &Attention::dropout, &core::Dropout::mkl>};
inline constexpr Recipes score_order{{.key = "attention.scores",
                                      .allowed = allow::one_of(score_order_names),
                                      .meaning = "Q·Kᵀ, or K·Qᵀ with a row per key word",
                                      .usual = "QK",
                                      .left_out = 0,
                                      .spelling = Spelling::key},
                                     at<&Recipe::attention, &Attention::order>};
inline constexpr Recipes mask_file{
    {.key = "attention.mask.file",
     .allowed = allow::text,
     .meaning = "a tensor that broadcasts to (H, T, S) from the right: bool, true = seen, or numbers that are added",
     .symbol = "FILE[:NAME]",
     .required = true},
    at<&Recipe::attention, &Attention::mask, &FileTensor::file>};
inline constexpr Recipes mask_name{
    {.key = "attention.mask.name", .allowed = allow::text, .meaning = "of the tensor, where the file holds several"},
    at<&Recipe::attention, &Attention::mask, &FileTensor::name>};
inline constexpr Recipes mask_sha256{
    {.key = "attention.mask.sha256", .allowed = digest_text, .meaning = of_file, .spelling = Spelling::file},
    at<&Recipe::attention, &Attention::mask, &FileTensor::sha256>};
inline constexpr Recipes mask_values{
    {.key = "attention.mask.values",
     .allowed = {.type = FieldType::mask,
                 .fewest = 1,
                 .in_words = "true and false alone, or numbers, and null where a key is hidden"},
     .meaning = "the mask itself in place of a file: true = seen, or numbers that are added, null = -inf",
     .required = true,
     .spelling = Spelling::key},
    {.get = at<&Recipe::attention, &Attention::mask_values>.get,
     .set = at<&Recipe::attention, &Attention::mask_values>.set,
     .exists = [](const Recipe& recipe) { return recipe.attention.mask_values.has_value(); }}};
inline constexpr Recipes hide{{.key = "attention.hide",
                               .allowed = {.type = FieldType::rows, .least = 0, .most = largest_int32},
                               .meaning = "no query sees these key words: words (every position of a repeated word) or "
                                          "positions from 0",
                               .symbol = "LIST"},
                              at<&Recipe::attention, &Attention::hide>};
inline constexpr Recipes positions{
    {.key = "attention.positions.kind",
     .allowed = allow::one_of(position_names),
     .meaning =
         "sinusoidal is added to the embeddings; rope rotates queries and keys; alibi subtracts slope·distance from the scores",
     .usual = "none",
     .symbol = "NAME[:KEY=VALUE,…]",
     .required = true},
    at<&Recipe::attention, &Attention::positions, &Positions::kind>};
inline constexpr OnlyWith with_rope{&positions, static_cast<Index>(PositionKind::rope), static_cast<Index>(PositionKind::rope)};
inline constexpr Recipes rope_base{{.key = "attention.positions.base",
                                    .allowed = allow::real_from(1, "a finite number from 1, such as 500000"),
                                    .meaning = "of the angles",
                                    .usual = "10000",
                                    .left_out = 10000,
                                    .only = with_rope},
                                   at<&Recipe::attention, &Attention::positions, &Positions::rope, &core::Rope::base>};
inline constexpr Recipes rope_dim{
    {.key = "attention.positions.dim",
     .allowed = {.type = FieldType::integer, .least = 2, .most = largest_length, .multiple_of = 2},
     .meaning = "number of leading components to rotate, even",
     .usual = "d_k",
     .only = with_rope},
    at<&Recipe::attention, &Attention::positions, &Positions::rope, &core::Rope::dim>};
inline constexpr Recipes rope_style{{.key = "attention.positions.style",
                                     .allowed = allow::one_of(core::rope_style_names),
                                     .meaning = "which components form a pair: half is Llama's",
                                     .usual = "half",
                                     .left_out = 0,
                                     .only = with_rope},
                                    at<&Recipe::attention, &Attention::positions, &Positions::rope, &core::Rope::style>};

// ---- what is shown ---------------------------------------------------------------------------------------------------

inline constexpr Recipes query{
    {.key = "query",
     .allowed = {.type = FieldType::rows, .least = 0, .most = largest_int32},
     .meaning = "only these rows: words (every position of a repeated word) or positions from 0; digits are always positions",
     .symbol = "LIST"},
    at<&Recipe::query>};
inline constexpr Recipes head{
    {.key = "head",
     .allowed = {.type = FieldType::integers,
                 .least = 0,
                 .most = most_heads - 1,
                 .fewest = 1,
                 .in_words = "mean, or heads from 0 to 65535",
                 .instead = "mean"},
     .meaning = "only these heads, from 0, with the keys and values they read; mean: the mean of all heads' weights",
     .usual = "all",
     .symbol = "N|LIST|mean"},
    at<&Recipe::head>};
inline constexpr Recipes entry{{.key = "entry",
                                .allowed = allow::integer(0, most_entries - 1),
                                .meaning = "only this entry of a batch, from 0",
                                .usual = "all",
                                .symbol = "N",
                                .spelling = Spelling::key},
                               at<&Recipe::entry>};
inline constexpr Recipes verify{{.key = "verify",
                                 .allowed = allow::flag,
                                 .meaning = "compute in float64 too and report the largest differences",
                                 .left_out = 0},
                                at<&Recipe::verify>};

/// All of them, in the order of the JSON.
inline constexpr std::array all{
    &schema,
    &name,
    &title,
    &source,
    &note,
    &sentence,
    &cross,
    &tokenizer,
    &casefold,
    &ids,
    &batch_of_ids,
    &labels_of_ids,
    &positions_count,
    &batch_of_positions,
    &labels_of_positions,
    &key_positions,
    &key_labels,
    &generator,
    &dtype,
    &rounding,
    &embed_dim,
    &heads,
    &kv_heads,
    &d_k,
    &d_v,
    &vocab_size,
    &key_dim,
    &value_dim,
    &output_dim,
    &d_a,
    &parameters_file,
    &prefix,
    &layout,
    &output_projection,
    &allow_nonfinite,
    &parameters_sha256,
    &embeddings_file,
    &embeddings_name,
    &words_file,
    &words_bytes,
    &words_sha256,
    &words_sample,
    &unknown,
    &embeddings_allow_nonfinite,
    &embeddings_bytes,
    &embeddings_sha256,
    &embeddings_sample,
    &draws,
    &causal,
    &window,
    &mask_at,
    &score,
    &scale,
    &softcap,
    &dropout,
    &dropout_seed,
    &dropout_mkl,
    &score_order,
    &mask_file,
    &mask_name,
    &mask_sha256,
    &mask_values,
    &hide,
    &positions,
    &rope_base,
    &rope_dim,
    &rope_style,
    &query,
    &head,
    &entry,
    &verify,
    &published,
    &precision,
};

} // namespace attn::model::field

namespace attn::model::draw_field {

using Draws = Field<Draw>;

using Seeds = Field<Seed>;

inline constexpr Seeds seed{{.key = "seed",
                             .allowed = {.type = FieldType::natural},
                             .meaning = "seed of all random draws; torch uses the low 32 bits, numpy allows up to 2^32-1",
                             .usual = "123",
                             .symbol = "N",
                             .required = true},
                            at<&Seed::value>};
inline constexpr std::array<Alias, 16> target_aliases{{{"Q", "queries"},
                                                       {"q", "queries"},
                                                       {"query", "queries"},
                                                       {"K", "keys"},
                                                       {"k", "keys"},
                                                       {"key", "keys"},
                                                       {"V", "values"},
                                                       {"v", "values"},
                                                       {"value", "values"},
                                                       {"X", "embeddings"},
                                                       {"x", "embeddings"},
                                                       {"memory", "key_embeddings"},
                                                       {"wte", "embedding"},
                                                       {"wpe", "position_embedding"},
                                                       {"c_attn", "W_q"},
                                                       {"c_proj", "W_o"}}};
inline constexpr Draws tensor{
    {.key = "tensor",
     .allowed = {.type = FieldType::choice, .least = 1, .names = target_names, .aliases = target_aliases},
     .meaning = "what the draw becomes",
     .required = true},
    at<&Draw::target>};
/// In place of the tensor: the draw moves the stream and is thrown away.
inline constexpr Draws discard{{.key = target_names[0], .allowed = allow::flag}, {}};
inline constexpr std::array<Alias, 9> init_aliases{{{"rand", "uniform"},
                                                    {"random_sample", "uniform"},
                                                    {"randn", "normal"},
                                                    {"standard_normal", "normal"},
                                                    {"gaussian", "normal"},
                                                    {"randint", "integers"},
                                                    {"eye", "identity"},
                                                    {"xavier_uniform", "xavier"},
                                                    {"glorot", "xavier"}}};
inline constexpr Draws init{{.key = "init",
                             .allowed = allow::one_of(init_names, init_aliases),
                             .meaning = "how projections are drawn",
                             .usual = "uniform",
                             .symbol = "NAME",
                             .required = true},
                            at<&Draw::init>};
inline constexpr OnlyWith with_limits{&init, static_cast<Index>(Initialisation::integers),
                                      static_cast<Index>(Initialisation::uniform)};
inline constexpr OnlyWith normal{&init, static_cast<Index>(Initialisation::normal), static_cast<Index>(Initialisation::normal)};
inline constexpr OnlyWith xavier{&init, static_cast<Index>(Initialisation::xavier),
                                 static_cast<Index>(Initialisation::xavier_normal)};
inline constexpr OnlyWith kaiming{&init, static_cast<Index>(Initialisation::kaiming_uniform),
                                  static_cast<Index>(Initialisation::kaiming_normal)};
inline constexpr OnlyWith whole_layer{&init, static_cast<Index>(Initialisation::multihead_attention),
                                      static_cast<Index>(Initialisation::multihead_attention)};
inline constexpr OnlyWith tables{&tensor, static_cast<Index>(Target::embedding), static_cast<Index>(Target::value_embedding)};
inline constexpr OnlyWith projections{&tensor, static_cast<Index>(Target::W_q), static_cast<Index>(Target::U_a)};
inline constexpr OnlyWith of_heads{&tensor, static_cast<Index>(Target::W_q), static_cast<Index>(Target::b_v),
                                   static_cast<Index>(Target::W_o)};
inline constexpr std::string_view finite = "a finite number";
inline constexpr Draws low{{.key = "low", .allowed = allow::real(finite), .usual = "0", .left_out = 0, .only = with_limits},
                           at<&Draw::first>};
/// Integers must have it, and end before it. Up to the largest, every whole number is a double.
inline constexpr Index largest_integer = Index{1} << 53U;
inline constexpr Draws high{{.key = "high", .allowed = allow::real(finite), .usual = "1", .left_out = 1, .only = with_limits},
                            at<&Draw::second>};
inline constexpr Draws mean{{.key = "mean", .allowed = allow::real(finite), .usual = "0", .left_out = 0, .only = normal},
                            at<&Draw::first>};
inline constexpr Allowed real_from_0 = allow::real_from(0, "a finite number, 0 or more");
inline constexpr Draws deviation{{.key = "std", .allowed = real_from_0, .usual = "1", .left_out = 1, .only = normal},
                                 at<&Draw::second>};
inline constexpr Draws gain{
    {.key = "gain", .allowed = real_from_0, .meaning = "scaling factor", .usual = "1", .left_out = 1, .only = xavier},
    at<&Draw::second>};
inline constexpr Draws slope{{.key = "a",
                              .allowed = allow::real(finite),
                              .meaning = "negative slope of the rectifier behind the layer",
                              .usual = "0",
                              .left_out = 0,
                              .only = kaiming},
                             at<&Draw::first>};
inline constexpr Draws mode{{.key = "mode",
                             .allowed = allow::one_of(fan_mode_names),
                             .meaning = "what the layer reads, or what it makes",
                             .usual = "fan_in",
                             .left_out = 0,
                             .only = kaiming},
                            at<&Draw::mode>};
inline constexpr Draws padding_idx{{.key = "padding_idx",
                                    .allowed = allow::integer(0, field::largest_int32 - 1),
                                    .meaning = "the row that is zero after the draw",
                                    .only = tables},
                                   at<&Draw::padding_idx>};
inline constexpr Draws bias{{.key = "bias",
                             .allowed = allow::flag,
                             .meaning = "b_q, b_k, b_v and b_o, which are zero",
                             .usual = "true",
                             .left_out = 1,
                             .only = whole_layer},
                            at<&Draw::bias>};
inline constexpr Draws add_bias_kv{{.key = "add_bias_kv",
                                    .allowed = allow::flag,
                                    .meaning = "bias_k and bias_v",
                                    .usual = "false",
                                    .left_out = 0,
                                    .only = whole_layer},
                                   at<&Draw::add_bias_kv>};
inline constexpr Draws head{{.key = "head",
                             .allowed = allow::integer(0, field::most_heads - 1),
                             .meaning = "the only one that the draw makes; each needs one draw then",
                             .usual = "all heads",
                             .only = of_heads},
                            at<&Draw::head>};
inline constexpr Draws side{{.key = "side",
                             .allowed = allow::one_of(side_names),
                             .meaning = "W·x or x·W",
                             .usual = "left, and right for W_o, whose linear draw in a recipe says its side",
                             .only = projections},
                            at<&Draw::side>};
inline constexpr Draws shape{{.key = "shape",
                              .allowed = {.type = FieldType::lengths,
                                          .least = 1,
                                          .most = field::largest_length,
                                          .fewest = 1,
                                          .longest = 8,
                                          .in_words = "1 to 8 lengths"},
                              .meaning = R"(numbers, or products of letters such as "H*d_k")",
                              .usual = "the natural shape"},
                             at<&Draw::shape>};
inline constexpr Draws take{{.key = "take",
                             .allowed = {.type = FieldType::integers, .least = 0, .most = field::largest_length - 1},
                             .meaning = "indices into the leading dimensions of shape: the part that is kept"},
                            at<&Draw::take>};
inline constexpr Draws values{{.key = "values",
                               .allowed = {.type = FieldType::numbers, .fewest = 1, .in_words = "numbers"},
                               .meaning = "the numbers themselves, nested to the tensor's shape: nothing is drawn",
                               .required = true},
                              at<&Draw::values>};

/// Of a draw, in the order of the JSON.
inline constexpr std::array all{&tensor, &init,        &low,  &high,        &mean, &deviation, &gain,  &slope,
                                &mode,   &padding_idx, &bias, &add_bias_kv, &head, &side,      &shape, &take};
/// Of one that draws a tensor of a whole model, beside tensor and head.
inline constexpr std::array of_model{&init, &low, &high, &mean, &deviation, &gain, &slope, &mode};
/// Of one that draws a whole layer.
inline constexpr std::array of_layer{&init, &bias, &add_bias_kv};
/// Of one that states its tensor.
inline constexpr std::array literal{&tensor, &values, &side};

} // namespace attn::model::draw_field
