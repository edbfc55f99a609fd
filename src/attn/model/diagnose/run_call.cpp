#include "attn/model/diagnose/run_call.hpp"

#include "attn/core/positions.hpp"
#include "attn/model/layer/mask.hpp"
#include "attn/model/layer/parameters.hpp"

#include <algorithm>
#include <cmath>

namespace attn::model::diagnose {
namespace {

StoredTensor stored(const Result& result, Item item)
{
    const auto store_numbers = [&](const auto& tensor) {
        using Scalar = typename std::decay_t<decltype(tensor.values)>::value_type;
        StoredTensor kept(std::string(name_of(item)),
                          dtype_of<Scalar> == Dtype::float32 ? ElementType::float32 : ElementType::float64, tensor.shape);
        store<Scalar>(kept, 0, tensor.values);
        return kept;
    };
    return std::visit(store_numbers, *result.find(item));
}

bool has_alibi(const Recipe& recipe)
{
    return recipe.attention.positions && recipe.attention.positions->kind == PositionKind::alibi;
}

/// Whether attend has such attention up to this item.
bool is_plain(const Recipe& recipe, const Result& result, Item item, bool masked)
{
    const Attention& attention = recipe.attention;
    const bool dropped = attention.dropout && item != Item::weights;
    const bool hides_alone = attention.mask_at == core::MaskAt::scaled || !(masked || has_alibi(recipe)); // with -inf
    return attention.multiplies() && !dropped && hides_alone && result.key_labels.empty() && recipe.query.empty() &&
           recipe.head.empty() && !(masked && has_alibi(recipe));
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

RunCall::RunCall(const Recipe& recipe, const Result& result, const std::optional<TensorView>& mask)
    : queries_(stored(result, Item::queries)), keys_(stored(result, Item::keys)), values_(stored(result, Item::values))
{
    // K·Qᵀ is Q·Kᵀ with the two in each other's place.
    if (recipe.attention.order == ScoreOrder::key_query) {
        std::swap(queries_, keys_);
    }
    Attend attend;
    const core::AttentionOptions& options = recipe.attention;
    static_cast<core::AttentionOptions&>(attend) = options;
    attend.dropout.reset();
    attend.mask_at = core::MaskAt::scaled;
    attend.scale = recipe.attention.factor();
    attend.allow_nonfinite = true;
    AttendInputs inputs{queries_.view(), keys_.view(), values_.view()};
    const Shape scores{queries_.shape[0], queries_.shape[1], keys_.shape[1]};
    attend.alibi = has_alibi(recipe);
    if (mask) {
        inputs.mask = broadcast_mask(*mask, scores, ShortMask::repeats);
    }
    call_ = call_of(inputs, attend);
    call_.views.side_by_side = scores[0] > 1; // as a matrix of all heads makes them
    call_.projection = output_projection(result);
    call_.embedding_size = shape_of(*result.find(Item::embeddings)).back();
}

std::unique_ptr<RunCall> RunCall::of(const Recipe& recipe, const Result& result, Item item,
                                     const std::optional<TensorView>& mask)
{
    return is_plain(recipe, result, item, mask.has_value()) ? std::unique_ptr<RunCall>(new RunCall(recipe, result, mask))
                                                            : nullptr;
}

} // namespace attn::model::diagnose
