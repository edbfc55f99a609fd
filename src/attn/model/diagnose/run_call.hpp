// The attention of a run as a call of attend, so that its mistakes can be made in it.
#pragma once

#include "attn/model/diagnose/call.hpp"
#include "attn/model/run/result.hpp"

#include <memory>

namespace attn::model::diagnose {

/// Holds what the views of the call look at.
class RunCall {
public:
    /// `result`: of the recipe, with queries, keys, values and parameters; `mask`: that of the run, if it has one. Nothing for
    /// attention that attend does not have up to `item`: other functions of scores, dropout, one more key, some of the queries
    /// or heads.
    [[nodiscard]] static std::unique_ptr<RunCall> of(const Recipe& recipe, const Result& result, Item item,
                                                     const std::optional<TensorView>& mask);

    [[nodiscard]] const Call& call() const { return call_; }

private:
    RunCall(const Recipe& recipe, const Result& result, const std::optional<TensorView>& mask);

    StoredTensor queries_, keys_, values_;
    Call call_;
};

} // namespace attn::model::diagnose
