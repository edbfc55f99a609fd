#include "attn/model/compute.hpp"

#include "attn/core/projection.hpp"
#include "attn/core/stages.hpp"
#include "attn/core/tiled.hpp"
#include "attn/model/mask.hpp"
#include "attn/model/overrides.hpp"

#include <algorithm>
#include <cmath>

namespace attn::model {
namespace {

template <typename Scalar>
constexpr const char* type_name = sizeof(Scalar) == 4 ? "float32" : "float64";

template <typename Scalar>
using Parameters = std::vector<Parameter<Scalar>>;

template <typename Scalar>
const Parameter<Scalar>* find(const Parameters<Scalar>& parameters, Target target)
{
    const auto found =
        std::find_if(parameters.begin(), parameters.end(), [&](const auto& parameter) { return parameter.target == target; });
    return found == parameters.end() ? nullptr : &*found;
}

template <typename Scalar>
RowVector<double> bias(const Parameters<Scalar>& parameters, Target target)
{
    const auto* b = find(parameters, target);
    return b == nullptr ? RowVector<double>() : RowVector<double>(b->tensor.matrix().template cast<double>());
}

template <typename Scalar>
Tensor<Scalar> converted(const Tensor<double>& tensor)
{
    Tensor<Scalar> other(tensor.shape);
    std::transform(tensor.values.begin(), tensor.values.end(), other.values.begin(),
                   [](double value) { return static_cast<Scalar>(value); });
    return other;
}

/// The rows of `tensor` (n, rows, d) at `positions`.
template <typename Scalar>
Tensor<Scalar> select_rows(const Tensor<Scalar>& tensor, const std::vector<Index>& positions)
{
    if (static_cast<Index>(positions.size()) == tensor.rows()) {
        return tensor;
    }
    Tensor<Scalar> selected({tensor.shape[0], static_cast<Index>(positions.size()), tensor.columns()});
    for (Index h = 0; h < tensor.shape[0]; ++h) {
        for (std::size_t i = 0; i < positions.size(); ++i) {
            selected.matrix(h).row(static_cast<Index>(i)) = tensor.matrix(h).row(positions[i]);
        }
    }
    return selected;
}

/// The embeddings of a sequence, (T, D): looked up by id, or as drawn by position.
template <typename Scalar>
Tensor<Scalar> embed(const Parameters<Scalar>& parameters, const std::vector<Index>& ids, Target by_position)
{
    if (const auto* drawn = find(parameters, by_position)) {
        return drawn->tensor;
    }
    const Tensor<Scalar>& table = find(parameters, Target::embedding)->tensor;
    Tensor<Scalar> X({static_cast<Index>(ids.size()), table.columns()});
    for (std::size_t t = 0; t < ids.size(); ++t) {
        X.matrix().row(static_cast<Index>(t)) = table.matrix().row(ids[t]);
    }
    return X;
}

core::Keep stages_to_keep(const Show& show)
{
    return {.scores = show.contains(Item::scores),
            .scaled_scores = show.contains(Item::scaled_scores),
            .capped_scores = show.contains(Item::capped_scores),
            .masked_scores = show.contains(Item::masked_scores),
            .weights = show.contains(Item::weights),
            .entropy = show.contains(Item::entropy)};
}

template <typename Scalar>
class Computation {
public:
    explicit Computation(const Plan& plan) : plan_(plan) {}

    ComputedArrays compute()
    {
        const Lengths& l = plan_.lengths;
        tell("parameters", {static_cast<Index>(plan_.recipe.draws.size())});
        parameters_ = draw_parameters<Scalar>(plan_.recipe, l, plan_.words.cross);
        if (plan_.embedding != nullptr) {
            parameters_.insert(parameters_.begin(), {Target::embedding, Side::left, converted<Scalar>(*plan_.embedding)});
        }

        tell("embeddings", {l.T, l.D});
        const Tensor<Scalar> X = embed(parameters_, plan_.words.ids, Target::embeddings);
        const Tensor<Scalar> Y =
            plan_.words.cross ? embed(parameters_, plan_.words.key_ids, Target::key_embeddings) : Tensor<Scalar>();
        const Tensor<Scalar>& keys_from = plan_.words.cross ? Y : X;

        Tensor<Scalar> Q = project("queries", X, {Target::W_q, Target::b_q, l.H});
        Tensor<Scalar> K = project("keys", keys_from, {Target::W_k, Target::b_k, l.H_kv});
        Tensor<Scalar> V = project("values", keys_from, {Target::W_v, Target::b_v, l.H_kv});
        keep(Item::embeddings, X);
        keep(Item::key_embeddings, Y);
        if (plan_.show.contains(Item::queries)) {
            keep(Item::queries, select_rows(Q, plan_.rows));
        }
        keep(Item::keys, K);
        keep(Item::values, V);

        if (std::any_of(plan_.show.begin(), plan_.show.end(), [](Item item) { return item >= Item::scores; })) {
            attend(std::move(Q), std::move(K), std::move(V));
        }
        keep_parameters();
        return std::move(computed_);
    }

private:
    struct Projection {
        Target W;
        Target b;
        Index heads;
    };

