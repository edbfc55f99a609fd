#include "attn/text/pieces/piece_index.hpp"

#include "attn/tensor/error.hpp"

#include <bit>

namespace attn::text {

void PieceList::add(std::string_view piece, std::int32_t id)
{
    entries.push_back({static_cast<std::uint32_t>(letters.size()), static_cast<std::uint32_t>(piece.size()), id});
    letters += piece;
}

void MergeList::add(std::string_view left, std::string_view right)
{
    entries.push_back({static_cast<std::uint32_t>(letters.size()), static_cast<std::uint32_t>(left.size()),
                       static_cast<std::uint32_t>(right.size())});
    letters += left;
    letters += right;
}

PieceIndex::PieceIndex(PieceList pieces, bool beginnings, std::string_view what) : pieces_(std::move(pieces))
{
    const std::size_t size = std::bit_ceil(pieces_.entries.size() + pieces_.entries.size() / 2 + 2);
    shift_ = 64 - std::countr_zero(size);
    slots_.resize(size);
    for (std::size_t entry = 0; entry < pieces_.entries.size(); ++entry) {
        const std::string_view piece = pieces_.text(entry);
        const PieceHash hash = grown(no_bytes, piece);
        if (find_hashed(hash, piece, {})) {
            throw Error(ErrorKind::data, what, in_quotes(piece) + " twice", "each piece once");
        }
        std::size_t slot = slot_of(hash);
        while (slots_[slot].entry != 0) {
            slot = (slot + 1) & (size - 1);
        }
        slots_[slot] = {static_cast<std::uint32_t>(hash >> 32U), static_cast<std::uint32_t>(entry + 1)};
    }
    if (beginnings) {
        note_beginnings();
    }
}

void PieceIndex::note_beginnings()
{
    const std::size_t bits = std::bit_ceil(16 * pieces_.letters.size() + 64);
    beginning_shift_ = 64 - std::countr_zero(bits);
    beginnings_.resize(bits / 64);
    for (std::size_t entry = 0; entry < pieces_.entries.size(); ++entry) {
        PieceHash hash = no_bytes;
        for (const char byte : pieces_.text(entry)) {
            hash = grown(hash, byte);
            const std::size_t bit = beginning_of(hash);
            beginnings_[bit / 64] |= std::uint64_t{1} << bit % 64;
        }
    }
}

std::optional<std::uint32_t> PieceIndex::find(std::string_view first, std::string_view second) const
{
    return find_hashed(grown(grown(no_bytes, first), second), first, second);
}

std::optional<std::uint32_t> PieceIndex::find_near(std::uint32_t near, std::string_view first, std::string_view second) const
{
    for (std::uint32_t entry = near; entry < pieces_.entries.size() && entry <= near + 1; ++entry) {
        if (is(entry, first, second)) {
            return entry;
        }
    }
    return find(first, second);
}

bool PieceIndex::is(std::uint32_t entry, std::string_view first, std::string_view second) const
{
    const std::string_view piece = pieces_.text(entry);
    return piece.size() == first.size() + second.size() && piece.starts_with(first) && piece.ends_with(second);
}

std::optional<std::uint32_t> PieceIndex::find_hashed(PieceHash hash, std::string_view first, std::string_view second) const
{
    const auto tag = static_cast<std::uint32_t>(hash >> 32U);
    for (std::size_t slot = slot_of(hash); slots_[slot].entry != 0; slot = (slot + 1) & (slots_.size() - 1)) {
        if (slots_[slot].tag == tag && is(slots_[slot].entry - 1, first, second)) {
            return slots_[slot].entry - 1;
        }
    }
    return std::nullopt;
}

} // namespace attn::text
