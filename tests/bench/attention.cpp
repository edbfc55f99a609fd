// How fast the core is: GFLOP/s count 4·T·S·d·H, the multiplications and additions of the two products (half of it where a
// causal mask leaves half).
//
//   build/check/tests/bench_attention --benchmark_filter=float
//   build/check/tests/bench_attention --benchmark_filter='tiled|multiply_add'
#include "attn/core/attention.hpp"
#include "attn/model/run/run.hpp"

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
};

/// The tiled path over buffers that are there already; queries and keys are as many.
void tiled(benchmark::State& state, attn::core::Isa isa, const TiledCase& c)
{
    const auto view = [](const attn::Tensor<float>& tensor) {
        return attn::row_major_view(attn::ElementType::float32, tensor.shape, std::as_bytes(std::span(tensor.values)));
    };
    const attn::Tensor<float> Q = noise<float>({1, c.H, c.T, c.d_k}), K = noise<float>({1, c.H_kv, c.T, c.d_k}),
                              V = noise<float>({1, c.H_kv, c.T, c.d_v});
    attn::Tensor<float> context({1, c.H, c.T, c.d_v});
    attn::core::AttentionOutputs outputs;
    outputs.context.data = reinterpret_cast<std::byte*>(context.values.data());
    outputs.context.head = c.T * c.d_v;
    outputs.context.row = c.d_v;
    attn::core::AttentionInputs inputs{view(Q), view(K), view(V)};
    inputs.range = attn::core::ScoreRange::near;
    for (auto _ : state) {
        attn::core::attention(inputs, {.causal = c.causal}, outputs, {.threads = c.threads, .isa = isa});
        benchmark::ClobberMemory();
    }
    const auto operations = static_cast<double>(2 * c.T * c.T * (c.d_k + c.d_v) * c.H) / (c.causal ? 2 : 1);
    state.counters["FLOP/s"] = benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
}

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
