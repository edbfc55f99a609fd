// A recipe: everything that is needed to compute a result again, as plain data.
//
// `run` makes one from its options, data/recipes/ holds the published ones, and every saved result carries one as its
// "config". recipe_fields.hpp says what each field is called, what it may hold and what it means. The letters of shapes are
// those of tensor/shape.hpp.
#pragma once

#include "attn/core/attention.hpp"
#include "attn/core/positions.hpp"
#include "attn/math/decimal.hpp"
#include "attn/model/recipe/file_embeddings.hpp"
#include "attn/model/recipe/items.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/tensor/text_list.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attn::model {

// ---- input -----------------------------------------------------------------------------------------------------------

enum class Tokenizer { document, words };
inline constexpr std::array<std::string_view, 2> tokenizer_names{"document", "words"};

/// Sentences; the vocabulary is made from both.
struct SentenceInput {
    std::string sentence;
    std::optional<std::string> cross; ///< keys and values come from this one (cross-attention)
    Tokenizer tokenizer = Tokenizer::document;
    bool casefold = false;
    std::vector<std::string> batch = {}; ///< in place of the one sentence; one vocabulary for all

    bool operator==(const SentenceInput&) const = default;
};

/// Token ids, without a vocabulary. Needs Dims::vocab_size.
struct IdsInput {
    std::vector<Index> ids;          ///< of a batch one entry after the other, all of one length
    std::vector<std::string> labels; ///< a name for each id; empty: the ids as strings
    std::optional<Index> batch = {}; ///< how many entries

    bool operator==(const IdsInput&) const = default;
};

/// Bare positions 0 … count-1, for recipes that draw an embedding for each position.
struct PositionsInput {
    Index count = 0;
    std::vector<std::string> labels; ///< a name for each position; empty: the positions as strings
    std::optional<Index> batch = {}; ///< how many entries of so many positions
    std::optional<Index> keys = {};  ///< so many positions of their own for keys and values
    std::vector<std::string> key_labels = {};

    bool operator==(const PositionsInput&) const = default;
};

using Input = std::variant<SentenceInput, IdsInput, PositionsInput>;

// ---- parameters ------------------------------------------------------------------------------------------------------

/// What is absent takes its default when the recipe is run: embed_dim 16, heads 1, kv_heads = heads, d_k and d_v 24 and 28 with
/// one head (embed_dim where W_q or W_v is drawn as an identity) and embed_dim/heads with more, vocab_size = number of distinct
/// words, key_dim = embed_dim, value_dim = key_dim, output_dim = embed_dim, d_a = d_k.
struct Dims {
    std::optional<Index> embed_dim = {}, heads = {}, kv_heads = {}, d_k = {}, d_v = {}, vocab_size = {};
    std::optional<Index> key_dim = {}, value_dim = {}; ///< how many numbers W_k and W_v read of a word
    std::optional<Index> output_dim = {};              ///< how many numbers W_o makes of a word
    std::optional<Index> d_a = {};                     ///< hidden numbers of additive scores

    bool operator==(const Dims&) const = default;
};

enum class Generator { torch, numpy, numpy_pcg64 };
inline constexpr std::array<std::string_view, 3> generator_names{"torch", "numpy", "numpy-pcg64"};

enum class Initialisation {
    zeros,
    integers,
    uniform,
    normal,
    linear,
    xavier,
    xavier_normal,
    kaiming_uniform,
    kaiming_normal,
    identity,
    multihead_attention, ///< nn.MultiheadAttention whole, without a target
};
inline constexpr std::array<std::string_view, 11> init_names{"zeros",
                                                             "integers",
                                                             "uniform",
                                                             "normal",
                                                             "linear",
                                                             "xavier",
                                                             "xavier_normal",
                                                             "kaiming_uniform",
                                                             "kaiming_normal",
                                                             "identity",
                                                             "multihead_attention"};

/// Which count of numbers kaiming_uniform and kaiming_normal go by.
enum class FanMode { in, out };
inline constexpr std::array<std::string_view, 2> fan_mode_names{"fan_in", "fan_out"};

