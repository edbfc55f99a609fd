#include "attn/model/attend/random_inputs.hpp"

#include "attn/model/attend/attend_layout.hpp"
#include "attn/model/layer/initialise.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace attn::model {
namespace {

constexpr const char* memory_drawn = "memory for what is drawn";

/// All, and the numbers of one on their way to its type: as float32 and as double.
Index bytes_to_draw(const std::vector<std::pair<const AttendOperand*, Shape>>& drawn, ElementType type)
{
    Index bytes = 0, most = 0;
    for (const auto& [operand, shape] : drawn) {
        const Index count = element_count(shape);
        bytes = checked_sum(bytes, checked_product(count, size_of(type), memory_drawn), memory_drawn);
        most = std::max(most, count);
    }
    return checked_sum(bytes, checked_product(most, sizeof(float) + sizeof(double), memory_drawn), memory_drawn);
}

} // namespace

std::vector<StoredTensor> room_for_inputs(const RandomInputs& how, Index memory_limit)
{
    const core::AttentionDims& l = how.sizes;
    const auto shape_of = [&](Index heads, Index rows, Index size) {
        const Shape shape{l.B, heads, rows, size};
        return how.packed ? Shape{rows, heads, size} : how.layout == TensorLayout::bshd ? swapped_heads(shape) : shape;
    };
    std::vector<std::pair<const AttendOperand*, Shape>> drawn{{&operand::queries, shape_of(l.H, l.T, l.d_k)},
                                                              {&operand::keys, shape_of(l.H_kv, l.S, l.d_k)},
                                                              {&operand::values, shape_of(l.H_kv, l.S, l.d_v)}};
    if (how.gradient) {
        drawn.emplace_back(&operand::grad, shape_of(l.H, l.T, l.d_v));
    }
    if (const Index required = bytes_to_draw(drawn, how.type); required > memory_limit) {
        std::string draws;
        for (const auto& [operand, shape] : drawn) {
            draws += fmt::format("{}{} {}", draws.empty() ? "" : ", ", operand->name, to_string(shape));
        }
        throw Error(ErrorKind::too_large,
                    fmt::format("the draws of {} need {} bytes and {} are free", draws, required, memory_limit));
    }
    std::vector<StoredTensor> room;
    room.reserve(drawn.size());
    for (const auto& [operand, shape] : drawn) {
        room.emplace_back(std::string(operand->name), how.type, shape);
    }
    return room;
}

void draw_inputs(const RandomInputs& how, std::vector<StoredTensor>& room)
{
    random::Stream stream = start_stream(how.generator, how.seed);
    for (StoredTensor& tensor : room) {
        const Index count = element_count(tensor.shape);
        const std::vector<double> numbers =
            how.type == ElementType::float64 ? random::normal_of_float64(stream, count) : random::normal(stream, count);
        to_bytes<double>(how.type, numbers, tensor.bytes.data());
    }
}

} // namespace attn::model
