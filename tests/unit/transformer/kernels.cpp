#include "attn/transformer/layers/kernels.hpp"

#include "attn/tensor/element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace {

namespace transformer = attn::transformer;
using attn::Index;
using transformer::Activation;
using transformer::LayerKernels;

class EveryLayerKernel : public testing::TestWithParam<const LayerKernels*> {};
INSTANTIATE_TEST_SUITE_P(Layers, EveryLayerKernel, testing::ValuesIn(transformer::available_layer_kernels()),
                         [](const auto& kernels) { return std::string(kernels.param->name); });

std::vector<float> some_numbers()
{
    std::vector<float> numbers{0.0F, -0.0F, 1.0F, -1.0F, 1e-30F, -1e-30F, 1e30F, -1e30F, 1e-45F};
    for (int i = -2000; i <= 2000; ++i) {
        numbers.push_back(static_cast<float>(i) * 0.00723F);
    }
    return numbers;
}

double exactly(Activation f, double x)
{
    switch (f) {
    case Activation::gelu: return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh: return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case Activation::quick_gelu: return x / (1 + std::exp(-1.702 * x));
    case Activation::silu: return x / (1 + std::exp(-x));
    case Activation::relu: return x > 0 ? x : 0;
    }
    return 0;
}

TEST_P(EveryLayerKernel, ActivatesAsTheFormulasSay)
{
    for (std::size_t f = 0; f < transformer::activation_names.size(); ++f) {
        const std::vector<float> given = some_numbers();
        std::vector<float> numbers = given;
        GetParam()->activate(static_cast<Activation>(f), numbers.data(), static_cast<Index>(numbers.size()));
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto x = static_cast<double>(given[i]);
            const double wanted = exactly(static_cast<Activation>(f), x);
            EXPECT_NEAR(static_cast<double>(numbers[i]), wanted, 6.1e-8 * std::fabs(wanted) + 1e-12)
                << transformer::activation_names[f] << " of " << x;
        }
    }
}

TEST_P(EveryLayerKernel, ActivatesToTheBytesOfTheBaseline)
{
    for (std::size_t f = 0; f < transformer::activation_names.size(); ++f) {
        std::vector<float> numbers = some_numbers(), baseline = some_numbers();
        GetParam()->activate(static_cast<Activation>(f), numbers.data(), static_cast<Index>(numbers.size()));
        transformer::baseline_layer_kernels.activate(static_cast<Activation>(f), baseline.data(),
                                                     static_cast<Index>(baseline.size()));
        EXPECT_EQ(std::memcmp(numbers.data(), baseline.data(), numbers.size() * sizeof(float)), 0)
            << transformer::activation_names[f];
    }
}

TEST_P(EveryLayerKernel, LeavesNaNAsItIs)
{
    for (std::size_t f = 0; f < transformer::activation_names.size(); ++f) {
        std::vector<float> numbers(17, std::numeric_limits<float>::quiet_NaN());
        GetParam()->activate(static_cast<Activation>(f), numbers.data(), 17);
        EXPECT_TRUE(std::isnan(numbers[3])) << transformer::activation_names[f];
    }
}

TEST_P(EveryLayerKernel, WidensEveryPatternOf16Bits)
{
    std::vector<std::byte> bytes(2 * 65536 + 1);
    for (std::size_t i = 0; i < 65536; ++i) {
        bytes[2 * i + 1] = static_cast<std::byte>(i & 0xffU);
        bytes[2 * i + 2] = static_cast<std::byte>(i >> 8U);
    }
    std::vector<float> float16(65536), bfloat16(65536);
    GetParam()->widen_float16(bytes.data() + 1, 65536, float16.data()); // not aligned
    GetParam()->widen_bfloat16(bytes.data() + 1, 65536, bfloat16.data());
    for (std::size_t i = 0; i < 65536; ++i) {
        const auto half = static_cast<std::uint16_t>(i);
        const auto same = [](float a, float b) {
            return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof(a)) == 0;
        };
        ASSERT_TRUE(same(float16[i], attn::from_float16(half))) << i;
        ASSERT_TRUE(same(bfloat16[i], attn::from_bfloat16(half))) << i;
    }
}

TEST(LayerKernels, EndWithTheFastest)
{
    EXPECT_EQ(transformer::available_layer_kernels().front(), &transformer::baseline_layer_kernels);
    EXPECT_EQ(transformer::available_layer_kernels().back(), &transformer::layer_kernels_of(attn::core::Isa::portable));
}

} // namespace
