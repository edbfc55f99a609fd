#include "attn/model/attend/packed.hpp"

#include "attn/model/attend/attend_operands.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

namespace attn::model {
namespace {

std::vector<Index> read_rising(const TensorView& view, Index total, const AttendOperand& operand)
{
    std::vector<Index> read;
    for (const std::int64_t place : load<std::int64_t>(view).values) {
        const Index least = read.empty() ? 0 : read.back();
        const bool first = read.empty(), last = std::ssize(read) + 1 == view.shape[0];
        if (place < least || place > total || (first && place != 0) || (last && place != total)) {
            throw Error(ErrorKind::data, fmt::format("{}[{}]", operand.name, read.size()), std::to_string(place),
                        fmt::format("numbers that rise from 0 to {}", total));
        }
        read.push_back(static_cast<Index>(place));
    }
    return read;
}

core::StageSpan from_row(core::StageSpan stage, Index row)
{
    stage.data = stage.data == nullptr ? nullptr : stage.at(0, 0, row);
    return stage;
}

} // namespace

Boundaries read_boundaries(const AttendInputs& inputs, const core::AttentionDims& sizes)
{
    std::vector<Index> queries = read_rising(*inputs.cu_seqlens, sizes.T, operand::cu_seqlens);
    return {queries, inputs.cu_seqlens_k ? read_rising(*inputs.cu_seqlens_k, sizes.S, operand::cu_seqlens_k) : queries};
}

core::AttentionNotes attend_packed(const Boundaries& sequences, const AttendViews& views, const Attend& options,
                                   const core::AttentionOutputs& outputs, const core::Work& work)
{
    core::AttentionNotes notes;
    const auto count = static_cast<Index>(sequences.queries.size()) - 1;
    for (Index n = 0; n < count; ++n) {
        const auto at = static_cast<std::size_t>(n);
        const Index query = sequences.queries[at], T = sequences.queries[at + 1] - query;
        const Index key = sequences.keys[at], S = sequences.keys[at + 1] - key;
        core::AttentionInputs sequence = static_cast<const core::AttentionInputs&>(views);
        sequence.queries = row_block(views.queries, query, T);
        sequence.keys = row_block(views.keys, key, S);
        sequence.values = row_block(views.values, key, S);
        sequence.offsets = {options.align == CausalAlign::bottom_right ? S - T : 0};
        if (!views.look || views.look->range != core::ScoreRange::near) {
            sequence.look.reset(); // another sequence may have made it so
        }
        core::AttentionOutputs rows;
        for (const core::Stage stage : core::every_stage) {
            rows[stage] = from_row(outputs[stage], query);
        }
        const core::AttentionNotes of_sequence = core::attention(sequence, options, rows, work.piece(n, count));
        notes.overflowed = notes.overflowed || of_sequence.overflowed;
        notes.portable_because = of_sequence.portable_because;
    }
    return notes;
}

} // namespace attn::model
