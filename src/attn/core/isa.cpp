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
/// What the processor has and the operating system saves the registers of. (By the processor's own word: __builtin_cpu_supports
/// answers 0 where the compiler's runtime is left out, and knows no F16C.)
struct Features {
    bool avx2 = false;   ///< with FMA and F16C
    bool avx512 = false; ///< F and DQ
    bool avx512_bf16 = false;
};

Features ask_processor()
{
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr unsigned needed = bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & needed) != needed) {
        return {};
    }
    unsigned saved = 0;                              // XCR0: vector registers of 128 and 256 bits; masks and those of 512 bits
    asm("xgetbv" : "=a"(saved), "=d"(edx) : "c"(0)); // NOLINT(hicpp-no-assembler): the function for it wants -mxsave
    constexpr unsigned vectors = 0x06, long_vectors = 0xe6;
    Features has;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (saved & vectors) != vectors) {
        return has;
    }
    has.avx2 = (ebx & bit_AVX2) != 0;
    has.avx512 = (ebx & bit_AVX512F) != 0 && (ebx & bit_AVX512DQ) != 0 && (saved & long_vectors) == long_vectors;
    constexpr unsigned bfloat16 = 1U << 5U;
    has.avx512_bf16 = has.avx512 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & bfloat16) != 0;
    return has;
}

/// Asked once: a virtual machine takes tens of microseconds over it, longer than a small attention.
const Features& features()
{
    static const Features has = ask_processor();
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
    if (isa == Isa::avx2) {
        return features().avx2 ? &avx2_kernels : nullptr;
    }
    if (isa == Isa::avx512) {
        return !features().avx512 ? nullptr : features().avx512_bf16 ? &avx512_bf16_kernels : &avx512_kernels;
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
