#include "attn/core/parallel.hpp"
#include "attn/core/tiles/plan.hpp"

#include <algorithm>
#include <cmath>

namespace attn::core {
namespace {

/// The larger one; NaN if one is.
float larger(float a, float b)
{
    return b <= a || std::isnan(a) ? a : b;
}

} // namespace

bool has_mask_of_numbers(const AttentionInputs& inputs)
{
    return inputs.mask && inputs.mask->type != ElementType::boolean && readable_in_tiles(*inputs.mask) && !inputs.segments &&
           !inputs.extra_key;
}

SeenTiles::SeenTiles(const AttentionInputs& inputs, const TileKernels& kernels)
    : query_tile_(kernels.query_tile), key_tile_(kernels.key_tile), past_(inputs.dims().P), total_(inputs.dims().total()),
      query_tiles_(tiles_in(inputs.dims().T, query_tile_)),
      key_tiles_(tiles_in(past_, key_tile_) + tiles_in(inputs.dims().S, key_tile_))
{
    if (inputs.mask) {
        const AttentionDims dims = inputs.dims();
        heads_ = inputs.mask->strides[1] == 0 ? 1 : dims.H;
        batches_ = inputs.mask->strides[0] == 0 ? 1 : dims.B;
        const Index size = query_tiles_ * key_tiles_;
        head_ = heads_ == 1 ? 0 : size;
        batch_ = batches_ == 1 ? 0 : heads_ * size;
        seen_ = std::vector<std::atomic<Seen>>(static_cast<std::size_t>(batches_ * heads_ * size));
    }
}

std::atomic<Seen>* SeenTiles::seen_of(const Band& band) const
{
    return seen_.data() + band.b * batch_ + band.h * head_ + band.tile * key_tiles_;
}

Seen SeenTiles::at(const AttentionInputs& inputs, const BiasPlace& place) const
{
    if (seen_.empty()) {
        return Seen::some;
    }
    const Index of_key =
        place.key < past_ ? place.key / key_tile_ : tiles_in(past_, key_tile_) + (place.key - past_) / key_tile_;
    std::atomic<Seen>& seen = seen_of({place.b, place.h, place.row / query_tile_})[of_key];
    if (seen == Seen::unknown) {
        seen = seen_by_mask(inputs, place);
    }
    return seen;
}

KeyRange SeenTiles::keys_of_tile(Index tile) const
{
    const Index of_past = tiles_in(past_, key_tile_);
    const Index begin = tile < of_past ? tile * key_tile_ : past_ + (tile - of_past) * key_tile_;
    return {begin, std::min(begin + key_tile_, tile < of_past ? past_ : total_)};
}

float SeenTiles::look_at_band(const AttentionInputs& inputs, const TileKernels& kernels, const Band& band)
{
    const TensorView mask = slice(*inputs.mask, std::array{band.b, band.h});
    const Index first = band.tile * query_tile_;
    const Index rows = mask.strides[0] == 0 ? 1 : std::min(query_tile_, inputs.dims().T - first);
    const Index size = size_of(mask.type);
    std::atomic<Seen>* const seen = seen_of(band);
    float most = 0;
    for (Index i = 0; i < rows; ++i) { // whole rows, as memory likes to be read
        const std::byte* const row = mask.bytes.data() + place_of(inputs, first + i) * mask.strides[0] * size;
        for (Index tile = 0; tile < key_tiles_; ++tile) {
            const KeyRange keys = keys_of_tile(tile);
            const Index count = std::min(keys.end, mask.shape[1]) - keys.begin;
            if (count <= 0) {
                seen[tile] = Seen::some;
                continue;
            }
            const std::byte* const from = row + keys.begin * size;
            const Seen of_row = core::seen_of(from, count, mask.type);
            if (of_row == Seen::some) {
                most = larger(most, kernels.largest({from, count, mask.type}, 1, count, true));
            }
            seen[tile] = i == 0 || seen[tile] == of_row ? of_row : Seen::some;
        }
    }
    return most;
}

float SeenTiles::look(const AttentionInputs& inputs, const TileKernels& kernels, const Work& work)
{
    constexpr Index numbers_worth_a_thread = 1 << 17;
    const Index bands = inputs.mask->strides[2] == 0 ? std::min<Index>(query_tiles_, 1) : query_tiles_;
    const Index count = batches_ * heads_ * bands;
    std::vector<float> found(static_cast<std::size_t>(count));
    const auto band_of = [&](Index index) { return Band{index / bands / heads_, index / bands % heads_, index % bands}; };
    const bool small = count * query_tile_ * total_ < numbers_worth_a_thread;
    for_each_block(count, {.threads = small ? 1 : work.threads}, [&](Index index) {
        found[static_cast<std::size_t>(index)] = look_at_band(inputs, kernels, band_of(index));
    });
    for (Index index = 0; bands < query_tiles_ && index < count; ++index) { // one row for all queries
        Band band = band_of(index);
        const std::atomic<Seen>* const same = seen_of(band);
        for (band.tile = 1; band.tile < query_tiles_; ++band.tile) {
            std::atomic<Seen>* const to = seen_of(band);
            for (Index tile = 0; tile < key_tiles_; ++tile) {
                to[tile] = same[tile].load();
            }
        }
    }
    float most = 0;
    for (const float each : found) {
        most = larger(most, each);
    }
    return most;
}

} // namespace attn::core
