// attn-cli check: recompute what files and recipes state, and compare.
#include "attn/model/check/check.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/json/json_reader.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/io/json/saved_result.hpp"
#include "attn/io/tensors/tensor_file.hpp"
#include "attn/model/trained/run_trained.hpp"
#include "attn/report/json/comparison_json.hpp"
#include "attn/report/json/json.hpp"
#include "attn/report/text/compare_table.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/documents.hpp"
#include "cli/input/model_folder.hpp"
#include "cli/input/recipe_files.hpp"
#include "cli/input/recipes.hpp"
#include "cli/options/command.hpp"
#include "cli/options/input_options.hpp"
#include "cli/output/notes.hpp"
#include "cli/output/output.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/progress.hpp"
#include "cli/system/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace attn::cli {
namespace {

/// A result with all stages is far larger than the sentence it came from.
constexpr std::size_t largest_file = std::size_t{1} << 30U;

struct CheckOptions {
    bool all = false;
    bool json = false;
    std::optional<double> rtol, atol;
};

constexpr std::array check_examples{
    Example{R"(attn-cli run "Life is short" --show all -o golden.json)", "save a result"},
    Example{"attn-cli check golden.json", "see later whether it comes out the same, to the last digit"},
    Example{"attn-cli check --all", "every built-in recipe against the numbers its article prints"},
    Example{"attn-cli check golden.json other.json --atol 1e-6", "several at once, with a tolerance"},
    Example{"attn-cli check --all --json | jq -r 'select(.passed | not).name'", "what did not pass, for programs"},
};
constexpr std::string_view check_notes = "A file is a recipe, a saved result, or several results (`run --lines --json`).\n"
                                         "Numbers of a result may differ by atol + rtol·|stated|; recipes bring tolerances\n"
                                         "of their own. Give --isa X to check what `run --isa X` gave. Exit code: 0 all\n"
                                         "agree; 1 a difference; otherwise that of the error (65 bad data, 66 no such\n"
                                         "input, …). An error line of `run --lines` is not checked, and counts as 65.\n"
                                         "Every file is checked; the largest code is the exit code.\n"
                                         "A file that a recipe names is looked for beside the recipe, then in the current\n"
                                         "folder; if both have it, the one with the stated SHA-256 is used.\n"
                                         "With --quiet only what did not pass is printed.\n";

constexpr std::string_view tolerances_are_for_results =
    "--rtol and --atol do not count for recipes, which bring tolerances of their own";

/// Text that cannot be told is none; whoever reads it says what is wrong.
bool begins_recipe(std::string_view json)
{
    try {
        return io::kind_of(json) == io::Document::recipe;
    } catch (const Error&) {
        return false;
    }
}

/// The document that a result is written as, read again.
model::SavedResult written(const model::Result& result)
{
    Buffer json;
    report::write_json(result, {}, json);
    return io::parse_saved_result(json.text());
}

class Checker {
public:
    Checker(const CheckOptions& options, const Globals& globals, Log& log)
        : log_(log), json_(options.json), most_bytes_(globals.max_input_bytes.value_or(largest_file)), stages_(log),
          isa_note_(globals.isa), tolerance_{.rtol = options.rtol.value_or(0), .atol = options.atol.value_or(0)},
          tolerance_given_(options.rtol || options.atol)
    {
        settings_.threads = globals.threads;
        settings_.isa = globals.isa_or_portable(); // as `run` does
        settings_.observer = stages_.observer();
    }

    void recipe_or_file(const std::string& name);
    [[nodiscard]] int finish();

private:
    template <typename Write>
    void tell(const Write& write);
    template <typename Work>
    void attempt(const std::string& name, const std::string& quoted_name, Work work);
    void file(const std::string& path);
    void document(std::string_view json, const std::string& name, const std::string& folder);
    void report(const model::CheckReport& report, const std::string& name);
    void report_error(const std::string& name, const std::string& message, int code);

