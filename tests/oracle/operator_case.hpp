// Random cases of the attention operator: the oracle's numbers, and the same as tensors in every layout, type and byte order.
#pragma once

#include "attn/model/attend/attend.hpp"
#include "oracle/naive_operator.hpp"

#include <algorithm>
#include <deque>
#include <random>

namespace oracle {

using attn::ElementType;
using attn::Index;
using attn::TensorView;

enum class Layout { batched, heads_only, plain, packed, packed_unbatched };
enum class Memory { row_major, fortran, swapped };

struct OperatorCase {
    Operator numbers; ///< as the tensors' type rounds them
    attn::model::Attend options;
    Layout layout = Layout::batched;
    ElementType type = ElementType::float32, mask_type = ElementType::float32;
    Memory memory = Memory::row_major;

    [[nodiscard]] bool masked() const { return numbers.mask || !numbers.lengths.empty() || numbers.causal || numbers.window; }
};

/// A tensor's bytes in some order, and their view.
struct Tensors {
    std::deque<std::vector<std::byte>> bytes;
    attn::model::AttendInputs views;

    template <typename Value>
    TensorView add(ElementType type, const attn::Shape& shape, const std::vector<Value>& values, Memory memory)
    {
        std::vector<std::byte> packed;
        if constexpr (std::is_same_v<Value, double>) {
            packed = attn::to_bytes<double>(type, values);
        } else {
            packed.resize(values.size() * sizeof(Value));
            std::copy_n(reinterpret_cast<const std::byte*>(values.data()), packed.size(), packed.begin());
        }
        const auto size = static_cast<std::size_t>(attn::size_of(type));
        TensorView view = attn::row_major_view(type, shape, packed);
        if (memory == Memory::fortran) {
            view.strides = attn::column_major_strides(shape);
            packed = in_fortran_order(packed, shape, size);
        }
        if (memory == Memory::swapped) {
            view.swapped = true;
            for (auto at = packed.begin(); at != packed.end(); at += static_cast<std::ptrdiff_t>(size)) {
                std::reverse(at, at + static_cast<std::ptrdiff_t>(size));
            }
        }
        view.bytes = bytes.emplace_back(std::move(packed));
        return view;
    }

private:
    static std::vector<std::byte> in_fortran_order(const std::vector<std::byte>& rows, const attn::Shape& shape,
                                                   std::size_t size)
    {
        std::vector<std::byte> columns(rows.size());
        for (std::size_t from = 0; from < rows.size() / size; ++from) {
            std::size_t rest = from, to = 0;
            for (std::size_t d = shape.size(); d-- > 0;) {
                std::size_t stride = 1;
                for (std::size_t before = 0; before < d; ++before) {
                    stride *= static_cast<std::size_t>(shape[before]);
                }
                to += rest % static_cast<std::size_t>(shape[d]) * stride;
                rest /= static_cast<std::size_t>(shape[d]);
            }
            std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(from * size), size,
                        columns.begin() + static_cast<std::ptrdiff_t>(to * size));
        }
        return columns;
    }
};

/// (B, H, T, d) with heads side by side: (B, T, H, d).
inline std::vector<double> side_by_side(const std::vector<double>& values, long B, long H, long T, long d)
{
    std::vector<double> moved(values.size());
    for (long b = 0; b < B; ++b) {
        for (long h = 0; h < H; ++h) {
            for (long t = 0; t < T; ++t) {
                for (long e = 0; e < d; ++e) {
                    moved[std::size_t(((b * T + t) * H + h) * d + e)] = values[std::size_t(((b * H + h) * T + t) * d + e)];
                }
            }
        }
    }
    return moved;
}

inline bool packs(Layout layout)
{
    return layout == Layout::packed || layout == Layout::packed_unbatched;
}

/// The shape of (B, H, T, d) in a layout.
inline attn::Shape shape_in(Layout layout, long B, long H, long T, long d)
{
    switch (layout) {
    case Layout::batched: return {B, H, T, d};
    case Layout::heads_only: return {H, T, d};
    case Layout::plain: return {T, d};
    case Layout::packed: return {B, T, H * d};
    case Layout::packed_unbatched: return {T, H * d};
    }
    return {};
}

