#include "attn/model/diagnose/call.hpp"

#include <algorithm>

namespace attn::model::diagnose {

Setting Call::setting() const
{
    Setting setting;
    setting.sizes = views.sizes;
    setting.type = views.queries.type;
    setting.side_by_side = views.side_by_side;
    setting.scale_given = options.scale.has_value();
    setting.softcap = options.softcap.has_value();
    setting.causal = options.causal;
    setting.window = options.window.has_value();
    setting.window_left = options.window && options.window->left >= 0;
    setting.window_right = options.window && options.window->right >= 0;
    setting.lengths = !views.lengths.empty();
    setting.boolean_mask = views.mask && views.mask->type == ElementType::boolean;
    setting.alibi = !views.slopes.empty();
    setting.sinks = !views.sinks.empty();
    setting.segments = views.segments.has_value();
    setting.placed = std::ranges::any_of(views.offsets, [](Index offset) { return offset != 0; });
    setting.embedding = embedding_size && *embedding_size != views.sizes.H * views.sizes.d_k;
    setting.number_mask = views.mask && !setting.boolean_mask;
    setting.short_mask = views.mask && views.mask->shape.back() < views.sizes.total();
    return setting;
}

Call call_of(const AttendInputs& inputs, const Attend& options)
{
    Call call{lay_out(inputs, options), options};
    call.packed = inputs.cu_seqlens.has_value();
    read_numbers(inputs, options.align, call.views);
    return call;
}

} // namespace attn::model::diagnose
