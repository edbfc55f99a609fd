#include "attn/transformer/layers/layers.hpp"

#include "attn/tensor/view.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace {

namespace transformer = attn::transformer;
using attn::ElementType;
using attn::Index;
using attn::Matrix;
using transformer::Linear;

std::vector<float> drawn(Index count, unsigned seed)
{
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
        value = normal(generator);
    }
    return values;
}

Matrix<float> matrix(Index rows, Index columns, unsigned seed)
{
    const std::vector<float> values = drawn(rows * columns, seed);
    return Eigen::Map<const Matrix<float>>(values.data(), rows, columns);
}

attn::StoredTensor stored(const attn::Shape& shape, ElementType type, unsigned seed)
{
    const std::vector<float> values = drawn(attn::element_count(shape), seed);
    attn::StoredTensor tensor("weight", type, shape);
    attn::store(tensor, 0, std::span<const float>(values));
    return tensor;
}

/// The sum that layers.hpp defines, by its words.
Matrix<float> naive(const Linear& linear, const Matrix<float>& X)
{
    const attn::Tensor<float> W = attn::load<float>(linear.weight.stored);
    Matrix<float> Y(X.rows(), linear.out);
    for (Index t = 0; t < X.rows(); ++t) {
        for (Index o = 0; o < linear.out; ++o) {
            float sum = 0;
            for (Index c = 0; c < linear.in; c += 256) {
                volatile float part = 0; // a fused multiply-add would keep a product that is not rounded
                for (Index k = c; k < std::min(c + 256, linear.in); ++k) {
                    volatile float product =
                        X(t, k) * (linear.input_major ? W.matrix()(k, linear.row(o)) : W.matrix()(linear.row(o), k));
                    part = part + product;
                }
                sum = sum + part;
            }
            Y(t, o) = linear.bias.empty() ? sum : sum + linear.bias[static_cast<std::size_t>(linear.row(o))];
        }
    }
    return Y;
}

void expect_same_bytes(const Matrix<float>& got, const Matrix<float>& wanted, const std::string& what)
{
    ASSERT_EQ(got.rows(), wanted.rows());
    ASSERT_EQ(got.cols(), wanted.cols());
    EXPECT_EQ(std::memcmp(got.data(), wanted.data(), static_cast<std::size_t>(got.size()) * sizeof(float)), 0) << what;
}

TEST(Linear, MultipliesEachRowByTheTransposedWeightAndAddsTheBias)
{
    const attn::StoredTensor W = [] {
        attn::StoredTensor tensor("weight", ElementType::float32, {2, 3});
        const std::vector<float> values{1, 2, 3, 4, 5, 6};
        attn::store(tensor, 0, std::span<const float>(values));
        return tensor;
    }();
    const Linear linear{.weight = {W.view()}, .bias = {100, 200}, .in = 3, .out = 2};
    const Matrix<float> X = (Matrix<float>(2, 3) << 1, 0, 0, 1, 1, 1).finished();
    const Matrix<float> Y = transformer::apply(linear, X, {});
    EXPECT_EQ(Y, (Matrix<float>(2, 2) << 101, 204, 106, 215).finished());
}

TEST(Linear, ReadsWeightsThatAreStoredTheOtherWayRound)
{
    attn::StoredTensor W("weight", ElementType::float32, {3, 2});
    const std::vector<float> values{1, 4, 2, 5, 3, 6};
    attn::store(W, 0, std::span<const float>(values));
    const Linear linear{.weight = {W.view()}, .in = 3, .out = 2, .input_major = true};
    const Matrix<float> X = (Matrix<float>(1, 3) << 1, 1, 1).finished();
    EXPECT_EQ(transformer::apply(linear, X, {}), (Matrix<float>(1, 2) << 6, 15).finished());
}

/// Every instruction set, number of threads, storage and number of tokens gives the bytes of the naive sum.
TEST(Linear, GivesTheSameBytesOnEveryInstructionSetAndNumberOfThreads)
{
    struct Sides {
        Index T, in, out;
    };
    for (const auto& [T, in, out] :
         {Sides{1, 1, 1}, {3, 7, 8}, {5, 256, 9}, {17, 257, 16}, {33, 260, 20}, {49, 40, 75}, {60, 513, 9}}) {
        const Matrix<float> X = matrix(T, in, 1);
        for (const ElementType type : {ElementType::float32, ElementType::float16, ElementType::bfloat16}) {
            for (const bool input_major : {false, true}) {
                const attn::StoredTensor W = stored(input_major ? attn::Shape{in, out} : attn::Shape{out, in}, type, 2);
                const Linear linear{
                    .weight = {W.view()}, .bias = drawn(out, 3), .in = in, .out = out, .input_major = input_major};
                const Matrix<float> wanted = naive(linear, X);
                for (const transformer::LayerKernels* kernels : transformer::available_layer_kernels()) {
                    for (const int threads : {1, 3}) {
                        const auto got = transformer::apply(linear, transformer::TokenTiles(X, *kernels), {.threads = threads});
                        expect_same_bytes(got, wanted, std::string(kernels->name) + " " + std::to_string(T) + " tokens");
                    }
                }
            }
        }
    }
}

