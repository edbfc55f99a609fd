#include "attn/model/run/compute.hpp"

#include "attn/core/projection.hpp"
#include "attn/core/stages.hpp"
#include "attn/model/layer/batch.hpp"
#include "attn/model/layer/extra_key.hpp"
#include "attn/model/layer/mask.hpp"
#include "attn/model/recipe/overrides.hpp"
#include "attn/model/run/taken.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::model {
namespace {

/// The rows of a table (V, D) at `ids`.
template <typename Scalar>
Tensor<Scalar> rows_of(const Tensor<Scalar>& table, const std::vector<Index>& ids)
{
    Tensor<Scalar> X({static_cast<Index>(ids.size()), table.columns()});
    for (std::size_t t = 0; t < ids.size(); ++t) {
        X.matrix().row(static_cast<Index>(t)) = table.matrix().row(ids[t]);
    }
    return X;
}

/// Likewise of a file.
template <typename Scalar>
Tensor<Scalar> rows_of(const TensorView& table, const std::vector<Index>& ids)
{
    Tensor<Scalar> X({static_cast<Index>(ids.size()), table.shape[1]});
    for (std::size_t t = 0; t < ids.size(); ++t) {
        X.matrix().row(static_cast<Index>(t)) = load_matrix<Scalar>(row_block(table, ids[t], 1), {});
    }
    return X;
}

/// The words of one side.
template <typename Scalar>
struct Sequence {
    const std::vector<Index>& ids;
    Tensor<Scalar> X; ///< (T, D); empty where only projections of the table are needed
};

template <typename Scalar>
std::vector<Array> named(std::vector<Parameter<Scalar>> parameters)
{
    std::vector<Array> arrays;
    for (Parameter<Scalar>& parameter : parameters) {
        if (is_parameter(parameter.target)) {
            arrays.push_back({std::string(name_of(parameter.target)), std::move(parameter.tensor), parameter.side});
        }
    }
    return arrays;
}

template <typename Scalar>
class Computation {
public:
    Computation(const ResolvedRun& run, const PreparedParameters<Scalar>& prepared) : run_(run), prepared_(prepared) {}

    ComputedArrays compute()
    {
        Inputs made = prepared_.parameter(Target::queries) != nullptr ? as_given() : from_embeddings();
        if (const auto* extra = prepared_.parameter(Target::bias_k)) {
            made.K = with_row(made.K, extra->tensor);
            made.V = with_row(made.V, prepared_.parameter(Target::bias_v)->tensor);
        }
        if (run_.wanted.contains(Item::queries)) {
            keep(Item::queries, taken(made.Q, 1, run_.rows));
        }
        keep(Item::keys, made.K);
        keep(Item::values, made.V);

        if (run_.wanted.contains_any_from(Item::scores)) {
            attend(std::move(made.Q), std::move(made.K), std::move(made.V));
        }
        keep_heads(computed_.arrays, run_.heads);
        return std::move(computed_);
    }

private:
    /// What attention reads: (H, T, d_k), (H_kv, S, d_k), (H_kv, S, d_v).
    struct Inputs {
        Tensor<Scalar> Q, K, V;
    };

    Inputs from_embeddings()
    {
        const ModelDims& dims = run_.dims;
        tell(name_of(Item::embeddings), {dims.T, dims.D});
        const Words& words = run_.words;
        const std::vector<Index>& key_ids = words.cross ? words.key_ids : words.ids;
        const bool other_keys = words.cross || prepared_.parameter(Target::key_embedding) != nullptr;
        const bool other_values = prepared_.parameter(Target::value_embedding) != nullptr;
        const Sequence<Scalar> queries_from =
            embed(words.ids, {.by_position = Target::embeddings, .by_id = Target::embedding, .read_by = Target::W_q});
        const Sequence<Scalar> other =
            other_keys ? embed(key_ids,
                               {.by_position = Target::key_embeddings, .by_id = Target::key_embedding, .read_by = Target::W_k})
                       : Sequence<Scalar>{key_ids, {}};
        const Sequence<Scalar> third =
            other_values
                ? embed(key_ids, {.by_position = Target::none, .by_id = Target::value_embedding, .read_by = Target::W_v})
                : Sequence<Scalar>{key_ids, {}};
        const Sequence<Scalar>& keys_from = other_keys ? other : queries_from;

        Inputs made;
        made.Q = apply_rope(project(Item::queries, queries_from, Target::W_q, dims.H));
        made.K = apply_rope(project(Item::keys, keys_from, Target::W_k, dims.H_kv));
        made.V = project(Item::values, other_values ? third : keys_from, Target::W_v, dims.H_kv);
        keep(Item::embeddings, queries_from.X);
        keep(Item::key_embeddings, other.X);
        return made;
    }

