// A call of `attend`, as a diagnosis reads it.
#pragma once

#include "attn/model/attend/attend_layout.hpp"
#include "attn/model/diagnose/mistakes.hpp"

namespace attn::model::diagnose {

struct Call {
    AttendViews views; ///< with lengths and offsets
    Attend options;

    [[nodiscard]] Setting setting() const;
};

/// Throws as attend(); reads the lengths.
[[nodiscard]] Call call_of(const AttendInputs& inputs, const Attend& options);

} // namespace attn::model::diagnose
