#include "cli/commands/run_model.hpp"

#include "attn/model/diagnose/layers_against.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/model/trained/resolved_trained.hpp"
#include "attn/tensor/error.hpp"
#include "cli/commands/judged_files.hpp"
#include "cli/input/run_input.hpp"
#include "cli/output/page.hpp"
#include "cli/system/system.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <utility>

namespace attn::cli {
namespace {

using model::Item;

/// Logits are those of the whole model. Throws Error(usage) where nothing else is shown, and --layer seems to say of which
/// layer they are.
void require_last_layer_of_logits(const RunOptions& options, const model::Trained& trained)
{
    const auto& architecture = trained.model.architecture();
    const ShowOption& show = options.show;
    const bool gives_logits = architecture.head && options.trained.join == model::Join::pieces;
    const bool of_layers = show.all || options.top || std::ranges::any_of(show.items, [](Item item) {
                               return standing_of(item) == model::Standing::in_layer;
                           });
    if (!show.items.contains(Item::logits) || !gives_logits || of_layers || options.trained.has(model::Part::encoder)) {
        return;
    }
    const std::vector<Index>& layers = options.trained.layers;
    const Index named = layers.empty() ? -1 : std::ranges::max(layers); // -1: all
    const Index last = std::ssize(architecture.layers) - 1;
    if (named >= 0 && named < last) {
        throw Error(ErrorKind::usage, fmt::format("{} {}", model::option::show, name_of(Item::logits)),
                    fmt::format("layer {}", named),
                    fmt::format("the last layer, {}, or none, for logits come after all layers; an array of layer {} may stand "
                                "beside them, as in {} weights,logits",
                                last, named, model::option::show));
    }
}

/// Whether each line of --lines has a target, behind a tab.
bool takes_targets(const model::TrainedConfig& config, const ModelFolder& folder)
{
    return folder.trained().model.architecture().encoder && config.decodes() && !config.target_greedy;
}

/// Of lines that have targets.
constexpr std::string_view line_with_target = "a sentence, one tab and its target";

class LinesOfModel : public LineSource {
public:
    LinesOfModel(model::TrainedConfig config, const ModelFolder& folder, model::RunSettings settings)
        : config_(std::move(config)), folder_(folder), settings_(std::move(settings)), takes_target_(config_.target.has_value())
    {
    }

    [[nodiscard]] model::Result result(const std::string& line, int threads, Index memory) override
    {
        if (!ready_.empty() && ready_.front().first == line) {
            model::Result result = std::move(ready_.front().second);
            ready_.pop_front();
            return result;
        }
        settings_.threads = threads;
        settings_.memory_limit = memory;
        model::Result result = model::run_trained(config_of(line), folder_.trained(), settings_);
        folder_.require_unchanged();
        return result;
    }

    void expect(std::span<const std::string* const> lines, Index memory) override
    {
        ready_.clear();
        settings_.threads = 1;
        settings_.memory_limit = memory;
        std::deque<model::TrainedConfig> configs; // to which the runs refer
        std::vector<model::ResolvedTrained> runs;
        std::vector<const std::string*> of_runs;
        for (const std::string* line : lines) {
            try {
                runs.emplace_back(configs.emplace_back(config_of(*line)), folder_.trained(), settings_);
                of_runs.push_back(line);
            } catch (const Error&) { // result() says it
            }
        }
        if (runs.size() < 2) {
            return;
        }
        try {
            std::vector<model::Result> results = model::run_trained(runs);
            folder_.require_unchanged();
            for (std::size_t i = 0; i < runs.size(); ++i) {
                ready_.emplace_back(*of_runs[i], std::move(results[i]));
            }
        } catch (const Error&) { // one of them is at fault, which it is alone, too
        }
    }

private:
    /// Throws Error(data) for a line without a target where each has one.
    [[nodiscard]] model::TrainedConfig config_of(const std::string& line) const
    {
        model::TrainedConfig config = config_;
        config.sentence = line;
        if (takes_target_) {
            const std::size_t tab = line.find('\t');
            if (tab == std::string::npos || line.find('\t', tab + 1) != std::string::npos) {
                throw Error(ErrorKind::data, "line", tab == std::string::npos ? "no tab in it" : "several tabs in it",
                            fmt::format("{}; {} N needs no target", line_with_target, model::option::target_greedy));
            }
            config.sentence = line.substr(0, tab);
            config.target = line.substr(tab + 1);
        }
        return config;
    }

