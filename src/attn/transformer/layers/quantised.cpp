#include "attn/transformer/layers/quantised.hpp"

#include "attn/tensor/element.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace attn::transformer {
namespace {

using Byte = std::uint8_t;

/// A float16 in two bytes, so that a block has no gaps on any machine.
struct Half {
    Byte low, high;

    [[nodiscard]] float value() const { return from_float16(static_cast<std::uint16_t>(low | high << 8U)); }
};

constexpr std::size_t small = 32;  ///< numbers of a small block, and of a part of a large one
constexpr std::size_t large = 256; ///< numbers

float number(unsigned bits)
{
    return static_cast<float>(bits);
}

/// Number i of 32 in 4 bits each: the low halves of 16 bytes, then the high ones.
unsigned nibble(const std::array<Byte, small / 2>& bytes, std::size_t i)
{
    const unsigned byte = bytes[i % (small / 2)];
    return i < small / 2 ? byte & 15U : byte >> 4U;
}

/// Bit i of 32.
unsigned bit(const std::array<Byte, small / 8>& bytes, std::size_t i)
{
    return bytes[i / 8] >> i % 8 & 1U;
}

struct Q8_0 {
    Half d;
    std::array<std::int8_t, small> q;

    [[nodiscard]] float at(std::size_t i) const { return d.value() * static_cast<float>(q[i]); }
};

struct Q4_0 {
    Half d;
    std::array<Byte, small / 2> q;

    [[nodiscard]] float at(std::size_t i) const { return d.value() * (number(nibble(q, i)) - 8); }
};

struct Q4_1 {
    Half d, m;
    std::array<Byte, small / 2> q;

    [[nodiscard]] float at(std::size_t i) const { return d.value() * number(nibble(q, i)) + m.value(); }
};

struct Q5_0 {
    Half d;
    std::array<Byte, small / 8> highest;
    std::array<Byte, small / 2> q;

    [[nodiscard]] float at(std::size_t i) const { return d.value() * (number(nibble(q, i) | bit(highest, i) << 4U) - 16); }
};

struct Q5_1 {
    Half d, m;
    std::array<Byte, small / 8> highest;
    std::array<Byte, small / 2> q;

    [[nodiscard]] float at(std::size_t i) const { return d.value() * number(nibble(q, i) | bit(highest, i) << 4U) + m.value(); }
};

/// The 6 bits of s and c for each of eight parts: those of parts 0 to 3 in one byte each; of parts 4 to 7 the low four bits in
/// half a byte, and the two high ones on top of the bytes of parts 0 to 3.
struct Scales {
    std::array<Byte, 4> s_first, c_first, rest;

    [[nodiscard]] float s(std::size_t part) const
    {
        const unsigned byte = s_first[part % 4];
        return number(part < 4 ? byte & 63U : (rest[part % 4] & 15U) | (byte >> 2U & 48U));
    }
    [[nodiscard]] float c(std::size_t part) const
    {
        const unsigned byte = c_first[part % 4];
        return number(part < 4 ? byte & 63U : unsigned{rest[part % 4]} >> 4U | (byte >> 2U & 48U));
    }
};

/// Number i of 256 in 4 bits each: of each 32 bytes the low halves, then the high ones.
unsigned nibble(const std::array<Byte, large / 2>& bytes, std::size_t i)
{
    const unsigned byte = bytes[i / (2 * small) * small + i % small];
    return i / small % 2 == 0 ? byte & 15U : byte >> 4U;
}

struct Q4_K {
    Half d, m;
    Scales scales;
    std::array<Byte, large / 2> q;

    [[nodiscard]] float at(std::size_t i) const
    {
        const std::size_t part = i / small;
        return d.value() * scales.s(part) * number(nibble(q, i)) - m.value() * scales.c(part);
    }
};

struct Q5_K {
    Half d, m;
    Scales scales;
    std::array<Byte, small> highest; ///< bit p of byte i is that of number i in part p
    std::array<Byte, large / 2> q;

    [[nodiscard]] float at(std::size_t i) const
    {
        const std::size_t part = i / small;
        const unsigned top = highest[i % small] >> part & 1U;
        return d.value() * scales.s(part) * number(nibble(q, i) | top << 4U) - m.value() * scales.c(part);
    }
};

struct Q6_K {
    std::array<Byte, large / 2> low;     ///< 4 bits: of each 64 bytes the low halves, then the high ones
    std::array<Byte, large / 4> highest; ///< 2 bits: of each 32 bytes four layers, the lowest bits first
    std::array<std::int8_t, large / 16> s;
    Half d;

    [[nodiscard]] float at(std::size_t i) const
    {
        const std::size_t half = i / 128, within = i % 128;
        const unsigned byte = low[half * 64 + within % 64];
        const unsigned four = within < 64 ? byte & 15U : byte >> 4U;
        const unsigned two = highest[half * small + within % small] >> within / small * 2 & 3U;
        return d.value() * static_cast<float>(s[i / 16]) * (number(four | two << 4U) - 32);
    }
};

template <typename Block, std::size_t numbers>
void widen(const std::byte* from, float* to)
{
    static_assert(std::is_trivially_copyable_v<Block> && alignof(Block) == 1);
    Block block;
    std::memcpy(&block, from, sizeof block);
    for (std::size_t i = 0; i < numbers; ++i) {
        to[i] = block.at(i);
    }
}

template <typename Block, std::size_t numbers>
constexpr BlockFormat format(std::string_view name)
{
    return {name, static_cast<Index>(numbers), static_cast<Index>(sizeof(Block)), widen<Block, numbers>};
}

constexpr std::array formats{
    format<Q8_0, small>("Q8_0"), format<Q4_0, small>("Q4_0"), format<Q4_1, small>("Q4_1"), format<Q5_0, small>("Q5_0"),
    format<Q5_1, small>("Q5_1"), format<Q4_K, large>("Q4_K"), format<Q5_K, large>("Q5_K"), format<Q6_K, large>("Q6_K"),
};

} // namespace

std::span<const BlockFormat> block_formats()
{
    return formats;
}

const BlockFormat* block_format(std::string_view name)
{
    const auto* const found = std::ranges::find(formats, name, &BlockFormat::name);
    return found == formats.end() ? nullptr : found;
}

} // namespace attn::transformer
