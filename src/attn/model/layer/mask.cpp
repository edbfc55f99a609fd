#include "attn/model/layer/mask.hpp"

#include "attn/tensor/error.hpp"

namespace attn::model {

TensorView broadcast_mask(TensorView mask, const Shape& target)
{
    if (is_integer(mask.type)) {
        throw Error(ErrorKind::data, "the mask", name_of(mask.type), "bool, float16, bfloat16, float32, float64");
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

} // namespace attn::model
