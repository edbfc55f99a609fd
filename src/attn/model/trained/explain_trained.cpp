#include "attn/model/trained/explain_trained.hpp"

#include "attn/model/layer/parameter_cache.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/trained/resolved_trained.hpp"
#include "attn/tensor/error.hpp"
#include "attn/transformer/layers/positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace attn::model {
namespace {

using transformer::AttentionPart;
using transformer::LinearPart;
using transformer::NormPart;

/// Of vectors that a layer makes of a word.
struct ProjectionPart {
    const LinearPart& linear;
    const std::optional<NormPart>* norm = nullptr; ///< of queries and keys
    bool turns = false;                            ///< by rotary positions, where there are some
};

ProjectionPart part_of(Target W, const AttentionPart& attention)
{
    switch (W) {
    case Target::W_q: return {attention.query, &attention.query_norm, true};
    case Target::W_k: return {attention.key, &attention.key_norm, true};
    case Target::W_v: return {attention.value};
    default: return {attention.output};
    }
}

/// The projections of a layer, number by number, as transformer::forward makes them.
class LayerProjections {
public:
    /// x (T, D): what queries, keys and values are made of. All of them outlive it.
    LayerProjections(const transformer::Model& model, const AttentionPart& attention, const Tensor<float>& x)
        : model_(model), attention_(attention), x_(x)
    {
    }

    [[nodiscard]] std::vector<Target> biases() const
    {
        std::vector<Target> found;
        for (const Target W : {Target::W_q, Target::W_k, Target::W_v, Target::W_o}) {
            if (part_of(W, attention_).linear.bias) {
                found.push_back(bias_of(W));
            }
        }
        return found;
    }

    [[nodiscard]] std::optional<Projected> projected(const Component& component, const std::vector<double>& context) const
    {
        const ProjectionPart part = part_of(component.W, attention_);
        const bool output = component.W == Target::W_o;
        const Index d = output ? part.linear.out : attention_.d;
        if (component.number >= d) {
            return std::nullopt;
        }
        Matrix<float> X = output ? Eigen::Map<const Matrix<double>>(context.data(), 1, std::ssize(context)).cast<float>()
                                 : Matrix<float>(x_.matrix().row(component.position));
        const Index first = component.head * d; // of this head's numbers
        const Index place = first + component.number;
        Projected made;
        made.W = component.W;
        made.position = component.position;
        add_terms(made, model_.linear(part.linear), X.row(0), place);
        Matrix<float> Y = transformer::apply(model_.linear(part.linear), X, {});
        made.value = static_cast<double>(Y(0, place));
        if (part.norm != nullptr && *part.norm) {
            made.norm = normed(model_.norm(**part.norm), Y, place);
        }
        if (part.turns && attention_.rope) {
            made.turn = turn(component, Y.middleCols(first, d));
        }
        return made;
    }

private:
    static void add_terms(Projected& made, const transformer::Linear& linear, const Matrix<float>& x, Index place)
    {
        const RowVector<float> weights = linear.weights_of(place);
        for (Index i = 0; i < x.size(); ++i) {
            made.x.push_back(static_cast<double>(x(0, i)));
            made.weights.push_back(static_cast<double>(weights[i]));
            made.products.push_back(static_cast<double>(x(0, i) * weights[i]));
        }
        if (!linear.bias.empty()) {
            made.bias = static_cast<double>(linear.bias[static_cast<std::size_t>(linear.row(place))]);
        }
    }

    /// Y is what the norm makes of it then.
    static Normed normed(const transformer::Norm& norm, Matrix<float>& Y, Index place)
    {
        const auto size = static_cast<Index>(norm.weight.size());
        const auto at = static_cast<std::size_t>(place % size);
        const Eigen::ArrayXd group = Y.row(0).segment(place - place % size, size).cast<double>().array();
        Normed made;
        made.mean = norm.kind == transformer::NormKind::layer ? group.mean() : 0;
        made.factor = 1 / std::sqrt((group - made.mean).square().mean() + norm.epsilon);
        made.weight = norm.weight[at];
        if (!norm.bias.empty()) {
            made.bias = norm.bias[at];
        }
        transformer::normalise(Y, norm);
        made.value = static_cast<double>(Y(0, place));
        return made;
    }

    /// Of this head's numbers before the turn; nothing for those that do not turn.
    [[nodiscard]] std::optional<Turn> turn(const Component& component, const Matrix<float>& head) const
    {
        const transformer::Rotation by = transformer::rotation(*attention_.rope, component.position + 1);
        const Index pairs = by.cosine.cols();
        const Index n = component.number;
        if (n >= 2 * pairs) {
            return std::nullopt;
        }
        const double sine = by.sine(component.position, n % pairs);
        Turn made;
        made.partner = (n + pairs) % (2 * pairs);
        made.other = static_cast<double>(head(0, made.partner));
        made.own = by.cosine(component.position, n % pairs);
        made.others = n < pairs ? -sine : sine;
        const double sum = static_cast<double>(head(0, n)) * made.own + made.other * made.others;
        made.value = static_cast<double>(static_cast<float>(sum));
        return made;
    }

