#include "cli/commands/run_trained.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"
#include "cli/commands/run_lines.hpp"
#include "cli/input/model_folder.hpp"
#include "cli/input/run_input.hpp"
#include "cli/output/page.hpp"
#include "cli/system/exit_code.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace attn::cli {
namespace {

/// Logits are those of the whole model. Throws Error(usage) where nothing else is shown, and --layer seems to say of which
/// layer they are.
void require_last_layer_of_logits(const RunOptions& options, const model::Trained& trained)
{
    using model::Item;
    const auto& architecture = trained.model.architecture();
    const ShowOption& show = options.show;
    const bool gives_logits = architecture.head && options.trained.join == model::Join::pieces;
    const bool of_layers = show.all || options.top || std::ranges::any_of(show.items, [](Item item) {
                               return standing_of(item) == model::Standing::in_layer;
                           });
    if (!show.items.contains(Item::logits) || !gives_logits || of_layers) {
        return;
    }
    const std::vector<Index>& layers = options.trained.layers;
    const Index named = layers.empty() ? -1 : std::ranges::max(layers); // -1: all
    const Index last = std::ssize(architecture.layers) - 1;
    if (named >= 0 && named < last) {
        throw Error(
            ErrorKind::usage, fmt::format("{} {}", model::option::show, name_of(Item::logits)), fmt::format("layer {}", named),
            fmt::format("the last layer, {}, or none, for logits stand behind all layers; an array of layer {} may stand "
                        "beside them, as in {} weights,logits",
                        last, named, model::option::show));
    }
}

} // namespace

int run_trained(const TypedArguments& operands, const RunOptions& typed, const Globals& globals, Log& log)
{
    RunOptions options = typed;
    RunReport report(options, globals, log);
    if (options.reads_sentence()) {
        options.trained.sentence = standard_sentence(options, "SENTENCE or --lines");
    }
    const ModelFolder folder(options.trained, digests_for(options.format));
    folder.require_apart_from(options.output.path);
    require_last_layer_of_logits(options, folder.trained());

    model::RunSettings settings;
    settings.origin = model::Origin::options_alone(option_name);
    settings.show = options.show.all ? model::everything(options.trained, folder.trained()) : model::Show{};
    settings.show.insert(options.show.items.begin(), model::Show::end());
    const bool has_summary = options.format == Format::table || options.format == Format::json;
    const bool usual_page = options.format == Format::html && !options.show.given();
    if (usual_page) {
        settings.show = page_items(options.trained, folder.trained());
    } else if (settings.show.empty() && options.trained.layers.empty() && !has_summary) {
        settings.show = {model::Item::tokens, model::Item::token_ids, model::Item::weights};
    }
    settings.top = options.top;
    settings.threads = globals.threads;
    settings.isa = globals.isa.value_or(core::Isa::portable);
    settings.memory_limit = memory_limit();
    settings.observer = options.lines ? model::Observer() : report.stages().observer();

    if (options.lines) {
        const TensorInputs none;
        const model::Recipe unused = model::default_recipe();
        return run_lines({options, unused, settings, none, report, &folder});
    }
    report.output().tell(report.stages());
    std::vector<model::Result> one;
    one.push_back(model::run_trained(options.trained, folder.trained(), settings));
    folder.require_unchanged();
    report.say(one, false);
    if (usual_page) {
        leave_out_vectors(one.front());
    }
    report.write(one, false);
    report.hint(operands, one.front());
    return success;
}

} // namespace attn::cli
