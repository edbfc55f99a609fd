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

/// The places of weights of this shape that causal and window hide. A key behind those of the words is seen by every query.
std::vector<bool> masked_by_position(const Result& result, const core::AttentionOptions& options, const Shape& shape)
{
    const Index words = result.key_labels.empty() ? shape[2] : shape[2] - 1;
    std::vector<bool> hidden(static_cast<std::size_t>(element_count(shape)));
    for (Index i = 0; i < shape[0] * shape[1]; ++i) {
        const core::KeyRange seen = core::visible_keys(options, result.position_of_row(i % shape[1]), words);
        const auto begin = hidden.begin() + i * shape[2];
        std::fill(begin, begin + seen.begin, true);
        std::fill(begin + seen.end, begin + words, true);
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