/// W·x (rows of W are outputs, as in PyTorch's nn.Linear) or x·W.
enum class Side { left, right };
inline constexpr std::array<std::string_view, 2> side_names{"left", "right"};

/// What a draw, or a tensor of a file, becomes.
enum class Target {
    none,               ///< thrown away; it only moves the stream
    embedding,          ///< (V, D): the table that token ids look up
    key_embedding,      ///< (V, key_dim): that of the keys, where it is another one
    value_embedding,    ///< (V, value_dim): that of the values, where it is another one than that of the keys
    position_embedding, ///< (T, D) or more rows: added to the embeddings, row i at position i
    embeddings,         ///< (T, D): one row per position, no table
    key_embeddings,     ///< (S, key_dim): the same for the key side of cross-attention
    queries,            ///< (T, d_k), or (H, T, d_k) of several heads, in place of embeddings and projections
    keys,               ///< (S, d_k), or (H_kv, S, d_k)
    values,             ///< (S, d_v), or (H_kv, S, d_v)
    W_q,
    W_k,
    W_v, ///< projections; their natural shapes are in model/layer/parameters.hpp
    W_o, ///< (H·d_v, output_dim), or (output_dim, H·d_v) from the left
    W_a,
    U_a, ///< of general and additive scores, for each query head
    b_q,
    b_k,
    b_v,
    b_o, ///< biases: (H·d_k), (H_kv·d_k), (H_kv·d_v), (output_dim)
    bias_k,
    bias_v, ///< (H_kv·d_k), (H_kv·d_v): one more key and value, which every query sees
    v_a,    ///< (H·d_a)
    b_Wa,
    b_Ua,
    b_va, ///< (H·d_a), (H·d_a), (H)
};
/// In recipes and JSON.
inline constexpr std::array<std::string_view, 26> target_names{"discard",
                                                               "embedding",
                                                               "key_embedding",
                                                               "value_embedding",
                                                               "position_embedding",
                                                               name_of(Item::embeddings),
                                                               name_of(Item::key_embeddings),
                                                               name_of(Item::queries),
                                                               name_of(Item::keys),
                                                               name_of(Item::values),
                                                               "W_q",
                                                               "W_k",
                                                               "W_v",
                                                               "W_o",
                                                               "W_a",
                                                               "U_a",
                                                               "b_q",
                                                               "b_k",
                                                               "b_v",
                                                               "b_o",
                                                               "bias_k",
                                                               "bias_v",
                                                               "v_a",
                                                               "b_Wa",
                                                               "b_Ua",
                                                               "b_va"};
[[nodiscard]] constexpr std::string_view name_of(Target target)
{
    return target_names[static_cast<std::size_t>(target)];
}
/// What stands for queries, keys and values without embeddings and projections.
inline constexpr std::array given_targets{Target::queries, Target::keys, Target::values};
/// Whether it has a row per position, and is an array of the result by its own name.
[[nodiscard]] constexpr bool is_by_position(Target target)
{
    return target >= Target::embeddings && target <= Target::values;
}
[[nodiscard]] constexpr bool is_given(Target target)
{
    return std::ranges::find(given_targets, target) != given_targets.end();
}
/// Whether a result lists it among its parameters.
[[nodiscard]] constexpr bool is_parameter(Target target)
{
    return target != Target::none && !is_by_position(target);
}

/// Whether it is a matrix that a word is multiplied by, from one side or the other.
[[nodiscard]] constexpr bool has_side(Target target)
{
    return target >= Target::W_q && target <= Target::U_a;
}

/// What general and additive scores are made with.
inline constexpr std::array score_targets{Target::W_a, Target::U_a, Target::v_a, Target::b_Wa, Target::b_Ua, Target::b_va};
/// Whether scores of this function read it. They need all of it but the biases.
[[nodiscard]] constexpr bool reads(core::Score score, Target target)
{
    const bool general = target == Target::W_a || target == Target::b_Wa;
    return score == core::Score::additive || (score == core::Score::general && general);
}
[[nodiscard]] constexpr bool is_of_score(Target target)
{
    return target == Target::W_a || target == Target::U_a || target >= Target::v_a;
}

