#include "attn/model/mask.hpp"

#include "attn/tensor/error.hpp"

#include <cstring>

namespace attn::model {

TensorView broadcast_mask(TensorView mask, const Shape& target)
{
    if (mask.type == ElementType::int64) {
        throw Error(ErrorKind::data, "the mask", "int64", "bool, float16, bfloat16, float32, float64");
    }
    const Shape given = mask.shape;
    const auto refuse = [&] {
        throw Error(ErrorKind::data, "the mask", "the shape " + to_string(given),
                    "a shape that broadcasts to " + to_string(target) + ", the last dimension up to " +
                        std::to_string(target.back()));
    };
    if (given.empty() || given.size() > target.size() || given.back() > target.back()) {
        refuse();
    }
    const std::size_t missing = target.size() - given.size();
    mask.shape.insert(mask.shape.begin(), missing, 1);
    mask.strides.insert(mask.strides.begin(), missing, 0);
    for (std::size_t d = 0; d + 1 < target.size(); ++d) {
        if (mask.shape[d] != target[d]) {
            if (mask.shape[d] != 1) {
                refuse();
            }
            mask.shape[d] = target[d];
            mask.strides[d] = 0;
        }
    }
    return mask;
}

TensorView MaskRows::view() const
{
    TensorView view = copy.view();
    view.swapped = swapped;
    return view;
}

MaskRows mask_rows(const TensorView& mask, const std::vector<Index>& rows)
{
    const Index H = mask.shape[0];
    const Index S = mask.shape[2];
    const Index size = size_of(mask.type);
    MaskRows chosen{StoredTensor("mask", mask.type, {H, static_cast<Index>(rows.size()), S}), mask.swapped};
    std::byte* to = chosen.copy.bytes.data();
    for (Index h = 0; h < H; ++h) {
        for (const Index row : rows) {
            const std::byte* from = mask.bytes.data() + (h * mask.strides[0] + row * mask.strides[1]) * size;
            for (Index j = 0; j < S; ++j, to += size) {
                std::memcpy(to, from + j * mask.strides[2] * size, static_cast<std::size_t>(size));
            }
        }
    }
    return chosen;
}

} // namespace attn::model
