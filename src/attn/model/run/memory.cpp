#include "attn/model/run/memory.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/layer/batch.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

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

Count kept_arrays(const ModelDims& dims, Index rows, const Show& show)
{
    Count kept;
    for (const Item item : show) {
        kept.add({dims.H, rows, dims.S}, is_drawn(item) ? 1 : 0);
    }
    kept.add({dims.T, dims.D}, show.contains(Item::embeddings) ? 1 : 0);
    kept.add({dims.S, dims.D}, show.contains(Item::key_embeddings) ? 1 : 0);
    kept.add({dims.H, rows, dims.d_v}, 2); // head contexts, and side by side
    kept.add({rows, dims.outputs()}, show.contains(Item::output) ? 1 : 0);
    if (show.contains(Item::summary)) {
        const Index weights = checked_product(rows, dims.S, Count::what);
        kept.add({dims.H, std::min(weights, largest_top)}, sizeof(Pair) / sizeof(float));
    }
    return kept;
}

} // namespace

std::string bytes_in_words(Index bytes)
{
    std::string digits = std::to_string(bytes);
    for (std::size_t i = digits.size(); i > 3;) {
        i -= 3;
        digits.insert(i, ",");
    }
    constexpr double GiB = 1 << 30U;
    return fmt::format("{} bytes ({} GiB)", digits, math::fixed(static_cast<double>(bytes) / GiB, 2));
}

Memory required_memory(const Recipe& recipe, const ModelDims& dims, Index rows, const Show& show,
                       std::optional<Index> table_takes)
{
    Count parameters;
    Memory memory;
    Index largest_draw = 0;
    for (std::size_t step = 0; step < recipe.draws.size(); ++step) {
        const auto* drawn = std::get_if<Draw>(&recipe.draws[step]);
        for (const Draw& draw : drawn == nullptr ? std::vector<Draw>() : parts_of(*drawn)) {
            const Shape shape = shape_of(draw, dims);
            if (element_count(shape) > largest_draw) {
                largest_draw = element_count(shape);
                memory.largest_draw = fmt::format("{}, {} {}", place_of_step(step), name_of(draw.target), to_string(shape));
            }
            parameters.add(shape, draw.target == Target::none ? 0 : 1);
        }
    }
    Index largest_of_files = 0;
    const auto add_of_file = [&](const Shape& shape) {
        parameters.add(shape);
        largest_of_files = std::max(largest_of_files, element_count(shape));
    };
    if (recipe.parameters) { // a table of the file counts as one of the words' own
        for (const Target target : {Target::W_q, Target::W_k, Target::W_v, Target::W_o, Target::embedding}) {
            add_of_file(shape_of(Draw{.target = target}, dims));
        }
    }
    Count drawn; // in double
    drawn.add({largest_draw});
    if (recipe.embeddings && show.contains(Item::parameters)) {
        add_of_file({dims.V, dims.D});
    }
    if (recipe.embeddings && !table_takes) { // what is found, with the word of the unknown
        drawn.add({checked_sum(dims.V, recipe.embeddings->unknown ? 1 : 0, Count::what), dims.D});
    }
    if (recipe.embeddings && table_takes != 0) {
        largest_of_files = std::max(largest_of_files, element_count({dims.V, dims.D}));
    }
    memory.from_files = largest_of_files > largest_draw;
    Count doubles; // factors of products are held in double, one key/value head at a time
    Count working; // the inputs of attention, in Scalar
    working.add({dims.T + dims.S, dims.D});
    working.add({dims.H, dims.T, dims.d_k});
    working.add({dims.H_kv, dims.S, dims.of_a_key() + dims.d_v});
    working.add({dims.H, dims.T, dims.S},
                recipe.attention.dropout ? batch_size(recipe).value_or(1) : 0); // which weights are kept
    working.add({dims.H, dims.T + dims.S, dims.d_a});                           // what scores read of queries and keys
    doubles.add({dims.S, dims.of_a_key() + dims.d_v});
    doubles.add({dims.D, std::max({dims.H * dims.d_k, dims.H_kv * dims.d_k, dims.H_kv * dims.d_v})});

    const Index width = (recipe.dtype == Dtype::float32 ? 4 : 8) + (recipe.verify ? 8 : 0);
    const auto bytes = [](const Count& scalars, Index each, const Count& doubled) {
        return checked_sum(checked_product(scalars.total(), each, Count::what),
                           checked_product(doubled.total(), 8, Count::what), Count::what);
    };
    memory.draws = checked_sum(bytes(parameters, width, drawn), table_takes.value_or(0), Count::what);
    memory.arrays =
        checked_sum(bytes(working, width, doubles), bytes(kept_arrays(dims, rows, show), width, Count()), Count::what);
    memory.total = checked_sum(memory.draws, memory.arrays, Count::what);
    return memory;
}

void require_memory(const Memory& memory, Index limit)
{
    if (memory.total <= limit) {
        return;
    }
    const std::string free = bytes_in_words(limit);
    if (memory.draws > memory.arrays && memory.from_files) {
        throw Error(ErrorKind::too_large, fmt::format("the parameters, of files and drawn, need {} and {} are free; "
                                                      "ask for fewer words, or a smaller layer or table",
                                                      bytes_in_words(memory.draws), free));
    }
    if (memory.draws > memory.arrays) {
        throw Error(ErrorKind::too_large,
                    fmt::format("the draws need {} (the largest: {}) and {} are free; "
                                "ask for smaller ones, with --vocab-size, --embed-dim, --heads, --d-k, --d-v",
                                bytes_in_words(memory.draws), memory.largest_draw, free));
    }
    throw Error(ErrorKind::too_large, fmt::format("the arrays asked for need {} and {} are free; "
                                                  "ask for single rows with --query, or for less with --show context",
                                                  bytes_in_words(memory.total), free));
}

} // namespace attn::model
