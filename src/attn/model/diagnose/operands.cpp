#include "attn/model/diagnose/operands.hpp"

#include "attn/model/diagnose/rounding.hpp"

#include <algorithm>
#include <array>

namespace attn::model::diagnose {
namespace {

/// Where element (h, i, x) of (heads, rows, size) is read, as (h, i, x) of what is right: see Reading.
struct Source {
    Index heads, rows, size;
    Reading reading;
    bool side_by_side;

    [[nodiscard]] std::array<Index, 3> of(Index h, Index i, Index x) const
    {
        if (reading == Reading::right) {
            return {h, i, x};
        }
        const Index by_view = side_by_side ? (h * rows + i) * size + x : (i * heads + h) * size + x;
        const Index flat = reading == Reading::swapped ? by_view : (i * size + x) * heads + h;
        return side_by_side ? std::array{flat / size % heads, flat / size / heads, flat % size}
                            : std::array{flat / size / rows, flat / size % rows, flat % size};
    }
};

const TensorView& view_of(const AttendViews& views, Operand operand)
{
    return operand == Operand::queries ? views.queries : operand == Operand::keys ? views.keys : views.values;
}

const std::optional<TensorView>& past_of(const AttendViews& views, Operand operand)
{
    return operand == Operand::keys ? views.past_key : views.past_value;
}

/// The rows of one head as they lie there.
std::vector<double> plain_rows(const TensorView& view, Index b, Index h)
{
    const Matrix<double> rows = load_matrix<double>(view, std::array{b, h});
    return {rows.data(), rows.data() + rows.size()};
}

/// The rows of one head by another reading: element for element.
std::vector<double> gathered_rows(const TensorView& view, Index b, Index h, const Source& source)
{
    std::vector<double> rows;
    rows.reserve(static_cast<std::size_t>(source.rows * source.size));
    for (Index i = 0; i < source.rows; ++i) {
        for (Index x = 0; x < source.size; ++x) {
            const auto [from_h, from_i, from_x] = source.of(h, i, x);
            rows.push_back(view.at(std::array{b, from_h, from_i, from_x}));
        }
    }
    return rows;
}

/// The rows of head h of batch entry b where heads or batch entries are the positions.
std::vector<double> rows_at(const TensorView& view, Along along, Index b, Index h)
{
    const bool heads = along == Along::heads;
    std::vector<double> rows;
    for (Index n = 0; n < view.shape[heads ? 1 : 0]; ++n) {
        const TensorView head = slice(view, heads ? std::array{b, n} : std::array{n, h});
        const Matrix<double> row = load_matrix<double>(row_block(head, heads ? h : b, 1), {});
        rows.insert(rows.end(), row.data(), row.data() + row.size());
    }
    return rows;
}

std::vector<double> transposed(const std::vector<double>& rows, Index count, Index size)
{
    std::vector<double> columns(rows.size());
    for (Index i = 0; i < count; ++i) {
        for (Index x = 0; x < size; ++x) {
            columns[static_cast<std::size_t>(x * count + i)] = rows[static_cast<std::size_t>(i * size + x)];
        }
    }
    return columns;
}

} // namespace

core::AttentionDims sizes_of(const Call& call, const Variant& variant)
{
    const core::AttentionDims& l = call.views.sizes;
    core::AttentionDims sizes = l;
    sizes.S = variant.cache_missing ? l.S : l.total();
    sizes.P = 0;
    if (variant.along == Along::heads) {
        sizes.H = sizes.H_kv = l.T;
        sizes.T = sizes.S = l.H;
    } else if (variant.along == Along::batch) {
        sizes.B = l.T;
        sizes.T = sizes.S = l.B;
    }
    return sizes;
}

Reading reading_of(const Variant& variant, Operand operand)
{
    const bool is_read_so =
        variant.read_of == ReadOf::all || (variant.read_of == ReadOf::values) == (operand == Operand::values);
    return is_read_so ? variant.read : Reading::right;
}

const HeadRows& Operands::head(const Variant& variant, Operand operand, Index b, Index h)
{
    const bool first = variant.entry == Entry::first || (variant.entry == Entry::first_keys && operand != Operand::queries);
    const Index entry = first ? 0 : b;
    const Key key{operand,
                  entry,
                  h,
                  reading_of(variant, operand),
                  variant.inputs,
                  variant.along,
                  variant.denormals_flushed,
                  variant.cache_missing,
                  variant.cache_last};
    const auto found = read_.find(key);
    return found != read_.end() ? found->second : read_.emplace(key, read(variant, operand, entry, h)).first->second;
}

HeadRows Operands::read(const Variant& variant, Operand operand, Index b, Index h) const
{
    const TensorView& view = view_of(call_.views, operand);
    const Reading reading = reading_of(variant, operand);
    const Source source{view.shape[1], view.shape[2], view.shape[3], reading, call_.views.side_by_side};
    HeadRows head{};
    head.size = source.size;
    head.rows = variant.along != Along::positions ? rows_at(view, variant.along, b, h)
                : reading == Reading::right       ? plain_rows(view, b, h)
                                                  : gathered_rows(view, b, h, source);
    if (operand != Operand::queries && past_of(call_.views, operand) && !variant.cache_missing) {
        const std::vector<double> past = plain_rows(*past_of(call_.views, operand), b, h);
        head.rows.insert(variant.cache_last ? head.rows.end() : head.rows.begin(), past.begin(), past.end());
    }
    round_all(head.rows, variant.inputs);
    if (variant.denormals_flushed) {
        flush_all(head.rows, smallest_normal(call_.views.queries.type));
    }
    head.count = static_cast<Index>(head.rows.size()) / std::max<Index>(head.size, 1);
    head.columns = transposed(head.rows, head.count, head.size);
    return head;
}

} // namespace attn::model::diagnose
