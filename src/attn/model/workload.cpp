#include "attn/model/workload.hpp"

#include "attn/core/parallel.hpp"
#include "attn/core/stages.hpp"
#include "attn/core/tiled.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <span>

namespace attn::model {
namespace {

Tensor<float> noise(const Shape& shape, std::uint32_t seed)
{
    Tensor<float> tensor(shape);
    std::mt19937 engine(seed);
    std::generate(tensor.values.begin(), tensor.values.end(),
                  [&] { return static_cast<float>(engine() >> 8U) * 0x1p-24F - 0.5F; });
    return tensor;
}

/// (1, H, T, d): the batch of one that the tiled path expects.
TensorView as_batch(const Tensor<float>& tensor)
{
    Shape shape = tensor.shape;
    shape.insert(shape.begin(), 1);
    return row_major_view(ElementType::float32, std::move(shape), std::as_bytes(std::span(tensor.values)));
}

} // namespace

double Workload::operations() const
{
    double seen = 0;
    for (Index position = 0; position < seq; ++position) {
        const core::KeyRange keys = core::visible_keys(attention, position, seq);
        seen += static_cast<double>(std::max<Index>(keys.end - keys.begin, 0));
    }
    return 2 * seen * static_cast<double>(head_dim + value_dim) * static_cast<double>(heads);
}

Index Workload::bytes() const
{
    constexpr const char* what = "memory for queries, keys, values and context";
    const Index of_queries = checked_product(checked_product(heads, seq, what), head_dim + value_dim, what);
    const Index of_keys = checked_product(checked_product(kv_heads, seq, what), head_dim + value_dim, what);
    return checked_product(checked_sum(of_queries, of_keys, what), sizeof(float), what);
}

WorkloadTensors::WorkloadTensors(const Workload& workload)
    : options_(workload.attention), heads_{noise({workload.heads, workload.seq, workload.head_dim}, 1),
                                           noise({workload.kv_heads, workload.seq, workload.head_dim}, 2),
                                           noise({workload.kv_heads, workload.seq, workload.value_dim}, 3),
                                           std::vector<Index>(static_cast<std::size_t>(workload.seq))},
      context_({workload.heads, workload.seq, workload.value_dim})
{
    std::iota(heads_.query_positions.begin(), heads_.query_positions.end(), Index{0});
}

void WorkloadTensors::attend(core::Isa isa, int threads)
{
    const core::Work work{threads, {}};
    if (isa == core::Isa::portable) {
        context_ = core::attention(heads_, options_, {}, work).head_context;
        return;
    }
    core::TiledInputs inputs;
    inputs.queries = as_batch(heads_.queries);
    inputs.keys = as_batch(heads_.keys);
    inputs.values = as_batch(heads_.values);
    const Index d_v = context_.columns();
    core::TiledOutputs outputs;
    outputs.context = {.type = ElementType::float32,
                       .data = std::as_writable_bytes(std::span(context_.values)).data(),
                       .batch = static_cast<Index>(context_.values.size()),
                       .head = context_.rows() * d_v,
                       .row = d_v};
    core::tiled_attention(inputs, options_, outputs, work, isa);
}

double multiply_add(core::Isa isa, Index rounds, int threads)
{
    std::vector<Index> operations(static_cast<std::size_t>(threads));
    core::for_each_block(threads, {threads, {}},
                         [&](Index index) { operations[static_cast<std::size_t>(index)] = core::multiply_add(isa, rounds); });
    return static_cast<double>(std::accumulate(operations.begin(), operations.end(), Index{0}));
}

} // namespace attn::model
