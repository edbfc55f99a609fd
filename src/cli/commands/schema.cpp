// attn-cli schema: the JSON Schema (draft 2020-12) of what the tool writes and reads.
#include "attn/io/json/schema.hpp"
#include "attn/io/builtin.hpp"
#include "cli/options/command.hpp"
#include "cli/options/suggest.hpp"
#include "cli/output/output.hpp"
#include "cli/system/exit_code.hpp"

#include <array>
#include <vector>

namespace attn::cli {
namespace {

constexpr std::array schema_examples{
    Example{"attn-cli schema > result.schema.json", "of what `run --json` writes"},
    Example{"attn-cli schema recipe", "of recipes"},
    Example{"attn-cli schema check", "of what `check --json` prints"},
    Example{"attn-cli schema diagnosis", "of what `attend --against --json` prints"},
};

int execute_schema(const TypedArguments& typed, const Globals&, Log&)
{
    expect_at_most(typed, 1, "schema takes one name");
    const std::vector<std::string_view> names = names_of(io::builtin_schemas(), &io::BuiltinFile::name);
    const std::string name = typed.words.empty() ? "result" : typed.words.front();
    print(io::json_schema(names[choice("schema", name, names)]));
    return success;
}

} // namespace

constinit const Command schema_command{
    .name = "schema",
    .operands = "[result|recipe|tensor|explanation|check|diagnosis|blind-spots|raw]",
    .summary = "Print a JSON Schema (draft 2020-12), that of a result by default.",
    .examples = schema_examples,
    .page = "output",
    .minor = true,
    .declare = without_options<execute_schema>,
};

} // namespace attn::cli
