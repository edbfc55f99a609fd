#include "attn/model/run/masked_places.hpp"

#include "attn/core/visibility.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <limits>

namespace attn::model {
namespace {

/// Where the masked scores are -inf.
std::vector<bool> masked_by_scores(const AnyTensor& masked_scores)
{
    return std::visit(
        []<typename Scalar>(const Tensor<Scalar>& scores) {
            std::vector<bool> hidden(scores.values.size());
            std::transform(scores.values.begin(), scores.values.end(), hidden.begin(),
                           [](Scalar score) { return score == -std::numeric_limits<Scalar>::infinity(); });
            return hidden;
        },
        masked_scores);
}

/// The places of weights of this shape that causal and window hide.
std::vector<bool> masked_by_position(const Result& result, const core::AttentionOptions& options, const Shape& shape)
{
    core::AttentionInputs inputs = core::without_numbers({.H = shape[0], .H_kv = shape[0], .T = shape[1], .S = shape[2]});
    inputs.extra_key = !result.key_labels.empty();
    inputs.query_positions = result.query_positions;
    std::vector<bool> hidden;
    hidden.reserve(static_cast<std::size_t>(element_count(shape)));
    for (Index row = 0; row < shape[0] * shape[1]; ++row) {
        const core::Visible seen = core::visible(inputs, options, {0, row / shape[1], row % shape[1]});
        for (Index j = 0; j < shape[2]; ++j) {
            hidden.push_back(!seen.sees(j));
        }
    }
    return hidden;
}

} // namespace

MaskedPlaces masked_places(const Result& result, const Layer& layer)
{
    const AnyTensor* weights = layer.find(Item::weights);
    if (weights == nullptr) {
        throw Error(ErrorKind::internal, "masked places", "nothing", "a result with weights");
    }
    const Attention& attention = layer.config.attention;
    if (!attention.causal && !attention.window && !attention.has_mask()) {
        return {{}, !result.foreign};
    }
    if (const AnyTensor* masked_scores = layer.find(Item::masked_scores)) {
        return {masked_by_scores(*masked_scores), true};
    }
    return {masked_by_position(result, attention, shape_of(*weights)), !attention.has_mask()};
}

} // namespace attn::model
