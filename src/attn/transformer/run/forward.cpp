#include "attn/transformer/run/forward.hpp"

#include "attn/core/positions.hpp"
#include "attn/math/elementary.hpp"
#include "attn/tensor/error.hpp"
#include "attn/transformer/layers/positions.hpp"
#include "attn/transformer/run/embedding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace attn::transformer {
namespace {

constexpr std::string_view damaged = "numbers that float32 can hold; the weights are damaged, or no model's";

// ---- matrices and heads ------------------------------------------------------------------------------------------------

void normalise_by(const Model& model, const std::optional<NormPart>& part, Matrix<float>& X)
{
    if (part) {
        normalise(X, model.norm(*part));
    }
}

Tensor<float> as_tensor(const MatrixView<float>& X)
{
    return {{X.rows(), X.cols()}, std::vector<float>(X.data(), X.data() + X.size())};
}

/// (T, heads·d) → (heads, T, d)
Tensor<float> split(const Matrix<float>& X, Index d)
{
    Tensor<float> heads({X.cols() / d, X.rows(), d});
    for (Index h = 0; h < heads.shape[0]; ++h) {
        heads.matrix(h) = X.middleCols(h * d, d);
    }
    return heads;
}

/// (heads, T, d) → (T, heads·d)
Matrix<float> joined(const Tensor<float>& heads)
{
    const Index d = heads.columns();
    Matrix<float> X(heads.rows(), heads.shape[0] * d);
    for (Index h = 0; h < heads.shape[0]; ++h) {
        X.middleCols(h * d, d) = heads.matrix(h);
    }
    return X;
}

// ---- attention ---------------------------------------------------------------------------------------------------------

/// What the layers of one sentence share, made when the first of them needs it.
class Shared {
public:
    /// Of tokens first … T-1, which see all.
    Shared(const Model& model, const Architecture& stack, Index T, Index first)
        : model_(model), stack_(stack), T_(T), first_(first)
    {
    }

    [[nodiscard]] Index first() const { return first_; }

    /// Layers have the same rotation, or one of two: the one of the layer before is often another one.
    const Rotation& rotation_of(const RopePart& rope)
    {
        for (const auto& [made_for, made] : rotations_) {
            if (made_for == rope) {
                return *made;
            }
        }
        rotations_.emplace_back(rope, std::make_unique<Rotation>(rotation(rope, T_, first_)));
        return *rotations_.back().second;
    }

    /// (H, T - first, T), or nothing
    const std::optional<Tensor<float>>& bias()
    {
        const auto& part = stack_.relative_bias;
        if (part && !bias_) {
            bias_ = relative_bias(*part, all_rows(model_.table(part->name)), T_, first_);
        }
        return bias_;
    }

private:
    const Model& model_;
    const Architecture& stack_;
    Index T_, first_;
    std::vector<std::pair<RopePart, std::unique_ptr<Rotation>>> rotations_;
    std::optional<Tensor<float>> bias_;
};

/// Rows of what stands below one another.
struct Rows {
    Index first = 0, count = 0;

