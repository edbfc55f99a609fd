// One sentence through a stack of a model, up to the last layer that is asked for. A decoder that has an encoder takes what
// that gave: forward() of the encoder comes first.
//
// Hidden states are called as in transformers: number 0 is what enters layer 0, number l + 1 what layer l gives, and the last
// one is after the final norm where the architecture has one (GPT-2, Llama and their kin, ModernBERT; encoders of the kind of
// BERT have none). The attention weights of layer l are its attentions[l].
//
// Numbers are float32 between the steps. On the portable path (Work::isa) every bit is the same on every machine and for any
// number of threads; with another isa that holds of everything but attention (core/tiled.hpp) and linear layers (layers.hpp).
#pragma once

#include "attn/core/attention.hpp"
#include "attn/core/parallel.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/transformer/run/model.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace attn::transformer {

/// What a decoder has read so far of its tokens and of what its encoder gave, so that neither is read again.
struct ReadBefore {
    struct KeysAndValues {
        Matrix<float> keys, values; ///< (S, H_kv·d), as they enter the scores
    };
    struct Layer {
        KeysAndValues own, cross;
    };
    Index tokens = 0;
    std::vector<Layer> layers = {}; ///< all of them
};

struct TokenInput {
    std::vector<Index> ids = {};            ///< (T), at least one
    std::vector<Index> types = {};          ///< (T), or none: all 0. Only for architectures that have types
    const Matrix<float>* encoded = nullptr; ///< (S, D): Outputs::last of the encoder, for its decoder alone
    ReadBefore* before = nullptr; ///< of these ids: the others are read, at least one, and added to it. Outputs are of those
                                  ///< alone. Null: nothing was. Every layer has to run
};

enum class Logits {
    none,
    last, ///< of the last token alone
    all,
};

struct Asked {
    std::vector<Part> parts = {};     ///< of two stacks: the encoder runs, or the decoder with one or both of its attentions
    std::vector<Index> layers = {};   ///< counted from 0; in any order
    core::StageSelection stages = {}; ///< of each of them
    std::vector<Index> heads = {};    ///< the query heads whose stages are kept; empty: all
    std::map<Index, std::vector<Index>> heads_of_layers = {}; ///< of these, in place of `heads`
    bool queries_keys_values = false;                         ///< of each of them
    bool lens = false;                                        ///< of each of them; of a model with a head
    bool hidden_states = false;   ///< up to that behind the last layer that is asked for; without any, all
    Logits logits = Logits::none; ///< unless none, runs every layer
    bool last = false;            ///< what leaves the last layer; runs every layer
};

/// What an asked layer did.
struct LayerStages {
    std::size_t sentence = 0; ///< of those that run side by side
    Index layer = 0;
    std::optional<Part> part = {};       ///< of two stacks: which attention this is
    Tensor<float> queries, keys, values; ///< (H, T, d), (H_kv, S, d), (H_kv, S, d), as they enter the scores: after norm and
                                         ///< rotary positions. Empty unless asked for. S is T but in cross-attention
    core::Stages<float> stages;          ///< those that were asked for, of the heads that were; and head_context (H, T, d)
    Tensor<float> context;               ///< (T, H·d): the head contexts side by side
    Tensor<float> output;                ///< (T, D): after the output projection, before anything is added
    Tensor<float> lens; ///< (T, V): what the head would say if this layer were the last; empty unless asked for, and of cross
};

struct Outputs {
    std::vector<Tensor<float>> hidden_states; ///< (T, D) each: of all layers L + 1; or none
    Tensor<float> logits;                     ///< (T, V), (1, V), or empty
    Matrix<float> last;                       ///< (T, D): behind the final norm; or empty
};

using Take = std::function<void(LayerStages&& stages)>;

/// Throws Error of this kind for no or too many tokens, and another number of types. The architecture is the stack's. `thing`
/// says whose tokens they are.
void require_tokens(const Architecture& architecture, const TokenInput& input, ErrorKind fault,
                    std::string_view thing = "tokens");
/// Likewise for ids and types that the model has no row for, and more tokens than the layers have positions for.
void require_rows(const Architecture& architecture, const TokenInput& input, const Asked& asked, ErrorKind fault);

/// `take` gets each asked layer as it is done, in order, of a decoder its own attention and then the other. Memory: the
/// activations of two layers, and what is asked for. Layers are there, and logits are of a model with a head. Throws Error:
/// internal for an input that both of the above refuse, who asks judges it; data for numbers that overflow.
[[nodiscard]] Outputs forward(const Model& model, const TokenInput& input, const Asked& asked, const core::Work& work,
                              const Take& take);
/// Several sentences side by side, at least one, so that weights are read once for all. Each gives what it gives alone, bit for
/// bit; what is asked is the same for all. `take` gets the sentences of an asked layer one after the other.
[[nodiscard]] std::vector<Outputs> forward(const Model& model, std::span<const TokenInput> inputs, const Asked& asked,
                                           const core::Work& work, const Take& take);

} // namespace attn::transformer
