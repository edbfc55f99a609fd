// The decimal of every positive finite float32, against the C++ library's: minutes of work, for .ci/full. The sign is one more
// character, which the unit tests see to.
#include "attn/core/parallel.hpp"
#include "attn/math/shortest.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <thread>

namespace {

constexpr std::uint32_t infinity = 0x7F800000; // the bits of the first that is not finite
constexpr std::uint32_t block = std::uint32_t{1} << 20U;

/// As the library writes it, with a point or an exponent always.
std::string_view expected(std::array<char, 64>& room, float value)
{
    char* end = std::to_chars(room.data(), room.data() + room.size(), value).ptr;
    const std::string_view text(room.data(), static_cast<std::size_t>(end - room.data()));
    if (text.find_first_of(".e") == std::string_view::npos) {
        *end++ = '.';
        *end++ = '0';
    }
    return {room.data(), static_cast<std::size_t>(end - room.data())};
}

/// How many of the floats with bits in [begin, end) come out otherwise; says the first few.
std::int64_t differences(std::uint32_t begin, std::uint32_t end)
{
    std::int64_t count = 0;
    std::array<char, 64> ours{};
    std::array<char, 64> theirs{};
    for (std::uint32_t bits = begin; bits != end; ++bits) {
        const auto value = std::bit_cast<float>(bits);
        const char* last = attn::math::write_shortest(ours.data(), value);
        const std::string_view text(ours.data(), static_cast<std::size_t>(last - ours.data()));
        const std::string_view wanted = expected(theirs, value);
        if (text != wanted && ++count <= 3) {
            std::fprintf(stderr, "bits %08x: %.*s, expected %.*s\n", bits, static_cast<int>(text.size()), text.data(),
                         static_cast<int>(wanted.size()), wanted.data());
        }
    }
    return count;
}

} // namespace

int main()
{
    std::atomic<std::int64_t> count = 0;
    const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    attn::core::for_each_block(infinity / block, {threads, {}}, [&](attn::Index index) {
        const auto begin = static_cast<std::uint32_t>(index) * block;
        count += differences(begin, begin + block);
    });
    std::printf("%u floats, %lld differences\n", infinity, static_cast<long long>(count.load()));
    return count == 0 ? 0 : 1;
}