    Log& log_;
    bool json_; ///< a document for each report, and for each error
    std::size_t most_bytes_;
    Output output_;
    StageReporter stages_;
    IsaNote isa_note_;
    model::RunSettings settings_;
    model::Tolerance tolerance_;
    bool tolerance_given_ = false; ///< and no recipe has been told that it does not count
    bool reader_gone_ = false;
    bool differs_ = false;
    int worst_ = success;
};

/// Writes while somebody reads. When the reader leaves, the rest is checked for the exit code alone: 0 means that all agree.
template <typename Write>
void Checker::tell(const Write& write)
{
    try {
        if (!reader_gone_) {
            write();
        }
    } catch (const ReaderGone&) {
        reader_gone_ = true;
    }
}

/// Does the work; an error of it is reported, with the name as it stands in messages, and the rest goes on.
template <typename Work>
void Checker::attempt(const std::string& name, const std::string& quoted_name, Work work)
{
    if (reader_gone_ && differs_) {
        return; // nobody hears more, and the exit code says it
    }
    settings_.memory_limit = memory_limit();
    stages_.set_prefix(name + ": ");
    try {
        work();
    } catch (const Error& error) {
        // Without its output the report is worth nothing.
        if (error.kind() == ErrorKind::io) {
            throw;
        }
        tell([&] { output_.flush(); }); // so that a terminal shows both in order
        const std::string message = error.what();
        const bool named = message.starts_with(quoted_name) || message.starts_with("cannot read " + quoted_name);
        log_.error(named ? message : quoted_name + ": " + message);
        report_error(name, message, exit_code(error.kind()));
    }
}

void Checker::report_error(const std::string& name, const std::string& message, int code)
{
    if (json_) {
        tell([&] { report::write_check_error_json(name, code, message, output_); });
    }
    worst_ = std::max(worst_, code);
}

void Checker::report(const model::CheckReport& report, const std::string& name)
{
    tell([&] {
        if (json_ && !(log_.quiet() && report.passed())) {
            report::write_check_json(report, name, output_);
        } else if (!json_) {
            report::write_check(report, name, log_.quiet(), output_);
        }
    });
    differs_ = differs_ || !report.passed();
    worst_ = std::max(worst_, report.passed() ? success : difference_found);
    log_.warn_of(isa_note_.about(report.portable_because));
}

void Checker::document(std::string_view json, const std::string& name, const std::string& folder)
{
    TensorInputs files;
    switch (io::kind_of(json)) {
    case io::Document::recipe: {
        if (std::exchange(tolerance_given_, false)) {
            log_.warning(std::string(tolerances_are_for_results));
        }
        model::Recipe recipe = new_recipe(json);
        (void)load_files(recipe, {files, settings_, log_, Digests::stated, folder});
        report(model::check(recipe, settings_, written), name);
        if (const auto doubt = doubt_about_mask(recipe, settings_)) {
            log_.warning(name + ": " + *doubt);
        }
        return;
    }
    case io::Document::result: {
        model::SavedResult saved = io::parse_saved_result(json);
        auto& config = std::get<model::Recipe>(saved.config);
        (void)load_files(config, {files, settings_, log_, Digests::stated, folder});
        const model::Result now = model::run(config, settings_for(saved, settings_));
        return report({findings_of(saved, written(now), tolerance_), now.portable_because}, name);
    }
    case io::Document::layers: {
        model::SavedResult saved = io::parse_saved_result(json);
        auto& config = std::get<model::TrainedConfig>(saved.config);
        const ModelFolder model(config, Digests::stated, folder);
        const model::Result now = model::run_trained(config, model.trained(), settings_for(saved, settings_));
        return report({findings_of(saved, written(now), tolerance_), now.portable_because}, name);
    }
    case io::Document::failed_line: {
        const std::string why = "not checked, the line could not be computed: " + in_quotes(io::parse_failed_line(json), 200);
        if (!json_) {
            tell([&] { output_.append(name + ": " + why + "\n"); });
        }
        return report_error(name, why, bad_data);
    }
    case io::Document::tensor:
    case io::Document::unknown: break;
    }
    io::refuse_schema(json, {model::Document::recipe, model::Document::result, model::Document::layers});
}

void Checker::file(const std::string& path)
{
    const auto refuse = [](std::string_view what) {
        throw Error(ErrorKind::data,
                    fmt::format("got {}; allowed: a recipe or a saved result, as JSON; compare is for tensors", what));
    };
    const std::string contents = read_json_file(path, most_bytes_);
    if (io::is_tensor_file(std::as_bytes(std::span(contents)))) {
        refuse("tensors");
    }
    const std::size_t first = contents.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && contents[first] > ' ' &&
        contents[first] != '{') { // of other bytes JSON says what is wrong
        refuse("text that is not a JSON object");
    }
    std::vector<JsonText> documents = split_documents(contents);
    if (documents.empty()) {
        throw Error(ErrorKind::data, "nothing to check; allowed: a recipe or a saved result");
    }
    if (documents.size() > 1 && begins_recipe(documents.front().text)) {
        documents = {{contents, 1}}; // a recipe stands alone: what follows it is malformed
    }
    for (const JsonText& json : documents) {
        const std::string place = documents.size() == 1 ? "" : fmt::format(" line {}", json.line);
        const std::string name = visible_path(path) + place;
        attempt(name, name_of_input(path) + place, [&] {
            try {
                document(json.text, name, folder_of_recipe(path));
            } catch (const Error&) {
                io::require_json(json.text, json.line); // counts the lines of the file
                throw;
            }
        });
    }
}