/// The shape of a stage (B, H, T, d): heads are never packed in it.
inline attn::Shape stage_shape_in(Layout layout, long B, long H, long T, long d)
{
    return shape_in(layout == Layout::packed             ? Layout::batched
                    : layout == Layout::packed_unbatched ? Layout::heads_only
                                                         : layout,
                    B, H, T, d);
}

inline Tensors tensors_of(const OperatorCase& c)
{
    const Operator& o = c.numbers;
    Tensors tensors;
    const auto add = [&](const std::vector<double>& values, long H, long T, long d) {
        return tensors.add(c.type, shape_in(c.layout, o.B, H, T, d),
                           packs(c.layout) ? side_by_side(values, o.B, H, T, d) : values, c.memory);
    };
    tensors.views.queries = add(o.Q, o.H, o.T, o.d_k);
    tensors.views.keys = add(o.K, o.H_kv, o.S, o.d_k);
    tensors.views.values = add(o.V, o.H_kv, o.S, o.d_v);
    if (o.P > 0) {
        tensors.views.past_key = tensors.add(c.type, stage_shape_in(c.layout, o.B, o.H_kv, o.P, o.d_k), o.past_key, c.memory);
        tensors.views.past_value =
            tensors.add(c.type, stage_shape_in(c.layout, o.B, o.H_kv, o.P, o.d_v), o.past_value, c.memory);
    }
    if (o.mask) {
        const attn::Shape shape(o.mask->shape.begin(), o.mask->shape.end());
        const ElementType type = o.mask->boolean ? ElementType::boolean : c.mask_type;
        tensors.views.mask = tensors.add(type, shape, o.mask->values, c.memory);
    }
    if (!o.lengths.empty()) {
        const std::vector<std::int64_t> lengths(o.lengths.begin(), o.lengths.end());
        tensors.views.lengths = tensors.add(ElementType::int64, {o.B}, lengths, c.memory);
    }
    return tensors;
}

/// `values` rounded to a type.
inline std::vector<double> rounded(ElementType type, const std::vector<double>& values)
{
    const std::vector<std::byte> bytes = attn::to_bytes<double>(type, values);
    return attn::load<double>(attn::row_major_view(type, {static_cast<Index>(values.size())}, bytes)).values;
}

/// Draws cases. `longest` bounds queries and keys.
class CaseDraw {
public:
    CaseDraw(unsigned seed, long longest) : engine_(seed), longest_(longest) {}

    OperatorCase draw(ElementType type)
    {
        OperatorCase c;
        c.type = type;
        c.layout = pick({Layout::batched, Layout::heads_only, Layout::plain, Layout::packed, Layout::packed_unbatched});
        c.memory = pick({Memory::row_major, Memory::row_major, Memory::fortran, Memory::swapped});
        c.mask_type = pick({type, ElementType::float16, ElementType::bfloat16, ElementType::float32, ElementType::float64});
        sizes(c);
        draw_numbers(c);
        if (chance(2, 3)) {
            c.numbers.mask = mask(c);
        }
        options(c);
        return c;
    }

    long number(long low, long high) { return std::uniform_int_distribution<long>(low, high)(engine_); }
    bool chance(long of, long out_of) { return number(1, out_of) <= of; }
    template <typename Value>
    Value pick(std::initializer_list<Value> values)
    {
        return values.begin()[number(0, static_cast<long>(values.size()) - 1)];
    }

private:
    std::vector<double> normal(ElementType type, long count)
    {
        std::vector<double> values(static_cast<std::size_t>(count));
        std::normal_distribution<double> distribution;
        std::generate(values.begin(), values.end(), [&] { return distribution(engine_); });
        return rounded(type, values);
    }

