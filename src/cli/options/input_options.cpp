#include "cli/options/input_options.hpp"

#include "attn/model/run/result.hpp"
#include "attn/tensor/error.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::cli {
namespace {

using model::FieldInfo;
namespace field = model::field;
namespace draw_field = model::draw_field;

/// Fields whose option is a hand-made one, or part of that of another field.
constexpr auto said_otherwise = std::to_array<const FieldInfo*>({
    &field::sentence,
    &field::labels_of_positions,
    &field::embeddings_name,
    &field::mask_name,
    &field::rope_base,
    &field::rope_dim,
    &field::rope_style,
    &field::query,
    &field::head,
    &field::verify,
});

struct Group {
    std::string_view title;
    std::array<std::string_view, 5> sections; ///< of the recipe
};
constexpr std::string_view none = "-";
constexpr std::array<Group, 3> groups{
    {{"Input", {"input", none, none, none, none}},
     {"Parameters", {"dims", "", "parameters", "embeddings", "embeddings.words"}},
     {"Attention", {"attention", "attention.mask", "attention.positions", "attention.dropout", none}}}};

constexpr bool is_declared(const FieldInfo& field)
{
    return field.spelling != model::Spelling::file && std::ranges::find(said_otherwise, &field) == said_otherwise.end();
}
static_assert(std::ranges::all_of(field::all, [](const FieldInfo* field) {
    return !is_declared(*field) || std::ranges::any_of(groups, [&](const Group& group) {
        return std::ranges::find(group.sections, field->section()) != group.sections.end();
    });
}));

/// "none", "alibi", or "rope:base=500000,dim=32,style=interleaved".
void read_positions(std::string_view text, model::Overrides& overrides)
{
    const std::string option = option_name(field::positions);
    const std::size_t colon = std::min(text.find(':'), text.size());
    constexpr std::string_view form = "rope:base=X,dim=N,style=NAME";
    const auto refuse = [&](std::string_view others) {
        throw Error(ErrorKind::usage, option, in_quotes(text), fmt::format("{}, or {}", others, form));
    };
    if (text.starts_with(':')) {
        refuse("none, sinusoidal, rope or alibi");
    }
    std::vector<std::string_view> kinds(model::position_names.begin(), model::position_names.end());
    kinds.insert(kinds.begin(), "none");
    const auto kind = static_cast<Index>(choice(option, text.substr(0, colon), kinds)) - 1;
    overrides.set(field::positions, kind < 0 ? model::FieldValue() : model::FieldValue(kind));
    if (colon == text.size()) {
        return;
    }
    constexpr std::array<const field::Recipes*, 3> details{&field::rope_base, &field::rope_dim, &field::rope_style};
    if (!goes_with(field::rope_base.only, kind)) {
        refuse("none, sinusoidal or alibi alone");
    }
    std::vector<std::string_view> items = list(option, text, form);
    items.front().remove_prefix(std::min(colon + 1, items.front().size()));
    if (items.front().empty()) {
        refuse("rope");
    }
    for (const std::string_view item : items) {
        const std::size_t equals = std::min(item.find('='), item.size());
        std::vector<std::string_view> keys;
        std::ranges::transform(details, std::back_inserter(keys), &FieldInfo::name);
        const FieldInfo& detail = *details.at(choice(option, item.substr(0, equals), keys));
        const std::string_view value = item.substr(std::min(equals + 1, item.size()));
        if (overrides.contains(detail)) {
            throw Error(ErrorKind::usage, option_name(detail) + ": given more than once");
        }
        if (value.empty()) {
            throw Error(ErrorKind::usage,
                        fmt::format("{}: a value is missing, such as {}={}", option_name(detail), detail.name(), detail.usual));
        }
        overrides.set(detail, value_of(option_name(detail), value, detail.allowed));
    }
}

void declare_field(Options& options, const FieldInfo& field, model::Overrides& overrides)
{
    std::string name = option_name(field);
    if (&field == &field::output_projection || &field == &field::causal) { // on and off, as a recipe may say the other
        name += ",!--no-" + name.substr(2);
    }
    OptionInfo option = option_of(field, name);
    if (&field == &draw_field::init) { // integers need limits, and nobody wants zeros
        option.allowed.least = static_cast<Index>(model::Initialisation::uniform);
    }
    if (&field == &field::positions) {
        const std::string offered = "none, " + joined(model::position_names);
        option.allowed = model::allow::text;
        option.offered = offered;
        option.meaning = "position encoding: none; sinusoidal (added to the embeddings); rope (rotates queries "
                         "and keys), such as rope:base=500000,dim=8,style=half; alibi (subtracts slope·distance from the "
                         "scores)";
        return options.add(option,
                           [&](const model::FieldValue& text) { read_positions(std::get<std::string>(text), overrides); });
    }
    options.add(option, [&](const model::FieldValue& value) { overrides.set(field, value); });
}

/// What looks like the second item of a list: "--show tokens weights", "--ids 2 6 8".
void refuse_items_without_commas(const TypedArguments& typed, const InputOptions& input)
{
    const auto is_number = [](std::string_view word) {
        return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
    };
    const auto stray = std::ranges::find_if(typed.words, is_number);
    const auto ids = input.overrides.find<std::vector<Index>>(field::ids);
    if (ids && stray != typed.words.end()) {
        std::string list;
        for (const Index id : *ids) {
            list += fmt::format("{},", id);
        }
        refuse_second_item(option_name(field::ids), list + *stray, *stray);
    }
}

void read_labels(InputOptions& input)
{
    const auto ids = input.overrides.find<std::vector<Index>>(field::ids);
    if (!input.labels || input.source == SentenceSource::recipe) { // the recipe decides whether it has ids
        return;
    }
    const std::string name = option_name(field::labels_of_ids);
    if (!ids) {
        throw Error(ErrorKind::usage, fmt::format("{} requires {}", name, option_name(field::ids)));
    }
    if (input.labels->size() != ids->size()) {
        throw Error(ErrorKind::usage, name, counted(std::ssize(*input.labels), "label"),
                    fmt::format("one per id, {}", ids->size()));
    }
    input.overrides.set(field::labels_of_ids, *input.labels);
}

void exclude(bool one, bool other, const std::string& names)
{
    if (one && other) {
        throw Error(ErrorKind::usage, names + " cannot be used together");
    }
}

} // namespace

