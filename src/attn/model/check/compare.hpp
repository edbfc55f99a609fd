// Comparing tensors by their names, as numpy.testing.assert_allclose(A, B) compares two arrays: B is what is right.
#pragma once

#include "attn/math/printed_numbers.hpp"
#include "attn/model/check/check.hpp"
#include "attn/model/check/saved_result.hpp"
#include "attn/tensor/view.hpp"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attn::model {

/// Its numbers are read where the shapes agree.
struct ComparedTensor : NamedTensor {
    math::PrintedNumbers printed = {}; ///< the numbers, row-major, where they were printed
};
/// What one side holds. Words count when both sides are results.
struct Contents {
    std::vector<ComparedTensor> tensors;
    std::vector<NamedWords> words;
};

struct CompareOptions {
    std::optional<Tolerance> tolerance = {}; ///< absent: the usual one of the types
    /// Instead of the tolerance: so many units in the last place, of the narrower type of the two. Integers must be equal.
    std::optional<std::uint64_t> ulps = {};
    bool equal_nan = true;
    Index memory_limit = std::numeric_limits<Index>::max(); ///< bytes for the numbers that are compressed in their files
};

/// One element of both sides, as text.
struct Place {
    Shape index;
    std::string a, b;
};
struct LargestDifference {
    double value = 0;
    Place place;
};

/// Small where the two agree: files of a hundred thousand tensors may be compared.
struct TensorComparison {
    std::string name;
    std::string why; ///< they cannot be compared: "only in A", "shapes …"; empty: they were
    Shape shape;
    Tolerance tolerance; ///< that counted, without ulps
    Index compared = 0, mismatched = 0;
    Index unmeasured = 0;                          ///< mismatches with NaN or an infinity, which have no finite difference
    std::shared_ptr<const Place> first;            ///< of the mismatches, in row-major order
    std::shared_ptr<const Place> first_unmeasured; ///< of those without a finite difference
    std::shared_ptr<const LargestDifference> absolute, relative; ///< of the finite differences; absent: none

    [[nodiscard]] bool agrees() const { return why.empty() && mismatched == 0; }
    [[nodiscard]] double percentage() const;
    /// Infinite where numbers differ by NaN or an infinity.
    [[nodiscard]] double largest_difference() const
    {
        return unmeasured > 0 ? std::numeric_limits<double>::infinity() : absolute ? absolute->value : 0;
    }
};

struct Comparison {
    std::vector<TensorComparison> tensors; ///< in the order of A, then what B alone has
    [[nodiscard]] bool agrees() const;
    [[nodiscard]] Index differing() const;
};

/// Pairs by name; where both sides have one tensor alone, those two. Reads both a piece at a time, whatever their order in
/// memory. Throws Error(data) when there is nothing to compare, Error(too_large) before inflating what does not fit.
[[nodiscard]] Comparison compare(const Contents& a, const Contents& b, const CompareOptions& options);

/// The numbers of A; where they were printed, those of B wherever these are within the tolerance of a number that prints so.
[[nodiscard]] std::vector<double> numbers_beside(const ComparedTensor& a, const ComparedTensor& b, const Tolerance& tolerance);

} // namespace attn::model