/// A length of a shape: a number, or a product of letters of the glossary such as "H*d_k".
using Length = std::variant<Index, std::string>;
inline constexpr std::array<std::string_view, 8> length_letters{"V", "T", "S", "D", "H", "H_kv", "d_k", "d_v"};

/// Numbers one by one, row-major, as the recipe states them.
struct Literal {
    Shape shape;
    std::vector<double> values;
    std::vector<Index> integers =
        {};              ///< places of those of 2^24 and more that are written as integers: a type holds them or not
    bool truths = false; ///< of a mask: 1 is true, which is seen, and 0 is false

    bool operator==(const Literal&) const = default;
};

/// Draws one tensor from the stream, or states it.
struct Draw {
    Target target = Target::none;
    Initialisation init = Initialisation::uniform;
    double first = 0;                              ///< uniform, integers: low; normal: mean; kaiming_…: a
    double second = 1;                             ///< uniform, integers: high; normal: standard deviation; xavier…: gain
    std::optional<Side> side = {};                 ///< of W_…; left when absent, right for W_o
    std::optional<std::vector<Length>> shape = {}; ///< the natural shape of the target when absent
    std::vector<Index> take = {};                  ///< indices into the leading dimensions of `shape`: what is kept of the draw
    FanMode mode = FanMode::in;                    ///< of kaiming_…
    std::optional<Index> padding_idx = {};         ///< of a table: the row that is zero after the draw
    bool bias = true;                              ///< of multihead_attention
    bool add_bias_kv = false;                      ///< of multihead_attention: bias_k and bias_v, too
    std::optional<Index> head = {};                ///< of W_q … b_v: the only one that the draw makes; all when absent
    std::optional<Index> entries = {};             ///< the natural shape of each of so many; of a batch (layer/batch.hpp) alone
    std::optional<Literal> values = {}; ///< the tensor itself: nothing is drawn, and of all above only target and side count

    bool operator==(const Draw&) const = default;
};

/// The one of a command without a seed, as Raschka's tutorials have it.
inline constexpr std::uint64_t usual_seed = 123;

/// Starts the generator's stream anew.
struct Seed {
    std::uint64_t value = 0;

    bool operator==(const Seed&) const = default;
};

using Step = std::variant<Seed, Draw>;

/// How matrices lie in a file: (in, out); (out, in), as nn.Linear keeps them; or as `run` saves what it draws without other
/// orders, W_q, W_k, W_v (out, in) and W_o (in, out).
enum class MatrixLayout { in_out, out_in, run };
inline constexpr std::array<std::string_view, 3> layout_names{"in-out", "out-in", "run"};

/// One layer's parameters in a file, instead of draws. The library opens no file: who runs the recipe loads it
/// (model/layer/checkpoint.hpp).
struct FileParameters {
    std::string file = {};                      ///< relative to the recipe, or to where the program runs
    std::string prefix = {};                    ///< of the layer's names; empty: the only layer of the file
    std::optional<MatrixLayout> layout = {};    ///< where names and shapes do not tell
    std::optional<bool> output_projection = {}; ///< whether W_o is used; if it is there, when absent
    bool allow_nonfinite = false;               ///< infinities and NaN
    std::string sha256 = {};                    ///< of the file, 64 hexadecimal digits; empty: not stated

    bool operator==(const FileParameters&) const = default;
};

// ---- attention -------------------------------------------------------------------------------------------------------

/// Which way round the scores are computed: q·k (row: query), or, as one article does, k·q (row: key word).
enum class ScoreOrder { query_key, key_query };
inline constexpr std::array<std::string_view, 2> score_order_names{"QK", "KQ"};

/// A tensor in a file. The library opens no file: who runs the recipe loads it.
struct FileTensor {
    std::string file;   ///< relative to the recipe, or to where the program runs
    std::string name;   ///< of the tensor; empty: the only one of the file
    std::string sha256; ///< of the file, 64 hexadecimal digits; empty: not stated

    bool operator==(const FileTensor&) const = default;
};

