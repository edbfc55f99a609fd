#include "attn/random/stream.hpp"

#include "draw_hashes.hpp"
#include "oracle/bit_hash.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace attn::random;

Stream stream_of(const std::string& generator)
{
    if (generator == "torch") {
        return TorchStream(draw_hash_seed);
    }
    if (generator == "numpy") {
        return NumpyStream(draw_hash_seed);
    }
    return Pcg64Stream(draw_hash_seed);
}

std::vector<double> drawn(Stream& stream, const DrawHash& row)
{
    const std::string kind = row.kind;
    if (kind == "integers") {
        return integers(stream, row.count, static_cast<std::int64_t>(row.first), static_cast<std::int64_t>(row.second));
    }
    return kind == "uniform" ? uniform(stream, row.count, row.first, row.second)
                             : normal(stream, row.count, row.first, row.second);
}

TEST(Stream, DrawsWhatPytorchAndNumpyDrew)
{
    for (const DrawHash& row : draw_hashes) {
        Stream stream = stream_of(row.generator);
        EXPECT_EQ(oracle::bit_hash(drawn(stream, row)), row.hash)
            << row.generator << " " << row.kind << " " << row.count << " " << row.first << " " << row.second;
    }
}

TEST(Stream, DrawsStandardOnesUnlessToldOtherwise)
{
    Stream stream = Pcg64Stream(3);
    EXPECT_EQ(uniform(stream, 5), Pcg64Stream(3).uniform(5, 0, 1));
    stream = NumpyStream(3);
    EXPECT_EQ(normal(stream, 5), NumpyStream(3).normal(5, 0, 1));
}

TEST(Bounds, AreThoseOfPytorchToTheBit)
{
    // math.sqrt(3.0) * (math.sqrt(2 / (1 + math.sqrt(5) ** 2)) / math.sqrt(16)) in Python: not 0.25
    EXPECT_EQ(linear_weight_bound(16), 0x1.fffffffffffffp-3);
    EXPECT_EQ(linear_bias_bound(6), 0x1.a20bd700c2c3fp-2);
    // math.sqrt(3.0) * math.sqrt(2 / 40): one unit below math.sqrt(6 / 40)
    EXPECT_EQ(xavier_bound(16, 24), 0x1.8c97ef43f7247p-2);
    EXPECT_EQ(xavier_bound(24, 16), xavier_bound(16, 24));
    // 5 / 3 * math.sqrt(2 / 40)
    EXPECT_EQ(xavier_deviation(16, 24, 5.0 / 3), 0x1.7d9f4cf754635p-2);
    // math.sqrt(2 / (1 + 0.01**2)) / math.sqrt(16), and math.sqrt(3.0) * (math.sqrt(2.0) / math.sqrt(16))
    EXPECT_EQ(kaiming_deviation(16, 0.01), 0x1.6a05442aad7e4p-2);
    EXPECT_EQ(kaiming_bound(16), 0x1.3988e1409212fp-1);
}

} // namespace