    /// As the recipe draws or states them.
    Inputs as_given() const
    {
        const ModelDims& dims = run_.dims;
        const auto by_head = [&](Target target, Index heads) {
            Tensor<Scalar> tensor = prepared_.parameter(target)->tensor;
            tensor.shape = {heads, tensor.shape[tensor.shape.size() - 2], tensor.columns()};
            tell(name_of(target), tensor.shape);
            return tensor;
        };
        return {apply_rope(by_head(Target::queries, dims.H)), apply_rope(by_head(Target::keys, dims.H_kv)),
                by_head(Target::values, dims.H_kv)};
    }

    /// Where the words of one side come from.
    struct Embedding {
        Target by_position; ///< as drawn
        Target by_id;       ///< the table; where there is none, that of all
        Target read_by;     ///< the projection
    };

    /// As drawn by position, or looked up by id; with the sinusoids of its positions, if asked for.
    Sequence<Scalar> embed(const std::vector<Index>& ids, const Embedding& from) const
    {
        const auto placed = [&](Tensor<Scalar> X) {
            if (const auto* learned = prepared_.parameter(Target::position_embedding)) {
                X.matrix() += learned->tensor.matrix().topRows(X.rows());
            }
            if (!run_.recipe.attention.placed_by(PositionKind::sinusoidal)) {
                return X;
            }
            return core::add_sinusoids(std::move(X));
        };
        if (const auto* drawn = prepared_.parameter(from.by_position)) {
            return {ids, placed(drawn->tensor)};
        }
        const bool shown =
            from.read_by == Target::W_q ? run_.wanted.contains(Item::embeddings) : run_.wanted.contains(Item::key_embeddings);
        if (is_projected(from.read_by) && !shown) {
            return {ids, {}};
        }
        const auto* own = prepared_.parameter(from.by_id);
        if (own == nullptr && run_.table) {
            return {ids, placed(rows_of<Scalar>(run_.table->rows.view, ids))};
        }
        const Parameter<Scalar>& table = own == nullptr ? *prepared_.parameter(Target::embedding) : *own;
        return {ids, placed(rows_of<Scalar>(table.tensor, ids))};
    }

    /// Whether the rows of its table are projected already.
    [[nodiscard]] bool is_projected(Target W) const
    {
        const PreparedLayer<Scalar>* ready = prepared_.layer(W);
        return ready != nullptr && !ready->of_table.values.empty();
    }

    /// Queries or keys (heads, T, d_k), by their positions, if asked for.
    Tensor<Scalar> apply_rope(Tensor<Scalar> X) const
    {
        if (!run_.recipe.attention.placed_by(PositionKind::rope)) {
            return X;
        }
        return core::apply_rope(std::move(X), run_.recipe.attention.positions->rope);
    }

    /// X (T, D) → (heads, T, d)
    Tensor<Scalar> project(Item item, const Sequence<Scalar>& sequence, Target W, Index heads)
    {
        if (!is_projected(W)) {
            return project(item, sequence.X, W, heads);
        }
        const PreparedLayer<Scalar>* ready = prepared_.layer(W);
        const Tensor<Scalar>& table = ready->of_table;
        tell(name_of(item), {heads, static_cast<Index>(sequence.ids.size()), table.columns()});
        Tensor<Scalar> rows = taken(table, 1, sequence.ids);
        const auto overflowed = [&](Index id) { return ready->overflowed[static_cast<std::size_t>(id)]; };
        if (!ready->overflowed.empty() && std::ranges::any_of(sequence.ids, overflowed)) {
            warn_of_overflow(item);
        }
        return rows;
    }