void Checker::recipe_or_file(const std::string& name)
{
    attempt(visible_path(name), name_of_input(name), [&] {
        if (const auto builtin = io::find(io::builtin_recipes(), name)) {
            document(*builtin, name, "");
            return;
        }
        if (names_nothing(name)) {
            throw Error(ErrorKind::no_input, "no such file or recipe" + recipe_hint(name));
        }
        file(name);
    });
}

int Checker::finish()
{
    tell([&] { output_.finish(); });
    return worst_;
}

int execute_check(CheckOptions& options, const TypedArguments& typed, const Globals& globals, Log& log)
{
    Checker checker(options, globals, log);
    if (!options.all && typed.words.empty()) {
        throw Error(ErrorKind::usage, "check: give files or recipes, or --all for every built-in recipe");
    }
    if (std::ranges::count(typed.words, "-") > 1) {
        throw Error(ErrorKind::usage, "check: standard input can be read once; allowed: - for one file");
    }
    const auto is_builtin = [](const std::string& name) { return io::find(io::builtin_recipes(), name).has_value(); };
    if ((options.rtol || options.atol) && std::ranges::all_of(typed.words, is_builtin)) {
        throw Error(ErrorKind::usage, std::string(tolerances_are_for_results) + "; no saved result is given");
    }
    if (options.all) {
        for (const io::BuiltinFile& recipe : io::builtin_recipes()) {
            checker.recipe_or_file(std::string(recipe.name));
        }
    }
    for (const std::string& name : typed.words) {
        checker.recipe_or_file(name);
    }
    return checker.finish();
}

void declare_check(Options& options, CheckOptions& check)
{
    options.group("Comparison");
    options.add(switch_option("--all", "check all built-in recipes"), check.all);
    options.add(rtol_option("relative tolerance for saved results", "0: the printed numbers must be equal"), check.rtol);
    options.add(atol_option("absolute tolerance for saved results", "0"), check.atol);
    options.add(json_option("print one line of JSON for each recipe and each result"), check.json);
}

} // namespace

constinit const Command check_command{
    .name = "check",
    .operands = "FILE|RECIPE…",
    .summary = "Recompute saved results and recipes, and compare with the numbers in them.",
    .examples = check_examples,
    .notes = check_notes,
    .page = "checking",
    .declare = with_options<CheckOptions, declare_check, execute_check>,
};

} // namespace attn::cli
