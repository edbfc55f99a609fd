// A trained transformer, described: which tensors there are, what they are called, and what is computed with them.
//
//   X = embedding(ids)                                                   hidden state 0                    (T, D)
//   for each layer:
//     A = attention(attention_in(X))                                     heads, then the output projection (T, D)
//     S = attention_sum(X + attention_out(A))
//     S = cross.sum(S + cross.attention(cross.in(S), E))                 only where there are two stacks, see below
//     M = mlp(mlp_in(S))                                                 of X instead of S in parallel blocks
//     X = mlp_sum(S + mlp_out(M))                                        hidden state l + 1
//   X = final_norm(X)
//   logits = head(X)                                                                                       (T, V)
//
// A model of two stacks has an encoder, described likewise, and a decoder, which is what its description is of: each layer of
// the decoder also attends to E, what leaves the encoder's last layer, behind its final norm.
//
// The six norms of a layer are where architectures differ: each has some of them, and what is absent changes nothing. BERT has
// the two sums, GPT-2 and Llama the two in front, OLMo 2 the two behind, Gemma 2 the last four.
//
// A description is all that forward() knows of an architecture. Sizes are those of config.json; names are those of the tensors
// in the files, without the prefix that a class with a head puts before them, and "name" stands for name.weight and name.bias.
#pragma once

#include "attn/tensor/shape.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::transformer {

enum class Activation {
    gelu,       ///< x·Φ(x), with the error function
    gelu_tanh,  ///< x·½·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
    quick_gelu, ///< x / (1 + e^(-1.702·x))
    silu,       ///< x / (1 + e^(-x))
    relu,       ///< max(x, 0)
};
inline constexpr std::array<std::string_view, 5> activation_names{"gelu", "gelu_tanh", "quick_gelu", "silu", "relu"};

enum class NormKind {
    layer, ///< (x - mean) / √(variance + ε) · w + b
    rms,   ///< x / √(mean of x² + ε) · w
};

struct NormPart {
    std::string name = {};
    double epsilon = 1e-5;
    NormKind kind = NormKind::layer;
    bool bias = true;        ///< of a layer norm
    double weight_shift = 0; ///< added to every w: 1 with Gemma, whose files hold w - 1
};

/// Which rows of a stored weight a part of it are: output o is row first + o/group·step + o%group.
struct FusedRows {
    Index stored = 0;          ///< all rows of the tensor; 0: nothing is fused, and output o is row o
    Index first = 0;           ///< the row of output 0
    Index group = 0, step = 0; ///< so many rows together, then the next ones so far on; 0: all of them together
    Index turned = 0;          ///< of each so many outputs, n and n + turned/2 lie side by side: rows 2n and 2n + 1; 0: of none

    /// The row of output o.
    [[nodiscard]] Index of(Index o) const
    {
        if (turned != 0) {
            const Index n = o % turned;
            o += n % (turned / 2) * 2 + n / (turned / 2) - n;
        }
        return group == 0 ? first + o : first + o / group * step + o % group;
    }
};

/// y = W·x + b
struct LinearPart {
    std::string name = {};
    Index in = 0, out = 0;
    bool bias = true;
    bool input_major = false; ///< stored as (in, out), GPT-2's Conv1D; otherwise as (out, in)
    FusedRows rows = {};      ///< columns, when input_major
};

/// What becomes of the frequencies base^(-2n/r) of rotary positions.
enum class RopeScaling {
    none,
    linear, ///< divided by factor
    llama3, ///< divided by factor where the wavelength exceeds original/low, kept below original/high, blended in between
    listed, ///< each divided by a number of its own
};
inline constexpr std::array<std::string_view, 4> rope_scaling_names{"default", "linear", "llama3", "listed"};

/// Rotary positions by halves: of r = dim rounded up to pairs, n and n + r/2 are a pair.
struct RopePart {
    double base = 10000;
    Index dim = 0; ///< the first so many of a head's numbers turn
    RopeScaling scaling = RopeScaling::none;
    double factor = 1, low = 1, high = 4, original = 8192; ///< of the scaling
    std::vector<float> divisors = {};                      ///< listed: of each pair

    bool operator==(const RopePart&) const = default;
};

/// Keys that a query sees before and after itself.
struct WindowPart {
    Index left = -1, right = -1; ///< -1: all
};

/// A number for each head and bucket of distances, added to the scores; T5's buckets.
/// (Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", section 2.1.)
struct RelativeBiasPart {
    std::string name = {}; ///< of name.weight (buckets, H)
    Index buckets = 32, most_distance = 128;
    bool causal = false; ///< all buckets are of keys before the query; otherwise half of them are of each direction
};

struct AttentionPart {
    Index H = 0, H_kv = 0, d = 0; ///< query heads, key/value heads, size of a head
    LinearPart query = {}, key = {}, value = {}, output = {};
    std::optional<NormPart> query_norm = {}, key_norm = {}; ///< before rotary positions
    bool norm_all_heads = false;                            ///< these norms are over all heads at once, not over each
    std::optional<RopePart> rope = {};
    std::optional<WindowPart> window = {};
    double scale = 1;
    std::optional<double> softcap = {};
};

