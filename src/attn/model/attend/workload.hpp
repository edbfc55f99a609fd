// Attention on random tensors of given sizes, to be timed.
#pragma once

#include "attn/core/isa.hpp"
#include "attn/model/attend/attend_layout.hpp"

#include <span>

namespace attn::model {

/// Sizes and options of one measurement.
struct Workload {
    Index seq = 2048;                        ///< T
    std::optional<Index> keys = {};          ///< S; T when absent. The queries stand at the last of them
    Index heads = 8;                         ///< H
    Index kv_heads = 8;                      ///< H_kv, a divisor of H
    Index head_dim = 64;                     ///< d_k
    Index value_dim = 64;                    ///< d_v
    ElementType type = ElementType::float32; ///< of queries, keys and values
    std::optional<TensorView> mask = {};     ///< as that of AttendInputs
    Attend attention = {};                   ///< how scores become weights; nothing of layouts and stages

    [[nodiscard]] Index key_count() const { return keys.value_or(seq); }

    /// 2·(d_k + d_v)·H floating-point operations for each pair of a query and a key that it sees: the two products, and
    /// nothing of the softmax. 4·T·S·d·H where d_k = d_v and nothing is masked; what a mask hides counts as well.
    [[nodiscard]] double operations() const;
    /// Of queries, keys, values and context. Throws Error(too_large) when they cannot be counted.
    [[nodiscard]] Index bytes() const;
};

/// Numbers that begin on a cache line, as those of a mapped .npy do: vectors that straddle two lines cost some percent.
class AlignedTensor {
public:
    /// All zeros.
    AlignedTensor(ElementType type, Shape shape);

    [[nodiscard]] const Shape& shape() const { return shape_; }
    [[nodiscard]] ElementType type() const { return type_; }
    [[nodiscard]] std::span<std::byte> bytes() { return {storage_.data() + skipped_, count_}; }
    [[nodiscard]] std::span<const std::byte> bytes() const { return {storage_.data() + skipped_, count_}; }
    [[nodiscard]] TensorView view() const;

private:
    ElementType type_;
    Shape shape_;
    std::size_t count_, skipped_ = 0; ///< bytes
    std::vector<std::byte> storage_;
};

class WorkloadTensors {
public:
    /// Draws queries, keys and values, uniform in [-0.5, 0.5), always the same ones.
    explicit WorkloadTensors(const Workload& workload);
    WorkloadTensors(const WorkloadTensors&) = delete; // a copy would lie elsewhere between the lines
    WorkloadTensors(WorkloadTensors&&) = delete;
    WorkloadTensors& operator=(const WorkloadTensors&) = delete;
    WorkloadTensors& operator=(WorkloadTensors&&) = delete;
    ~WorkloadTensors() = default;

    /// Computes the context alone, with the look at all inputs; nothing of it can be left out by a compiler.
    void attend(core::Isa isa, int threads);

    [[nodiscard]] const AlignedTensor& context() const { return context_; } ///< (H, T, d_v), of the last call

private:
    Attend options_;
    AlignedTensor queries_, keys_, values_, context_;
    AttendViews views_;
};

/// Multiplies and adds in registers on `threads` threads at once, as core::multiply_add does on one, and returns the
/// floating-point operations of all: timed, the most that the machine can do.
[[nodiscard]] double multiply_add(core::Isa isa, Index rounds, int threads);

} // namespace attn::model
