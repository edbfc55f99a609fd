// attn-cli compare: two files of numbers, tensor by tensor.
#include "attn/model/check/compare.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/json/comparison_json.hpp"
#include "attn/report/text/compare_table.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/compared_file.hpp"
#include "cli/options/command.hpp"
#include "cli/output/output.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace attn::cli {
namespace {

struct CompareOptions : model::CompareOptions {
    std::optional<double> rtol, atol;
    bool json = false;
};

constexpr std::array compare_examples{
    Example{"attn-cli compare mine.npy golden.npy", "with the tolerances of torch.testing.assert_close"},
    Example{"attn-cli compare stages.npz golden.safetensors --rtol 1e-5 --atol 1e-6", "tensors of the same names"},
    Example{"attn-cli compare y.npy t.safetensors:context --ulps 2", "one tensor of a file"},
    Example{"attn-cli compare result.json golden.json --json | jq '.tensors[0]'", "the report, for programs"},
};
constexpr std::string_view compare_notes = "A and B are results or tensors as JSON (`run --json`, `attend`), .npy, .npz,\n"
                                           ".safetensors or text (printed, np.savetxt, CSV, a list), in any mix. Tensors are\n"
                                           "paired by name, except two files of one tensor each. A name on one side only is\n"
                                           "a difference; so are words that differ when both sides are results. Numbers\n"
                                           "agree when |A - B| <= atol + rtol*|B|. Without --rtol and --atol these are what\n"
                                           "torch.testing.assert_close has for the type (`attn-cli help checking`).\n"
                                           "With --quiet only what differs is printed.\n"
                                           "Exit code: 0 all agree; 1 a difference.\n";

/// Of the first tensor with differences that a wider one would forgive.
std::optional<model::Tolerance> tolerance_that_counted(const model::Comparison& comparison)
{
    const auto found = std::ranges::find_if(
        comparison.tensors, [](const model::TensorComparison& tensor) { return tensor.mismatched != 0 && tensor.absolute; });
    return found == comparison.tensors.end() ? std::nullopt : std::optional(found->tolerance);
}

void write(const model::Comparison& comparison, const CompareOptions& options, const TypedArguments& typed, bool quiet)
{
    Output output;
    if (quiet && comparison.agrees()) {
        return;
    }
    if (options.json) {
        report::write_comparison_json(comparison, output);
    } else {
        report::write_comparison(comparison, typed.words[0], typed.words[1], quiet, output);
        const bool chosen = options.rtol || options.atol || options.ulps;
        if (const auto tolerance = tolerance_that_counted(comparison); tolerance && !chosen) {
            const auto shown = [](double part) { return part == 0 ? "0" : math::shortest(part); };
            output.append(fmt::format("the tolerance is --rtol {} --atol {}; set others with --rtol and --atol{}\n",
                                      shown(tolerance->rtol), shown(tolerance->atol),
                                      tolerance->exact() ? "" : ", or use --ulps")); // integers have no such units
        }
    }
    output.finish();
}

int execute_compare(CompareOptions& options, const TypedArguments& typed, const Globals& globals, Log& log)
{
    if (options.rtol || options.atol) {
        options.tolerance = model::Tolerance{options.rtol.value_or(0), options.atol.value_or(0)};
    }
    expect_at_most(typed, 2, "compare takes two files");
    if (typed.words.size() < 2) {
        throw Error(ErrorKind::usage, "compare: give two files, each FILE or FILE:NAME");
    }
    const std::string& name_a = typed.words[0];
    const std::string& name_b = typed.words[1];
    if (split_tensor_argument(name_a).path == "-" && split_tensor_argument(name_b).path == "-") {
        throw Error(ErrorKind::usage, "compare: standard input can be read once; allowed: - for one file");
    }
    options.memory_limit = memory_limit(); // before both are opened, which reserves addresses for all that may be inflated
    const ComparedFile a(name_a, globals.most_bytes());
    const ComparedFile b(name_b, globals.most_bytes());
    const model::Comparison comparison = model::compare(a.contents(), b.contents(), options);
    a.require_unchanged();
    b.require_unchanged();
    try {
        write(comparison, options, typed, log.quiet());
    } catch (const ReaderGone&) { // the exit code says what it left unread
    }
    return comparison.agrees() ? success : difference_found;
}

void declare_compare(Options& options, CompareOptions& compare)
{
    static constexpr std::array<std::string_view, 2> answers{"no", "yes"};
    constexpr OptionInfo rtol = rtol_option("relative tolerance", "by type; 0 with --atol");
    constexpr OptionInfo atol = atol_option("absolute tolerance", "by type; 0 with --rtol");
    constexpr OptionInfo ulps{
        "--ulps", "N", "tolerance in units in the last place of the type with fewer digits, instead of --rtol and --atol", "",
        model::allow::integer(0, std::numeric_limits<Index>::max())};
    options.group("Comparison");
    options.add(rtol, compare.rtol);
    options.add(atol, compare.atol);
    options.add(ulps, compare.ulps);
    options.add({"--equal-nan", "yes|no", "whether NaN equals NaN", "yes", model::allow::one_of(answers)}, compare.equal_nan);
    options.add(json_option("print the report as JSON"), compare.json);
    options.exclude({ulps.name, rtol.name});
    options.exclude({ulps.name, atol.name});
}

} // namespace

constinit const Command compare_command{
    .name = "compare",
    .operands = "A B",
    .summary = "Compare two files of numbers, tensor by tensor.",
    .examples = compare_examples,
    .notes = compare_notes,
    .page = "checking",
    .declare = with_options<CompareOptions, declare_compare, execute_compare>,
};

} // namespace attn::cli
