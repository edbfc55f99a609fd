// Hashes over draws of PyTorch and NumPy, made by tests/oracle/draw_hashes.py. Generated: do not edit.
#pragma once

#include "attn/tensor/shape.hpp"

#include <cstdint>

// clang-format off
struct DrawHash {
    const char* generator;
    const char* kind;
    attn::Index count;
    double first;  ///< low or mean
    double second; ///< high or deviation
    std::uint64_t hash;
};

inline constexpr std::uint32_t draw_hash_seed = 20231;
inline constexpr DrawHash draw_hashes[] = {
    {"torch", "uniform", 1000003, 0.0, 1.0, 0xfd0b467e3f23bbf5},
    {"torch", "uniform", 1000003, -0.3, 0.2, 0xd0c9436788dfced5},
    {"torch", "normal", 1000003, 0.0, 1.0, 0xebd1514292edbc63},
    {"torch", "normal", 1000003, 0.1, 3.7, 0x56eaf876b3618a37},
    {"numpy", "uniform", 1000003, 0.0, 1.0, 0x34129f07f16f4e2f},
    {"numpy", "uniform", 1000003, -0.3, 0.2, 0xb98bb369b69f4b},
    {"numpy", "normal", 1000003, 0.0, 1.0, 0x3f8d0ce443e5b8dd},
    {"numpy", "normal", 1000003, 0.1, 3.7, 0x1ee47f9a89ba9afe},
    {"numpy-pcg64", "uniform", 1000003, 0.0, 1.0, 0xbc2206ce7f5d1243},
    {"numpy-pcg64", "uniform", 1000003, -0.3, 0.2, 0xe648028aeb6a6857},
    {"numpy-pcg64", "normal", 1000003, 0.0, 1.0, 0xede36cccb4827ccc},
    {"numpy-pcg64", "normal", 1000003, 0.1, 3.7, 0x5aaebaea3a022695},
    {"torch", "integers", 1000003, 0.0, 3.0, 0x1cc25d9eec511f62},
    {"torch", "integers", 1000003, -7.0, 94.0, 0x718534ecce4b91ce},
    {"torch", "integers", 1000003, 0.0, 4294967295.0, 0xa3b72ae26dd6a56a},
    {"torch", "integers", 1000003, -1.0, 4294967295.0, 0xc54acfaf66f8232d},
    {"torch", "integers", 1000003, 0.0, 4294967297.0, 0xb3274117c00812b3},
    {"torch", "integers", 1000003, -4503599627370498.0, 4503599627370497.0, 0xe4122a0d051703e7},
    {"numpy", "integers", 1000003, 0.0, 3.0, 0xaf224e896f4e326c},
    {"numpy", "integers", 1000003, -7.0, 94.0, 0x876153332b1adb63},
    {"numpy", "integers", 1000003, 0.0, 4294967295.0, 0xa3b72ae26dd6a56a},
    {"numpy", "integers", 1000003, -1.0, 4294967295.0, 0x1cc78709acc7091b},
    {"numpy", "integers", 1000003, 0.0, 4294967297.0, 0x46c9159248ea1699},
    {"numpy", "integers", 1000003, -4503599627370498.0, 4503599627370497.0, 0x271108a8bdd9fdca},
    {"numpy-pcg64", "integers", 1000003, 0.0, 3.0, 0x61a9ab58e2a8f59d},
    {"numpy-pcg64", "integers", 1000003, -7.0, 94.0, 0xe9c7ca69240a69fc},
    {"numpy-pcg64", "integers", 1000003, 0.0, 4294967295.0, 0xba183630ff8c20f5},
    {"numpy-pcg64", "integers", 1000003, -1.0, 4294967295.0, 0xba183630ff8c20f5},
    {"numpy-pcg64", "integers", 1000003, 0.0, 4294967297.0, 0x34fcaee3d7e1efec},
    {"numpy-pcg64", "integers", 1000003, -4503599627370498.0, 4503599627370497.0, 0xb161d52ae8c620a1},
    {"torch", "normal", 0, 0.0, 1.0, 0x0},
    {"torch", "normal", 1, 0.0, 1.0, 0xbf7aa8f6c0000000},
    {"torch", "normal", 2, 0.0, 1.0, 0x5b7e4ac82dd737e4},
    {"torch", "normal", 3, 0.0, 1.0, 0x2177cc87c2089a09},
    {"torch", "normal", 4, 0.0, 1.0, 0x1571cb40655ed1de},
    {"torch", "normal", 5, 0.0, 1.0, 0x8d4df68f7aa216c9},
    {"torch", "normal", 6, 0.0, 1.0, 0x11356a56a6bb4697},
    {"torch", "normal", 7, 0.0, 1.0, 0x25df9639a0765cd9},
    {"torch", "normal", 8, 0.0, 1.0, 0x4c04969c19e1ffa7},
    {"torch", "normal", 9, 0.0, 1.0, 0xcab1231304688427},
    {"torch", "normal", 10, 0.0, 1.0, 0x9ec6849e81a07fe5},
    {"torch", "normal", 11, 0.0, 1.0, 0x88d4a9358e2b1c6a},
    {"torch", "normal", 12, 0.0, 1.0, 0xe7ccdce04a6568e4},
    {"torch", "normal", 13, 0.0, 1.0, 0x646f29b614eb2f06},
    {"torch", "normal", 14, 0.0, 1.0, 0x2201d1a472d23f24},
    {"torch", "normal", 15, 0.0, 1.0, 0x56d84dd852e57308},
    {"torch", "normal", 16, 0.0, 1.0, 0xfefe7fd4103d38f5},
    {"torch", "normal", 17, 0.0, 1.0, 0x12c3bdb6daf98a6d},
    {"torch", "normal", 18, 0.0, 1.0, 0x325b6d708bf5f3f6},
    {"torch", "normal", 19, 0.0, 1.0, 0x2f5bea0c25128d0},
    {"torch", "normal", 20, 0.0, 1.0, 0x6605c8f436a40aa},
    {"torch", "normal", 21, 0.0, 1.0, 0xc24a81c95fd10468},
    {"torch", "normal", 22, 0.0, 1.0, 0x4b30aa3eb9da0326},
    {"torch", "normal", 23, 0.0, 1.0, 0x5dcdd173ae0e1ccb},
    {"torch", "normal", 24, 0.0, 1.0, 0x7d7410d737d734ad},
    {"torch", "normal", 25, 0.0, 1.0, 0x349317fb6c37f0e4},
    {"torch", "normal", 26, 0.0, 1.0, 0x28c644b662cc0659},
    {"torch", "normal", 27, 0.0, 1.0, 0xe4061a309cf95c63},
    {"torch", "normal", 28, 0.0, 1.0, 0x8ff1a0d9af3e07b8},
    {"torch", "normal", 29, 0.0, 1.0, 0xacd92423063d1f06},
    {"torch", "normal", 30, 0.0, 1.0, 0x6a449fc2340f3ac3},
    {"torch", "normal", 31, 0.0, 1.0, 0x3137535f1eebf9ee},
    {"torch", "normal", 32, 0.0, 1.0, 0x4d3ff2fffcd9552b},
    {"torch", "normal", 33, 0.0, 1.0, 0x1117c0d30ce4195f},
    {"torch", "normal", 34, 0.0, 1.0, 0x804b61b03cf9b168},
    {"torch", "normal", 35, 0.0, 1.0, 0xa97ff27160525cd5},
    {"torch", "normal", 36, 0.0, 1.0, 0x982fe5c9bbca8823},
    {"torch", "normal", 37, 0.0, 1.0, 0xa824704d90074b4b},
    {"torch", "normal", 38, 0.0, 1.0, 0xe69233854cd62cda},
    {"torch", "normal", 39, 0.0, 1.0, 0xf8db5ffe567ca479},
    {"torch", "normal", 40, 0.0, 1.0, 0xab75c4f8621731a2},
};
// clang-format on
