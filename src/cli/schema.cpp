// attn-cli schema: the JSON Schema (draft 2020-12) of what the tool writes and reads.
#include "attn/io/builtin.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/stdout.hpp"
#include "cli/suggest.hpp"

#include <array>
#include <vector>

namespace attn::cli {
namespace {

constexpr std::array examples{
    Example{"attn-cli schema > result.schema.json", "of what `run --json` writes"},
    Example{"attn-cli schema recipe", "of recipes"},
};

int execute_schema(const Arguments& arguments, const Globals&, Log&)
{
    expect_at_most(arguments, 1, "schema takes one name");
    std::vector<std::string_view> names;
    for (const io::BuiltinFile& file : io::builtin_schemas()) {
        names.push_back(file.name);
    }
    const std::string name = arguments.operands.empty() ? "result" : arguments.operands.front();
    print(io::builtin_schemas()[choice("schema", name, names)].contents);
    return success;
}

std::span<const OptionGroup> no_options()
{
    return {};
}

} // namespace

constinit const Command schema_command{
    .name = "schema",
    .operands = "[result|recipe|tensor|explanation]",
    .summary = "Print the JSON Schema (draft 2020-12) of results (default), recipes, tensors or explanations.",
    .examples = examples,
    .groups = no_options,
    .notes = {},
    .execute = execute_schema,
};

} // namespace attn::cli
