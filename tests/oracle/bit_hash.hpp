// One number for the bits of many, and inputs that C++ and Python make alike (tests/oracle/bits.py).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace oracle {

/// Over the 64-bit patterns, in order. The rotation brings every bit of a value into every later bit of the hash.
inline std::uint64_t bit_hash(const std::vector<double>& values)
{
    std::uint64_t hash = 0;
    for (const double value : values) {
        hash = (std::rotl(hash, 23) ^ std::bit_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15;
    }
    return hash;
}

/// `count` numbers of [low, high) from a SplitMix64 that starts at 0.
inline std::vector<double> inputs(std::size_t count, double low, double high)
{
    std::vector<double> values(count);
    std::uint64_t state = 0;
    for (double& value : values) {
        state += 0x9e3779b97f4a7c15;
        std::uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        z ^= z >> 31;
        value = low + (high - low) * (static_cast<double>(z >> 11) * 0x1p-53);
    }
    return values;
}

} // namespace oracle