    [[nodiscard]] auto of(const Matrix<float>& X) const { return X.middleRows(first, count); }
};

/// One of the sentences that run side by side.
struct Sentence {
    Rows tokens, encoded; ///< its own, and what its encoder gave: what was not read before
    Shared shared;
    ReadBefore::Layer* before = nullptr; ///< in the layer that runs
};

/// Adds rows below those that are there, and gives all.
const Matrix<float>& with(Matrix<float>& all, const Matrix<float>& more)
{
    all.conservativeResize(all.rows() + more.rows(), more.cols());
    all.bottomRows(more.rows()) = more;
    return all;
}

/// X (T, D), projected, normalised where the architecture says so, and turned.
Matrix<float> turned(Matrix<float> X, Index d, const std::optional<Norm>& norm, const Rotation* turn)
{
    if (norm) {
        normalise(X, *norm);
    }
    if (turn != nullptr) {
        rotate(X, d, *turn);
    }
    return X;
}

core::AttentionOptions options_of(const AttentionPart& part, bool causal)
{
    core::AttentionOptions options{.scale = part.scale, .softcap = part.softcap, .causal = causal};
    if (part.window) {
        options.window = core::Window{part.window->left, part.window->right};
    }
    return options;
}

/// Query head h alone, and what it reads.
core::AttentionInputs head_of(const core::AttentionInputs& all, Index h)
{
    const auto only = [](const TensorView& view, Index head) { // (1, heads, …) → (1, 1, …)
        TensorView part = slice(view, std::array<Index, 2>{0, head});
        part.shape.insert(part.shape.begin(), 2, 1);
        part.strides.insert(part.strides.begin(), 2, 0);
        return part;
    };
    const Index kv = h / (all.queries.shape[1] / all.keys.shape[1]);
    core::AttentionInputs one = all;
    one.queries = only(all.queries, h);
    one.keys = only(all.keys, kv);
    one.values = only(all.values, kv);
    if (all.mask) {
        one.mask = only(*all.mask, h);
    }
    return one;
}

/// Adds the heads of `more` behind those that are there. All have their contexts already.
void append(core::Stages<float>& all, const core::Stages<float>& more)
{
    for (const core::Stage stage : core::every_stage) {
        if (stage == core::Stage::head_context) {
            continue;
        }
        Tensor<float>& to = all[stage];
        const Tensor<float>& from = more[stage];
        const Index heads = to.shape.empty() ? 0 : to.shape.front();
        to.shape = from.shape;
        if (!from.shape.empty()) {
            to.shape.front() += heads;
            to.values.insert(to.values.end(), from.values.begin(), from.values.end());
        }
    }
}

/// What an attention reads, of all sentences.
struct Sequences {
    const Matrix<float>& queries; ///< (ΣT, D), already normalised
    const Matrix<float>* encoded =
        nullptr; ///< (ΣS, D), of which keys and values are in cross-attention; null: the queries' own
    bool causal = false;
    bool biased = false; ///< with the bias by distance, where the stack has one
};

struct Attended {
    Matrix<float> output;            ///< (ΣT, D)
    std::vector<LayerStages> stages; ///< of each sentence, where this layer is asked for
};

/// The attention of one sentence, without its output. `projected`: queries, keys and values of all sentences.
LayerStages attend(const Model& model, const AttentionPart& part, const Sequences& of,
                   const std::array<Matrix<float>, 3>& projected, Sentence& sentence, const Asked& asked,
                   const core::Work& work)
{
    const auto norm = [&](const std::optional<NormPart>& own) { return own ? std::optional(model.norm(*own)) : std::nullopt; };
    const Rotation* turn = part.rope ? &sentence.shared.rotation_of(*part.rope) : nullptr;
    const Rows& read = of.encoded != nullptr ? sentence.encoded : sentence.tokens;
    Matrix<float> K = turned(read.of(projected[1]), part.d, norm(part.key_norm), turn), V = read.of(projected[2]);
    if (sentence.before != nullptr) {
        auto& [keys, values] = of.encoded != nullptr ? sentence.before->cross : sentence.before->own;
        K = with(keys, K);
        V = with(values, V);
    }
    LayerStages done;
    done.queries = split(turned(sentence.tokens.of(projected[0]), part.d, norm(part.query_norm), turn), part.d);
    done.keys = split(K, part.d);
    done.values = split(V, part.d);
    for (const Tensor<float>* heads : {&done.queries, &done.keys, &done.values}) { // infinities would look like a mask
        if (!all_finite(std::span<const float>(heads->values))) {
            throw Error(ErrorKind::data, "queries, keys or values beside " + in_quotes(part.query.name),
                        "a number that is not finite", damaged);
        }
    }
    core::AttentionInputs inputs{
        .queries = core::as_batch(done.queries), .keys = core::as_batch(done.keys), .values = core::as_batch(done.values)};
    if (const auto& bias = sentence.shared.bias(); of.biased && bias) {
        inputs.mask = core::as_batch(*bias);
    }
    if (const Index first = sentence.shared.first(); first > 0 && of.encoded == nullptr) {
        inputs.offsets = {first};
    }
    const core::AttentionOptions options = options_of(part, of.causal);
    done.stages = core::attention<float>(inputs, options, asked.heads.empty() ? asked.stages : core::StageSelection{}, work);
    for (const Index h : asked.heads) { // again, with the stages
        append(done.stages, core::attention<float>(head_of(inputs, h), options, asked.stages, work));
    }
    return done;
}

/// attention(X) of one layer.
Attended attend(const Model& model, const AttentionPart& part, const Sequences& of, std::span<Sentence> sentences,
                const Asked& asked, const core::Work& work)
{
    const LayerKernels& kernels = layer_kernels_of(work.isa);
    const TokenTiles tiles(of.queries, kernels);
    const std::optional<TokenTiles> encoded =
        of.encoded != nullptr ? std::optional<TokenTiles>(TokenTiles(*of.encoded, kernels)) : std::nullopt;
    const auto projected = [&](const LinearPart& linear) {
        return apply(model.linear(linear), encoded && &linear != &part.query ? *encoded : tiles, work);
    };
    const std::array all{projected(part.query), projected(part.key), projected(part.value)};
    Attended done;
    Matrix<float> context(of.queries.rows(), all[0].cols());
    for (Sentence& sentence : sentences) {
        LayerStages stages = attend(model, part, of, all, sentence, asked, work);
        context.middleRows(sentence.tokens.first, sentence.tokens.count) = joined(stages.stages[core::Stage::head_context]);
        if (!asked.layers.empty()) {
            done.stages.push_back(std::move(stages));
        }
    }
    done.output = apply(model.linear(part.output), context, work);
    for (std::size_t i = 0; i < done.stages.size(); ++i) {
        done.stages[i].sentence = i;
        done.stages[i].context = as_tensor(sentences[i].tokens.of(context));
        done.stages[i].output = as_tensor(sentences[i].tokens.of(done.output));
    }
    return done;
}

// ---- layers ------------------------------------------------------------------------------------------------------------

void activate(Activation f, Matrix<float>& X, const core::Work& work)
{
    constexpr double multiplications = 50; // of one number, about
    const LayerKernels& kernels = layer_kernels_of(work.isa);
    const bool small = multiplications * static_cast<double>(X.size()) < core::worth_a_thread;
    core::for_each_block(X.rows(), {.threads = small ? 1 : work.threads},
                         [&](Index row) { kernels.activate(f, X.row(row).data(), X.cols()); });
}

Matrix<float> mlp(const Model& model, const MlpPart& part, const Matrix<float>& X, const core::Work& work)
{
    const TokenTiles tiles(X, layer_kernels_of(work.isa));
    Matrix<float> inner = apply(model.linear(part.up), tiles, work);
    if (part.gate) {
        Matrix<float> gate = apply(model.linear(*part.gate), tiles, work);
        activate(part.activation, gate, work);
        inner.array() *= gate.array();
    } else {
        activate(part.activation, inner, work);
    }
    return apply(model.linear(part.down), inner, work);
}

/// What layers of a stack do in the same way.
struct Layers {
    const Model& model;
    bool causal;
    const Matrix<float>* encoded; ///< (ΣS, D), of a decoder that has an encoder
    std::span<Sentence> sentences;
};

/// What layer `part` makes of X (ΣT, D), as architecture.hpp writes it; X becomes the next hidden state, or, where nobody asks
/// for that one, what stands in front of the MLP. The stages are those of the attentions that are asked for, in the order in
/// which they are computed.
std::vector<LayerStages> run_layer(const Layers& layers, const LayerPart& part, Matrix<float>& X, bool goes_on,
                                   const Asked& asked, const core::Work& work)
{
    const Model& model = layers.model;
    const auto is_asked = [&](Part one) { return std::ranges::find(asked.parts, one) != asked.parts.end(); };
    const std::optional<Part> own = part.cross            ? std::optional(Part::decoder)
                                    : asked.parts.empty() ? std::nullopt
                                                          : std::optional(Part::encoder);
    const auto normalised = [&](const std::optional<NormPart>& norm, Matrix<float> of) {
        normalise_by(model, norm, of);
        return of;
    };
    std::vector<LayerStages> done;
    Matrix<float> S = X;
    const auto attend_as = [&](std::optional<Part> which, const AttentionPart& attention, const Sequences& sequences) {
        const bool kept = !which || is_asked(*which);
        Attended attended = attend(model, attention, sequences, layers.sentences, kept ? asked : Asked(), work);
        for (LayerStages& stages : attended.stages) {
            stages.part = which;
            done.push_back(std::move(stages));
        }
        return std::move(attended.output);
    };
    S += normalised(
        part.attention_out,
        attend_as(own, part.attention, {.queries = normalised(part.attention_in, X), .causal = layers.causal, .biased = true}));
    normalise_by(model, part.attention_sum, S);
    if (part.cross) {
        S += attend_as(Part::cross, part.cross->attention,
                       {.queries = normalised(part.cross->in, S), .encoded = layers.encoded});
        normalise_by(model, part.cross->sum, S);
    }
    if (!goes_on) {
        X = std::move(S);
        return done;
    }
    const Matrix<float> M = mlp(model, part.mlp, normalised(part.mlp_in, part.parallel ? X : S), work);
    X = std::move(S);
    X += normalised(part.mlp_out, M);
    normalise_by(model, part.mlp_sum, X);
    return done;
}

// ---- the head ----------------------------------------------------------------------------------------------------------

Matrix<float> logits_of(const Model& model, const HeadPart& head, Matrix<float> X, const core::Work& work)
{
    X *= static_cast<float>(head.scale);
    if (head.transform) {
        X = apply(model.linear(*head.transform), X, work);
        layer_kernels_of(work.isa).activate(head.activation, X.data(), X.size());
    }
    normalise_by(model, head.norm, X);
    Linear words{.weight = model.table(head.words), .in = X.cols(), .out = model.architecture().embedding.V};
    if (!head.bias.empty()) {
        words.bias = model.vector(head.bias);
    }
    Matrix<float> logits = apply(words, X, work);
    if (head.softcap) {
        const double cap = *head.softcap;
        logits =
            logits.unaryExpr([cap](float x) { return static_cast<float>(cap * math::tanh(static_cast<double>(x) / cap)); });
    }
    return logits;
}

/// Of what leaves any layer, as of what leaves the last one. (nostalgebraist 2020, "interpreting GPT: the logit lens".)
Matrix<float> lens_of(const Model& model, Matrix<float> X, const core::Work& work)
{
    normalise_by(model, model.architecture().final_norm, X);
    return logits_of(model, model.architecture().head.value(), std::move(X), work);
}

// ---- what is asked for -----------------------------------------------------------------------------------------------

/// What of it is asked of one layer; of a layer that is not named, nothing.
Asked asked_of(const Asked& asked, Index layer)
{
    if (std::ranges::find(asked.layers, layer) == asked.layers.end()) {
        return {.parts = asked.parts};
    }
    Asked own = asked;
    if (const auto heads = asked.heads_of_layers.find(layer); heads != asked.heads_of_layers.end()) {
        own.heads = heads->second;
    }
    own.layers = {layer};
    return own;
}

/// How many layers have to run.
Index layers_to_run(const Architecture& architecture, const Asked& asked)
{
    if (asked.last || asked.logits != Logits::none || (asked.hidden_states && asked.layers.empty())) {
        return std::ssize(architecture.layers);
    }
    return asked.layers.empty() ? 0 : *std::ranges::max_element(asked.layers) + 1;
}

void require_finite(const Matrix<float>& X, Index layer)
{
    if (!all_finite(std::span<const float>(X.data(), static_cast<std::size_t>(X.size())))) {
        throw Error(ErrorKind::data, fmt::format("hidden states after layer {}", layer), "a number that is not finite",
                    damaged);
    }
}

/// Of a call that others have judged.
void require_input(const Architecture& architecture, const TokenInput& input, const Asked& asked)
{
    require_tokens(architecture, input, ErrorKind::internal);
    require_rows(architecture, input, asked, ErrorKind::internal);
    if (architecture.encoder && (input.encoded == nullptr || input.encoded->cols() != architecture.D)) {
        throw Error(ErrorKind::internal, "forward: what the encoder gave", input.encoded == nullptr ? "none" : "another size",
                    fmt::format("(S, {})", architecture.D));
    }
}

// ---- sentences side by side --------------------------------------------------------------------------------------------

/// What there is to read of them, one below the other.
struct SideBySide {
    std::vector<Sentence> sentences;
    Matrix<float> X; ///< (ΣT, D), embedded
    Matrix<float> E; ///< (ΣS, D), what their encoder gave
};

SideBySide side_by_side(const Model& model, const Architecture& architecture, std::span<const TokenInput> inputs)
{
    std::vector<Sentence> sentences;
    Rows tokens, encoded; // of all
    for (const TokenInput& input : inputs) {
        const Index first = input.before == nullptr ? 0 : input.before->tokens, T = std::ssize(input.ids);
        const Index S = architecture.encoder && first == 0 ? input.encoded->rows() : 0;
        sentences.push_back({{tokens.count, T - first}, {encoded.count, S}, Shared(model, architecture, T, first)});
        tokens.count += T - first;
        encoded.count += S;
        if (input.before != nullptr) {
            input.before->tokens = T;
            input.before->layers.resize(architecture.layers.size());
        }
    }
    Matrix<float> X(tokens.count, architecture.D), E(encoded.count, architecture.D);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
        const auto& [own, read, shared, before] = sentences[i];
        X.middleRows(own.first, own.count) =
            embed(model, architecture.embedding, inputs[i].ids, inputs[i].types, shared.first());
        if (read.count > 0) {
            E.middleRows(read.first, read.count) = *inputs[i].encoded;
        }
    }
    return {std::move(sentences), std::move(X), std::move(E)};
}