    Tensor<Scalar> project(Item item, const Tensor<Scalar>& X, Target W, Index heads)
    {
        const PreparedLayer<Scalar>* ready = prepared_.layer(W);
        const PreparedLayer<Scalar> made = ready == nullptr ? make_layer(prepared_, W, heads) : PreparedLayer<Scalar>{};
        const PreparedLayer<Scalar>& layer = ready == nullptr ? made : *ready;
        const Shape all_heads{heads, X.rows(), layer.W.cols() / heads};
        const Shape shape(all_heads.begin() + (W == Target::W_o ? 1 : 0), all_heads.end()); // W_o is of all heads together
        tell(name_of(item), shape);
        Tensor<Scalar> projected = core::project_heads<Scalar>(X.matrix(), layer.W, layer.b, heads, work(name_of(item), shape));
        const std::vector<bool> overflowed = overflowed_rows(X, layer, projected);
        if (std::ranges::find(overflowed, true) != overflowed.end()) {
            warn_of_overflow(item);
        }
        return projected;
    }

    void attend(Tensor<Scalar> Q, Tensor<Scalar> K, Tensor<Scalar> V)
    {
        const Attention& options = run_.recipe.attention;
        const ModelDims& dims = run_.dims;
        // K·Qᵀ is Q·Kᵀ with the two projections in each other's place; the values stay.
        if (options.order == ScoreOrder::key_query) {
            std::swap(Q, K);
        }
        const bool all = std::ssize(run_.rows) == Q.rows();
        const Tensor<Scalar> queries = all ? std::move(Q) : taken(Q, 1, run_.rows);
        core::AttentionInputs inputs{core::as_batch(queries), core::as_batch(K), core::as_batch(V)};
        inputs.query_positions = run_.rows;
        if (run_.recipe.attention.placed_by(PositionKind::alibi)) {
            inputs.slopes = core::alibi_slopes(dims.H);
        }
        if (const std::optional<TensorView>& mask = run_.mask.view()) {
            inputs.mask = core::as_batch(broadcast_mask(*mask, {dims.H, dims.T, dims.S}, ShortMask::repeats));
        }
        computed_.extra_key = inputs.extra_key = K.rows() > dims.S;
        inputs.score_parameters = score_parameters();
        std::vector<std::uint8_t> not_dropped;
        if (options.dropout) {
            not_dropped = draw_kept(*options.dropout, {dims.H, dims.T, K.rows()});
            inputs.kept =
                row_major_view(ElementType::boolean, {1, dims.H, dims.T, K.rows()}, std::as_bytes(std::span(not_dropped)));
        }
        const Shape shape{dims.H, queries.rows(), K.rows()};
        tell("attention", shape);
        core::Stages<Scalar> stages =
            core::attention<Scalar>(inputs, options, stages_of(run_.wanted), work("attention", shape));
        computed_.portable_because = stages.portable_because;
        // What was infinite or NaN before has been warned of, or was allowed.
        if (stages.overflowed && all_finite<Scalar>(queries.values) && all_finite<Scalar>(K.values)) {
            warn_of_overflow(Item::scores, "a dot product, or its scaling,");
        }
        Tensor<Scalar> context = core::concatenate(stages[core::Stage::head_context]);
        if (!stages.overflowed && !all_finite<Scalar>(context.values) && all_finite<Scalar>(V.values)) {
            warn_of_overflow(Item::context);
        }
        Tensor<Scalar> output;
        if (run_.wanted.contains(Item::output)) {
            output = project(Item::output, context, Target::W_o, 1);
            output.shape.erase(output.shape.begin());
        }
        for (const core::Stage stage : core::every_stage) {
            keep(item_of(stage), std::move(stages[stage]));
        }
        keep(Item::context, std::move(context));
        keep(Item::output, std::move(output));
    }

    /// Of each query head; nothing where scores have no parameters.
    [[nodiscard]] std::vector<core::ScoreParameters> score_parameters() const
    {
        const Index H = run_.dims.H;
        std::vector<core::ScoreParameters> parameters(run_.dims.d_a == 0 ? 0 : static_cast<std::size_t>(H));
        for (std::size_t h = 0; h < parameters.size(); ++h) {
            parameters[h] = score_parameters_of(prepared_, static_cast<Index>(h), H);
        }
        return parameters;
    }

