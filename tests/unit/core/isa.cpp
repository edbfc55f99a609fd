#include "attn/core/isa.hpp"

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using attn::core::Isa;

TEST(Isa, HasANameEach)
{
    EXPECT_EQ(name_of(Isa::portable), "portable");
    EXPECT_EQ(name_of(Isa::avx2), "avx2");
    EXPECT_EQ(name_of(Isa::avx512), "avx512");
    EXPECT_EQ(name_of(Isa::neon), "neon");
}

TEST(Isa, PortableIsEverywhereAndTheBestComesLast)
{
    const std::vector<Isa> available = attn::core::available_isas();
    EXPECT_EQ(available.front(), Isa::portable);
    EXPECT_EQ(available.back(), attn::core::best_isa());
    EXPECT_TRUE(std::is_sorted(available.begin(), available.end()));
    for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512, Isa::neon}) {
        EXPECT_EQ(is_available(isa), std::count(available.begin(), available.end(), isa) == 1) << name_of(isa);
    }
}

TEST(Isa, OfOneArchitectureIsNotThatOfAnother)
{
    EXPECT_FALSE(is_available(Isa::neon) && (is_available(Isa::avx2) || is_available(Isa::avx512)));
    EXPECT_TRUE(is_available(Isa::avx2) || !is_available(Isa::avx512)); // every processor with the one has the other
}

TEST(MultiplyAdd, CountsTwoOperationsForEachElementOfAtLeast1024VectorsARound)
{
    for (const Isa isa : attn::core::available_isas()) {
        const attn::Index once = multiply_add(isa, 1);
        EXPECT_GE(once, 2 * 4 * 1024) << name_of(isa);
        EXPECT_EQ(multiply_add(isa, 7), 7 * once) << name_of(isa);
        EXPECT_EQ(multiply_add(isa, 0), 0) << name_of(isa);
    }
}

TEST(MultiplyAdd, RefusesWhatTheMachineDoesNotHave)
{
    for (const Isa isa : {Isa::avx2, Isa::avx512, Isa::neon}) {
        if (!is_available(isa)) {
            EXPECT_THROW((void)multiply_add(isa, 1), attn::Error);
        }
    }
}

} // namespace
