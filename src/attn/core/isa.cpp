#include "attn/core/isa.hpp"

#include "attn/core/tiles/kernels.hpp"
#include "attn/core/tiles/plan.hpp"
#include "attn/tensor/error.hpp"

#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace attn::core {
namespace {

#if defined(__x86_64__)
/// Asked once: a virtual machine takes tens of microseconds over it, longer than a small attention.
bool has_float16_conversion()
{
    static const bool has = [] {
        unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
        return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
    }();
    return has;
}
#endif

/// Multiplications and additions of the baseline, as multiply_add says.
Index multiply_and_add(Index rounds)
{
    constexpr Index chains = 8, vector = 4, steps = 1024 / chains;
    using Vector = float __attribute__((vector_size(16)));
    std::array<Vector, chains> x{};
    Vector a = {0.5F, 0.5F, 0.5F, 0.5F};
    for (Index step = 0; step < rounds * steps; ++step) {
        asm("" : "+m"(a)); // NOLINT(hicpp-no-assembler): or the loop would be worth nothing
        for (Vector& chain : x) {
            chain = chain * a + a;
        }
    }
    asm volatile("" : : "m"(x)); // NOLINT(hicpp-no-assembler)
    return 2 * vector * chains * steps * rounds;
}

} // namespace

const TileKernels* kernels_of(Isa isa)
{
#if defined(__x86_64__)
    // The compiler's own look at the processor includes whether the operating system saves the registers.
    if (isa == Isa::avx2) {
        const bool there = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_float16_conversion();
        return there ? &avx2_kernels : nullptr;
    }
    if (isa == Isa::avx512) {
        const bool there = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
        const bool pairs = __builtin_cpu_supports("avx512bf16");
        return !there ? nullptr : pairs ? &avx512_bf16_kernels : &avx512_kernels;
    }
#elif defined(__aarch64__)
    if (isa == Isa::neon) {
        return &neon_kernels; // part of every 64-bit Arm
    }
#endif
    return nullptr;
}

std::string_view name_of(Isa isa)
{
    return isa_names.at(static_cast<std::size_t>(isa));
}

bool is_available(Isa isa)
{
    return isa == Isa::portable || kernels_of(isa) != nullptr;
}

std::vector<Isa> available_isas()
{
    std::vector<Isa> available;
    for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512, Isa::neon}) {
        if (is_available(isa)) {
            available.push_back(isa);
        }
    }
    return available;
}

Isa best_isa()
{
    return available_isas().back();
}

Index multiply_add(Isa isa, Index rounds)
{
    if (isa == Isa::portable) {
        return multiply_and_add(rounds);
    }
    const TileKernels* kernels = kernels_of(isa);
    if (kernels == nullptr) {
        throw Error(ErrorKind::internal, "multiply_add", std::string(name_of(isa)), "an available instruction set");
    }
    return kernels->multiply_add(rounds);
}

} // namespace attn::core
