// attn-cli bench: how long attention of given sizes takes, beside what the machine can do at most.
#include "attn/model/attend/workload.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/report/text/timing.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/tensor_inputs.hpp"
#include "cli/options/attend_options.hpp"
#include "cli/output/output.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/platform.hpp"
#include "cli/system/progress.hpp"
#include "cli/system/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace attn::cli {
namespace {

constexpr std::array bench_examples{
    Example{"attn-cli bench --threads 1", "three sizes on one core"},
    Example{"attn-cli bench --seq 2048 --heads 8 --head-dim 64 --threads 1 --json", "for programs"},
    Example{"attn-cli bench --seq 1024,2048,4096 --causal --isa avx2", "causal: half the work; with AVX2 only"},
};
constexpr std::string_view bench_notes = "Times the context alone, as attend computes it from random tensors in memory,\n"
                                         "with its check for non-finite inputs. GFLOP/s counts 2·(d_k + d_v)·H operations\n"
                                         "for each query and key that it sees (keys that --mask hides count), divided by\n"
                                         "the median time; peak is the rate of float32 fused multiply-adds in registers\n"
                                         "on as many threads, measured in turns with the computation. JSON: seconds per\n"
                                         "computation, peak_rss_bytes of the process so far.\n";

constexpr std::int64_t most_tokens = std::int64_t{1} << 24U;

struct BenchOptions {
    std::vector<Index> lengths{128, 512, 2048};
    std::optional<Index> kv_heads, value_dim, repeats;
    std::optional<std::string> mask;
    bool json = false;
    model::Workload workload; ///< of every length
};

void finish_options(const TypedArguments& typed, BenchOptions& bench)
{
    expect_at_most(typed, 0, "bench takes only options");
    model::Workload& workload = bench.workload;
    workload.kv_heads = bench.kv_heads.value_or(workload.heads);
    workload.value_dim = bench.value_dim.value_or(workload.head_dim);
    if (workload.heads % workload.kv_heads != 0) {
        throw Error(ErrorKind::usage, option_name(model::field::kv_heads), std::to_string(workload.kv_heads),
                    fmt::format("a divisor of the number of heads, {}", workload.heads));
    }
}

/// As the portable path needs it, which converts keys and values to double.
void require_memory(const model::Workload& workload)
{
    const Index required = checked_product(workload.bytes(), 3, "memory for the tensors and copies of them");
    if (const Index limit = memory_limit(); required > limit) {
        throw Error(ErrorKind::too_large,
                    fmt::format("--seq {} requires about {} bytes and {} are free; ask for fewer tokens or heads", workload.seq,
                                required, limit));
    }
}

using Clock = std::chrono::steady_clock;

template <typename Work>
double seconds_of(Work work)
{
    const Clock::time_point begin = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// The machine's rate in GFLOP/s over about `seconds`: as long as what it is compared with, so that whatever else runs slows
/// down both.
double sample_peak(core::Isa isa, int threads, double seconds)
{
    for (Index rounds = 100;;) {
        double operations = 0;
        const double elapsed = seconds_of([&] { operations = model::multiply_add(isa, rounds, threads); });
        if (elapsed >= seconds / 2) {
            return operations / elapsed * 1e-9;
        }
        rounds = static_cast<Index>(static_cast<double>(rounds) * std::clamp(seconds / elapsed, 1.5, 100.0));
    }
}

/// Where and how one size is measured.
struct Bench {
    core::Isa isa = core::Isa::portable;
    int threads = 1;
    std::optional<Index> repeats;
    StageReporter& progress;
};

report::Timing measure(const model::Workload& workload, const Bench& bench)
{
    constexpr double enough_seconds = 0.5;
    constexpr std::size_t enough_repeats = 5;
    constexpr double most_peak_seconds = 0.25;
    constexpr double turn_seconds = 5e-3; // short computations follow each other, as they do in a program
    require_memory(workload);
    model::WorkloadTensors tensors(workload);
    tensors.attend(bench.isa, bench.threads); // touches every page, wakes the processor
    std::vector<double> seconds;
    std::vector<double> peaks;
    double total = 0;
    double since_peak = 0;
    const auto enough = [&] {
        const std::size_t done = seconds.size();
        return bench.repeats ? static_cast<Index>(done) >= *bench.repeats : done >= enough_repeats && total >= enough_seconds;
    };
    const auto share = [&] {
        const auto done = static_cast<double>(seconds.size());
        return bench.repeats ? done / static_cast<double>(*bench.repeats)
                             : std::min(done / static_cast<double>(enough_repeats), total / enough_seconds);
    };
    while (!enough()) {
        bench.progress.show(fmt::format("seq {} {} %", workload.seq, static_cast<int>(100 * share())));
        seconds.push_back(seconds_of([&] { tensors.attend(bench.isa, bench.threads); }));
        total += seconds.back();
        since_peak += seconds.back();
        if (since_peak >= turn_seconds || enough()) {
            peaks.push_back(sample_peak(bench.isa, bench.threads, std::clamp(since_peak, turn_seconds, most_peak_seconds)));
            since_peak = 0;
        }
    }
    return {.workload = workload,
            .threads = bench.threads,
            .isa = bench.isa,
            .least_seconds = std::ranges::min(seconds),
            .median_seconds = median(seconds),
            .repeats = static_cast<Index>(seconds.size()),
            .peak_gflops = median(peaks),
            .peak_rss_bytes = platform::peak_memory()};
}

int execute_bench(BenchOptions& options, const TypedArguments& typed, const Globals& globals, Log& log)
{
    finish_options(typed, options);
    Output output;
    std::vector<report::Timing> timings;
    TensorInputs files;
    if (options.mask) {
        const NamedTensor& mask = files.open(*options.mask);
        mask.read_numbers();
        options.workload.mask = mask.view;
    }
    StageReporter progress(log);
    const Bench bench{.isa = globals.isa.value_or(core::best_isa()),
                      .threads = globals.threads,
                      .repeats = options.repeats,
                      .progress = progress};
    for (const Index length : options.lengths) {
        options.workload.seq = length;
        timings.push_back(measure(options.workload, bench));
        log.detail(fmt::format("bench {}: {} computations", length, timings.back().repeats));
    }
    progress.erase();
    if (options.json) {
        report::write_timings_json(timings, output);
    } else {
        report::write_timings(timings, output.columns(), output);
    }
    output.finish();
    return success;
}

namespace field = model::field;

void declare_sizes(Options& options, BenchOptions& bench)
{
    constexpr model::Allowed length = model::allow::integer(1, most_tokens);
    options.group("Sizes");
    options.add({"--seq",
                 "LIST",
                 "number of queries and of keys; each size is measured",
                 "128,512,2048",
                 {.type = model::FieldType::integers, .least = 1, .most = most_tokens}},
                bench.lengths);
    options.add({"--keys", "N", "keys; the queries stand at the last of them, as with a cache", "as many as queries", length},
                bench.workload.keys);
    options.add({model::option::heads, "H", "query heads", "8", field::heads.allowed}, bench.workload.heads);
    options.add(field::kv_heads, bench.kv_heads);
    options.add({"--head-dim", "D", "components per query or key of one head", "64", length}, bench.workload.head_dim);
    options.add({"--value-dim", "D_V", "components per value of one head", "D", length}, bench.value_dim);
}

void declare_bench(Options& options, BenchOptions& bench)
{
    model::Attend& attention = bench.workload.attention;
    declare_sizes(options, bench);
    options.group(attention_group);
    options.add(field::causal, attention.causal);
    options.add(field::window, attention.window);
    options.add({model::operand::mask.option, "FILE[:NAME]", "mask to use, as attend's"}, bench.mask);
    options.add(option::alibi("subtract slope·|position - key|, as attend does"), attention.alibi);
    options.add(field::softcap, attention.softcap);
    options.add({"--dtype", "TYPE", "type of queries, keys, values and result", "float32",
                 model::allow::one_of(model::float_type_names)},
                bench.workload.type);
    options.add(option::weights_dtype("type to round exp(score - maximum) to, as attend does"), attention.weights_type);
    options.group("Measurement");
    options.add({"--repeat", "N", "computations timed per size", "half a second's worth, at least 5",
                 model::allow::integer(1, field::largest_int32)},
                bench.repeats);
    options.add(json_option("print an object for one size, an array for several"), bench.json);
}

} // namespace

constinit const Command bench_command{
    .name = "bench",
    .summary = "Time the attention core for given sizes.",
    .examples = bench_examples,
    .notes = bench_notes,
    .page = "performance",
    .minor = true,
    .declare = with_options<BenchOptions, declare_bench, execute_bench>,
};

} // namespace attn::cli
