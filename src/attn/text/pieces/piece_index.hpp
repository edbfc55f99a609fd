// Pieces found by their text, and all pieces that a text begins with.
#pragma once

#include "attn/text/pieces/aligned.hpp"
#include "attn/text/pieces/tokenizer_spec.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace attn::text {

/// A hash of bytes that grows byte by byte (FNV-1a).
using PieceHash = std::uint64_t;
[[nodiscard]] constexpr PieceHash grown(PieceHash hash, char byte)
{
    return (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
}
[[nodiscard]] constexpr PieceHash grown(PieceHash hash, std::string_view bytes)
{
    for (const char byte : bytes) {
        hash = grown(hash, byte);
    }
    return hash;
}
inline constexpr PieceHash no_bytes = 0xcbf29ce484222325U;

class PieceIndex {
public:
    /// `beginnings`: also for each_beginning(). Throws Error(data), naming `what`, when a piece is there twice.
    PieceIndex(PieceList pieces, bool beginnings, std::string_view what);

    [[nodiscard]] const PieceList& pieces() const { return pieces_; }

    /// The entry that is `first` and `second`, one after another.
    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view first, std::string_view second = {}) const;

    /// The same, if it is known where to look: at `near` or next to it.
    [[nodiscard]] std::optional<std::uint32_t> find_near(std::uint32_t near, std::string_view first,
                                                         std::string_view second) const;

    /// Has the processor fetch what find() will look at.
    void prefetch(std::string_view piece) const { __builtin_prefetch(&slots_[slot_of(grown(no_bytes, piece))]); }

    /// take(bytes of `text`, entry) for each piece that is `before` and the first bytes of `text`, the shortest first.
    template <typename Take>
    void each_beginning(std::string_view before, std::string_view text, Budget& budget, Take take) const
    {
        constexpr std::size_t bytes_per_step = 16; // of a piece, when it is compared
        std::size_t steps = 0;
        PieceHash hash = grown(no_bytes, before);
        for (std::size_t size = 1; size <= text.size(); ++size) {
            hash = grown(hash, text[size - 1]);
            steps += Budget::steps_per_byte;
            if (!may_begin(hash)) {
                break;
            }
            if (const std::optional<std::uint32_t> entry = find_hashed(hash, before, {text.data(), size})) {
                steps += size / bytes_per_step;
                take(size, *entry);
            }
        }
        budget.spend(steps); // no piece is longer than some kilobytes
    }

private:
    struct Slot {
        std::uint32_t tag = 0;   ///< the hash's upper half
        std::uint32_t entry = 0; ///< and one more; 0 for an empty slot
    };

    [[nodiscard]] std::size_t slot_of(PieceHash hash) const { return (hash * 0x9E3779B97F4A7C15U) >> shift_; }
    [[nodiscard]] std::size_t beginning_of(PieceHash hash) const { return (hash * 0xD6E8FEB86659FD93U) >> beginning_shift_; }
    /// False when no piece does; true now and then when none does.
    [[nodiscard]] bool may_begin(PieceHash hash) const
    {
        const std::size_t bit = beginning_of(hash);
        return (beginnings_[bit / 64] >> bit % 64 & 1U) != 0;
    }
    [[nodiscard]] bool is(std::uint32_t entry, std::string_view first, std::string_view second) const;
    [[nodiscard]] std::optional<std::uint32_t> find_hashed(PieceHash hash, std::string_view first,
                                                           std::string_view second) const;
    void note_beginnings();

    PieceList pieces_;
    int shift_ = 0;
    int beginning_shift_ = 0;
    std::vector<Slot> slots_;               ///< a power of two, at most two thirds of them in use
    std::vector<std::uint64_t> beginnings_; ///< a bit for the hash of each beginning of each piece
};

} // namespace attn::text
