#include "attn/model/attend/workload.hpp"

#include "attn/core/parallel.hpp"
#include "attn/core/visibility.hpp"
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
    std::vector<float> numbers(static_cast<std::size_t>(element_count(tensor.shape())));
    std::ranges::generate(numbers, [&] { return static_cast<float>(engine() >> 8U) * 0x1p-24F - 0.5F; });
    to_bytes(tensor.type(), std::span<const float>(numbers), tensor.bytes().data());
}

Attend with_queries_last(Attend attention)
{
    attention.align = CausalAlign::bottom_right;
    return attention;
}

} // namespace

double Workload::operations() const
{
    double seen = 0;
    for (Index i = 0; i < seq; ++i) {
        const core::KeyRange range = core::visible_keys(attention, i + key_count() - seq, key_count());
        seen += static_cast<double>(std::max<Index>(range.end - range.begin, 0));
    }
    return 2 * seen * static_cast<double>(head_dim + value_dim) * static_cast<double>(heads);
}

Index Workload::bytes() const
{
    constexpr const char* what = "memory for queries, keys, values and context";
    const Index of_queries = checked_product(checked_product(heads, seq, what), head_dim + value_dim, what);
    const Index of_keys = checked_product(checked_product(kv_heads, key_count(), what), head_dim + value_dim, what);
    const Index each = std::max(size_of(type), size_of(attention.out_type.value_or(type)));
    return checked_product(checked_sum(of_queries, of_keys, what), each, what);
}

AlignedTensor::AlignedTensor(ElementType type, Shape shape)
    : type_(type), shape_(std::move(shape)), count_(static_cast<std::size_t>(element_count(shape_) * size_of(type))),
      storage_(count_ + cache_line)
{
    void* first = storage_.data();
    std::size_t room = storage_.size();
    const auto* aligned = static_cast<const std::byte*>(std::align(cache_line, count_, first, room));
    skipped_ = static_cast<std::size_t>(aligned - storage_.data());
}

TensorView AlignedTensor::view() const
{
    return row_major_view(type_, shape_, bytes());
}

WorkloadTensors::WorkloadTensors(const Workload& workload)
    : options_(with_queries_last(workload.attention)),
      queries_(workload.type, {workload.heads, workload.seq, workload.head_dim}),
      keys_(workload.type, {workload.kv_heads, workload.key_count(), workload.head_dim}),
      values_(workload.type, {workload.kv_heads, workload.key_count(), workload.value_dim}),
      context_(options_.out_type.value_or(workload.type), {workload.heads, workload.seq, workload.value_dim})
{
    fill(queries_, 1);
    fill(keys_, 2);
    fill(values_, 3);
    AttendInputs inputs{queries_.view(), keys_.view(), values_.view()};
    inputs.mask = workload.mask;
    views_ = lay_out(inputs, options_);
    read_numbers(inputs, options_.align, views_);
}

void WorkloadTensors::attend(core::Isa isa, int threads)
{
    const Index d_v = context_.shape()[2];
    core::AttentionOutputs outputs;
    outputs[core::Stage::head_context] = {
        .type = context_.type(), .data = context_.bytes().data(), .head = context_.shape()[1] * d_v, .row = d_v};
    core::attention(views_, options_, outputs, {.threads = threads, .isa = isa});
}

double multiply_add(core::Isa isa, Index rounds, int threads)
{
    std::vector<Index> operations(static_cast<std::size_t>(threads));
    core::for_each_block(threads, {threads, {}},
                         [&](Index index) { operations[static_cast<std::size_t>(index)] = core::multiply_add(isa, rounds); });
    return static_cast<double>(std::accumulate(operations.begin(), operations.end(), Index{0}));
}

} // namespace attn::model
