#include "attn/model/diagnose/call.hpp"

namespace attn::model::diagnose {

Call call_of(const AttendInputs& inputs, const Attend& options)
{
    Call call{lay_out(inputs, options), options};
    call.packed = inputs.cu_seqlens.has_value();
    read_numbers(inputs, options.align, call.views);
    return call;
}

} // namespace attn::model::diagnose