    const transformer::Model& model_;
    const AttentionPart& attention_;
    const Tensor<float>& x_;
};

/// Makes what enters the layer what its projections read.
Tensor<float>& normalise_embeddings(Layer& layer, const transformer::Model& model, const std::optional<NormPart>& norm)
{
    const auto array = std::ranges::find(layer.arrays, name_of(Item::embeddings), &Array::name);
    auto& x = std::get<Tensor<float>>(array->tensor);
    if (norm) {
        Matrix<float> X = x.matrix();
        transformer::normalise(X, model.norm(*norm));
        x.matrix() = X;
    }
    return x;
}

/// (H, T, T), where the model has one.
std::optional<Tensor<float>> bias_by_distance(const transformer::Model& model, Index T)
{
    const auto& part = model.architecture().relative_bias;
    return part ? std::optional(transformer::relative_bias(*part, transformer::all_rows(model.table(part->name)), T))
                : std::nullopt;
}

void require_heads_by_number(const std::vector<Index>& heads, const Origin& origin)
{
    if (is_mean(heads)) {
        throw Error(origin.fault({&trained_field::head}), origin.name_of(trained_field::head), field::head.allowed.instead,
                    "heads by number, which are explained one by one");
    }
}

void require_one_stack(const transformer::Architecture& architecture)
{
    if (architecture.encoder) {
        throw Error(ErrorKind::usage, fmt::format("explain: {} has an encoder and a decoder; allowed: models of one stack; "
                                                  "`attn-cli run` shows the numbers of these",
                                                  architecture.type));
    }
}

} // namespace

std::vector<Explanation> explain_trained(TrainedConfig config, const Trained& trained, Question question,
                                         const RunSettings& settings)
{
    const transformer::Architecture& architecture = trained.model.architecture();
    require_one_stack(architecture);
    const auto or_first = [](const std::vector<Index>& named) { return named.empty() ? std::vector<Index>{0} : named; };
    const std::vector<Index> heads_of_all = or_first(config.head);
    const std::map<Index, std::vector<Index>> named = heads_by_layer(config);
    const auto heads_in = [&](Index layer) { return named.contains(layer) ? named.at(layer) : heads_of_all; };
    require_heads_by_number(heads_of_all, settings.origin);
    config.head.clear(); // each is explained as one of all
    config.layer_heads.clear();
    config.layers = or_first(config.layers);
    if (config.query.empty()) {
        config.query = {"0"};
    }
    RunSettings run_settings = settings;
    run_settings.show = everything(config, trained);
    const ResolvedTrained resolved(config, trained, run_settings);
    const std::vector<std::string>& tokens = resolved.tokens.words;
    question.position = one_position(resolved.query_positions, config.query, tokens, settings.origin);
    for (const Index layer : resolved.parts.front().layers) {
        const AttentionPart& part = architecture.layers[static_cast<std::size_t>(layer)].attention;
        for (const Index head : heads_in(layer)) {
            question.head = head;
            require_explainable(
                question,
                {.tokens = tokens, .keys = tokens, .heads = part.H, .d_k = part.d, .d_v = part.d, .outputs = part.output.out},
                settings);
        }
    }
    Result run = run_trained(resolved);

    const std::optional<Tensor<float>> bias = bias_by_distance(trained.model, std::ssize(run.tokens));
    if (bias) {
        run_settings.mask = row_major_view(ElementType::float32, bias->shape, std::as_bytes(std::span(bias->values)));
    }
    std::vector<Explanation> explanations;
    for (question.layer = 0; question.layer < run.layers.size(); ++question.layer) {
        Layer& layer = run.layers[question.layer];
        const transformer::LayerPart& part = architecture.layers[static_cast<std::size_t>(*layer.number)];
        const LayerProjections projections(trained.model, part.attention,
                                           normalise_embeddings(layer, trained.model, part.attention_in));
        LayerTerms terms{.place = {config, *layer.number, part.attention_in.has_value(), bias.has_value()},
                         .biases = projections.biases(),
                         .projected = [&](const Component& component, const std::vector<double>& context) {
                             return projections.projected(component, context);
                         }};
        if (part.attention.rope && part.attention.rope->scaling != transformer::RopeScaling::none) {
            terms.place.frequencies =
                transformer::rope_scaling_names.at(static_cast<std::size_t>(part.attention.rope->scaling));
        }
        for (const Index head : heads_in(*layer.number)) {
            question.head = head;
            terms.place.config.layers = {*layer.number};
            terms.place.config.head = {head};
            terms.place.config.query = {std::to_string(question.position)};
            explanations.push_back(explain(run, question, run_settings, &terms));
        }
    }
    return explanations;
}

} // namespace attn::model
