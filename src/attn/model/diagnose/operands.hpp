// Queries, keys and values of one head as a variant reads them, in float64.
#pragma once

#include "attn/model/diagnose/call.hpp"
#include "attn/model/diagnose/variant.hpp"

#include <map>
#include <tuple>
#include <vector>

namespace attn::model::diagnose {

/// The sizes that a variant computes with: other positions change places with T, and S are all keys that there are, P = 0.
[[nodiscard]] core::AttentionDims sizes_of(const Call& call, const Variant& variant);

enum class Operand { queries, keys, values };

/// How a variant reads it.
[[nodiscard]] Reading reading_of(const Variant& variant, Operand operand);

struct HeadRows {
    Index count, size;
    std::vector<double> rows;    ///< (count, size)
    std::vector<double> columns; ///< (size, count)

    [[nodiscard]] const double* row(Index i) const { return rows.data() + i * size; }
    [[nodiscard]] const double* column(Index x) const { return columns.data() + x * count; }
};

/// Keeps what it has read: variants share most of it. For one thread.
class Operands {
public:
    explicit Operands(const Call& call) : call_(call) {}

    /// Of a query head for queries, otherwise of a key/value head.
    [[nodiscard]] const HeadRows& head(const Variant& variant, Operand operand, Index b, Index h);

private:
    using Key = std::tuple<Operand, Index, Index, Reading, Precision, Along, bool, bool, bool>;

    [[nodiscard]] HeadRows read(const Variant& variant, Operand operand, Index b, Index h) const;

    const Call& call_;
    std::map<Key, HeadRows> read_;
};

} // namespace attn::model::diagnose