/// What is fused is as near to the sum in double as what is not.
TEST(Linear, IsAsNearToTheSumOfDoublesWithFusedProducts)
{
    const Index T = 50, in = 700, out = 20;
    const attn::StoredTensor W = stored({out, in}, ElementType::float32, 2);
    const Linear linear{.weight = {W.view()}, .bias = drawn(out, 3), .in = in, .out = out};
    const Matrix<float> X = matrix(T, in, 1);
    attn::Matrix<double> wanted(T, out);
    for (Index t = 0; t < T; ++t) {
        for (Index o = 0; o < out; ++o) {
            wanted(t, o) = X.row(t).cast<double>().dot(linear.weights_of(o).cast<double>()) +
                           static_cast<double>(linear.bias[static_cast<std::size_t>(o)]);
        }
    }
    const auto error_of = [&](attn::core::Isa isa) {
        return (transformer::apply(linear, X, {.isa = isa}).cast<double>() - wanted).cwiseAbs().maxCoeff();
    };
    const double unfused = error_of(attn::core::Isa::portable);
    for (const attn::core::Isa isa : attn::core::available_isas()) {
        EXPECT_LE(error_of(isa), 1.5 * unfused) << attn::core::name_of(isa);
    }
}

TEST(Linear, ThatIsWorthThreadsGivesTheSameBytesOnThem)
{
    const Index T = 40, in = 500, out = 1000;
    const attn::StoredTensor W = stored({out, in}, ElementType::float32, 2);
    const Linear linear{.weight = {W.view()}, .in = in, .out = out};
    const Matrix<float> X = matrix(T, in, 1);
    expect_same_bytes(transformer::apply(linear, X, {.threads = 4}), transformer::apply(linear, X, {}), "threads");
}

TEST(Linear, TakesItsRowsOutOfAFusedOne)
{
    const Index in = 5, d = 3, heads = 4;
    const Matrix<float> X = matrix(2, in, 1);
    for (const bool input_major : {false, true}) {
        const Index stored_rows = 3 * heads * d;
        const attn::StoredTensor W =
            stored(input_major ? attn::Shape{in, stored_rows} : attn::Shape{stored_rows, in}, ElementType::float32, 2);
        // per head: query, key, value; here the keys
        const Linear linear{.weight = {W.view()},
                            .bias = drawn(stored_rows, 3),
                            .in = in,
                            .out = heads * d,
                            .input_major = input_major,
                            .rows = {.stored = stored_rows, .first = d, .group = d, .step = 3 * d}};
        EXPECT_EQ(linear.row(0), 3);
        EXPECT_EQ(linear.row(2), 5);
        EXPECT_EQ(linear.row(3), 12);
        expect_same_bytes(transformer::apply(linear, X, {}), naive(linear, X), "fused");
    }
}

TEST(Linear, ReadsWeightsThatAreNotAligned)
{
    const Index in = 10, out = 12;
    const attn::StoredTensor W = stored({out, in}, ElementType::float32, 2);
    std::vector<std::byte> shifted(W.bytes.size() + 1);
    std::ranges::copy(W.bytes, shifted.begin() + 1);
    Linear linear{.weight = {W.view()}, .in = in, .out = out};
    const Matrix<float> X = matrix(3, in, 1);
    const Matrix<float> wanted = transformer::apply(linear, X, {});
    linear.weight.stored.bytes = std::span(shifted).subspan(1);
    expect_same_bytes(transformer::apply(linear, X, {}), wanted, "unaligned");
}

TEST(Linear, RefusesRowsOfAnotherLength)
{
    const attn::StoredTensor W = stored({2, 3}, ElementType::float32, 2);
    const Linear linear{.weight = {W.view()}, .in = 3, .out = 2};
    EXPECT_THROW((void)transformer::apply(linear, matrix(2, 4, 1), {}), std::exception);
}

} // namespace
