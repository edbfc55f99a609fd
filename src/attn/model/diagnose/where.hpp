// Where the numbers of a file are wrong.
#pragma once

#include "attn/model/check/agreement.hpp"
#include "attn/model/diagnose/evaluate.hpp"

namespace attn::model::diagnose {

/// The largest difference within each cell of a head, a few neighbouring rows and columns, so that a head has 64 × 64 at most.
struct ErrorMap {
    Index B = 1, H = 1, rows = 0, columns = 0; ///< cells of each head
    Index tall = 1, wide = 1;                  ///< rows and columns of a cell
    std::vector<double> largest;               ///< (B, H, rows, columns)
};

/// The largest difference from the right result within each head, row and so on; infinite where one of the two is NaN, 0 where
/// all numbers agree.
struct Where {
    std::vector<double> batches;   ///< (B)
    std::vector<double> heads;     ///< (H)
    std::vector<double> rows;      ///< (T)
    std::vector<double> columns;   ///< (d_v), or (S) of weights
    std::vector<double> tiles;     ///< of `tile` queries
    std::vector<double> key_tiles; ///< of `tile` keys; of weights alone
    Index tile = 16;
    ErrorMap map;
};

/// Both of these dimensions; `of_weights`: the last one is keys.
[[nodiscard]] Where where(const ComparedDims& dims, bool of_weights, const std::vector<double>& numbers,
                          const std::vector<double>& right, const Tolerance& tolerance);

} // namespace attn::model::diagnose
