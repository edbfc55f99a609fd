#include "attn/model/attend/workload.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/view.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using attn::core::Isa;
using attn::model::Workload;
using attn::model::WorkloadTensors;

TEST(Workload, CountsTwoProductsOverThePairsThatSeeEachOther)
{
    Workload workload{.seq = 10, .heads = 3, .kv_heads = 1, .head_dim = 5, .value_dim = 7};
    EXPECT_EQ(workload.operations(), 2 * (5 + 7) * 3 * 100);
    workload.attention.causal = true;
    EXPECT_EQ(workload.operations(), 2 * (5 + 7) * 3 * 55);
    workload.attention.window = attn::core::Window{0, 0};
    EXPECT_EQ(workload.operations(), 2 * (5 + 7) * 3 * 10);
}

TEST(Workload, CountsTheBytesOfItsFourTensors)
{
    const Workload workload{.seq = 10, .heads = 4, .kv_heads = 2, .head_dim = 5, .value_dim = 7};
    EXPECT_EQ(workload.bytes(), 4 * (4 * 10 * (5 + 7) + 2 * 10 * (5 + 7)));
    Workload endless = workload;
    endless.seq = std::numeric_limits<attn::Index>::max() / 8;
    EXPECT_THROW(static_cast<void>(endless.bytes()), attn::Error);
}

TEST(Workload, GivesTheSameContextWithEveryInstructionSetButForRounding)
{
    Workload workload{.seq = 70, .heads = 4, .kv_heads = 2, .head_dim = 16, .value_dim = 24};
    workload.attention.causal = true;
    WorkloadTensors reference(workload);
    reference.attend(Isa::portable, 1);
    for (const Isa isa : attn::core::available_isas()) {
        WorkloadTensors tensors(workload);
        tensors.attend(isa, 2);
        ASSERT_EQ(tensors.context().shape(), (attn::Shape{4, 70, 24}));
        const auto context = attn::load<float>(tensors.context().view());
        EXPECT_LT((context.matrix() - attn::load<float>(reference.context().view()).matrix()).cwiseAbs().maxCoeff(), 1e-6F);
        EXPECT_GT(context.matrix(3).cwiseAbs().minCoeff(), 0);
    }
}

TEST(Workload, PutsQueriesAtTheLastKeys)
{
    Workload workload{.seq = 3, .keys = 10, .heads = 1, .kv_heads = 1, .head_dim = 4, .value_dim = 4};
    workload.attention.causal = true;
    EXPECT_EQ(workload.operations(), 2 * (4 + 4) * (8 + 9 + 10));
    WorkloadTensors last(workload);
    last.attend(Isa::portable, 1);
    workload.attention.causal = false;
    WorkloadTensors all(workload);
    all.attend(Isa::portable, 1);
    const auto with = attn::load<float>(last.context().view()), without = attn::load<float>(all.context().view());
    EXPECT_EQ(with.matrix().row(2), without.matrix().row(2));
    EXPECT_NE(with.matrix().row(1), without.matrix().row(1));
}

TEST(Workload, HasTypesAndOptionsOfAttend)
{
    Workload workload{.seq = 40, .heads = 2, .kv_heads = 2, .head_dim = 8, .value_dim = 8};
    const auto context_of = [&] {
        WorkloadTensors tensors(workload);
        tensors.attend(Isa::portable, 1);
        return attn::load<double>(tensors.context().view());
    };
    const auto plain = context_of();
    workload.attention.alibi = true;
    EXPECT_GT((context_of().matrix() - plain.matrix()).cwiseAbs().maxCoeff(), 1e-3);
    workload.attention.alibi = false;
    workload.type = attn::ElementType::bfloat16;
    const double between = (context_of().matrix() - plain.matrix()).cwiseAbs().maxCoeff();
    EXPECT_GT(between, 1e-6);
    EXPECT_LT(between, 1e-2);
}

TEST(Workload, BeginsOnACacheLine)
{
    for (const attn::Index count : {1, 5, 16, 1000}) {
        const attn::model::AlignedTensor tensor(attn::ElementType::bfloat16, {count});
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % 64, 0U);
        EXPECT_EQ(tensor.bytes().size(), static_cast<std::size_t>(2 * count));
    }
}

TEST(Workload, MultipliesAndAddsOnEveryThread)
{
    const double one = attn::model::multiply_add(Isa::portable, 10, 1);
    EXPECT_GE(one, 10 * 1024 * 4 * 2);
    EXPECT_EQ(attn::model::multiply_add(Isa::portable, 10, 3), 3 * one);
}

} // namespace
