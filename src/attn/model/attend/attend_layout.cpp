#include "attn/model/attend/attend_layout.hpp"

#include "attn/core/positions.hpp"
#include "attn/model/attend/attend.hpp"
#include "attn/model/layer/float32_range.hpp"
#include "attn/model/layer/mask.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <array>
#include <unordered_map>
#include <utility>

namespace attn::model {
namespace {

[[noreturn]] void refuse(std::string_view what, const Shape& shape, const std::string& allowed)
{
    throw Error(ErrorKind::data, what, "the shape " + to_string(shape), allowed);
}

/// (…, T, heads·d) → (…, heads, T, d)
TensorView split_heads(TensorView view, Index heads, std::string_view what, std::string_view option)
{
    const Index width = view.shape.back();
    if (heads < 1) {
        throw Error(ErrorKind::usage, option, std::to_string(heads), "1 and more");
    }
    if (width % heads != 0) {
        throw Error(ErrorKind::usage, option, std::to_string(heads),
                    fmt::format("a divisor of the last dimension of the {} {}", what, to_string(view.shape)));
    }
    const Index d = width / heads;
    const auto rows = static_cast<std::ptrdiff_t>(view.shape.size()) - 2;
    view.shape.back() = d;
    view.shape.insert(view.shape.begin() + rows, heads);
    view.strides.insert(view.strides.begin() + rows, d * view.strides.back());
    return view;
}

struct LayoutOf {
    std::size_t rank;
    const AttendViews& views;
    std::optional<Index> heads;
    std::string_view option; ///< that gave the heads
};

/// As (B, H, T, d).
TensorView four_dimensions(const AttendInputs& inputs, const LayoutOf& layout, const AttendOperand& operand)
{
    TensorView view = *operand.in(inputs);
    const std::string_view what = operand.name;
    require_floating(view, what);
    if (view.shape.size() != layout.rank) {
        refuse(what, view.shape, fmt::format("{} dimensions, as the queries have", layout.rank));
    }
    if (layout.views.merged) {
        view = split_heads(std::move(view), layout.heads.value_or(1), what, layout.option);
    } else if (layout.views.side_by_side) {
        view = swap_heads(std::move(view));
    }
    while (view.shape.size() < 4) {
        view = core::as_batch(std::move(view));
    }
    if (layout.heads && view.shape[1] != *layout.heads) {
        throw Error(ErrorKind::usage, layout.option, std::to_string(*layout.heads),
                    fmt::format("{}, the heads of the {}", view.shape[1], what));
    }
    return view;
}

/// The cache has heads as a dimension of their own, also where they lie side by side in the rest.
std::optional<TensorView> cache(const AttendInputs& inputs, TensorLayout layout, const AttendOperand& operand)
{
    if (operand.in(inputs) == nullptr) {
        return std::nullopt;
    }
    TensorView view = *operand.in(inputs);
    const std::string_view what = operand.name;
    require_floating(view, what);
    const bool swapped = layout == TensorLayout::bshd;
    if (view.shape.size() < 2 || view.shape.size() > 4) {
        refuse(what, view.shape,
               swapped ? "(B, P, H_kv, d), (P, H_kv, d) or (P, d)" : "(B, H_kv, P, d), (H_kv, P, d) or (P, d)");
    }
    view = swapped ? swap_heads(std::move(view)) : view;
    while (view.shape.size() < 4) {
        view = core::as_batch(std::move(view));
    }
    return view;
}

void require_integers(const TensorView& view, std::string_view what)
{
    if (!is_integer(view.type)) {
        throw Error(ErrorKind::data, what, name_of(view.type), "uint8, int32, int64");
    }
}

void require_lengths(const TensorView& view, const core::AttentionDims& l)
{
    require_integers(view, "the lengths");
    if (view.shape != Shape{l.B}) {
        refuse("the lengths", view.shape, to_string({l.B}) + ", one a batch entry");
    }
}

void require_sinks(const TensorView& view, const core::AttentionDims& l)
{
    require_floating(view, operand::sinks.name);
    if (view.shape != Shape{l.H}) {
        refuse(operand::sinks.name, view.shape, to_string({l.H}) + ", one per query head");
    }
}

/// With sequences one after another, whose boundaries have been checked, a row of slopes is that of one of them.
void require_slopes(const AttendInputs& inputs, const core::AttentionDims& l)
{
    const TensorView& view = *inputs.alibi_slopes;
    const Shape rows{inputs.cu_seqlens ? inputs.cu_seqlens->shape[0] - 1 : l.B, l.H};
    require_floating(view, operand::alibi_slopes.name);
    if (view.shape != Shape{l.H} && view.shape != rows) {
        refuse(operand::alibi_slopes.name, view.shape,
               fmt::format("{} or {}, one per query head", to_string({l.H}), to_string(rows)));
    }
}

void require_segments(const TensorView& view, const core::AttentionDims& l)
{
    require_integers(view, "the segments");
    if (view.shape != Shape{l.total()} && view.shape != Shape{l.B, l.total()}) {
        refuse("the segments", view.shape,
               fmt::format("{} or {}, one per key", to_string({l.total()}), to_string({l.B, l.total()})));
    }
}

void require_boundaries(const AttendInputs& inputs, const core::AttentionDims& l)
{
    const TensorView& queries = *inputs.cu_seqlens;
    const TensorView& keys = inputs.cu_seqlens_k.value_or(queries);
    require_integers(queries, operand::cu_seqlens.name);
    require_integers(keys, operand::cu_seqlens_k.name);
    if (queries.shape.size() != 1 || queries.shape[0] == 0) {
        refuse(operand::cu_seqlens.name, queries.shape, "(N+1,), for N sequences");
    }
    if (keys.shape != queries.shape) {
        refuse(operand::cu_seqlens_k.name, keys.shape,
               fmt::format("{}, as {} has", to_string(queries.shape), operand::cu_seqlens.name));
    }
    if (!inputs.cu_seqlens_k && l.S != l.T) {
        refuse(operand::keys.name, inputs.keys.shape,
               fmt::format("{} rows, as the queries have, or {}", l.T, operand::cu_seqlens_k.option));
    }
}

/// Throws Error(usage) for what does not go together.
void require_compatible(const AttendInputs& inputs, const Attend& options)
{
    using namespace operand;
    const auto refuse_both = [](std::string_view one, std::string_view other) {
        throw Error(ErrorKind::usage, fmt::format("{} and {} cannot be used together", one, other));
    };
    const auto require_other = [](std::string_view one, std::string_view other) {
        throw Error(ErrorKind::usage, fmt::format("{} requires {}", one, other));
    };
    if (options.kv_heads && !options.heads) {
        require_other(option::kv_heads, option::heads);
    }
    if (inputs.past_key.has_value() != inputs.past_value.has_value()) {
        throw Error(ErrorKind::usage,
                    fmt::format("{} and {} belong together; allowed: both or none", past_key.option, past_value.option));
    }
    if (inputs.cu_seqlens_k && !inputs.cu_seqlens) {
        require_other(cu_seqlens_k.option, cu_seqlens.option);
    }
    if (options.alibi && inputs.alibi_slopes) {
        refuse_both(option::alibi, alibi_slopes.option);
    }
    if (options.heads && options.layout == TensorLayout::bshd) {
        refuse_both(option::heads, "--layout bshd");
    }
    if (options.heads && inputs.cu_seqlens) {
        refuse_both(cu_seqlens.option, option::heads);
    }
    if (options.grad_ones && inputs.grad) {
        refuse_both(option::grad_ones, grad.option);
    }
    if (options.dropout.has_value() != inputs.kept.has_value()) {
        throw Error(ErrorKind::usage,
                    fmt::format("{} and {} belong together; allowed: both or none", option::dropout, kept.option));
    }
    for (const AttendOperand* other : not_packed) {
        if (inputs.cu_seqlens && other->in(inputs) != nullptr) {
            refuse_both(cu_seqlens.option, other->option);
        }
    }
}

core::AttentionDims checked_dims(const AttendViews& v)
{
    const Shape& q = v.queries.shape;
    const Shape& k = v.keys.shape;
    const core::AttentionDims l = v.dims();
    const bool swapped = v.side_by_side && !v.merged;
    const auto shown = [&](const Shape& shape) { return swapped ? swapped_heads(shape) : shape; };
    const auto require = [&](const TensorView& view, const Shape& expected, const AttendOperand& operand) {
        if (view.shape != expected) {
            refuse(operand.name, shown(view.shape), to_string(shown(expected)));
        }
    };
    if (l.d_k == 0) {
        refuse(operand::queries.name, shown(q), "a last dimension of 1 or more");
    }
    if (k[0] != l.B || k[3] != l.d_k) {
        refuse(operand::keys.name, shown(k),
               fmt::format("{} = {} for the queries {}", swapped ? "(B, S, H_kv, d)" : "(B, H_kv, S, d)",
                           to_string(shown({l.B, k[1], k[2], l.d_k})), to_string(shown(q))));
    }
    if (l.H_kv == 0 || l.H % l.H_kv != 0) {
        refuse(operand::keys.name, shown(k), fmt::format("a number of heads that divides the {} of the queries", l.H));
    }
    require(v.values, {l.B, l.H_kv, l.S, l.d_v}, operand::values);
    if (v.past_key) {
        require(*v.past_key, {l.B, l.H_kv, l.P, l.d_k}, operand::past_key);
        require(*v.past_value, {l.B, l.H_kv, l.P, l.d_v}, operand::past_value);
    }
    (void)checked_sum(l.P, l.S, "keys");
    return l;
}

std::vector<Index> read_lengths(const TensorView& lengths, const core::AttentionDims& sizes)
{
    std::vector<Index> read;
    for (const std::int64_t length : load<std::int64_t>(lengths).values) {
        if (length < 0 || length > sizes.total()) {
            throw Error(ErrorKind::data, fmt::format("{}[{}]", operand::lengths.name, read.size()), std::to_string(length),
                        fmt::format("0 to {}, the keys", sizes.total()));
        }
        read.push_back(static_cast<Index>(length));
    }
    return read;
}

core::Segments read_segments(const TensorView& view, const core::AttentionDims& sizes)
{
    const std::vector<std::int64_t> labels = load<std::int64_t>(view).values;
    const Index keys = sizes.total();
    core::Segments read;
    for (Index b = 0; b < sizes.B; ++b) {
        std::unordered_map<std::int64_t, std::int32_t> numbers; // each batch entry has labels of its own
        for (Index j = 0; j < keys; ++j) {
            const std::int64_t label = labels[static_cast<std::size_t>(view.shape.size() == 1 ? j : b * keys + j)];
            const auto [own, first] = numbers.try_emplace(label, static_cast<std::int32_t>(read.reach.size()));
            if (first) {
                read.reach.push_back({j, j});
            }
            core::KeyRange& reach = read.reach[static_cast<std::size_t>(own->second)];
            read.interleaved = read.interleaved || reach.end != j;
            reach.end = j + 1;
            read.of_key.push_back(own->second);
        }
    }
    return read;
}

/// The place of query 0 among the keys of batch entry b.
Index offset_of(const AttendViews& views, CausalAlign align, Index b)
{
    const core::AttentionDims& l = views.sizes;
    const Index end = views.lengths.empty() ? l.total() : views.lengths[static_cast<std::size_t>(b)];
    switch (align) {
    case CausalAlign::offset: return views.lengths.empty() ? l.P : end - l.T;
    case CausalAlign::top_left: return 0;
    case CausalAlign::bottom_right: return end - l.T;
    }
    throw Error(ErrorKind::internal, "causal alignment", std::to_string(static_cast<int>(align)), "one of three");
}

/// The gradients of the results, (B, H, T, d_v) and (B, H, T).
std::optional<core::LossGradients> loss_of(const AttendInputs& inputs, const Attend& options, const AttendViews& views,
                                           const LayoutOf& of_queries)
{
    static constexpr float one = 1;
    const core::AttentionDims& l = views.sizes;
    core::LossGradients loss;
    if (inputs.grad) {
        if (inputs.grad->shape != context_shape(views)) {
            refuse(operand::grad.name, inputs.grad->shape, to_string(context_shape(views)) + ", that of the context");
        }
        loss.context = four_dimensions(inputs, of_queries, operand::grad);
    } else if (options.grad_ones) {
        loss.context =
            TensorView{ElementType::float32, {l.B, l.H, l.T, l.d_v}, {0, 0, 0, 0}, false, std::as_bytes(std::span(&one, 1))};
    }
    if (inputs.grad_lse) {
        Shape own = stage_shape(views, l.H, l.T, 1);
        own.pop_back();
        TensorView view = *inputs.grad_lse;
        if (view.shape != own) {
            refuse(operand::grad_lse.name, view.shape, to_string(own) + ", that of lse");
        }
        while (view.shape.size() < 3) {
            view = core::as_batch(std::move(view));
        }
        loss.lse = std::move(view);
    }
    return loss.context || loss.lse ? std::optional(std::move(loss)) : std::nullopt;
}

} // namespace

AttendViews lay_out(const AttendInputs& inputs, const Attend& options)
{
    require_compatible(inputs, options);
    AttendViews views;
    const std::size_t rank = inputs.queries.shape.size();
    if (inputs.cu_seqlens && rank != 3) {
        refuse(operand::queries.name, inputs.queries.shape, fmt::format("(total, H, d) with {}", operand::cu_seqlens.option));
    }
    if (rank < 2 || rank > 4) {
        refuse(operand::queries.name, inputs.queries.shape,
               options.layout == TensorLayout::bshd
                   ? "(T, d), (T, H, d) or (B, T, H, d)"
                   : "(T, d), (H, T, d) or (B, H, T, d); with --heads (T, H*d) or (B, T, H*d)");
    }
    views.merged = options.heads && rank < 4;
    views.side_by_side = views.merged || (rank > 2 && (options.layout == TensorLayout::bshd || inputs.cu_seqlens));
    views.batched = rank == 4 || (views.merged && rank == 3);
    views.headed = rank > 2 || views.merged;
    const LayoutOf of_queries{rank, views, options.heads, option::heads};
    const bool own = options.kv_heads.has_value();
    const LayoutOf of_keys{rank, views,
                           own            ? options.kv_heads
                           : views.merged ? options.heads
                                          : std::nullopt,
                           own ? option::kv_heads : option::heads};
    views.queries = four_dimensions(inputs, of_queries, operand::queries);
    views.keys = four_dimensions(inputs, of_keys, operand::keys);
    views.values = four_dimensions(inputs, of_keys, operand::values);
    views.past_key = cache(inputs, options.layout, operand::past_key);
    views.past_value = cache(inputs, options.layout, operand::past_value);
    views.sizes = checked_dims(views);
    if (inputs.mask) {
        const core::AttentionDims& l = views.sizes;
        views.mask = broadcast_mask(*inputs.mask, {l.B, l.H, l.T, l.total()}, ShortMask::hides);
    }
    if (inputs.kept) {
        const core::AttentionDims& l = views.sizes;
        views.kept = broadcast_mask(*inputs.kept, {l.B, l.H, l.T, l.total()}, ShortMask::repeats, operand::kept.name);
    }
    views.loss = loss_of(inputs, options, views, of_queries);
    if (inputs.lengths) {
        require_lengths(*inputs.lengths, views.sizes);
    }
    if (inputs.sinks) {
        require_sinks(*inputs.sinks, views.sizes);
    }
    if (inputs.segments) {
        require_segments(*inputs.segments, views.sizes);
    }
    if (inputs.cu_seqlens) {
        require_boundaries(inputs, views.sizes);
    }
    if (inputs.alibi_slopes) {
        require_slopes(inputs, views.sizes);
    }
    if (options.alibi) {
        views.slopes = core::alibi_slopes(views.sizes.H);
    }
    views.wide = options.out_type == ElementType::float64;
    return views;
}

void judge_added(const AttendInputs& inputs, const AttendViews& views, const Arriving* arriving)
{
    if (arriving != nullptr && inputs.lengths && arriving->holds(*inputs.lengths)) {
        (void)read_lengths(*inputs.lengths, views.sizes);
    }
    if (inputs.sinks) {
        require_finite(*inputs.sinks, operand::sinks.name, true, {}, arriving);
    }
    if (inputs.alibi_slopes) {
        require_finite(*inputs.alibi_slopes, operand::alibi_slopes.name, false, {}, arriving);
    }
    for (const AttendOperand* added : {&operand::sinks, &operand::alibi_slopes, &operand::mask}) {
        const TensorView* view = added->in(inputs);
        if (view != nullptr && !core::is_wide(views)) { // a finite number would hide a key, or give NaN
            require_float32_range(*view, std::string(added->name), "--out-dtype float64", arriving);
        }
    }
    if (inputs.kept) {
        require_zeros_and_ones(*inputs.kept, operand::kept.name, arriving);
    }
}

void read_numbers(const AttendInputs& inputs, CausalAlign align, AttendViews& views)
{
    const core::AttentionDims& l = views.sizes;
    if (inputs.lengths) {
        views.lengths = read_lengths(*inputs.lengths, l);
    }
    judge_added(inputs, views);
    if (inputs.sinks) {
        views.sinks = load<double>(*inputs.sinks).values;
    }
    if (inputs.alibi_slopes) {
        views.slopes = load<double>(*inputs.alibi_slopes).values;
    }
    if (inputs.segments) {
        views.segments = read_segments(*inputs.segments, l);
    }
    for (Index b = 0; b < l.B; ++b) {
        views.offsets.push_back(offset_of(views, align, b));
    }
}

Shape stage_shape(const AttendViews& views, Index heads, Index rows, Index columns)
{
    Shape shape{views.sizes.B, heads, rows, columns};
    shape.erase(shape.begin(), shape.begin() + (views.batched ? 0 : views.headed ? 1 : 2));
    return shape;
}

TensorView swap_heads(TensorView view)
{
    view.shape = swapped_heads(std::move(view.shape));
    view.strides = swapped_heads(std::move(view.strides));
    return view;
}

Shape swapped_heads(Shape shape)
{
    if (const std::size_t rank = shape.size(); rank > 2) {
        std::swap(shape[rank - 3], shape[rank - 2]);
    }
    return shape;
}

core::LossGradients loss_of_rows(const core::LossGradients& loss, Index first, Index count)
{
    core::LossGradients rows = loss;
    if (loss.context) {
        rows.context = row_block(*loss.context, first, count);
    }
    if (loss.lse) { // its last dimension is that of the queries
        rows.lse->shape.back() = count;
        rows.lse->bytes =
            loss.lse->bytes.subspan(static_cast<std::size_t>(first * loss.lse->strides.back() * size_of(loss.lse->type)));
    }
    return rows;
}

Shape context_shape(const AttendViews& views)
{
    const core::AttentionDims& l = views.sizes;
    const Shape own = stage_shape(views, l.H, l.T, l.d_v);
    if (!views.merged) {
        return views.side_by_side ? swapped_heads(own) : own;
    }
    return views.batched ? Shape{l.B, l.T, l.H * l.d_v} : Shape{l.T, l.H * l.d_v};
}

} // namespace attn::model
