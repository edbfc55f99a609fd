// The attention of a run as a call of attend, so that its mistakes can be made in it.
#pragma once

#include "attn/model/diagnose/call.hpp"
#include "attn/model/run/result.hpp"

#include <optional>

namespace attn::model::diagnose {

[[nodiscard]] ElementType type_of(const AnyTensor& tensor);
[[nodiscard]] std::vector<double> numbers_of(const AnyTensor& tensor);

struct RunCall {
    StoredTensor queries, keys, values; ///< what the call looks at
    Call call;
};

/// `result`: of the recipe, with queries, keys, values and parameters; `mask`: that of the run, if it has one, which outlives
/// the call. Nothing for attention that attend does not have up to `item`: other functions of scores, dropout, one more key,
/// some of the queries or heads.
[[nodiscard]] std::optional<RunCall> run_call(const Recipe& recipe, const Result& result, Item item,
                                              const std::optional<TensorView>& mask);

} // namespace attn::model::diagnose