/// What is asked of the states (T, D) that leave the last layer, to what a sentence gives.
void add_last(Outputs& outputs, const Model& model, Matrix<float> states, const Asked& asked, const core::Work& work)
{
    if (asked.logits != Logits::none) {
        const bool all = asked.logits == Logits::all;
        outputs.logits = as_tensor(
            logits_of(model, model.architecture().head.value(), all ? states : Matrix<float>(states.bottomRows(1)), work));
    }
    if (asked.last) {
        outputs.last = std::move(states);
    }
}

} // namespace

void require_tokens(const Architecture& architecture, const TokenInput& input, ErrorKind fault, std::string_view thing)
{
    const Index T = std::ssize(input.ids);
    if (T < 1 || T > architecture.most_tokens) {
        throw Error(fault, thing, std::to_string(T),
                    fmt::format("1 to {}, for which this model has positions", architecture.most_tokens));
    }
    if (!input.types.empty() && input.types.size() != input.ids.size()) {
        throw Error(fault, "type ids", std::to_string(input.types.size()), fmt::format("{}, one for each token, or none", T));
    }
}

void require_rows(const Architecture& architecture, const TokenInput& input, const Asked& asked, ErrorKind fault)
{
    const EmbeddingPart& part = architecture.embedding;
    const auto require_row = [&](const char* thing, Index row, Index rows) {
        if (row < 0 || row >= rows) {
            throw Error(fault, thing, std::to_string(row), fmt::format("0 to {}, the rows of its table", rows - 1));
        }
    };
    for (std::size_t t = 0; t < input.ids.size(); ++t) {
        require_row("token id", input.ids[t], part.V);
        require_row("type id", input.types.empty() ? 0 : input.types[t], part.types.empty() ? 1 : part.type_rows);
    }
    const Index T = std::ssize(input.ids);
    const Index count = std::min<Index>(layers_to_run(architecture, asked), std::ssize(architecture.layers));
    const std::span run = std::span(architecture.layers).first(static_cast<std::size_t>(count));
    const bool turn = std::ranges::any_of(run, [](const LayerPart& layer) { return layer.attention.rope.has_value(); });
    if (turn && T > core::most_positions) {
        throw Error(fault, "rotary positions", fmt::format("{} tokens", T), fmt::format("up to {}", core::most_positions));
    }
}