    /// 1 for each weight that dropout leaves.
    [[nodiscard]] std::vector<std::uint8_t> draw_kept(const core::Dropout& dropout, const Shape& weights) const
    {
        random::TorchStream stream =
            dropout.seed ? random::TorchStream(*dropout.seed) : std::get<random::TorchStream>(*prepared_.stream);
        const Index own = element_count(weights);
        const Index count = checked_product(own, batch_size(run_.recipe).value_or(1), "memory for dropout");
        std::vector<std::uint8_t> kept =
            dropout.mkl ? stream.bernoulli_of_mkl(count, 1 - dropout.p, run_.recipe.dtype == Dtype::float64)
                        : stream.bernoulli(count, 1 - dropout.p);
        const auto first = kept.begin() + own * run_.recipe.entry.value_or(0);
        return count == own ? std::move(kept) : std::vector<std::uint8_t>(first, first + own);
    }

    /// In the place that the order of items gives it.
    template <typename AnyReference> // copies or moves, but only what is wanted
    void keep(Item item, AnyReference&& tensor)
    {
        if (run_.wanted.contains(item)) {
            const auto place = computed_.arrays.begin() + kept_.count_before(item);
            computed_.arrays.insert(place, {std::string(name_of(item)), std::forward<AnyReference>(tensor)});
            kept_.insert(item);
        }
    }

    void warn(std::string warning) { computed_.warnings.push_back(std::move(warning)); }

    void warn_of_overflow(Item item, const char* what = "a dot product")
    {
        constexpr bool is_widest = std::is_same_v<Scalar, double>;
        warn(fmt::format("{}: {} overflowed {}{}", name_of(item), what, name_of(dtype_of<Scalar>),
                         is_widest ? "" : "; --dtype float64 has more room"));
    }

    void tell(std::string_view stage, const Shape& shape) const
    {
        if (run_.settings.observer) {
            run_.settings.observer({stage, shape, 0});
        }
    }

    /// A list costs nothing where nobody hears of it.
    void tell(std::string_view stage, std::initializer_list<Index> shape) const
    {
        if (run_.settings.observer) {
            run_.settings.observer({stage, shape, 0});
        }
    }

    [[nodiscard]] core::Work work(std::string_view stage, const Shape& shape) const
    {
        core::Work work{.threads = run_.settings.threads, .isa = run_.settings.isa, .rounding = run_.recipe.rounding};
        if (run_.settings.observer) {
            work.progress = [this, stage, shape](double share) { run_.settings.observer({stage, shape, share}); };
        }
        return work;
    }

    const ResolvedRun& run_;
    const PreparedParameters<Scalar>& prepared_;
    ComputedArrays computed_;
    Show kept_;
};

} // namespace

template <typename Scalar>
ComputedArrays compute(const ResolvedRun& run)
{
    ComputedArrays computed;
    if (run.preparations != nullptr) {
        const PreparedParameters<Scalar>& shared = run.preparations->of<Scalar>(run.draws, run.recipe, run.parameter_inputs());
        computed = Computation<Scalar>(run, shared).compute();
        if (!run.wanted.contains(Item::parameters)) {
            return computed;
        }
        computed.parameters = named(shared.parameters);
    } else {
        Drawn<Scalar> drawn = draw_parameters<Scalar>(*run.draws);
        PreparedParameters<Scalar> own{std::move(drawn.parameters), {}, std::move(drawn.stream)};
        computed = Computation<Scalar>(run, own).compute();
        computed.parameters = named(std::move(own.parameters));
    }
    if (run.table && run.wanted.contains(Item::parameters)) { // the first of Target; it may be large
        const auto first = computed.parameters.begin();
        computed.parameters.insert(first, {std::string(name_of(Target::embedding)), load<Scalar>(run.table->rows.view)});
    }
    return computed;
}

template ComputedArrays compute<float>(const ResolvedRun&);
template ComputedArrays compute<double>(const ResolvedRun&);

} // namespace attn::model
