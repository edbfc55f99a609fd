// How fast the core is: GFLOP/s count 4·T·S·d·H, the multiplications and additions of the two products (half of it where a
// causal mask leaves half).
//
//   build/check/tests/bench_attention --benchmark_filter=float
//   build/check/tests/bench_attention --benchmark_filter='tiled|multiply_add'
//   build/check/tests/bench_attention --benchmark_filter='avx512.*(mask|n4096)|decode|copy'
//   --benchmark_enable_random_interleaving
#include "attn/core/attention.hpp"
#include "attn/core/positions.hpp"
#include "attn/model/run/run.hpp"
#include "attn/tensor/view.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

namespace {

using attn::Index;

template <typename Scalar>
attn::Tensor<Scalar> noise(const attn::Shape& shape)
{
    std::mt19937 engine(1);
    std::uniform_real_distribution<Scalar> uniform(-1, 1);
    attn::Tensor<Scalar> tensor(shape);
    std::generate(tensor.values.begin(), tensor.values.end(), [&] { return uniform(engine); });
    return tensor;
}

/// Arguments: heads, tokens, size of a head.
template <typename Scalar>
void attention(benchmark::State& state)
{
    const Index H = state.range(0);
    const Index T = state.range(1);
    const Index d = state.range(2);
    const attn::Tensor<Scalar> X = noise<Scalar>({1, H, T, d});
    const auto view = attn::row_major_view(attn::element_type_of<Scalar>, X.shape, std::as_bytes(std::span(X.values)));
    for (auto _ : state) {
        benchmark::DoNotOptimize(attn::core::attention<Scalar>({view, view, view}, {}, attn::core::StageSelection{}, {}));
    }
    state.counters["FLOP/s"] =
        benchmark::Counter(static_cast<double>(4 * T * T * d * H), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_TEMPLATE(attention, float)->Args({1, 128, 64})->Args({1, 512, 64})->Args({8, 512, 64})->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(attention, double)->Args({1, 512, 64})->Unit(benchmark::kMillisecond);

struct TiledCase {
    Index H, H_kv, T, d_k, d_v;
    bool causal = false;
    int threads = 1;
    Index S = T;
    attn::ElementType type = attn::ElementType::float32;
    bool alibi = false;
    Index block = 0; ///< of a block-diagonal mask for all heads; S: one that hides nothing; 0: no mask
};

attn::StoredTensor stored(attn::ElementType type, const attn::Shape& shape)
{
    attn::StoredTensor tensor("", type, shape);
    tensor.bytes = attn::to_bytes<float>(type, noise<float>(shape).values);
    return tensor;
}

/// The tiled path over buffers that are there already.
void tiled(benchmark::State& state, attn::core::Isa isa, const TiledCase& c)
{
    const attn::StoredTensor Q = stored(c.type, {1, c.H, c.T, c.d_k}), K = stored(c.type, {1, c.H_kv, c.S, c.d_k}),
                             V = stored(c.type, {1, c.H_kv, c.S, c.d_v});
    attn::StoredTensor context("", c.type, {1, c.H, c.T, c.d_v}), mask("", attn::ElementType::boolean, {1, 1, c.T, c.S});
    attn::core::AttentionOutputs outputs;
    outputs[attn::core::Stage::head_context] = {
        .type = c.type, .data = context.bytes.data(), .head = c.T * c.d_v, .row = c.d_v};
    attn::core::AttentionInputs inputs{Q.view(), K.view(), V.view()};
    inputs.slopes = c.alibi ? attn::core::alibi_slopes(c.H) : std::vector<double>{};
    double seen = c.causal ? 0.5 : 1;
    if (c.block > 0) {
        for (std::size_t i = 0; i < mask.bytes.size(); ++i) {
            const auto at = static_cast<Index>(i);
            mask.bytes[i] = std::byte{at / c.S / c.block == at % c.S / c.block};
        }
        inputs.mask = mask.view();
        inputs.mask->shape[1] = c.H;
        inputs.mask->strides[1] = 0;
        seen = static_cast<double>(c.block) / static_cast<double>(c.S);
    }
    for (auto _ : state) {
        attn::core::attention(inputs, {.causal = c.causal}, outputs, {.threads = c.threads, .isa = isa});
        benchmark::ClobberMemory();
    }
    const auto operations = static_cast<double>(2 * c.T * c.S * (c.d_k + c.d_v) * c.H) * seen;
    state.counters["FLOP/s"] = benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
    const auto read = static_cast<std::int64_t>(K.bytes.size() + V.bytes.size());
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * read);
}

/// Keys and values of `decode`, copied: what the memory does, to measure `decode` by.
void copy(benchmark::State& state)
{
    const std::vector<float> from(std::size_t{2} * 8 * 8192 * 128, 1);
    std::vector<float> to(from.size());
    for (auto _ : state) {
        std::copy(from.begin(), from.end(), to.begin());
        benchmark::ClobberMemory();
    }
    const auto bytes = static_cast<std::int64_t>(from.size() * sizeof(float));
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * bytes);
}
BENCHMARK(copy)->UseRealTime()->Unit(benchmark::kMillisecond);

/// The peak of one core, to measure `tiled` by.
void multiply_add(benchmark::State& state, attn::core::Isa isa)
{
    Index operations = 0;
    for (auto _ : state) {
        operations += attn::core::multiply_add(isa, 1000);
    }
    state.counters["FLOP/s"] = benchmark::Counter(static_cast<double>(operations), benchmark::Counter::kIsRate);
}

void register_tiled()
{
    const std::pair<const char*, TiledCase> cases[] = {
        {"n128", {8, 8, 128, 64, 64}},
        {"n512", {8, 8, 512, 64, 64}},
        {"n2048", {8, 8, 2048, 64, 64}},
        {"n1111", {8, 8, 1111, 64, 64}},
        {"causal", {8, 8, 2048, 64, 64, true}},
        {"d32", {8, 8, 2048, 32, 32}},
        {"d80", {8, 8, 2048, 80, 80}},
        {"d128", {8, 8, 2048, 128, 128}},
        {"values96", {8, 8, 2048, 64, 96}},
        {"grouped", {12, 3, 2048, 64, 64}},
        {"threads2", {8, 8, 2048, 64, 64, false, 2}},
        {"n128_threads2", {8, 8, 128, 64, 64, false, 2}},
        {"decode", {.H = 32, .H_kv = 8, .T = 1, .d_k = 128, .d_v = 128, .S = 8192}},
        {"decode_threads2", {.H = 32, .H_kv = 8, .T = 1, .d_k = 128, .d_v = 128, .threads = 2, .S = 8192}},
        {"bfloat16", {.H = 8, .H_kv = 8, .T = 512, .d_k = 64, .d_v = 64, .type = attn::ElementType::bfloat16}},
        {"n4096", {8, 8, 4096, 64, 64}},
        {"mask_all_true", {.H = 8, .H_kv = 8, .T = 4096, .d_k = 64, .d_v = 64, .block = 4096}},
        {"alibi", {.H = 8, .H_kv = 8, .T = 2048, .d_k = 64, .d_v = 64, .alibi = true}},
        {"mask_sixteenth", {.H = 8, .H_kv = 8, .T = 4096, .d_k = 64, .d_v = 64, .block = 256}},
    };
    for (const attn::core::Isa isa : attn::core::available_isas()) {
        const std::string name(name_of(isa));
        benchmark::RegisterBenchmark(("multiply_add/" + name).c_str(), multiply_add, isa);
        for (const auto& [what, c] : cases) {
            if (isa != attn::core::Isa::portable) {
                benchmark::RegisterBenchmark(("tiled/" + name + "/" + what).c_str(), tiled, isa, c)
                    ->UseRealTime()
                    ->Unit(benchmark::kMillisecond);
            }
        }
    }
}

/// The sentence of the 2023 tutorial, from words to context.
void tutorial(benchmark::State& state)
{
    attn::model::Recipe recipe = attn::model::default_recipe();
    recipe.input = attn::model::SentenceInput{.sentence = "Life is short, eat dessert first", .cross = {}};
    for (auto _ : state) {
        benchmark::DoNotOptimize(attn::model::run(recipe));
    }
}
BENCHMARK(tutorial)->Unit(benchmark::kMicrosecond);

} // namespace

int main(int argc, char** argv)
{
    register_tiled();
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
