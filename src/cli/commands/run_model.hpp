// run --model: a whole trained model in its folder, or one that is built in.
#pragma once

#include "attn/model/trained/run_trained.hpp"
#include "cli/commands/run_report.hpp"
#include "cli/commands/run_source.hpp"
#include "cli/input/model_folder.hpp"
#include "cli/options/run_options.hpp"

namespace attn::model {
struct ResolvedTrained;
}

namespace attn::cli {

class ModelSource : public RunSource {
public:
    /// Reads the sentence where it comes from standard input, and opens the folder. The options outlive it.
    explicit ModelSource(const RunOptions& options);

    [[nodiscard]] model::RunSettings& settings() override { return settings_; }
    [[nodiscard]] model::Show everything() const override { return model::everything(config_, folder_.trained()); }
    [[nodiscard]] model::Show shown(model::Show asked) const override;
    [[nodiscard]] std::vector<model::Result> results() override;
    void select(model::Result& result) const override;
    void require_first_line(std::string_view front) const override;
    [[nodiscard]] std::unique_ptr<LineSource> lines() override;
    [[nodiscard]] std::size_t bytes_at_once() const override;
    [[nodiscard]] std::vector<LineArray> arrays_of_lines() const override;
    [[nodiscard]] bool names_words() const override { return !config_.query.empty(); }

    /// --against: whether files hold the numbers of the layers that are shown. The exit code.
    [[nodiscard]] int against(RunReport& report, const Globals& globals);

private:
    [[nodiscard]] model::Result computed(const model::ResolvedTrained& run) const;

    const RunOptions& options_;
    model::TrainedConfig config_; ///< states the digest that the folder has
    ModelFolder folder_;
    model::RunSettings settings_;
};

} // namespace attn::cli
