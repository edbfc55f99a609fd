#include "cli/commands/run_report.hpp"

#include "cli/output/hints.hpp"
#include "cli/output/result_output.hpp"
#include "cli/output/shading.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace attn::cli {
namespace {

ResultFormat format_of(const RunOptions& options, const Output& output, const Log& log)
{
    return {.format = options.format,
            .table = {.digits = options.digits,
                      .width = output.columns(),
                      .shading = options.format == Format::table ? shading_of(output, log.colour()) : report::Shading::none,
                      .all_digits = options.output.digits.has_value(),
                      .shade = options.picture_options.shade,
                      .notation = options.notation,
                      .ids_in_words = !options.show.given(),
                      .layer_pairs = options.top || options.trained.layers.size() == 1},
            .picture = options.picture,
            .captioned = options.picture_options.caption,
            .page = {.shade = options.picture_options.shade},
            .header = options.header.value_or(true)};
}

/// Entries count from 0, as heads do and as the key entry takes them.
std::string name_of_entry(Index entry)
{
    return fmt::format("entry {}", entry);
}

} // namespace

RunReport::RunReport(const RunOptions& options, const Globals& globals, Log& log)
    : options_(options), log_(log), output_(options.output.path), format_(format_of(options, output_, log)), stages_(log),
      isa_note_(globals.isa)
{
    refuse_terminal(output_, options.format);
}

void RunReport::say(const std::vector<model::Result>& results, bool entries)
{
    for (Index entry = 0; const model::Result& result : results) {
        const std::string prefix = entries ? name_of_entry(entry++) + ": " : "";
        for (const Note& note : notes_of(result, options_.format == Format::json, log_.quiet(), prefix)) {
            cli::say(log_, note);
        }
        log_.warn_of(isa_note_.about(result.portable_because));
    }
}

void RunReport::write(const std::vector<model::Result>& results, bool entries)
{
    for (Index entry = 0; const model::Result& result : results) {
        const SeriesPlace place{.index = entry, .name = name_of_entry(entry)};
        if (entries) {
            begin_result(format_, entry == 0, result.model.has_value(), output_);
        }
        write_result(result, format_, entries ? std::optional(place) : std::nullopt, output_);
        ++entry;
    }
    output_.finish();
}

void RunReport::hint(const TypedArguments& typed, const model::Result& result) const
{
    const bool by_hand = options_.source == SentenceSource::overrides || options_.source == SentenceSource::recipe;
    const std::optional<Index>& width = format_.table.width;
    if (options_.format != Format::table || options_.show.given() || !by_hand || !width || ::isatty(STDERR_FILENO) == 0) {
        return;
    }
    for (const std::string& command : next_commands(typed, result, 2 * *width)) {
        log_.hint(command);
    }
}

} // namespace attn::cli