    /// X (T, D) → (heads, T, d)
    Tensor<Scalar> project(const char* name, const Tensor<Scalar>& X, const Projection& layer)
    {
        const Matrix<double> W = as_right_factor(*find(parameters_, layer.W), layer.heads);
        Shape shape{layer.heads, X.rows(), W.cols() / layer.heads};
        if (layer.W == Target::W_o) { // of all heads together
            shape.erase(shape.begin());
        }
        tell(name, shape);
        Tensor<Scalar> heads =
            core::project_heads<Scalar>(X.matrix(), W, bias(parameters_, layer.b), layer.heads, work(name, shape));
        warn_of_overflow(name, heads);
        return heads;
    }

    void attend(Tensor<Scalar> Q, Tensor<Scalar> K, Tensor<Scalar> V)
    {
        const Attention& options = plan_.recipe.attention;
        const Lengths& l = plan_.lengths;
        // K·Qᵀ is Q·Kᵀ with the two projections in each other's place; the values stay.
        if (options.order == ScoreOrder::key_query) {
            std::swap(Q, K);
        }
        core::Heads<Scalar> heads{select_rows(Q, plan_.rows), std::move(K), std::move(V), plan_.rows};
        MaskRows chosen; // outlives the view of it
        if (options.mask) {
            heads.mask = broadcast_mask(*plan_.settings.mask, {l.H, l.T, l.S});
            if (static_cast<Index>(plan_.rows.size()) != l.T) {
                chosen = mask_rows(*heads.mask, plan_.rows);
                heads.mask = chosen.view();
            }
        }
        const Shape shape{l.H, static_cast<Index>(plan_.rows.size()), l.S};
        tell("attention", shape);
        core::Stages<Scalar> stages = attention(
            heads, {.scale = options.scale, .softcap = options.softcap, .causal = options.causal, .window = options.window},
            work("attention", shape));
        if (stages.overflowed) {
            warn(std::string("scores: a dot product, or its scaling, overflowed ") + type_name<Scalar>);
        }
        Tensor<Scalar> context = core::concatenate(stages.head_context);
        warn_of_overflow("context", context);
        Tensor<Scalar> output;
        if (plan_.show.contains(Item::output)) {
            output = project("output", context, {Target::W_o, Target::b_o, 1});
            output.shape.erase(output.shape.begin());
        }
        keep(Item::scores, std::move(stages.scores));
        keep(Item::scaled_scores, std::move(stages.scaled_scores));
        keep(Item::capped_scores, std::move(stages.capped_scores));
        keep(Item::masked_scores, std::move(stages.masked_scores));
        keep(Item::weights, std::move(stages.weights));
        keep(Item::head_context, std::move(stages.head_context));
        keep(Item::context, std::move(context));
        keep(Item::output, std::move(output));
        keep(Item::entropy, std::move(stages.entropy));
    }

    core::Stages<Scalar> attention(const core::Heads<Scalar>& heads, const core::AttentionOptions& options,
                                   const core::Work& work) const
    {
        if constexpr (std::is_same_v<Scalar, float>) {
            return core::attention(heads, options, stages_to_keep(plan_.show), work, plan_.settings.isa);
        } else {
            return core::attention(heads, options, stages_to_keep(plan_.show), work);
        }
    }

    template <typename AnyReference> // copies or moves, but only what is wanted
    void keep(Item item, AnyReference&& tensor)
    {
        if (plan_.show.contains(item)) {
            computed_.arrays.push_back({std::string(name_of(item)), std::forward<AnyReference>(tensor)});
        }
    }

    void keep_parameters()
    {
        for (Parameter<Scalar>& parameter : parameters_) {
            if (is_parameter(parameter.target)) {
                computed_.parameters.push_back({std::string(name_of(parameter.target)), std::move(parameter.tensor)});
            }
        }
    }

    void warn(std::string warning) { computed_.warnings.push_back(std::move(warning)); }

    void warn_of_overflow(const char* name, const Tensor<Scalar>& tensor)
    {
        const auto finite = [](Scalar value) { return std::isfinite(value); };
        if (!std::all_of(tensor.values.begin(), tensor.values.end(), finite)) {
            warn(std::string(name) + ": a dot product overflowed " + type_name<Scalar>);
        }
    }

    void tell(std::string_view stage, const Shape& shape, double share = 0) const
    {
        if (plan_.settings.observer) {
            plan_.settings.observer({stage, shape, share});
        }
    }

    [[nodiscard]] core::Work work(std::string_view stage, const Shape& shape) const
    {
        core::Work work{plan_.settings.threads, {}};
        if (plan_.settings.observer) {
            work.progress = [this, stage, shape](double share) { tell(stage, shape, share); };
        }
        return work;
    }

    const Plan& plan_;
    Parameters<Scalar> parameters_;
    ComputedArrays computed_;
};

} // namespace

template <typename Scalar>
ComputedArrays compute(const Plan& plan)
{
    return Computation<Scalar>(plan).compute();
}

template ComputedArrays compute<float>(const Plan&);
template ComputedArrays compute<double>(const Plan&);

} // namespace attn::model
