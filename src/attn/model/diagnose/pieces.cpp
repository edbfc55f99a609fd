#include "attn/model/diagnose/pieces.hpp"

#include <algorithm>

namespace attn::model::diagnose {
namespace {

using core::KeyRange;

/// What is kept of all sequences together is for the few that are worked on.
constexpr std::size_t most_that_share = 512;

struct Sequence {
    KeyRange queries, keys;
};

/// Boundary `at` of several, between the ends of which it may be moved.
Index boundary(const std::vector<Index>& boundaries, std::size_t at, Packing packing)
{
    const bool inner = at > 0 && at + 1 < boundaries.size();
    const Index by = !inner ? 0 : packing == Packing::late ? 1 : packing == Packing::early ? -1 : 0;
    return std::clamp<Index>(boundaries[at] + by, 0, boundaries.back());
}

KeyRange range(const std::vector<Index>& boundaries, std::size_t n, Packing packing)
{
    return {boundary(boundaries, n, packing), boundary(boundaries, n + 1, packing)};
}

KeyRange keys_of(const Boundaries& given, std::size_t n, Packing packing)
{
    const Index all = given.keys.back();
    const KeyRange own = range(given.keys, n, packing);
    switch (packing) {
    case Packing::of_queries: return {std::min(given.queries[n], all), std::min(given.queries[n + 1], all)};
    case Packing::first_keys: return {0, own.end - own.begin};
    default: return own;
    }
}

std::vector<Sequence> sequences(const Boundaries& given, Packing packing)
{
    if (packing == Packing::missing) {
        return {{{0, given.queries.back()}, {0, given.keys.back()}}};
    }
    std::vector<Sequence> found;
    for (std::size_t n = 0; n + 1 < given.queries.size(); ++n) {
        found.push_back({range(given.queries, n, packing), keys_of(given, n, packing)});
    }
    return found;
}

Call call_of_sequence(const Call& all, const Sequence& sequence, Index n)
{
    const auto [query, query_end] = sequence.queries;
    const auto [key, key_end] = sequence.keys;
    Call call = all;
    AttendViews& views = call.views;
    call.sequences.reset();
    views.sizes.T = query_end - query;
    views.sizes.S = key_end - key;
    views.queries = row_block(all.views.queries, query, views.sizes.T);
    views.keys = row_block(all.views.keys, key, views.sizes.S);
    views.values = row_block(all.views.values, key, views.sizes.S);
    if (all.views.loss) {
        views.loss = loss_of_rows(*all.views.loss, query, views.sizes.T);
    }
    views.offsets = {offset_in_sequence(call.options.align, views.sizes.T, views.sizes.S)};
    if (const Index H = views.sizes.H; std::ssize(all.views.slopes) > H) {
        views.slopes = {all.views.slopes.begin() + n * H, all.views.slopes.begin() + (n + 1) * H};
    }
    return call;
}

} // namespace

Pieces::Pieces(const Call& call, Packing packing)
{
    if (!call.sequences) {
        pieces_.emplace_back(call, Index{0}, Index{0}, std::size_t{1});
        return;
    }
    const std::vector<Sequence> all = sequences(*call.sequences, packing);
    for (Index n = 0; n < std::ssize(all); ++n) {
        const Sequence& sequence = all[static_cast<std::size_t>(n)];
        if (sequence.queries.begin == sequence.queries.end) {
            continue;
        }
        const Call& own = calls_.emplace_back(call_of_sequence(call, sequence, n));
        pieces_.emplace_back(own, sequence.queries.begin, sequence.keys.begin, std::min(all.size(), most_that_share));
    }
}

CallPiece& Pieces::with(Index query)
{
    return *std::ranges::lower_bound(pieces_, query, {},
                                     [](const CallPiece& piece) { return piece.first + piece.queries() - 1; });
}

Index Pieces::scores() const
{
    Index count = 0;
    for (const CallPiece& piece : pieces_) {
        const core::AttentionDims& l = piece.call.views.sizes;
        count += l.B * l.H * l.T * l.total();
    }
    return count;
}

} // namespace attn::model::diagnose
