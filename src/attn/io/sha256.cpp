#include "attn/io/sha256.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

namespace attn::io {
namespace {

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes …
constexpr std::array<std::uint32_t, 8> first_state{0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU,
                                                   0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};
/// … and of the cube roots of the first 64.
constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98U, 0x71374491U, 0xb5c0fbcfU, 0xe9b5dba5U, 0x3956c25bU, 0x59f111f1U, 0x923f82a4U, 0xab1c5ed5U,
    0xd807aa98U, 0x12835b01U, 0x243185beU, 0x550c7dc3U, 0x72be5d74U, 0x80deb1feU, 0x9bdc06a7U, 0xc19bf174U,
    0xe49b69c1U, 0xefbe4786U, 0x0fc19dc6U, 0x240ca1ccU, 0x2de92c6fU, 0x4a7484aaU, 0x5cb0a9dcU, 0x76f988daU,
    0x983e5152U, 0xa831c66dU, 0xb00327c8U, 0xbf597fc7U, 0xc6e00bf3U, 0xd5a79147U, 0x06ca6351U, 0x14292967U,
    0x27b70a85U, 0x2e1b2138U, 0x4d2c6dfcU, 0x53380d13U, 0x650a7354U, 0x766a0abbU, 0x81c2c92eU, 0x92722c85U,
    0xa2bfe8a1U, 0xa81a664bU, 0xc24b8b70U, 0xc76c51a3U, 0xd192e819U, 0xd6990624U, 0xf40e3585U, 0x106aa070U,
    0x19a4c116U, 0x1e376c08U, 0x2748774cU, 0x34b0bcb5U, 0x391c0cb3U, 0x4ed8aa4aU, 0x5b9cca4fU, 0x682e6ff3U,
    0x748f82eeU, 0x78a5636fU, 0x84c87814U, 0x8cc70208U, 0x90befffaU, 0xa4506cebU, 0xbef9a3f7U, 0xc67178f2U};

constexpr std::size_t block_size = 64;
using State = std::array<std::uint32_t, 8>;

std::uint32_t big_endian_word(Bytes bytes, std::size_t at)
{
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        word = word << 8U | std::to_integer<std::uint32_t>(bytes[at + i]);
    }
    return word;
}

/// FIPS 180-4, section 6.2.2; the letters are those of the standard.
void add_block(State& state, Bytes block)
{
    std::array<std::uint32_t, 64> W{};
    for (std::size_t t = 0; t < 64; ++t) {
        if (t < 16) {
            W[t] = big_endian_word(block, 4 * t);
            continue;
        }
        const std::uint32_t s0 = std::rotr(W[t - 15], 7) ^ std::rotr(W[t - 15], 18) ^ W[t - 15] >> 3U;
        const std::uint32_t s1 = std::rotr(W[t - 2], 17) ^ std::rotr(W[t - 2], 19) ^ W[t - 2] >> 10U;
        W[t] = W[t - 16] + s0 + W[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t t = 0; t < 64; ++t) {
        const std::uint32_t S1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t choice = (e & f) ^ (~e & g);
        const std::uint32_t T1 = h + S1 + choice + round_constants[t] + W[t];
        const std::uint32_t S0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = d + T1;
        d = c;
        c = b;
        b = a;
        a = T1 + S0 + majority;
    }
    const State added{a, b, c, d, e, f, g, h};
    std::transform(state.begin(), state.end(), added.begin(), state.begin(), std::plus<>());
}

State digest(Bytes bytes)
{
    State state = first_state;
    Bytes rest = bytes;
    for (; rest.size() >= block_size; rest = rest.subspan(block_size)) {
        add_block(state, rest.first(block_size));
    }
    // The end: a bit 1, zeros, and the length in bits as the last 8 bytes of a block.
    std::array<std::byte, 2 * block_size> end{};
    std::copy(rest.begin(), rest.end(), end.begin());
    end.at(rest.size()) = std::byte{0x80};
    const std::size_t length = rest.size() + 9 <= block_size ? block_size : 2 * block_size;
    const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
    for (std::size_t i = 0; i < 8; ++i) {
        end.at(length - 1 - i) = static_cast<std::byte>(bits >> (8 * i) & 0xffU);
    }
    for (std::size_t at = 0; at < length; at += block_size) {
        add_block(state, Bytes(end).subspan(at, block_size));
    }
    return state;
}

} // namespace

std::string sha256(Bytes bytes)
{
    std::string hex;
    for (const std::uint32_t word : digest(bytes)) {
        for (unsigned shift = 32; shift > 0; shift -= 4) {
            hex += "0123456789abcdef"[word >> (shift - 4) & 15U];
        }
    }
    return hex;
}

std::string sha256_source(Bytes bytes)
{
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text = "sha256-";
    std::uint32_t bits = 0; // those that no letter stands for yet
    unsigned count = 0;
    for (const std::uint32_t word : digest(bytes)) {
        for (unsigned shift = 32; shift > 0; shift -= 8) {
            bits = bits << 8U | (word >> (shift - 8) & 0xffU);
            for (count += 8; count >= 6; count -= 6) {
                text += letters[bits >> (count - 6) & 63U];
            }
        }
    }
    return text + letters[bits << (6 - count) & 63U] + '='; // 256 bits are 42 letters and 4 bits
}

} // namespace attn::io
