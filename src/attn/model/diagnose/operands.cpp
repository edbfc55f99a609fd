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

/// Rows [first, first + count) of one head as they lie there.
std::vector<double> plain_rows(const TensorView& view, Index b, Index h, Index first, Index count)
{
    const Matrix<double> rows = load_matrix<double>(row_block(slice(view, std::array{b, h}), first, count), {});
    return {rows.data(), rows.data() + rows.size()};
}

/// The same by another reading: element for element.
std::vector<double> gathered_rows(const TensorView& view, Index b, Index h, Index first, Index count, const Source& source)
{
    std::vector<double> rows;
    rows.reserve(static_cast<std::size_t>(count * source.size));
    for (Index i = first; i < first + count; ++i) {
        for (Index x = 0; x < source.size; ++x) {
            const auto [from_h, from_i, from_x] = source.of(h, i, x);
            rows.push_back(view.at(std::array{b, from_h, from_i, from_x}));
        }
    }
    return rows;
}

/// The same of head h of batch entry b where heads or batch entries are the positions.
std::vector<double> rows_at(const TensorView& view, Along along, Index b, Index h, Index first, Index count)
{
    const bool heads = along == Along::heads;
    std::vector<double> rows;
    for (Index n = first; n < first + count; ++n) {
        const TensorView head = slice(view, heads ? std::array{b, n} : std::array{n, h});
        const Matrix<double> row = load_matrix<double>(row_block(head, heads ? h : b, 1), {});
        rows.insert(rows.end(), row.data(), row.data() + row.size());
    }
    return rows;
}

/// The same as a variant reads them, those of the cache among them.
std::vector<double> rows_read(const Call& call, const ReadKnobs& knobs, Operand operand, Index b, Index h, Index first,
                              Index count)
{
    const TensorView& view = view_of(call.views, operand);
    const Reading reading = reading_of(knobs, operand);
    const auto now = [&](Index from, Index rows) {
        const Source source{view.shape[1], view.shape[2], view.shape[3], reading, call.views.side_by_side};
        return knobs.along != Along::positions ? rows_at(view, knobs.along, b, h, from, rows)
               : reading == Reading::right     ? plain_rows(view, b, h, from, rows)
                                               : gathered_rows(view, b, h, from, rows, source);
    };
    if (operand == Operand::queries || !past_of(call.views, operand) || knobs.cache_missing) {
        return now(first, count);
    }
    const TensorView& past = *past_of(call.views, operand);
    const Index before = knobs.cache_last ? view.shape[2] : past.shape[2]; // rows that come first
    const Index of_first = std::clamp<Index>(before - first, 0, count);
    const Index second = std::max<Index>(first - before, 0);
    std::vector<double> rows =
        knobs.cache_last ? now(first - second, of_first) : plain_rows(past, b, h, first - second, of_first);
    const std::vector<double> others =
        knobs.cache_last ? plain_rows(past, b, h, second, count - of_first) : now(second, count - of_first);
    rows.insert(rows.end(), others.begin(), others.end());
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

/// The bytes of blocks that may be kept: half as many as the inputs have, and what makes small ones quick.
std::size_t room_of(const Call& call)
{
    constexpr std::size_t least = std::size_t{32} << 20;
    std::size_t room = least;
    for (const Operand operand : {Operand::queries, Operand::keys, Operand::values}) {
        const TensorView& view = view_of(call.views, operand);
        room += static_cast<std::size_t>(view.count() * size_of(view.type)) / 2;
    }
    return room;
}

} // namespace

core::AttentionDims sizes_of(const Call& call, const ReadKnobs& knobs)
{
    const core::AttentionDims& l = call.views.sizes;
    core::AttentionDims sizes = l;
    sizes.S = knobs.cache_missing ? l.S : l.total();
    sizes.P = 0;
    if (knobs.along == Along::heads) {
        sizes.H = sizes.H_kv = l.T;
        sizes.T = sizes.S = l.H;
    } else if (knobs.along == Along::batch) {
        sizes.B = l.T;
        sizes.T = sizes.S = l.B;
    }
    return sizes;
}

Reading reading_of(const ReadKnobs& knobs, Operand operand)
{
    const auto is_read_so = [&] {
        switch (knobs.read_of) {
        case ReadOf::all: return true;
        case ReadOf::queries_and_keys: return operand != Operand::values;
        case ReadOf::keys: return operand == Operand::keys;
        case ReadOf::values: return operand == Operand::values;
        }
        return true;
    };
    return is_read_so() ? knobs.read : Reading::right;
}

Operands::Operands(const Call& call, std::size_t among) : call_(call), blocks_(room_of(call) / among) {}

Index Operands::count(const ReadKnobs& knobs, Operand operand) const
{
    const core::AttentionDims sizes = sizes_of(call_, knobs);
    return operand == Operand::queries ? sizes.T : sizes.S;
}

HeadBlock Operands::block(const ReadKnobs& knobs, Operand operand, Order order, Index b, Index h, Index i)
{
    constexpr Index numbers_of_block = Index{1} << 16;
    const bool first_entry =
        knobs.entry == EntryUse::first || (knobs.entry == EntryUse::first_keys && operand != Operand::queries);
    const Index entry = first_entry ? 0 : b;
    ReadKnobs own = knobs; // what others read in the same way is shared with them
    own.read = reading_of(knobs, operand);
    own.read_of = ReadOf::all;
    own.entry = EntryUse::right;
    const Index size = view_of(call_.views, operand).shape[3];
    const Index rows = std::max<Index>(numbers_of_block / std::max<Index>(size, 1), 1);
    const Index first = i / rows * rows;
    const Index count = std::min(rows, this->count(own, operand) - first);
    return {first, count, size, blocks_.get({operand, order, entry, h, first, own}, [&] {
                std::vector<double> numbers = rows_read(call_, own, operand, entry, h, first, count);
                if (own.padding_zeros && operand != Operand::queries && own.along == Along::positions) {
                    const Index length = call_.views.lengths[static_cast<std::size_t>(entry)];
                    std::fill(numbers.begin() + std::clamp<Index>(length - first, 0, count) * size, numbers.end(), 0.0);
                }
                round_all(numbers, own.inputs);
                if (own.denormals_flushed) {
                    flush_all(numbers, smallest_normal(call_.views.queries.type));
                }
                return order == Order::rows ? numbers : transposed(numbers, count, size);
            })};
}

} // namespace attn::model::diagnose