enum class PositionKind { sinusoidal, rope, alibi };
inline constexpr std::array<std::string_view, 3> position_names{"sinusoidal", "rope", "alibi"};

/// How attention learns where a word stands; the formulas are in core/positions.hpp.
struct Positions {
    PositionKind kind = PositionKind::sinusoidal;
    core::Rope rope = {}; ///< only with PositionKind::rope

    bool operator==(const Positions&) const = default;
};

/// The options of core, a scale of 1 for "none", and what is known of words and files alone.
struct Attention : core::AttentionOptions {
    ScoreOrder order = ScoreOrder::query_key;
    std::optional<FileTensor> mask = {};     ///< its tensor is RunSettings::mask
    std::optional<Literal> mask_values = {}; ///< instead of a file
    std::vector<std::string> hide = {};      ///< no query sees these key words: positions ("3") or words
    std::optional<Positions> positions = {}; ///< none when absent

    [[nodiscard]] bool placed_by(PositionKind kind) const { return positions && positions->kind == kind; }
    [[nodiscard]] bool has_mask() const { return mask || mask_values || !hide.empty(); } ///< beside causal and window
    bool operator==(const Attention&) const = default;
};

// ---- published numbers -----------------------------------------------------------------------------------------------

/// What an article states about one array, or about part of one.
struct Published {
    std::string array;                    ///< a name of the JSON result, such as "weights" or "W_q"
    std::vector<std::optional<Index>> at; ///< leading indices; nothing stands for all (a slice)
    Shape shape;                          ///< of the part
    TextList values;                      ///< flat; decimals as they stand there, or words; empty: the shape alone is stated
    bool printed = false;                 ///< strings: must agree in the printed digits; otherwise rtol and atol decide
    std::optional<math::PrintedDigits> digits = {}; ///< printed as one array; absent: each number has its own
    double units = 0;                               ///< printed: units of the last digit that are forgiven
    double rtol = 0; ///< |computed - stated| ≤ atol + rtol·|stated|; 0 and 0: equal after rounding to the dtype
    double atol = 0;
    std::optional<Dtype> dtype; ///< compute in this type instead of the recipe's
};

/// "computed in float32 and in float64 this array agrees within…", the closing assertion of one article.
struct PrecisionClaim {
    std::string array;
    double rtol = 0;
    double atol = 0;
};

// ---- the whole -------------------------------------------------------------------------------------------------------

/// In a list of heads, alone: the mean of all of them.
inline constexpr Index mean_of_heads = -1;

struct Recipe {
    std::string name, title, source; ///< for people; empty in the config of a result made from options alone
    Input input = SentenceInput{};
    Dims dims;
    Generator generator = Generator::torch;
    Dtype dtype = Dtype::float32;
    core::Rounding rounding = core::Rounding::stage;
    std::optional<FileParameters> parameters = {}; ///< its tensors are RunSettings::parameters
    std::optional<FileEmbeddings> embeddings = {}; ///< instead of drawn ones
    std::vector<Step> draws;
    Attention attention;
    std::vector<std::string> query;  ///< only these rows: positions ("3") or words; empty: all
    std::vector<Index> head;         ///< only these heads; mean_of_heads; empty: all
    std::optional<Index> entry = {}; ///< of a batch: only this one
    bool verify = false;             ///< also compute in float64 and report the difference

    std::vector<Published> published;
    std::vector<PrecisionClaim> precision;
};

/// "draws[2]"
[[nodiscard]] std::string place_of_step(std::size_t step);

/// The draws that one of a recipe stands for, in their order: those of every tensor of nn.MultiheadAttention, or itself.
[[nodiscard]] std::vector<Draw> parts_of(const Draw& draw);
/// The first draw of the tensor, or of a head of it.
[[nodiscard]] std::optional<Draw> find_draw(const Recipe& recipe, Target target);
/// Of a matrix: as its draw says, otherwise as is usual.
[[nodiscard]] Side side_of(const Recipe& recipe, Target matrix);

/// What `run` does without options: seed 123, embedding normal, W_q, W_k, W_v uniform from the left (the 2023 tutorial).
[[nodiscard]] Recipe default_recipe();

} // namespace attn::model
