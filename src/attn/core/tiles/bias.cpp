#include "attn/core/tiles/bias.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace attn::core {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

/// A row of booleans that lie side by side; false when one of them is neither 0 nor 1.
bool add_booleans(const std::byte* from, Index count, float* to)
{
    unsigned all = 0;
    for (Index j = 0; j < count; ++j) {
        const auto seen = std::to_integer<unsigned>(from[j]);
        all |= seen;
        to[j] = seen != 0 ? 0 : minus_infinity;
    }
    return all <= 1;
}

} // namespace

bool load_bias(const TensorView& mask, const BiasPlace& place, float* to, Index stride)
{
    const Index count = std::clamp<Index>(mask.shape[3] - place.key, 0, place.keys);
    TensorView block = row_block(slice(mask, std::array{place.b, place.h}), place.row, place.rows);
    block.shape[1] = count;
    if (count > 0) {
        block.bytes = block.bytes.subspan(static_cast<std::size_t>(place.key * block.strides[1] * size_of(mask.type)));
    }
    const bool boolean = mask.type == ElementType::boolean;
    bool plain = boolean && (count <= 1 || block.strides[1] == 1);
    for (Index i = 0; plain && i < place.rows; ++i) {
        plain = add_booleans(block.bytes.data() + i * block.strides[0], count, to + i * stride);
    }
    if (!plain && count > 0) { // in which case what is wrong with a boolean is found here, and said
        const Matrix<float> values = load_matrix<float>(block, {});
        for (Index i = 0; i < place.rows; ++i) {
            for (Index j = 0; j < count; ++j) {
                to[i * stride + j] = !boolean ? values(i, j) : values(i, j) != 0 ? 0 : minus_infinity;
            }
        }
    }
    bool seen = false;
    for (Index i = 0; i < place.rows; ++i) {
        float* row = to + i * stride;
        std::fill(row + count, row + place.keys, 0.0F);
        seen = seen || std::any_of(row, row + count, [](float value) { return value != minus_infinity; });
    }
    return seen;
}

} // namespace attn::core
