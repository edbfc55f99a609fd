#include "attn/model/attend/workload.hpp"

#include "attn/core/parallel.hpp"
#include "attn/core/stages.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

namespace attn::model {
namespace {

constexpr std::size_t cache_line = 64; ///< bytes

void fill(AlignedTensor& tensor, std::uint32_t seed)
{
    std::mt19937 engine(seed);
    std::ranges::generate(tensor.values(), [&] { return static_cast<float>(engine() >> 8U) * 0x1p-24F - 0.5F; });
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

AlignedTensor::AlignedTensor(Shape shape)
    : shape_(std::move(shape)), count_(static_cast<std::size_t>(element_count(shape_))),
      storage_(count_ + cache_line / sizeof(float))
{
    void* first = storage_.data();
    std::size_t room = storage_.size() * sizeof(float);
    const float* aligned = static_cast<float*>(std::align(cache_line, count_ * sizeof(float), first, room));
    skipped_ = static_cast<std::size_t>(aligned - storage_.data());
}

TensorView AlignedTensor::view() const
{
    return core::as_batch(row_major_view(ElementType::float32, shape_, std::as_bytes(values())));
}

WorkloadTensors::WorkloadTensors(const Workload& workload)
    : options_(workload.attention), queries_({workload.heads, workload.seq, workload.head_dim}),
      keys_({workload.kv_heads, workload.seq, workload.head_dim}),
      values_({workload.kv_heads, workload.seq, workload.value_dim}),
      context_({workload.heads, workload.seq, workload.value_dim})
{
    fill(queries_, 1);
    fill(keys_, 2);
    fill(values_, 3);
}

void WorkloadTensors::attend(core::Isa isa, int threads)
{
    const core::AttentionInputs inputs{queries_.view(), keys_.view(), values_.view()};
    const Index d_v = context_.shape()[2];
    core::AttentionOutputs outputs;
    outputs.context = {.data = std::as_writable_bytes(context_.values()).data(), .head = context_.shape()[1] * d_v, .row = d_v};
    core::attention(inputs, options_, outputs, {.threads = threads, .isa = isa});
}

double multiply_add(core::Isa isa, Index rounds, int threads)
{
    std::vector<Index> operations(static_cast<std::size_t>(threads));
    core::for_each_block(threads, {threads, {}},
                         [&](Index index) { operations[static_cast<std::size_t>(index)] = core::multiply_add(isa, rounds); });
    return static_cast<double>(std::accumulate(operations.begin(), operations.end(), Index{0}));
}

} // namespace attn::model
