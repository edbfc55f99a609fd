#include "attn/model/layer/parameter_cache.hpp"

#include "attn/core/projection.hpp"

#include <algorithm>

namespace attn::model {
namespace {

/// All that is remembered of one type, and the most that one entry may take of it.
constexpr Index most_bytes = Index{8} << 20U;
constexpr Index most_bytes_of_one = most_bytes / 8;

bool depends_on_tokens(const Step& step)
{
    const auto* draw = std::get_if<Draw>(&step);
    if (draw == nullptr) {
        return false;
    }
    const auto names_tokens = [](const Length& length) {
        const auto* letters = std::get_if<std::string>(&length);
        return letters != nullptr && letters->find_first_of("TS") != std::string::npos;
    };
    return is_by_position(draw->target) || draw->target == Target::position_embedding ||
           (draw->shape && std::any_of(draw->shape->begin(), draw->shape->end(), names_tokens));
}

/// Bytes of an entry: the draws and the factors, and the table's projections; more than that is not worth a count.
template <typename Scalar>
Index bytes_of(const DrawPlan& plan, const ModelDims& dims)
{
    constexpr const char* what = "memory for the parameters";
    Index scalars = 0;
    for (const auto& step : plan.steps) {
        if (const auto* draw = std::get_if<PlannedDraw>(&step)) {
            scalars = checked_sum(scalars, draw->count, what);
        }
    }
    const Index width =
        element_count({dims.H, dims.d_k}) + element_count({dims.H_kv, dims.d_k}) + element_count({dims.H_kv, dims.d_v});
    scalars = checked_sum(scalars, checked_product(width, dims.V, what), what);
    const Index factors = checked_sum(checked_product(width, std::max({dims.D, dims.keys_read(), dims.values_read()}), what),
                                      element_count({dims.H, dims.d_v, dims.outputs()}), what);
    return checked_sum(checked_product(scalars, sizeof(Scalar), what), checked_product(factors, sizeof(double), what), what);
}

/// The table whose rows a projection reads; nothing where positions come between.
template <typename Scalar>
const Parameter<Scalar>* table_of(const PreparedParameters<Scalar>& prepared, Target W, const Recipe& recipe)
{
    if (recipe.attention.placed_by(PositionKind::sinusoidal) || prepared.parameter(Target::position_embedding) != nullptr) {
        return nullptr;
    }
    const auto first = [&](std::initializer_list<Target> targets) -> const Parameter<Scalar>* {
        for (const Target target : targets) {
            if (const Parameter<Scalar>* table = prepared.parameter(target)) {
                return table;
            }
        }
        return nullptr;
    };
    switch (W) {
    case Target::W_q: return first({Target::embedding});
    case Target::W_k: return first({Target::key_embedding, Target::embedding});
    default: return first({Target::value_embedding, Target::key_embedding, Target::embedding});
    }
}

template <typename Scalar>
std::vector<PreparedLayer<Scalar>> make_layers(const PreparedParameters<Scalar>& prepared, const ModelDims& dims,
                                               const Recipe& recipe)
{
    std::vector<PreparedLayer<Scalar>> layers;
    for (const auto& [target, heads] : {std::pair{Target::W_q, dims.H}, {Target::W_k, dims.H_kv}, {Target::W_v, dims.H_kv}}) {
        if (prepared.parameter(target) == nullptr) { // queries, keys and values are given
            continue;
        }
        layers.push_back(make_layer(prepared, target, heads));
        PreparedLayer<Scalar>& layer = layers.back();
        if (const Parameter<Scalar>* table = table_of(prepared, target, recipe)) {
            layer.of_table =
                core::project_heads<Scalar>(table->tensor.matrix(), layer.W, layer.b, heads, {.rounding = recipe.rounding});
            layer.overflowed = overflowed_rows(table->tensor, layer, layer.of_table);
        }
    }
    if (prepared.parameter(Target::W_o) != nullptr) {
        layers.push_back(make_layer(prepared, Target::W_o, 1));
    }
    return layers;
}

} // namespace

Target bias_of(Target W)
{
    switch (W) {
    case Target::W_q: return Target::b_q;
    case Target::W_k: return Target::b_k;
    case Target::W_v: return Target::b_v;
    default: return Target::b_o;
    }
}

template <typename Scalar>
const Parameter<Scalar>* PreparedParameters<Scalar>::parameter(Target target) const
{
    const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.target == target; });
    return found == parameters.end() ? nullptr : &*found;
}

template <typename Scalar>
const PreparedLayer<Scalar>* PreparedParameters<Scalar>::layer(Target target) const
{
    const auto found = std::find_if(layers.begin(), layers.end(), [&](const auto& l) { return l.target == target; });
    return found == layers.end() ? nullptr : &*found;
}

template <typename Scalar>
PreparedLayer<Scalar> make_layer(const PreparedParameters<Scalar>& prepared, Target W, Index heads)
{
    PreparedLayer<Scalar> layer{.target = W, .W = as_right_factor(*prepared.parameter(W), heads), .b = {}};
    if (const Parameter<Scalar>* b = prepared.parameter(bias_of(W))) {
        layer.b = b->tensor.matrix().template cast<double>();
    }
    return layer;
}

