#include "attn/model/attend/attend_layout.hpp"

#include "attn/model/layer/mask.hpp"
#include "attn/tensor/error.hpp"

namespace attn::model {
namespace {

[[noreturn]] void refuse(const std::string& what, const Shape& shape, const std::string& allowed)
{
    throw Error(ErrorKind::data, what, "the shape " + to_string(shape), allowed);
}

/// (…, T, heads·d) → (…, heads, T, d)
TensorView split_heads(TensorView view, Index heads, const char* what, const char* option)
{
    const Index width = view.shape.back();
    if (heads < 1) {
        throw Error(ErrorKind::usage, option, std::to_string(heads), "1 and more");
    }
    if (width % heads != 0) {
        throw Error(ErrorKind::usage, option, std::to_string(heads),
                    std::string("a divisor of the last dimension of the ") + what + " " + to_string(view.shape));
    }
    const Index d = width / heads;
    const auto rows = static_cast<std::ptrdiff_t>(view.shape.size()) - 2;
    view.shape.back() = d;
    view.shape.insert(view.shape.begin() + rows, heads);
    view.strides.insert(view.strides.begin() + rows, d * view.strides.back());
    return view;
}

struct Layout {
    std::size_t rank;
    bool side_by_side;
    std::optional<Index> heads;
    const char* option; ///< that gave the heads
};

/// As (B, H, T, d).
TensorView four_dimensions(TensorView view, const Layout& layout, const char* what)
{
    require_floating(view, what);
    if (view.shape.size() != layout.rank) {
        refuse(what, view.shape, std::to_string(layout.rank) + " dimensions, as the queries have");
    }
    if (layout.side_by_side) {
        view = split_heads(std::move(view), layout.heads.value_or(1), what, layout.option);
    }
    while (view.shape.size() < 4) {
        view = core::as_batch(std::move(view));
    }
    if (layout.heads && view.shape[1] != *layout.heads) {
        throw Error(ErrorKind::usage, layout.option, std::to_string(*layout.heads),
                    std::to_string(view.shape[1]) + ", the heads of the " + what);
    }
    return view;
}

/// The cache has heads as a dimension of their own, whatever the layout of the rest.
TensorView cache(TensorView view, const char* what)
{
    require_floating(view, what);
    if (view.shape.size() < 2 || view.shape.size() > 4) {
        refuse(what, view.shape, "(B, H_kv, P, d), (H_kv, P, d) or (P, d)");
    }
    while (view.shape.size() < 4) {
        view = core::as_batch(std::move(view));
    }
    return view;
}

void require_lengths(const TensorView& view, const core::AttentionDims& l)
{
    if (!is_integer(view.type)) {
        throw Error(ErrorKind::data, "the lengths", std::string(name_of(view.type)), "int32, int64");
    }
    if (view.shape != Shape{l.B}) {
        refuse("the lengths", view.shape, to_string({l.B}) + ", one a batch entry");
    }
}

void require_equal(const Shape& shape, const Shape& expected, const char* what)
{
    if (shape != expected) {
        refuse(what, shape, to_string(expected));
    }
}

core::AttentionDims checked_dims(const AttendViews& v)
{
    const Shape& q = v.queries.shape;
    const Shape& k = v.keys.shape;
    const core::AttentionDims l = v.dims();
    if (l.d_k == 0) {
        refuse("queries", q, "a last dimension of 1 or more");
    }
    if (k[0] != l.B || k[3] != l.d_k) {
        refuse("keys", k, "(B, H_kv, S, d) = " + to_string({l.B, k[1], k[2], l.d_k}) + " for the queries " + to_string(q));
    }
    if (l.H_kv == 0 || l.H % l.H_kv != 0) {
        refuse("keys", k, "a number of heads that divides the " + std::to_string(l.H) + " of the queries");
    }
    require_equal(v.values.shape, {l.B, l.H_kv, l.S, l.d_v}, "values");
    if (v.past_key) {
        require_equal(v.past_key->shape, {l.B, l.H_kv, l.P, l.d_k}, "past_key");
        require_equal(v.past_value->shape, {l.B, l.H_kv, l.P, l.d_v}, "past_value");
    }
    (void)checked_sum(l.P, l.S, "keys");
    return l;
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

} // namespace

AttendViews lay_out(const AttendInputs& inputs, const Attend& options)
{
    AttendViews views;
    views.rank = inputs.queries.shape.size();
    if (views.rank < 2 || views.rank > 4) {
        refuse("queries", inputs.queries.shape, "(T, d), (H, T, d) or (B, H, T, d); with --heads (T, H*d) or (B, T, H*d)");
    }
    if (options.kv_heads && !options.heads) {
        throw Error(ErrorKind::usage, "--kv-heads requires --heads");
    }
    views.side_by_side = options.heads && views.rank < 4;
    const Layout of_queries{views.rank, views.side_by_side, options.heads, "--heads"};
    const bool own = options.kv_heads.has_value();
    const Layout of_keys{views.rank, views.side_by_side,
                         own                  ? options.kv_heads
                         : views.side_by_side ? options.heads
                                              : std::nullopt,
                         own ? "--kv-heads" : "--heads"};
    views.queries = four_dimensions(inputs.queries, of_queries, "queries");
    views.keys = four_dimensions(inputs.keys, of_keys, "keys");
    views.values = four_dimensions(inputs.values, of_keys, "values");
    if (inputs.past_key.has_value() != inputs.past_value.has_value()) {
        throw Error(ErrorKind::usage, "--past-key and --past-value belong together; allowed: both or none");
    }
    if (inputs.past_key) {
        views.past_key = cache(*inputs.past_key, "past_key");
        views.past_value = cache(*inputs.past_value, "past_value");
    }
    views.sizes = checked_dims(views);
    if (inputs.mask) {
        const core::AttentionDims& l = views.sizes;
        views.mask = broadcast_mask(*inputs.mask, {l.B, l.H, l.T, l.total()}, ShortMask::hides);
    }
    if (inputs.lengths) {
        if (inputs.past_key) {
            throw Error(ErrorKind::usage, "--lengths and --past-key cannot be used together");
        }
        require_lengths(*inputs.lengths, views.sizes);
    }
    return views;
}

std::vector<Index> read_lengths(const TensorView& lengths, const core::AttentionDims& sizes)
{
    std::vector<Index> read;
    for (const std::int64_t length : load<std::int64_t>(lengths).values) {
        if (length < 0 || length > sizes.S) {
            throw Error(ErrorKind::data, "lengths[" + std::to_string(read.size()) + "]", std::to_string(length),
                        "0 to " + std::to_string(sizes.S) + ", the keys");
        }
        read.push_back(static_cast<Index>(length));
    }
    return read;
}

std::vector<Index> query_offsets(const AttendViews& views, CausalAlign align)
{
    std::vector<Index> offsets;
    for (Index b = 0; b < views.sizes.B; ++b) {
        offsets.push_back(offset_of(views, align, b));
    }
    return offsets;
}

Shape stage_shape(const AttendViews& views, Index heads, Index rows, Index columns)
{
    // (T, H·d) has heads but no batch; (B, T, H·d) has both; (H, T, d) no batch; (T, d) neither.
    if (views.rank == 4 || (views.side_by_side && views.rank == 3)) {
        return {views.sizes.B, heads, rows, columns};
    }
    if (views.rank == 3 || views.side_by_side) {
        return {heads, rows, columns};
    }
    return {rows, columns};
}

Shape context_shape(const AttendViews& views)
{
    const core::AttentionDims& l = views.sizes;
    if (!views.side_by_side) {
        return stage_shape(views, l.H, l.T, l.d_v);
    }
    return views.rank == 3 ? Shape{l.B, l.T, l.H * l.d_v} : Shape{l.T, l.H * l.d_v};
}

} // namespace attn::model
