// The tensors of a call of attend, each declared once: what it and its option are called, what it is, and its member. Options,
// loading, messages, and the files and commands that are suggested follow from these rows.
#pragma once

#include "attn/model/attend/attend.hpp"
#include "attn/model/recipe/option_names.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace attn::model {

struct AttendOperand {
    std::string_view name;
    std::string_view option;                                  ///< with its short form: "-q,--queries"
    std::string_view meaning;                                 ///< a phrase for help
    TensorView AttendInputs::*needed = nullptr;               ///< of queries, keys and values
    std::optional<TensorView> AttendInputs::*other = nullptr; ///< of one that attention can do without

    [[nodiscard]] constexpr std::string_view short_option() const { return option.substr(0, option.find(',')); }
    /// nullptr: it is not given.
    [[nodiscard]] const TensorView* in(const AttendInputs& inputs) const
    {
        return needed != nullptr ? &(inputs.*needed) : (inputs.*other) ? &*(inputs.*other) : nullptr;
    }
    void put(AttendInputs& inputs, TensorView view) const
    {
        if (needed != nullptr) {
            inputs.*needed = std::move(view);
        } else {
            inputs.*other = std::move(view);
        }
    }
};

namespace operand {

inline constexpr AttendOperand queries{name_of(Item::queries), "-q,--queries",
                                       "shape (T, d), (H, T, d) or (B, H, T, d); with --heads (T, H·d) or (B, T, H·d)",
                                       &AttendInputs::queries};
inline constexpr AttendOperand keys{name_of(Item::keys), "-k,--keys",
                                    "as the queries, with S keys and H_kv heads, a divisor of H", &AttendInputs::keys};
inline constexpr AttendOperand values{name_of(Item::values), "-v,--values", "as the keys; the last dimension may differ",
                                      &AttendInputs::values};
inline constexpr AttendOperand past_key{"past_key", "--past-key", "cached keys (B, H_kv, P, d), before the new ones", nullptr,
                                        &AttendInputs::past_key};
inline constexpr AttendOperand past_value{"past_value", "--past-value", "cached values", nullptr, &AttendInputs::past_value};
inline constexpr AttendOperand cu_seqlens{
    "cu_seqlens", "--cu-seqlens",
    "(N+1) integers, where each of N packed sequences begins and the last one ends; queries, keys, values and result are "
    "(total, H, d); not with --heads, --past-key, --mask, --lengths, --segments",
    nullptr, &AttendInputs::cu_seqlens};
inline constexpr AttendOperand cu_seqlens_k{"cu_seqlens_k", "--cu-seqlens-k", "the same of keys and values, where they differ",
                                            nullptr, &AttendInputs::cu_seqlens_k};
inline constexpr AttendOperand mask{
    "mask", option::mask,
    "bool, true = seen, or numbers that are added; broadcast from the right to (B, H, T, P+S); if the last dimension is too "
    "short, the remaining keys are masked",
    nullptr, &AttendInputs::mask};
inline constexpr AttendOperand lengths{"lengths", "--lengths", "(B) integers: number of valid keys per batch entry, of P+S",
                                       nullptr, &AttendInputs::lengths};
inline constexpr AttendOperand segments{
    "segments", "--segments",
    "(P+S) or (B, P+S) integers: the document of each key; a query sees the keys of that at its position", nullptr,
    &AttendInputs::segments};
inline constexpr AttendOperand sinks{"sinks", "--sinks",
                                     "(H) numbers, finite or -inf: one more score per row, whose weight is dropped", nullptr,
                                     &AttendInputs::sinks};

inline constexpr std::array all{&queries,      &keys, &values,  &past_key, &past_value, &cu_seqlens,
                                &cu_seqlens_k, &mask, &lengths, &segments, &sinks};
/// For these, integers count as numbers with a point; for others they mean something else, or nothing.
inline constexpr std::array numbers{&queries, &keys, &values, &past_key, &past_value, &sinks};
/// What goes with sequences that lie one after another is not among these.
inline constexpr std::array not_packed{&past_key, &mask, &lengths, &segments};

/// nullptr: none is called so.
[[nodiscard]] constexpr const AttendOperand* called(std::string_view name)
{
    const auto found = std::ranges::find(all, name, &AttendOperand::name);
    return found == all.end() ? nullptr : *found;
}

} // namespace operand

/// The stages of a call with these operands; `given`: which those are.
[[nodiscard]] Show attend_items(const Attend& options, const std::function<bool(const AttendOperand&)>& given);

} // namespace attn::model
