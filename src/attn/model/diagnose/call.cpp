#include "attn/model/diagnose/call.hpp"

#include "attn/core/positions.hpp"
#include "attn/model/layer/mask.hpp"
#include "attn/model/layer/parameters.hpp"

#include <algorithm>
#include <cmath>

namespace attn::model::diagnose {

Call call_of(const ResolvedAttend& resolved)
{
    Call call{resolved.views, resolved.options};
    call.sequences = resolved.sequences;
    for (std::size_t n = 0; call.sequences && n + 1 < call.sequences->queries.size(); ++n) {
        call.views.offsets.resize(n + 1);
        call.views.offsets[n] =
            offset_in_sequence(call.options.align, call.sequences->queries[n + 1] - call.sequences->queries[n],
                               call.sequences->keys[n + 1] - call.sequences->keys[n]);
    }
    return call;
}

// ---- the attention of a run ------------------------------------------------------------------------------------------------

namespace {

StoredTensor stored(const Result& result, Item item)
{
    const AnyTensor& tensor = *result.find(item);
    StoredTensor kept(std::string(name_of(item)), type_of(tensor), shape_of(tensor));
    store<double>(kept, 0, numbers_of(tensor));
    return kept;
}

/// Whether attend has such attention up to this item.
bool is_plain(const Recipe& recipe, const Result& result, Item item, bool masked)
{
    const Attention& attention = recipe.attention;
    const bool alibi = attention.placed_by(PositionKind::alibi);
    const bool dropped = attention.dropout && item != Item::weights;
    const bool hides_alone = attention.mask_at == core::MaskAt::scaled || !(masked || alibi); // with -inf
    return attention.multiplies() && !dropped && hides_alone && result.key_labels.empty() && recipe.query.empty() &&
           recipe.head.empty() && !(masked && alibi);
}

/// The embeddings, where a context or an output is as wide.
std::optional<Matrix<double>> residual(const Result& result, const Call& call, Item item)
{
    const AnyTensor* words = result.find(Item::embeddings);
    const core::AttentionDims& l = call.views.sizes;
    const Index width = item == Item::output ? call.projection->W.cols() : l.H * l.d_v;
    if (words == nullptr || item == Item::weights || shape_of(*words).back() != width) {
        return std::nullopt;
    }
    return Tensor<double>(shape_of(*words), numbers_of(*words)).matrix();
}

/// Heads side by side times W, plus b, where the run has them.
std::optional<OutputProjection> output_projection(const Result& result)
{
    const auto found = std::ranges::find(result.parameters, name_of(Target::W_o), &Array::name);
    if (found == result.parameters.end()) {
        return std::nullopt;
    }
    const auto made = [&](const auto& W) {
        using Scalar = typename std::decay_t<decltype(W.values)>::value_type;
        OutputProjection projection{as_right_factor<Scalar>({Target::W_o, found->side, W}, 1), {}};
        if (const AnyTensor* b = result.find(name_of(Target::b_o))) {
            const std::vector<Scalar>& numbers = std::get<Tensor<Scalar>>(*b).values;
            projection.b = Eigen::Map<const RowVector<Scalar>>(numbers.data(), std::ssize(numbers)).template cast<double>();
        }
        return projection;
    };
    return std::visit(made, found->tensor);
}

} // namespace

ElementType type_of(const AnyTensor& tensor)
{
    return std::holds_alternative<Tensor<float>>(tensor) ? ElementType::float32 : ElementType::float64;
}

std::vector<double> numbers_of(const AnyTensor& tensor)
{
    return std::visit([](const auto& t) { return std::vector<double>(t.values.begin(), t.values.end()); }, tensor);
}

std::optional<RunCall> run_call(const Recipe& recipe, const Result& result, Item item, const std::optional<TensorView>& mask)
{
    if (!is_plain(recipe, result, item, mask.has_value())) {
        return std::nullopt;
    }
    RunCall made{stored(result, Item::queries), stored(result, Item::keys), stored(result, Item::values), {}};
    // K·Qᵀ is Q·Kᵀ with the two in each other's place.
    if (recipe.attention.order == ScoreOrder::key_query) {
        std::swap(made.queries, made.keys);
    }
    Attend attend;
    static_cast<core::AttentionOptions&>(attend) = static_cast<const core::AttentionOptions&>(recipe.attention);
    attend.dropout.reset();
    attend.mask_at = core::MaskAt::scaled;
    attend.scale = recipe.attention.factor();
    attend.allow_nonfinite = true;
    attend.alibi = recipe.attention.placed_by(PositionKind::alibi);
    AttendInputs inputs{made.queries.view(), made.keys.view(), made.values.view()};
    const Shape scores{made.queries.shape[0], made.queries.shape[1], made.keys.shape[1]};
    if (mask) {
        inputs.mask = broadcast_mask(*mask, scores, ShortMask::repeats);
    }
    made.call = call_of(ResolvedAttend(inputs, attend, RunSettings()));
    made.call.views.side_by_side = scores[0] > 1; // as a matrix of all heads makes them
    made.call.projection = output_projection(result);
    if (const AnyTensor* embeddings = result.find(Item::embeddings)) {
        made.call.embedding_size = shape_of(*embeddings).back();
    }
    made.call.residual = residual(result, made.call, item);
    return made;
}

} // namespace attn::model::diagnose
