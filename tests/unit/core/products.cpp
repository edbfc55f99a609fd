#include "attn/core/portable/products.hpp"

#include "attn/math/elementary.hpp"
#include "attn/tensor/error.hpp"
#include "oracle/bit_hash.hpp"
#include "unit/error_of.hpp"
#include "unit/infinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace {

namespace core = attn::core;
using attn::Index;
using DoubleMatrix = attn::Matrix<double>;

DoubleMatrix normals(std::mt19937& engine, Index rows, Index columns)
{
    std::normal_distribution<double> normal;
    return DoubleMatrix::NullaryExpr(rows, columns, [&] { return normal(engine); });
}

/// Term by term, in index order, behind what stands in C.
DoubleMatrix plain(const DoubleMatrix& A, const DoubleMatrix& B, DoubleMatrix C)
{
    for (Index i = 0; i < C.rows(); ++i) {
        for (Index j = 0; j < C.cols(); ++j) {
            for (Index k = 0; k < A.cols(); ++k) {
                C(i, j) += A(i, k) * B(k, j);
            }
        }
    }
    return C;
}

TEST(AddProduct, GivesTheSameBytesWithEveryInstructionSet)
{
    std::mt19937 engine(1);
    for (const auto& [rows, terms, columns] :
         {std::array<Index, 3>{1, 1, 1}, {3, 5, 7}, {4, 128, 32}, {9, 300, 33}, {6, 0, 5}, {13, 129, 64}}) {
        const DoubleMatrix A = normals(engine, rows, terms), B = normals(engine, terms, columns),
                           C = normals(engine, rows, columns);
        const DoubleMatrix expected = plain(A, B, C), turned = A.transpose();
        for (const core::PortableKernels* kernels : core::available_portable_kernels()) {
            DoubleMatrix sums = C;
            core::add_product(core::columns_of(A, 0, terms), B, sums, kernels);
            EXPECT_EQ(sums, expected) << rows << " " << terms << " " << columns << ", panels of " << kernels->columns;
            sums = C;
            core::add_product(core::transposed(turned, 0, rows), B, sums, kernels);
            EXPECT_EQ(sums, expected);
        }
    }
}

TEST(PortableKernels, OfFewColumnsAreAtLeastHalfFull)
{
    const auto available = core::available_portable_kernels(); // panels of 4, 8 and 32 columns, or fewer of these
    for (const auto& [columns, width] :
         {std::pair<Index, Index>{0, 4}, {3, 4}, {4, 8}, {15, 8}, {16, 32}, {31, 32}, {1000, 32}}) {
        EXPECT_EQ(core::best_portable_kernels(columns).columns,
                  std::clamp(width, available.front()->columns, available.back()->columns))
            << columns;
    }
    EXPECT_EQ(&core::best_portable_kernels(), available.back());
}

TEST(PortableKernels, RaiseEToEachPowerOfAnArray)
{
    std::vector<double> powers{-infinity, std::nan(""), infinity, 0, -0.0, 1, -745.2};
    std::mt19937 engine(3);
    std::uniform_real_distribution<double> between(-800, 800);
    while (powers.size() < 1001) {
        powers.push_back(between(engine));
    }
    std::vector<double> one_by_one = powers;
    for (volatile double& power : one_by_one) { // volatile: not made vectors of, too
        power = attn::math::exp(power);
    }
    for (const core::PortableKernels* kernels : core::available_portable_kernels()) {
        for (const Index count : {0, 1, 2, 3, 4, 5, 7, 1001}) {
            std::vector<double> made(powers.begin(), powers.begin() + count);
            kernels->exp(made.data(), count);
            const std::vector<double> expected(one_by_one.begin(), one_by_one.begin() + count);
            EXPECT_EQ(oracle::bit_hash(made), oracle::bit_hash(expected)) << count << ", panels of " << kernels->columns;
        }
    }
}

TEST(AddProduct, ReadsAndWritesPartsOfMatrices)
{
    std::mt19937 engine(2);
    const DoubleMatrix A = normals(engine, 5, 9), B = normals(engine, 4, 50);
    DoubleMatrix C = DoubleMatrix::Ones(5, 60);
    core::add_product(core::columns_of(A, 3, 4), B.middleCols(2, 40), C.middleCols(10, 40));
    EXPECT_EQ(C.middleCols(10, 40), plain(A.middleCols(3, 4), B.middleCols(2, 40), DoubleMatrix::Ones(5, 40)));
    EXPECT_EQ(C.leftCols(10), DoubleMatrix::Ones(5, 10));
    EXPECT_EQ(C.rightCols(10), DoubleMatrix::Ones(5, 10));
}

TEST(AddProduct, RefusesSizesThatDoNotGoTogether)
{
    const DoubleMatrix A = DoubleMatrix::Ones(2, 3);
    DoubleMatrix C = DoubleMatrix::Zero(2, 2);
    EXPECT_EQ(error_of(attn::ErrorKind::internal, [&] { core::add_product(core::columns_of(A, 0, 3), A, C); }),
              "product: got (2, 3) by (2, 3); allowed: inner dimensions that are equal");
}

} // namespace
