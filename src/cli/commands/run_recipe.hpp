// run of a recipe: the one of the options, or --recipe, with the files that it names.
#pragma once

#include "cli/commands/run_report.hpp"
#include "cli/commands/run_source.hpp"
#include "cli/input/run_input.hpp"
#include "cli/options/run_options.hpp"

namespace attn::cli {

class RecipeSource : public RunSource {
public:
    /// Loads the files. The options and the log outlive it.
    RecipeSource(const RunOptions& options, model::Recipe recipe, const Globals& globals, Log& log);

    [[nodiscard]] model::RunSettings& settings() override { return input_.settings(); }
    [[nodiscard]] model::Show everything() const override { return model::everything(input_.recipe()); }
    [[nodiscard]] model::Show shown(model::Show asked) const override;
    [[nodiscard]] bool gives_entries() const override;
    [[nodiscard]] std::vector<model::Result> results() override;
    void select(model::Result& result) const override;
    void prepare_lines() override;
    [[nodiscard]] std::unique_ptr<LineSource> lines() override;
    [[nodiscard]] bool names_words() const override;

    /// --against: which mistake gives the numbers of files. The exit code.
    [[nodiscard]] int against(RunReport& report, const Globals& globals);

private:
    const RunOptions& options_;
    Log& log_;
    RunInput input_;
};

} // namespace attn::cli
