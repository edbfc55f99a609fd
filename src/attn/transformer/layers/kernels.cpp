#include "attn/transformer/layers/kernels.hpp"

#include "attn/core/isa.hpp"

namespace attn::transformer {

std::vector<const LayerKernels*> available_layer_kernels()
{
    std::vector<const LayerKernels*> available{&baseline_layer_kernels};
#if defined(__x86_64__)
    if (core::is_available(core::Isa::avx2)) {
        available.push_back(&avx2_layer_kernels);
    }
    if (core::is_available(core::Isa::avx512)) {
        available.push_back(&avx512_layer_kernels);
    }
#endif
    return available;
}

const LayerKernels& best_layer_kernels()
{
    static const LayerKernels& best = *available_layer_kernels().back(); // asked once: see core/isa.cpp
    return best;
}

} // namespace attn::transformer
