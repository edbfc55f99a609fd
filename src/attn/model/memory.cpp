#include "attn/model/memory.hpp"

#include "attn/tensor/error.hpp"

#include <algorithm>
#include <array>

namespace attn::model {
namespace {

/// Sums counts of numbers and refuses to overflow.
class Count {
public:
    void add(const Shape& shape, Index times = 1)
    {
        total_ = checked_sum(total_, checked_product(element_count(shape), times, what), what);
    }
    [[nodiscard]] Index total() const { return total_; }

    static constexpr const char* what = "memory for the arrays asked for";

private:
    Index total_ = 0;
};

Count kept_arrays(const Lengths& l, Index rows, const Show& show)
{
    Count kept;
    for (const Item item : {Item::scores, Item::scaled_scores, Item::capped_scores, Item::masked_scores, Item::weights}) {
        kept.add({l.H, rows, l.S}, show.contains(item) ? 1 : 0);
    }
    kept.add({l.T, l.D}, show.contains(Item::embeddings) ? 1 : 0);
    kept.add({l.S, l.D}, show.contains(Item::key_embeddings) ? 1 : 0);
    kept.add({l.H, rows, l.d_v}, 2); // head contexts, and side by side
    kept.add({rows, l.D}, show.contains(Item::output) ? 1 : 0);
    return kept;
}

} // namespace

Index required_bytes(const Recipe& recipe, const Lengths& l, Index rows, const Show& show)
{
    Count parameters;
    Index largest_draw = 0;
    for (const Step& step : recipe.draws) {
        if (const auto* draw = std::get_if<Draw>(&step)) {
            const Shape shape = shape_of(*draw, l);
            largest_draw = std::max(largest_draw, element_count(shape));
            parameters.add(shape, draw->target == Target::none ? 0 : 1);
        }
    }
    Count working; // the inputs of attention, in Scalar
    working.add({l.T + l.S, l.D});
    working.add({l.H, l.T, l.d_k});
    working.add({l.H_kv, l.S, l.d_k + l.d_v});
    if (recipe.attention.mask && rows < l.T) {
        working.add({l.H, rows, l.S}, 2); // its rows, of 8 bytes at most
    }
    Count doubles; // factors of products are held in double, one key/value head at a time
    doubles.add({l.S, l.d_k + l.d_v});
    doubles.add({l.D, std::max({l.H * l.d_k, l.H_kv * l.d_k, l.H_kv * l.d_v})});
    doubles.add({largest_draw});

    const Count kept = kept_arrays(l, rows, show);
    const Index scalars = checked_sum(checked_sum(parameters.total(), working.total(), Count::what), kept.total(), Count::what);
    const Index width = recipe.dtype == Dtype::float32 ? 4 : 8;
    const Index bytes = checked_product(scalars, recipe.verify ? width + 8 : width, Count::what);
    return checked_sum(bytes, checked_product(doubles.total(), 8, Count::what), Count::what);
}

void require_memory(Index required, Index limit)
{
    if (required > limit) {
        throw Error(ErrorKind::too_large, "the arrays asked for need " + std::to_string(required) + " bytes and " +
                                              std::to_string(limit) +
                                              " are free; ask for single rows with --query, or for less with --show context");
    }
}

} // namespace attn::model
