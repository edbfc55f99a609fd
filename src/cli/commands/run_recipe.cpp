#include "cli/commands/run_recipe.hpp"

#include "attn/model/diagnose/run_against.hpp"
#include "attn/model/layer/batch.hpp"
#include "attn/model/layer/model_dims.hpp"
#include "attn/model/run/batch_runner.hpp"
#include "attn/model/run/resolved_run.hpp"
#include "cli/commands/judged_files.hpp"
#include "cli/input/embeddings.hpp"
#include "cli/output/page.hpp"

#include <utility>

namespace attn::cli {
namespace {

using model::Item;

/// Shares what the lines have in common.
class LinesOfRecipe : public LineSource {
public:
    LinesOfRecipe(const model::Recipe& recipe, const model::RunSettings& settings, const TensorInputs& files)
        : series_(recipe, settings), config_(report::config_text(recipe)), files_(files)
    {
    }

    [[nodiscard]] model::Result result(const std::string& line, int threads, Index memory) override
    {
        series_.set_threads(threads);
        series_.set_memory_limit(memory);
        model::Result result = series_.run(line);
        files_.require_unchanged();
        return result;
    }
    [[nodiscard]] const report::ConfigText* config() const override { return &config_; }

private:
    model::BatchRunner series_;
    report::ConfigText config_;
    const TensorInputs& files_;
};

} // namespace

RecipeSource::RecipeSource(const RunOptions& options, model::Recipe recipe, const Globals& globals, Log& log)
    : options_(options), log_(log), input_(options, std::move(recipe), globals, log)
{
    input_.load(options.format);
    input_.require_apart_from(options.against.picture ? options.against.picture : options.output.path);
}

model::Show RecipeSource::shown(model::Show asked) const
{
    if (options_.format == Format::html && asked.empty()) {
        return page_items(input_.recipe());
    }
    const bool masked = input_.recipe().attention.has_mask() && everything().contains(Item::masked_scores); // but of a mean
    if (options_.format == Format::svg && asked.contains(Item::weights) && masked) {
        asked.insert(Item::masked_scores); // not drawn, but they tell which weights the mask made 0
    }
    return asked;
}

bool RecipeSource::gives_entries() const
{
    return model::is_whole_batch(input_.recipe()) && !info_of(options_.format).one_result;
}

std::vector<model::Result> RecipeSource::results()
{
    if (options_.reads_sentence()) {
        input_.read_standard_input("SENTENCE, --lines, --ids or --recipe");
    }
    std::vector<model::Result> results;
    if (gives_entries()) {
        results = input_.within_memory(model::run_entries);
    } else {
        // The steps of model::run, with a look at the size of page and picture between them.
        results.push_back(input_.within_memory([&](const model::Recipe& recipe, const model::RunSettings& settings) {
            model::ResolvedRun run(recipe, what_to_show(recipe, settings), settings, nullptr);
            if (options_.format == Format::html) {
                require_page(run);
            } else if (options_.format == Format::svg) {
                require_picture(run, options_.planned_picture());
            }
            return run_resolved(std::move(run));
        }));
    }
    input_.warn_of_assumptions();
    input_.files().require_unchanged();
    return results;
}

void RecipeSource::select(model::Result& result) const
{
    if (options_.format == Format::html && !options_.show.given()) {
        leave_out_stages(result);
    }
    if (options_.format == Format::svg) {
        result.show = options_.show.items;
    }
    if (options_.format == Format::recipe) {
        if (options_.spelled_out) {
            const model::Recipe& config = result.config();
            result.config() = spelled_out(config, resolve(config, read_words(config)));
        }
        result.config() = named_beside(options_.output.path, std::move(result.config()), input_.search(), log_);
    }
}

void RecipeSource::prepare_lines()
{
    prepare_embeddings(settings());
    input_.warn_of_assumptions();
}

std::unique_ptr<LineSource> RecipeSource::lines()
{
    return std::make_unique<LinesOfRecipe>(input_.recipe(), settings(), input_.files());
}

bool RecipeSource::names_words() const
{
    return !input_.recipe().query.empty() || !input_.recipe().attention.hide.empty();
}

int RecipeSource::against(RunReport& report, const Globals& globals)
{
    if (options_.reads_sentence()) {
        input_.read_standard_input("SENTENCE, --ids or --recipe");
    }
    settings().isa = globals.isa_or_portable();
    settings().observer = report.stages().observer();
    const std::shared_ptr<const ComparedFile> only = open_only(options_.against, options_.max_input_bytes);
    const auto item = options_.show.given() ? std::optional(*options_.show.items.begin()) : std::nullopt;
    using model::diagnose::RunAgainst;
    const auto compared = [&](const ComparedFile& file) {
        return RunAgainst::File{item ? file.only({name_of(*item)})
                                     : file.only({name_of(Item::output), name_of(Item::context), name_of(Item::weights)}),
                                file.name()};
    };
    const auto first = only ? std::optional(compared(*only)) : std::nullopt;
    const auto runs = input_.within_memory([&](const model::Recipe& recipe, const model::RunSettings& settings) {
        return RunAgainst(recipe, settings, item, first);
    });
    input_.warn_of_assumptions();
    input_.files().require_unchanged();
    const auto against = [&](const ComparedFile& file) {
        return JudgedArrays{{runs.against(compared(file), options_.against.criterion(), {.threads = globals.threads})}};
    };
    return judge_files(options_.against,
                       {.against = against, .json = options_.output.json, .most_bytes = options_.max_input_bytes, .only = only},
                       log_);
}

} // namespace attn::cli
