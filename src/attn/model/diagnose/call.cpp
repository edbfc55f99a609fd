#include "attn/model/diagnose/call.hpp"

namespace attn::model::diagnose {

Call call_of(const ResolvedAttend& resolved)
{
    Call call{resolved.views, resolved.options};
    call.packed = resolved.sequences.has_value();
    return call;
}

} // namespace attn::model::diagnose
