// attn-cli compare: two files of numbers, tensor by tensor.
#include "attn/model/compare.hpp"

#include "attn/report/comparison.hpp"
#include "attn/tensor/error.hpp"
#include "cli/command.hpp"
#include "cli/compared_file.hpp"
#include "cli/exit_code.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/suggest.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace attn::cli {
namespace {

constexpr std::array specs{
    OptionSpec{"--rtol", "X", "relative tolerance (default 1e-7)", {}},
    OptionSpec{"--atol", "X", "absolute tolerance (default 0)", {}},
    OptionSpec{"--ulps", "N", "instead of both: units in the last place, of the type with fewer digits", {}},
    OptionSpec{"--equal-nan", "yes|no", "whether NaN equals NaN (default yes)", {}},
    OptionSpec{"--json", "", "the report as JSON", {}},
};
constexpr std::array<OptionGroup, 1> groups{{{"Comparison", specs}}};

constexpr std::array examples{
    Example{"attn-cli compare mine.npy golden.npy", "as numpy.testing.assert_allclose(mine, golden)"},
    Example{"attn-cli compare stages.npz golden.safetensors --rtol 1e-5 --atol 1e-6", "tensors of the same names"},
    Example{"attn-cli compare y.npy t.safetensors:context --ulps 2", "one tensor of a file"},
    Example{"attn-cli compare result.json golden.json --json | jq .tensors[0]", "the report, for programs"},
};
constexpr std::string_view notes = "A and B are results or tensors as JSON (`run --json`, `attend`), .npy, .npz or\n"
                                   ".safetensors, in any mix. Tensors are paired by name; two files of one tensor each\n"
                                   "whatever their names. A name on one side only is a difference; so are words that\n"
                                   "differ when both sides are results. Numbers agree when |A - B| <= atol + rtol*|B|.\n"
                                   "Exit code: 0 all agree; 1 a difference.\n";

model::CompareOptions read_options(const Arguments& arguments)
{
    model::CompareOptions options;
    const RealRange range{.least = 0, .allowed = "a finite number from 0, such as 1e-6"};
    const auto rtol = arguments.value("--rtol");
    const auto atol = arguments.value("--atol");
    options.tolerance.rtol = rtol ? real("--rtol", *rtol, range) : options.tolerance.rtol;
    options.tolerance.atol = atol ? real("--atol", *atol, range) : options.tolerance.atol;
    if (const auto ulps = arguments.value("--ulps")) {
        if (rtol || atol) {
            throw Error(ErrorKind::usage, "--ulps and --rtol or --atol exclude each other");
        }
        options.ulps = natural("--ulps", *ulps, 0, std::numeric_limits<std::int64_t>::max());
    }
    constexpr std::array<std::string_view, 2> answers{"yes", "no"};
    options.equal_nan = choice("--equal-nan", arguments.value("--equal-nan").value_or("yes"), answers) == 0;
    return options;
}

/// Whether there are differences that a wider tolerance would forgive.
bool tolerance_may_help(const model::Comparison& comparison)
{
    return std::ranges::any_of(comparison.tensors,
                               [](const model::TensorComparison& tensor) { return tensor.mismatched != 0 && tensor.absolute; });
}

void write(const model::Comparison& comparison, const Arguments& arguments)
{
    Output output{std::nullopt};
    if (arguments.flag("--json")) {
        report::write_comparison_json(comparison, output.sink());
    } else {
        report::write_comparison(comparison, arguments.operands[0], arguments.operands[1], output.sink());
        const bool chosen = arguments.value("--rtol") || arguments.value("--atol") || arguments.value("--ulps");
        if (!chosen && tolerance_may_help(comparison)) {
            output.sink()("the tolerance is --rtol 1e-7 --atol 0; larger ones, or --ulps, forgive more\n");
        }
    }
    output.finish();
}

int execute_compare(const Arguments& arguments, const Globals&, Log&)
{
    const model::CompareOptions options = read_options(arguments);
    expect_at_most(arguments, 2, "compare takes two files");
    if (arguments.operands.size() < 2) {
        throw Error(ErrorKind::usage, "compare: give two files, each FILE or FILE:NAME");
    }
    const std::string& name_a = arguments.operands[0];
    const std::string& name_b = arguments.operands[1];
    if (split_tensor_argument(name_a).path == "-" && split_tensor_argument(name_b).path == "-") {
        throw Error(ErrorKind::usage, "compare: standard input can be read once; allowed: one -");
    }
    const ComparedFile a(name_a);
    const ComparedFile b(name_b);
    const model::Comparison comparison = model::compare(a.contents(), b.contents(), options);
    a.require_unchanged();
    b.require_unchanged();
    try {
        write(comparison, arguments);
    } catch (const ReaderGone&) { // the exit code says what it left unread
    }
    return comparison.agrees() ? success : difference_found;
}

std::span<const OptionGroup> option_groups()
{
    return groups;
}

} // namespace

constinit const Command compare_command{
    .name = "compare",
    .operands = "A B",
    .summary = "Compare two files of numbers, tensor by tensor.",
    .examples = examples,
    .groups = option_groups,
    .notes = notes,
    .execute = execute_compare,
};

} // namespace attn::cli
