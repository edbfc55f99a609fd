#include "attn/model/attend/workload.hpp"

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using attn::core::Isa;
using attn::model::Workload;
using attn::model::WorkloadTensors;

TEST(Workload, CountsTwoProductsOverThePairsThatSeeEachOther)
{
    Workload workload{.seq = 10, .heads = 3, .kv_heads = 1, .head_dim = 5, .value_dim = 7, .attention = {}};
    EXPECT_EQ(workload.operations(), 2 * (5 + 7) * 3 * 100);
    workload.attention.causal = true;
    EXPECT_EQ(workload.operations(), 2 * (5 + 7) * 3 * 55);
    workload.attention.window = attn::core::Window{0, 0};
    EXPECT_EQ(workload.operations(), 2 * (5 + 7) * 3 * 10);
}

TEST(Workload, CountsTheBytesOfItsFourTensors)
{
    const Workload workload{.seq = 10, .heads = 4, .kv_heads = 2, .head_dim = 5, .value_dim = 7, .attention = {}};
    EXPECT_EQ(workload.bytes(), 4 * (4 * 10 * (5 + 7) + 2 * 10 * (5 + 7)));
    Workload endless = workload;
    endless.seq = std::numeric_limits<attn::Index>::max() / 8;
    EXPECT_THROW(static_cast<void>(endless.bytes()), attn::Error);
}

TEST(Workload, GivesTheSameContextWithEveryInstructionSetButForRounding)
{
    const Workload workload{
        .seq = 70, .heads = 4, .kv_heads = 2, .head_dim = 16, .value_dim = 24, .attention = {.causal = true}};
    WorkloadTensors reference(workload);
    reference.attend(Isa::portable, 1);
    for (const Isa isa : attn::core::available_isas()) {
        WorkloadTensors tensors(workload);
        tensors.attend(isa, 2);
        ASSERT_EQ(tensors.context().shape(), (attn::Shape{4, 70, 24}));
        const attn::Tensor<float> context = tensors.context().copy();
        EXPECT_LT((context.matrix() - reference.context().copy().matrix()).cwiseAbs().maxCoeff(), 1e-6F);
        EXPECT_GT(context.matrix(3).cwiseAbs().minCoeff(), 0);
    }
}

TEST(Workload, BeginsOnACacheLine)
{
    for (const attn::Index count : {1, 5, 16, 1000}) {
        const attn::model::AlignedTensor tensor({count});
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.values().data()) % 64, 0U);
        EXPECT_EQ(tensor.values().size(), static_cast<std::size_t>(count));
    }
}

TEST(Workload, MultipliesAndAddsOnEveryThread)
{
    const double one = attn::model::multiply_add(Isa::portable, 10, 1);
    EXPECT_GE(one, 10 * 1024 * 4 * 2);
    EXPECT_EQ(attn::model::multiply_add(Isa::portable, 10, 3), 3 * one);
}

} // namespace
