// Hashes of results, made by tests/oracle/elementary_hashes.py. Generated: do not edit.
#pragma once

#include <cstddef>
#include <cstdint>

// clang-format off
struct ElementaryHash {
    const char* function;
    double low;
    double high;
    std::uint64_t hash;
};

/// Of the results for oracle::inputs(200000, low, high).
inline constexpr std::size_t elementary_hash_inputs = 200000;
inline constexpr ElementaryHash elementary_hashes[] = {
    {"log", 0x0.0p+0, 0x1.0000000000000p+0, 0x47d454ec51115ee2},
    {"log", 0x1.d70a3d70a3d71p-1, 0x1.147ae147ae148p+0, 0x231b9eb509b57efc},
    {"log", 0x0.0p+0, 0x1.0000000000000p-1022, 0xcd9c3c5f6d4bfb0f},
    {"log", 0x1.0000000000000p+0, 0x1.7e43c8800759cp+996, 0xbb14f1f04340b950},
    {"log1p", -0x1.0000000000000p+0, 0x0.0p+0, 0x2a5284334457acc},
    {"log1p", -0x1.3333333333333p-2, 0x1.ccccccccccccdp-2, 0xdbfecf40cbf71403},
    {"log1p", -0x1.5798ee2308c3ap-27, 0x1.5798ee2308c3ap-27, 0x3fb96829c229615d},
    {"log1p", 0x0.0p+0, 0x1.bc16d674ec800p+59, 0xdb04c56e63335ec8},
    {"log1p", -0x1.2bec500000000p-2, -0x1.2bec200000000p-2, 0x67fb582ade5c4cdb},
    {"log1p", 0x1.a827800000000p-2, 0x1.a827c00000000p-2, 0xe1ba561513f2e100},
    {"exp", -0x1.0000000000000p+0, 0x1.0000000000000p+0, 0x2503a6b81e39f8dc},
    {"exp", -0x1.4000000000000p+5, 0x0.0p+0, 0xcb9306ae6bc4e81a},
    {"exp", -0x1.7480000000000p+9, 0x1.6280000000000p+9, 0x4df4b32eb08bfb83},
    {"exp", -0x1.7480000000000p+9, -0x1.6200000000000p+9, 0x54e607a227418bb0},
    {"erf", -0x1.0000000000000p+0, 0x1.0000000000000p+0, 0xe812d3b2f33a5318},
    {"erf", -0x1.c000000000000p+2, 0x1.c000000000000p+2, 0xc5bd652d24752216},
    {"erf", -0x1.0000000000000p-1022, 0x1.0000000000000p-1022, 0x3a019c0dae8179a4},
    {"tanh", -0x1.0000000000000p-1, 0x1.0000000000000p-1, 0x97c4747840402a9d},
    {"tanh", -0x1.9000000000000p+4, 0x1.9000000000000p+4, 0x85103bc7ff408fe3},
    {"sine", -0x1.0000000000000p+0, 0x1.c000000000000p+2, 0xddc9f79155a32071},
    {"sine", -0x1.86a0000000000p+16, 0x1.86a0000000000p+16, 0x73046e5c16ffbf18},
    {"cosine", -0x1.0000000000000p+0, 0x1.c000000000000p+2, 0xf274c3030a5eeb24},
    {"cosine", -0x1.86a0000000000p+16, 0x1.86a0000000000p+16, 0xfc01600976fa61f7},
};
// clang-format on
