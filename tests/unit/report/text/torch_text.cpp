#include "attn/report/text/torch_text.hpp"

#include "attn/tensor/tensor.hpp"
#include "unit/report/text/torch_text_cases.hpp"

#include <gtest/gtest.h>

namespace {

using attn::Index;
using attn::report::TorchTextCase;

template <typename Scalar>
std::string torch_text_of(const TorchTextCase& given)
{
    attn::Tensor<Scalar> tensor(given.shape);
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
        tensor.values[i] = static_cast<Scalar>(given.numbers[i % given.numbers.size()]);
    }
    return attn::report::torch_text(std::span<const Scalar>(tensor.values), given.shape, given.digits);
}

TEST(TorchText, IsWhatPyTorchPrints)
{
    for (const TorchTextCase& given : attn::report::torch_text_cases()) {
        EXPECT_EQ(given.float64 ? torch_text_of<double>(given) : torch_text_of<float>(given), given.text)
            << attn::to_string(given.shape) << ", " << given.digits << " digits";
    }
}

TEST(TorchText, TakesTheSignOfNanForNothing)
{
    const std::vector<float> values{-std::numeric_limits<float>::quiet_NaN(), 0.5F};
    EXPECT_EQ(attn::report::torch_text(std::span<const float>(values), {2}, 4), "tensor([   nan, 0.5000])");
}

} // namespace