bool is_of_computation(std::string_view group)
{
    return std::ranges::find(groups, group, &Group::title) != groups.end();
}

void require_size(std::string_view name, std::size_t bytes, std::size_t most)
{
    if (bytes > most) {
        throw Error(ErrorKind::data, name, fmt::format("{} bytes", bytes),
                    fmt::format("up to {}; {} allows more", most, max_input_bytes_name));
    }
}

void refuse_second_item(const std::string& option, const std::string& list, const std::string& stray)
{
    throw Error(ErrorKind::usage, fmt::format("unexpected argument {}; commas separate the items of a list: {} {}",
                                              in_quotes(stray), option, list));
}

void declare_input(Options& options, InputOptions& input)
{
    const auto name = [](const FieldInfo& field) { return option_name(field); };
    for (const Group& group : groups) {
        options.group(group.title);
        for (const FieldInfo* field : field::all) {
            if (std::ranges::find(group.sections, field->section()) == group.sections.end() || !is_declared(*field)) {
                continue;
            }
            if (field->spelling == model::Spelling::key) {
                options.add_key(*field, input.overrides);
            } else if (field == &field::labels_of_ids) {
                options.add(*field, input.labels);
            } else {
                declare_field(options, *field, input.overrides);
            }
        }
        if (group.title == "Parameters") {
            declare_field(options, draw_field::seed, input.overrides);
            declare_field(options, draw_field::init, input.overrides);
        }
    }
    options.add_step_keys([&input](Index step, const FieldInfo& field, const model::FieldValue& value) {
        input.steps[step].insert_or_assign(&field, value);
    });
    options.group("Input");
    options.add(option::recipe, input.recipe);
    options.add_set();

    const std::string params = name(field::parameters_file);
    const std::string embeddings = name(field::embeddings_file);
    options.need({name(field::prefix)}, params);
    options.need({name(field::unknown)}, embeddings);
    options.exclude({params, name(draw_field::init)});
    for (const FieldInfo* of_text :
         {static_cast<const FieldInfo*>(&field::cross), static_cast<const FieldInfo*>(&field::tokenizer),
          static_cast<const FieldInfo*>(&field::casefold)}) {
        options.exclude({name(field::ids), name(*of_text)});
    }
}

void read_source(const TypedArguments& typed, InputOptions& input)
{
    refuse_items_without_commas(typed, input);
    const bool quoted = !typed.words.empty() && typed.words.front().find(' ') != std::string::npos;
    expect_at_most(typed, 1,
                   quoted ? "a sentence is given already; an option that is a switch takes no value"
                          : "a sentence of several words needs quotes");
    model::Overrides& overrides = input.overrides;
    const bool sentence = !typed.words.empty();
    const bool with_model = !input.trained.name.empty(); // which has a table, and no labels
    const bool ids = overrides.contains(field::ids), positions = overrides.contains(field::positions_count);
    const std::string ids_name = option_name(field::ids), positions_name = option_name(field::positions_count);
    exclude(sentence, positions, "SENTENCE and " + positions_name);
    exclude(input.lines.has_value(), positions, fmt::format("{} and {}", option::lines.name, positions_name));
    exclude(ids, positions, fmt::format("{} and {}", ids_name, positions_name));
    exclude(sentence, input.lines.has_value(), "SENTENCE and --lines");
    exclude(sentence, ids, "SENTENCE and " + ids_name);
    exclude(input.lines.has_value(), ids, fmt::format("{} and {}", option::lines.name, ids_name));
    if (ids) {
        const bool rows = overrides.contains(field::vocab_size) || overrides.contains(field::embeddings_file) ||
                          overrides.contains(field::parameters_file); // which may hold a table
        if (!rows && !input.recipe && !with_model) {
            throw Error(ErrorKind::usage, fmt::format("{} requires {}, or a file with an embedding table", ids_name,
                                                      option_name(field::vocab_size)));
        }
    } else if (input.lines) {
        input.source = SentenceSource::lines;
    } else if (sentence && typed.words.front() != "-") {
        require_size("SENTENCE", typed.words.front().size(), input.max_input_bytes);
        overrides.set(field::sentence, typed.words.front());
    } else if (!positions || input.recipe) {
        input.source = sentence ? SentenceSource::standard_input : input.recipe ? SentenceSource::recipe : SentenceSource::pipe;
    }
    exclude(input.reads_sentence() || input.lines == "-", input.recipe == "-", "a recipe and a text from standard input");
    if (!with_model) {
        read_labels(input);
    }
}

} // namespace attn::cli
