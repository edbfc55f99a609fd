#include "attn/report/text/timing.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using attn::report::Timing;

/// 4·100·100·50·2 operations in 2 ms are 2 GFLOP/s.
Timing example()
{
    return {.workload = {.seq = 100, .heads = 2, .kv_heads = 1, .head_dim = 50, .value_dim = 50},
            .threads = 3,
            .isa = attn::core::Isa::avx2,
            .least_seconds = 0.0015,
            .median_seconds = 0.002,
            .repeats = 9,
            .peak_gflops = 8,
            .peak_rss_bytes = 3 << 20};
}

template <typename Write>
std::string timings_text(std::span<const Timing> timings, Write write)
{
    attn::Buffer text;
    write(timings, text);
    return text.text();
}

std::string text_within(std::optional<attn::Index> width, std::span<const Timing> timings)
{
    return timings_text(timings, [&](auto all, auto& buffer) { attn::report::write_timings(all, width, buffer); });
}

TEST(Timing, FitsATerminal)
{
    std::array timings{example(), example()};
    timings[1].workload.seq = 5;
    EXPECT_EQ(text_within(101, timings), text_within({}, timings));
    EXPECT_EQ(text_within(80, timings), "heads 2, kv_heads 1, head_dim 50, value_dim 50, threads 3, isa avx2\n"
                                        "seq  median ms  GFLOP/s  peak  of peak  peak MiB\n"
                                        "100      2.000      2.0   8.0    25.0%       3.0\n"
                                        "  5      2.000      0.0   8.0     0.1%       3.0\n");
}

TEST(Timing, IsATableWithAlignedColumns)
{
    std::array timings{example(), example()};
    timings[1].workload.seq = 5;
    const std::string text = text_within({}, timings);
    EXPECT_EQ(text, "seq  heads  kv_heads  head_dim  value_dim  threads   isa  median ms  GFLOP/s  peak  of peak  peak MiB\n"
                    "100      2         1        50         50        3  avx2      2.000      2.0   8.0    25.0%       3.0\n"
                    "  5      2         1        50         50        3  avx2      2.000      0.0   8.0     0.1%       3.0\n");
}

TEST(Timing, IsAnObjectOrAnArrayOfThem)
{
    const std::string object =
        R"({"seq":100,"heads":2,"head_dim":50,"threads":3,"isa":"avx2","seconds":{"min":0.0015,"median":0.002},)"
        R"("gflops":2.0,"peak_gflops":8.0,"peak_rss_bytes":3145728,"kv_heads":1,"value_dim":50,"keys":100,)"
        R"("dtype":"float32","causal":false,"alibi":false,"mask":false,"repeats":9})";
    const std::array one{example()};
    EXPECT_EQ(timings_text(one, attn::report::write_timings_json), object + "\n");
    const std::array two{example(), example()};
    EXPECT_EQ(timings_text(two, attn::report::write_timings_json), "[" + object + "," + object + "]\n");
}

TEST(Timing, HasColumnsForWhatIsUnusual)
{
    std::array timings{example(), example()};
    timings[1].workload.keys = 7;
    timings[1].workload.type = attn::ElementType::bfloat16;
    const std::string text = text_within({}, timings);
    EXPECT_NE(text.find("value_dim  keys     dtype  threads"), std::string::npos) << text;
    EXPECT_NE(text.find("       50     7  bfloat16        3"), std::string::npos) << text;
}

TEST(Timing, NamesTheWindow)
{
    std::array timings{example()};
    timings[0].workload.attention.window = attn::core::Window{2, -1};
    EXPECT_NE(timings_text(timings, attn::report::write_timings_json).find(R"("window":[2,-1],)"), std::string::npos);
}

} // namespace