std::vector<Outputs> forward(const Model& model, std::span<const TokenInput> inputs, const Asked& asked, const core::Work& work,
                             const Take& take)
{
    const Architecture& architecture =
        stack_of(model.architecture(), asked.parts.empty() ? std::nullopt : std::optional(asked.parts.front()));
    for (const TokenInput& input : inputs) {
        require_input(architecture, input, asked);
    }
    SideBySide all = side_by_side(model, architecture, inputs);
    std::vector<Sentence>& sentences = all.sentences;
    Matrix<float>& X = all.X;
    const Index count = layers_to_run(architecture, asked);
    std::vector<Outputs> outputs(sentences.size());
    const auto keep_states = [&] {
        for (std::size_t i = 0; i < sentences.size() && asked.hidden_states; ++i) {
            outputs[i].hidden_states.push_back(as_tensor(sentences[i].tokens.of(X)));
        }
    };
    const bool states_asked = asked.hidden_states || asked.logits != Logits::none || asked.last;
    const Layers layers{model, architecture.causal, architecture.encoder ? &all.E : nullptr, sentences};
    for (Index l = 0; l < count; ++l) {
        keep_states();
        for (std::size_t i = 0; i < sentences.size(); ++i) {
            ReadBefore* before = inputs[i].before;
            sentences[i].before = before == nullptr ? nullptr : &before->layers.at(static_cast<std::size_t>(l));
        }
        const Asked own = asked_of(asked, l);
        const bool goes_on = l + 1 < count || states_asked || own.lens;
        std::vector<LayerStages> done =
            run_layer(layers, architecture.layers.at(static_cast<std::size_t>(l)), X, goes_on, own, work.piece(l, count));
        require_finite(X, l);
        for (LayerStages& stages : done) {
            stages.layer = l;
            if (!own.queries_keys_values) {
                stages.queries = stages.keys = stages.values = {};
            }
            if (own.lens && stages.part != Part::cross) {
                stages.lens = as_tensor(lens_of(model, sentences[stages.sentence].tokens.of(X), work.piece(l, count)));
            }
            take(std::move(stages));
        }
    }
    if (states_asked) {
        if (count == std::ssize(architecture.layers)) {
            normalise_by(model, architecture.final_norm, X);
        }
        keep_states();
        for (std::size_t i = 0; i < sentences.size(); ++i) {
            add_last(outputs[i], model, sentences[i].tokens.of(X), asked, work);
        }
    }
    return outputs;
}

Outputs forward(const Model& model, const TokenInput& input, const Asked& asked, const core::Work& work, const Take& take)
{
    return std::move(forward(model, std::span(&input, 1), asked, work, take).front());
}

} // namespace attn::transformer