    model::TrainedConfig config_;
    const ModelFolder& folder_;
    model::RunSettings settings_;
    bool takes_target_;
    std::deque<std::pair<std::string, model::Result>> ready_; ///< of the lines that are expected
};

/// With its sentence. It is made before the folder is opened, because standard input may keep it waiting.
model::TrainedConfig config_of(const RunOptions& options)
{
    model::TrainedConfig config = options.trained;
    if (options.reads_sentence()) {
        config.sentence = standard_sentence(options, "SENTENCE or --lines");
    }
    return config;
}

} // namespace

ModelSource::ModelSource(const RunOptions& options)
    : options_(options), config_(config_of(options)), folder_(config_, digests_for(options.format))
{
    folder_.require_apart_from(options.output.path);
    if (options.lines && takes_targets(config_, folder_)) {
        config_.target.emplace(); // until a line says it
    }
    require_last_layer_of_logits(options, folder_.trained());
    settings_.origin = model::Origin::options_alone(option_name);
}

model::Show ModelSource::shown(model::Show asked) const
{
    const bool has_summary = options_.format == Format::table || options_.format == Format::json;
    if (!options_.show.given() && options_.format == Format::html) {
        return page_items(config_, folder_.trained());
    }
    if (asked.empty() && config_.layers.empty() && !config_.pool && !has_summary) {
        return {Item::tokens, Item::token_ids, Item::weights};
    }
    return asked;
}

std::vector<model::Result> ModelSource::results()
{
    settings_.memory_limit = memory_limit();
    const model::ResolvedTrained run(config_, folder_.trained(), settings_);
    if (options_.format == Format::html) {
        require_page(run);
    } else if (options_.format == Format::svg) {
        require_picture(run, options_.planned_picture());
    }
    std::vector<model::Result> one;
    one.push_back(computed(run));
    return one;
}

model::Result ModelSource::computed(const model::ResolvedTrained& run) const
{
    keep_freed_memory(); // from layer to layer
    model::Result result = model::run_trained(run);
    folder_.require_unchanged();
    return result;
}

void ModelSource::select(model::Result& result) const
{
    if (!options_.show.given() && options_.format == Format::html) {
        leave_out_vectors(result);
    }
}

/// Where the first line with anything in it has no tab, none has: one message says it of all.
void ModelSource::require_first_line(std::string_view front) const
{
    const std::size_t begin = front.find_first_not_of(" \r\n");
    const std::size_t end = front.find('\n', begin);
    const bool whole = begin != std::string_view::npos && end != std::string_view::npos;
    if (config_.target && whole && front.substr(begin, end - begin).find('\t') == std::string_view::npos) {
        throw Error(ErrorKind::data, option::lines.name, "no tab in the first line",
                    fmt::format("in each line {}; or {} N or {} encoder, which need no target", line_with_target,
                                model::option::target_greedy, model::option::part));
    }
}

std::unique_ptr<LineSource> ModelSource::lines()
{
    return std::make_unique<LinesOfModel>(config_, folder_, settings_);
}

std::size_t ModelSource::bytes_at_once() const
{
    return 1024; // some hundred tokens, for which reading the weights takes no time beside computing with them
}

std::vector<LineArray> ModelSource::arrays_of_lines() const
{
    const auto& architecture = folder_.trained().model.architecture();
    std::vector<LineArray> arrays;
    const auto add = [&](std::optional<model::Part> part) {
        const auto& stack = stack_of(architecture, part);
        for (const Index layer : model::layers_of(config_, part, std::ssize(stack.layers), settings_.origin)) {
            arrays.push_back({prefix_of(model::LayerPlace{part, layer}) + std::string(name_of(Item::pooled)), {stack.D}});
        }
    };
    for (const Index part : config_.parts) {
        add(static_cast<model::Part>(part));
    }
    if (config_.parts.empty()) {
        add({});
    }
    return arrays;
}

int ModelSource::against(RunReport& report, const Globals& globals)
{
    const Item usual = config_.pool ? Item::pooled : Item::weights;
    const Item item = options_.show.given() ? *options_.show.items.begin() : usual;
    if (standing_of(item) != model::Standing::in_layer) {
        throw Error(ErrorKind::usage, model::option::show, name_of(item),
                    "with --model and --against an array that each layer has, such as weights");
    }
    settings_.show = {item};
    settings_.threads = globals.threads;
    settings_.isa = globals.isa_or_portable();
    settings_.observer = report.stages().observer();
    const std::shared_ptr<const ComparedFile> only = open_only(options_.against, options_.max_input_bytes);
    settings_.memory_limit = memory_limit();
    const model::ResolvedTrained run(config_, folder_.trained(), settings_);
    if (only) {
        const model::ResolvedPart& part = run.parts.front(); // there is one
        std::vector<model::LayerPlace> places;
        std::ranges::transform(part.layers, std::back_inserter(places), [&](Index layer) {
            return model::LayerPlace{part.part, layer};
        });
        model::diagnose::require_layers(only->only({name_of(item)}), only->name(), item,
                                        shape_of(item, run, part, part.layers.front()), places);
    }
    const model::Result result = computed(run);
    const auto against = [&](const ComparedFile& file) {
        return JudgedArrays{{model::diagnose::against_layers(result, item, file.only({name_of(item)}), file.name(),
                                                             options_.against.criterion())}};
    };
    return judge_files(options_.against,
                       {.against = against, .json = options_.output.json, .most_bytes = options_.max_input_bytes, .only = only},
                       report.log());
}

} // namespace attn::cli