/// down(activation(up(x))), or with a gate down(activation(gate(x))·up(x)).
struct MlpPart {
    LinearPart up = {};
    std::optional<LinearPart> gate = {};
    LinearPart down = {};
    Activation activation = Activation::gelu;
};

/// Attention of the decoder's tokens to what the encoder gave.
struct CrossPart {
    std::optional<NormPart> in = {}, sum = {};
    AttentionPart attention = {}; ///< keys and values are projected from what the encoder gave, whose size is D too
};

struct LayerPart {
    std::optional<NormPart> attention_in = {}, attention_out = {}, attention_sum = {};
    AttentionPart attention = {};
    std::optional<CrossPart> cross = {}; ///< of every layer of a decoder that has an encoder
    std::optional<NormPart> mlp_in = {}, mlp_out = {}, mlp_sum = {};
    MlpPart mlp = {};
    bool parallel = false; ///< the MLP reads what the attention reads, not its sum
};

/// norm(words[id]·scale + positions[place] + types[type])
struct EmbeddingPart {
    std::string words = {};               ///< of words.weight (V, size)
    std::vector<std::string> others = {}; ///< where the files have no such tensor, the first of these that they have
    Index V = 0, size = 0;
    double scale = 1;
    std::string positions = {}; ///< of positions.weight (position_rows, size); empty: none
    Index position_rows = 0;
    Index first_position = 0;          ///< BART: the row of the first token
    bool sinusoidal = false;           ///< positions are sines and cosines (layers/positions.hpp), in place of a table
    std::optional<Index> padding = {}; ///< RoBERTa: places begin after this id, and count no tokens that are this id
    std::string types = {};            ///< of types.weight (type_rows, size); empty: none
    Index type_rows = 0;
    std::optional<NormPart> norm = {};
};

/// Whether the head's words are those of the embedding.
enum class Tied {
    yes,
    no,
    unless_there, ///< where the file has no words of the head
};

/// softcap(words·norm(activation(transform(x·scale))) + bias)
struct HeadPart {
    double scale = 1;
    std::optional<LinearPart> transform = {};
    Activation activation = Activation::gelu; ///< after the transform
    std::optional<NormPart> norm = {};
    std::string words = {}; ///< of words.weight (V, size)
    Tied tied = Tied::unless_there;
    std::string bias = {};    ///< the full name of a tensor (V); empty: none
    bool bias_is_row = false; ///< the tensor is (1, V), and one of zeros where the files have none
    std::optional<double> softcap = {};
    std::string sign = {}; ///< the full name of a tensor without which a file has no such head; empty: its words are that
};

/// Which attention of a model of two stacks: of the encoder's tokens, of the decoder's, or of the decoder's to the encoder's.
enum class Part : std::uint8_t { encoder, decoder, cross };
inline constexpr std::array<std::string_view, 3> part_names{"encoder", "decoder", "cross"};

/// What begins and ends the tokens of a decoder that has an encoder.
struct TargetPart {
    Index start = 0;                        ///< stands before the first token
    std::optional<Index> forced_first = {}; ///< the first token that is generated, whatever is likeliest
    std::optional<Index> end = {};          ///< generating it ends the target
    std::vector<Index> never = {};          ///< these are not generated
};

struct Architecture {
    std::string type = {}; ///< model_type of config.json
    Index D = 0;           ///< of hidden states
    bool causal = false;   ///< a token sees none after it
    Index most_tokens = 0; ///< of one sequence
    EmbeddingPart embedding = {};
    std::vector<LayerPart> layers = {};
    std::optional<RelativeBiasPart> relative_bias = {};
    std::optional<NormPart> final_norm = {};
    std::optional<HeadPart> head = {};

    std::shared_ptr<const Architecture> encoder = {}; ///< the stack that a decoder's layers attend to; null: there is none
    TargetPart target = {};                           ///< of such a decoder

    std::vector<std::string> prefixes = {};    ///< one of them may stand before every name
    std::vector<std::string> passed_over = {}; ///< tensors that no attention needs; * stands for any text
    std::string stated_in = "config.json";     ///< where the user finds all this, for messages
};

/// The stack whose layers have this attention; of a model of one stack, which has no parts, that.
[[nodiscard]] const Architecture& stack_of(const Architecture& architecture, std::optional<Part> part);
/// In a layer of that stack.
[[nodiscard]] const AttentionPart& attention_of(const LayerPart& layer, std::optional<Part> part);

/// A tensor that a description asks for.
struct NeededTensor {
    std::string name;
    Shape shape;
};

/// All of them, those that several parts share more than once.
[[nodiscard]] std::vector<NeededTensor> needed_tensors(const Architecture& architecture);

} // namespace attn::transformer
