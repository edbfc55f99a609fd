#include "cli/commands/run_trained.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/report/csv.hpp"
#include "attn/report/json/json.hpp"
#include "attn/report/svg/svg.hpp"
#include "attn/report/text/introduction.hpp"
#include "attn/report/text/table.hpp"
#include "attn/tensor/error.hpp"
#include "cli/commands/run_lines.hpp"
#include "cli/input/model_folder.hpp"
#include "cli/input/run_input.hpp"
#include "cli/output/hints.hpp"
#include "cli/output/isa_note.hpp"
#include "cli/output/page.hpp"
#include "cli/output/picture.hpp"
#include "cli/output/result_tensors.hpp"
#include "cli/output/shading.hpp"
#include "cli/output/tensor_output.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/progress.hpp"

#include <fmt/core.h>

#include <algorithm>

#include <unistd.h>

namespace attn::cli {
namespace {

report::TableOptions table_of(const RunOptions& options, const Output& output, Log& log)
{
    return {.digits = options.digits,
            .width = output.columns(),
            .shading = options.format == Format::table ? shading_of(output, log.colour()) : report::Shading::none,
            .all_digits = options.output.digits.has_value(),
            .shade = options.picture_options.shade,
            .notation = options.notation,
            .ids_in_words = !options.show.given(),
            .layer_pairs = options.top || options.trained.layers.size() == 1};
}

void write(const model::LayeredResult& result, const RunOptions& options, const report::TableOptions& table, Output& output)
{
    switch (options.format) {
    case Format::json: report::write_json(result, std::nullopt, output.sink()); break;
    case Format::csv: report::write_csv(result, {.header = !options.no_header, .index = std::nullopt}, output.sink()); break;
    case Format::table: report::write_table(result, table, output.sink()); break;
    case Format::svg: {
        report::SvgOptions picture = options.picture;
        picture.caption = options.picture_options.caption ? report::caption(result.layers, result.config.name) : "";
        write_picture(result.layers, picture, output);
        break;
    }
    case Format::html: write_page(result, {.shade = options.picture_options.shade}, output); break;
    default: write_result_tensors(result, options.format, output);
    }
}

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

int run_trained(const Operands& operands, const RunOptions& typed, const Globals& globals, Log& log)
{
    RunOptions options = typed;
    Output output(options.output.path);
    refuse_terminal(output, options.format);
    if (options.reads_sentence()) {
        options.trained.sentence = standard_sentence(options, "SENTENCE or --lines");
    }
    const ModelFolder folder(options.trained, digests_for(options.format));
    folder.require_apart_from(options.output.path);
    require_last_layer_of_logits(options, folder.trained());

    StageReporter stages(log);
    IsaNote isa_note(globals.isa);
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
    settings.observer = options.lines ? model::Observer() : stages.observer();

    const report::TableOptions table = table_of(options, output, log);
    if (options.lines) {
        const TensorInputs none;
        const model::Recipe unused = model::default_recipe();
        return run_lines({options, unused, settings, none, output, table, stages, isa_note, log, &folder});
    }
    output.tell(stages);
    model::LayeredResult result = model::run_trained(options.trained, folder.trained(), settings);
    folder.require_unchanged();
    log.warn_of(isa_note.about(result.layers.front().portable_because));
    if (options.format != Format::json) {
        for (const std::string& warning : result.warnings) {
            log.warning(warning);
        }
    }
    if (usual_page) {
        leave_out_vectors(result);
    }
    write(result, options, table, output);
    output.finish();
    const bool by_hand = options.source == Source::overrides && options.format == Format::table && !options.show.given();
    if (by_hand && table.width && ::isatty(STDERR_FILENO) != 0) {
        for (const std::string& command : next_commands(operands, result, 2 * *table.width)) {
            log.hint(command);
        }
    }
    return success;
}

} // namespace attn::cli