template <typename Scalar>
core::ScoreParameters score_parameters_of(const PreparedParameters<Scalar>& prepared, Index h, Index H)
{
    const auto matrix = [&](Target target) -> Matrix<double> {
        const Parameter<Scalar>* W = prepared.parameter(target);
        if (W == nullptr) {
            return {};
        }
        const Matrix<double> all = as_right_factor(*W, H);
        const Index d_a = all.cols() / H;
        return all.middleCols(h * d_a, d_a);
    };
    const auto vector = [&](Target target) -> RowVector<double> {
        const Parameter<Scalar>* v = prepared.parameter(target);
        if (v == nullptr) {
            return {};
        }
        const Index size = element_count(v->tensor.shape) / H;
        return Eigen::Map<const RowVector<Scalar>>(v->tensor.values.data() + h * size, size).template cast<double>();
    };
    core::ScoreParameters own{matrix(Target::W_a), matrix(Target::U_a), vector(Target::v_a), vector(Target::b_Wa),
                              vector(Target::b_Ua)};
    if (const RowVector<double> b_va = vector(Target::b_va); b_va.size() != 0) {
        own.b_va = b_va(0);
    }
    return own;
}

template <typename Scalar>
std::vector<bool> overflowed_rows(const Tensor<Scalar>& X, const PreparedLayer<Scalar>& layer, const Tensor<Scalar>& projected)
{
    if (all_finite<Scalar>(projected.values)) {
        return {};
    }
    std::vector<bool> overflowed(static_cast<std::size_t>(X.rows()));
    if (!layer.W.allFinite() || !layer.b.allFinite()) {
        return overflowed;
    }
    const Index heads = projected.shape.size() < 3 ? 1 : projected.shape[0];
    for (Index t = 0; t < X.rows(); ++t) {
        for (Index h = 0; h < heads && X.matrix().row(t).allFinite(); ++h) {
            overflowed[static_cast<std::size_t>(t)] =
                overflowed[static_cast<std::size_t>(t)] || !projected.matrix(h).row(t).allFinite();
        }
    }
    return overflowed;
}

ParameterCache::ParameterCache(const Recipe& recipe)
    : by_tokens_(std::any_of(recipe.draws.begin(), recipe.draws.end(), depends_on_tokens))
{
}

ParameterCache::Key ParameterCache::key_of(const ParameterInputs& inputs) const
{
    const bool by_tokens = by_tokens_ || std::ranges::any_of(inputs.stored, [](const StoredParameter& stored) {
                               return is_by_position(stored.target);
                           });
    const ModelDims& dims = inputs.dims;
    return {dims.V, by_tokens ? dims.T : 0, by_tokens ? dims.S : 0};
}

template <typename Scalar>
const PreparedParameters<Scalar>* ParameterCache::Store<Scalar>::find(const Key& key) const
{
    const auto found = all.find(key);
    const bool is_large = !large.parameters.empty() && key_of_large == key;
    return found != all.end() ? &found->second : is_large ? &large : nullptr;
}

bool ParameterCache::remembers(const Recipe& recipe, const ParameterInputs& inputs) const
{
    const Key key = key_of(inputs);
    const bool single = recipe.dtype == Dtype::float32;
    return (!single || std::get<Store<float>>(stores_).find(key) != nullptr) &&
           ((single && !recipe.verify) || std::get<Store<double>>(stores_).find(key) != nullptr);
}

template <typename Scalar>
const PreparedParameters<Scalar>& ParameterCache::of(const std::optional<DrawPlan>& plan, const Recipe& recipe,
                                                     const ParameterInputs& inputs)
{
    auto& remembered = std::get<Store<Scalar>>(stores_);
    const Key key = key_of(inputs);
    if (const PreparedParameters<Scalar>* found = remembered.find(key)) {
        return *found;
    }
    const Index bytes = bytes_of<Scalar>(plan.value(), inputs.dims);
    remembered.large = {}; // before the next one is made
    Drawn<Scalar> drawn = draw_parameters<Scalar>(*plan);
    PreparedParameters<Scalar> prepared{std::move(drawn.parameters), {}, std::move(drawn.stream)};
    if (bytes > most_bytes_of_one) {
        remembered.key_of_large = key;
        return remembered.large = std::move(prepared);
    }
    prepared.layers = make_layers(prepared, inputs.dims, recipe);
    if (remembered.bytes + bytes > most_bytes) {
        remembered = {};
    }
    remembered.bytes += bytes;
    return remembered.all.emplace(key, std::move(prepared)).first->second;
}

template struct PreparedParameters<float>;
template struct PreparedParameters<double>;
template PreparedLayer<float> make_layer(const PreparedParameters<float>&, Target, Index);
template PreparedLayer<double> make_layer(const PreparedParameters<double>&, Target, Index);
template core::ScoreParameters score_parameters_of(const PreparedParameters<float>&, Index, Index);
template core::ScoreParameters score_parameters_of(const PreparedParameters<double>&, Index, Index);
template std::vector<bool> overflowed_rows(const Tensor<float>&, const PreparedLayer<float>&, const Tensor<float>&);
template std::vector<bool> overflowed_rows(const Tensor<double>&, const PreparedLayer<double>&, const Tensor<double>&);
template const PreparedParameters<float>& ParameterCache::of(const std::optional<DrawPlan>&, const Recipe&,
                                                             const ParameterInputs&);
template const PreparedParameters<double>& ParameterCache::of(const std::optional<DrawPlan>&, const Recipe&,
                                                              const ParameterInputs&);

} // namespace attn::model
