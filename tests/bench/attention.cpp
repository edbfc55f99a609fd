// How fast the portable core is: GFLOP/s count 4·T·S·d·H, the multiplications and additions of the two products.
//
//   build/check/tests/bench_attention --benchmark_filter=float
#include "attn/core/attention.hpp"
#include "attn/model/run.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
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
    attn::core::Heads<Scalar> heads{noise<Scalar>({H, T, d}), noise<Scalar>({H, T, d}), noise<Scalar>({H, T, d}), {}};
    heads.query_positions.resize(static_cast<std::size_t>(T));
    std::iota(heads.query_positions.begin(), heads.query_positions.end(), Index{0});
    for (auto _ : state) {
        benchmark::DoNotOptimize(attn::core::attention(heads, {}, {}, {}));
    }
    state.counters["FLOP/s"] =
        benchmark::Counter(static_cast<double>(4 * T * T * d * H), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_TEMPLATE(attention, float)->Args({1, 128, 64})->Args({1, 512, 64})->Args({8, 512, 64})->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(attention, double)->Args({1, 512, 64})->Unit(benchmark::kMillisecond);

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

BENCHMARK_MAIN();
