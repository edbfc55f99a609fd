#include "attn/core/projection.hpp"

#include <gtest/gtest.h>

namespace {

namespace core = attn::core;
using attn::Index;
using attn::Matrix;

/// Row t of X is (t, 1): every projected number tells its row, column and head.
Matrix<float> numbered_rows(Index T)
{
    Matrix<float> X(T, 2);
    for (Index t = 0; t < T; ++t) {
        X.row(t) << static_cast<float>(t), 1;
    }
    return X;
}

TEST(ProjectHeads, SplitsTheColumnsIntoHeads)
{
    const Matrix<double> W = (Matrix<double>(2, 4) << 1, 2, 3, 4, 10, 20, 30, 40).finished();
    const attn::Tensor<float> heads = core::project_heads<float>(numbered_rows(2), W, {}, 2, {});
    EXPECT_EQ(heads.shape, (attn::Shape{2, 2, 2}));
    EXPECT_EQ(heads.values, (std::vector<float>{10, 20, 11, 22, 30, 40, 33, 44}));
}

TEST(ProjectHeads, AddsTheBiasOfEachHead)
{
    const Matrix<double> W = Matrix<double>::Zero(2, 2);
    const attn::RowVector<double> b = (attn::RowVector<double>(2) << 5, 7).finished();
    EXPECT_EQ(core::project_heads<float>(numbered_rows(1), W, b, 2, {}).values, (std::vector<float>{5, 7}));
}

TEST(ProjectHeads, WorksOffEveryRowOfAnyNumberOfBlocksOnAnyNumberOfThreads)
{
    const Matrix<double> W = (Matrix<double>(2, 1) << 1, 0.5).finished();
    for (const Index T : {1, 63, 64, 65, 128, 1000}) {
        for (const int threads : {1, 3}) {
            const attn::Tensor<float> head = core::project_heads<float>(numbered_rows(T), W, {}, 1, {threads, {}});
            for (Index t = 0; t < T; ++t) {
                ASSERT_EQ(head.values[static_cast<std::size_t>(t)], static_cast<float>(t) + 0.5F) << "row " << t << " of " << T;
            }
        }
    }
}

TEST(ProjectHeads, GivesTheSameBitsWithThreadsOnWorkThatIsWorthThem)
{
    const Matrix<float> X = Matrix<float>::Random(300, 64);
    const Matrix<double> W = Matrix<double>::Random(64, 128);
    EXPECT_EQ(core::project_heads<float>(X, W, {}, 4, {1, {}}).values, core::project_heads<float>(X, W, {}, 4, {3, {}}).values);
}

} // namespace