    void sizes(OperatorCase& c)
    {
        Operator& o = c.numbers;
        const bool batched = c.layout == Layout::batched || c.layout == Layout::packed;
        o.B = batched ? number(1, 3) : 1;
        o.H_kv = c.layout == Layout::plain ? 1 : number(1, 3);
        o.H = c.layout == Layout::plain ? 1 : o.H_kv * number(1, 3);
        o.T = number(1, longest_);
        o.S = number(1, longest_);
        o.P = chance(1, 3) ? number(1, longest_) : 0;
        o.d_k = pick({1L, 8L, 64L, 128L, number(1, 128)});
        o.d_v = pick({o.d_k, 1L, number(1, 128)});
    }

    void draw_numbers(OperatorCase& c)
    {
        Operator& o = c.numbers;
        o.Q = normal(c.type, o.B * o.H * o.T * o.d_k);
        o.K = normal(c.type, o.B * o.H_kv * o.S * o.d_k);
        o.V = normal(c.type, o.B * o.H_kv * o.S * o.d_v);
        o.past_key = normal(c.type, o.B * o.H_kv * o.P * o.d_k);
        o.past_value = normal(c.type, o.B * o.H_kv * o.P * o.d_v);
    }

    OperatorMask mask(const OperatorCase& c)
    {
        const Operator& o = c.numbers;
        OperatorMask mask;
        mask.boolean = chance(1, 2);
        const long columns = chance(1, 3) ? number(1, o.P + o.S) : o.P + o.S;
        mask.shape = {chance(1, 2) ? o.B : 1, chance(1, 2) ? o.H : 1, chance(2, 3) ? o.T : 1, columns};
        mask.shape.erase(mask.shape.begin(), mask.shape.begin() + number(0, 3));
        long count = 1;
        for (const long length : mask.shape) {
            count *= length;
        }
        mask.values = normal(c.mask_type, count);
        for (double& value : mask.values) {
            const bool hidden = chance(1, 4);
            value = mask.boolean ? double(!hidden) : hidden ? -std::numeric_limits<double>::infinity() : value;
        }
        return mask;
    }

    void options(OperatorCase& c)
    {
        Operator& o = c.numbers;
        if (o.P == 0 && chance(1, 2)) {
            for (long b = 0; b < o.B; ++b) {
                o.lengths.push_back(number(0, o.S));
            }
        }
        o.causal = chance(1, 2);
        if (chance(1, 3)) {
            o.window = {number(-1, 6), number(-1, 6)};
            c.options.window = attn::core::Window{o.window->first, o.window->second};
        }
        if (chance(1, 3)) {
            o.softcap = c.options.softcap = static_cast<double>(number(1, 50)) / 2;
        }
        if (chance(1, 3)) {
            o.scale = c.options.scale = static_cast<double>(number(-8, 8)) / 4 / std::sqrt(static_cast<double>(o.d_k));
        }
        o.alignment = pick({Alignment::offset, Alignment::offset, Alignment::top_left, Alignment::bottom_right});
        c.options.align = o.alignment == Alignment::offset     ? attn::model::CausalAlign::offset
                          : o.alignment == Alignment::top_left ? attn::model::CausalAlign::top_left
                                                               : attn::model::CausalAlign::bottom_right;
        c.options.causal = o.causal;
        c.options.nan_for_empty_rows = chance(1, 3);
        o.empty = c.options.nan_for_empty_rows ? std::numeric_limits<double>::quiet_NaN() : 0;
        if (packs(c.layout)) {
            c.options.heads = o.H;
            if (o.H_kv != o.H || chance(1, 2)) {
                c.options.kv_heads = o.H_kv;
            }
        }
        using attn::model::Item;
        c.options.show = {Item::scores,  Item::scaled_scores, Item::weights,      Item::context,
                          Item::entropy, Item::present_key,   Item::present_value};
        if (o.softcap) {
            c.options.show.insert(Item::capped_scores);
        }
        if (c.masked()) {
            c.options.show.insert(Item::masked_scores);
        }
    }

    std::mt19937 engine_;
    long longest_;
};

} // namespace oracle
