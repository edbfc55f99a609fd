#include "cli/options/options.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/model/recipe/trained_config.hpp"
#include "attn/tensor/error.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/suggest.hpp"
#include "cli/options/words.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace attn::cli {
namespace {

using model::Allowed;
using model::FieldInfo;
using model::FieldType;
using model::FieldValue;
namespace field = model::field;

/// Where the key does not give the name.
constexpr auto other_names = std::to_array<std::pair<const FieldInfo*, std::string_view>>({
    {&field::parameters_file, "--params"},
    {&field::embeddings_file, "--embeddings"},
    {&field::embeddings_name, "--embeddings FILE:NAME"},
    {&field::sentence, "SENTENCE"},
    {&field::mask_file, model::option::mask},
    {&field::mask_name, "--mask FILE:NAME"},
    {&field::positions, "--positions"},
    {&field::rope_base, "--positions rope:base"},
    {&field::rope_dim, "--positions rope:dim"},
    {&field::rope_style, "--positions rope:style"},
    {&field::dropout, model::option::dropout},
    {&model::trained_field::name, model::option::model},
    {&model::trained_field::layers, model::option::layer},
    {&model::trained_field::parts, model::option::part},
});

/// What the options were called that are keys of --set now, where the key does not give the name.
constexpr auto old_names = std::to_array<std::pair<const FieldInfo*, std::string_view>>({
    {&field::words_file, "--embedding-words"},
    {&field::dropout_seed, "--dropout-seed"},
    {&field::dropout_mkl, "--dropout-mkl"},
});

/// Whose endings the symbol does not give.
constexpr auto other_files = std::to_array<std::pair<const FieldInfo*, std::string_view>>({
    {&field::parameters_file, "*.npz, *.safetensors"},
    {&field::embeddings_file, "*.txt, *.vec, *.npy, *.npz, *.safetensors"},
});

/// A limit from here on is one that nobody meets, and only errors name it.
constexpr Index beyond_reach = 65536;

/// Of 0-5 all from 0 to 5. A range that nobody can mean is its two ends, which who knows the limit refuses.
void append_range(std::vector<Index>& numbers, Index first, Index last)
{
    const Index step = last - first < beyond_reach ? 1 : last - first;
    for (Index number = first; number <= last; number += step) {
        numbers.push_back(number);
    }
}

std::vector<Index> integers_of(std::string_view option, std::string_view text, const Allowed& allowed)
{
    if (!allowed.instead.empty() && text == allowed.instead) {
        return {-1};
    }
    const auto number = [&](std::string_view digits) {
        return integer(option, digits, allowed.least, allowed.most, allowed.instead.empty() ? "" : allowed.in_words);
    };
    std::vector<Index> numbers;
    for (const std::string_view item : list_of_words(option, text, "numbers")) {
        if (item == allowed.instead) {
            throw Error(ErrorKind::usage, option, in_quotes(text), fmt::format("{} alone, or numbers alone", item));
        }
        if (!allowed.last.empty() && item == allowed.last) {
            numbers.push_back(allowed.most);
            continue;
        }
        const std::size_t dash = allowed.last.empty() ? std::string_view::npos : item.find('-', 1);
        const Index first = number(item.substr(0, dash));
        const Index last = dash == std::string_view::npos ? first : number(item.substr(dash + 1));
        if (last < first) {
            throw Error(ErrorKind::usage, option, in_quotes(item), allowed.in_words);
        }
        append_range(numbers, first, last);
    }
    if (allowed.longest != 0 && numbers.size() > allowed.longest) {
        throw Error(ErrorKind::usage, option, in_quotes(text), "one number for both sides, or two: L,R");
    }
    while (numbers.size() < allowed.fewest) { // one number of two stands for both
        numbers.push_back(numbers.back());
    }
    return numbers;
}

std::vector<Index> choices_of(std::string_view option, std::string_view text, const Allowed& allowed)
{
    constexpr std::size_t many = 12; // more than a reader would look through for the one that was meant
    std::vector<Index> places;
    for (const std::string_view item : list_of_words(option, text, "names")) {
        const bool known = std::ranges::find(allowed.names, item) != allowed.names.end();
        if (!known && allowed.names.size() > many) {
            const std::string meant = did_you_mean(item, allowed.names);
            throw Error(ErrorKind::usage, option, in_quotes(item),
                        meant.empty() ? joined(allowed.names) : "a name that --help lists" + meant);
        }
        places.push_back(static_cast<Index>(choice(option, item, allowed.names)));
    }
    return places;
}

/// Words, or positions, whose digits are read as numbers are.
std::vector<std::string> rows_of(std::string_view option, std::string_view text, const Allowed& allowed)
{
    std::vector<std::string> rows;
    for (const std::string_view item : list(option, text, "words or positions")) {
        if (std::ranges::all_of(item, [](char c) { return c >= '0' && c <= '9'; })) {
            (void)integer(option, item, allowed.least, allowed.most);
        }
        rows.emplace_back(item);
    }
    return rows;
}

Index integer_of(std::string_view option, std::string_view text, const Allowed& allowed)
{
    const Index number = integer(option, text, allowed.least, allowed.most, allowed.in_words);
    if (number % allowed.multiple_of != 0) {
        throw Error(ErrorKind::usage, option, in_quotes(text), "an even number");
    }
    return number;
}

std::vector<std::string> texts_of(std::string_view option, std::string_view text)
{
    const std::vector<std::string_view> items = list(option, text);
    return {items.begin(), items.end()};
}

/// "-q" and "--queries" of "-q,--queries", "--x" and "--no-x" of "--x,!--no-x".
std::vector<std::string_view> names_of(std::string_view names)
{
    std::vector<std::string_view> words = list("names", names);
    for (std::string_view& name : words) {
        name.remove_prefix(name.starts_with('!') ? 1 : 0);
    }
    return words;
}

/// Whether one of the names is among the words, "--x=1" being "--x" there.
bool is_typed(std::string_view names, const std::vector<std::string_view>& words)
{
    const std::vector<std::string_view> known = names_of(names);
    return std::ranges::find_first_of(words, known) != words.end();
}

/// The name that messages use: the long one, not that of the opposite.
std::string long_name(std::string_view names)
{
    const std::string_view own = names.substr(0, names.find(",!"));
    return std::string(own.substr(own.find(',') + 1));
}

/// "number of threads, 1 to 1024; results do not depend on it (default all processors)": the values follow the first phrase.
std::string description(const OptionInfo& option)
{
    const Allowed& allowed = option.allowed;
    std::string text(option.meaning);
    const std::size_t end = std::min(text.find("; "), text.size());
    if (allowed.type == FieldType::choice || allowed.type == FieldType::choices) {
        const std::string names = joined(allowed.names.subspan(static_cast<std::size_t>(allowed.least)));
        text.insert(end, (text.empty() ? "" : ": ") + names);
    } else if (allowed.type == FieldType::integer && allowed.most < beyond_reach) {
        text.insert(end, fmt::format("{}{} to {}", text.empty() ? "" : ", ", allowed.least, allowed.most));
    }
    return option.usual.empty() ? text : fmt::format("{}{}(default {})", text, text.empty() ? "" : " ", option.usual);
}

/// Which values completion offers.
std::vector<std::string> offered_by(const OptionInfo& option)
{
    const Allowed& allowed = option.allowed;
    if (allowed.type == FieldType::choice || allowed.type == FieldType::choices) {
        const auto names = allowed.names.subspan(static_cast<std::size_t>(allowed.least));
        return {names.begin(), names.end()};
    }
    if (!option.offered.empty()) {
        const std::vector<std::string_view> words = list_of_words("offered", option.offered);
        return {words.begin(), words.end()};
    }
    return option.symbol.starts_with("FILE[") ? std::vector<std::string>{"*.npy", "*.npz", "*.safetensors"}
           : option.symbol == "FILE"          ? std::vector<std::string>{"*"}
                                              : std::vector<std::string>();
}

/// "--embed-dim" for "dims.embed_dim"
template <std::size_t count>
std::string dashed_name(const FieldInfo& field, const std::array<std::pair<const FieldInfo*, std::string_view>, count>& others)
{
    const auto other = std::ranges::find(others, &field, &std::pair<const FieldInfo*, std::string_view>::first);
    if (other != others.end()) {
        return std::string(other->second);
    }
    std::string name = "--" + std::string(field.name());
    std::ranges::replace(name, '_', '-');
    return name;
}

/// A key that is declared as an option is.
SetKey key_like(const OptionInfo& option, std::string key, std::string group, std::function<void(Index, const FieldValue&)> set)
{
    const bool flag = option.allowed.type == FieldType::flag;
    return {.key = std::move(key),
            .symbol = std::string(option.symbol),
            .meaning = description(option),
            .offered = flag ? std::vector<std::string>{"false", "true"} : offered_by(option),
            .group = std::move(group),
            .old_name = std::string(option.name),
            .allowed = option.allowed,
            .set = std::move(set)};
}

} // namespace

std::string option_name(const FieldInfo& field)
{
    return field.spelling == model::Spelling::key ? name_of_key(field.key) : dashed_name(field, other_names);
}

OptionInfo option_of(const FieldInfo& field, std::string_view name)
{
    const auto* const other = std::ranges::find(other_files, &field, &decltype(other_files)::value_type::first);
    return {name, field.symbol, field.meaning, field.usual, field.allowed, other == other_files.end() ? "" : other->second};
}

FieldValue value_of(std::string_view option, std::string_view text, const Allowed& allowed)
{
    switch (allowed.type) {
    case FieldType::flag: return true;
    case FieldType::integer: return integer_of(option, text, allowed);
    case FieldType::natural: return natural(option, text, 0, std::numeric_limits<std::uint64_t>::max());
    case FieldType::real: {
        if (allowed.none && text == "none") {
            return *allowed.none;
        }
        const double number = real(option, text,
                                   {.least = allowed.above,
                                    .least_itself = allowed.above_itself,
                                    .below = allowed.below,
                                    .allowed = allowed.in_words});
        return model::real_value(number, allowed);
    }
    case FieldType::choice: {
        const auto first = static_cast<std::size_t>(allowed.least);
        return static_cast<Index>(first + choice(option, text, allowed.names.subspan(first), allowed.aliases));
    }
    case FieldType::texts: return texts_of(option, text);
    case FieldType::integers: return integers_of(option, text, allowed);
    case FieldType::rows: return rows_of(option, text, allowed);
    case FieldType::choices: return choices_of(option, text, allowed);
    case FieldType::text:
    case FieldType::text_or_texts:
    case FieldType::digest:
    case FieldType::lengths:
    case FieldType::numbers:
    case FieldType::mask:
    case FieldType::objects: break;
    }
    return std::string(text);
}

void Options::add(const OptionInfo& option, const Set& set)
{
    const FieldType type = option.allowed.type;
    if (listed_ != nullptr) {
        const std::vector<std::string_view> names = names_of(option.name);
        return listed_->push_back({{names.begin(), names.end()},
                                   std::string(option.symbol),
                                   description(option),
                                   group_,
                                   offered_by(option),
                                   type == FieldType::choices});
    }
    if (typed_ != nullptr && !is_typed(option.name, *typed_)) {
        return;
    }
    const std::string name = long_name(option.name);
    std::string names(option.name.substr(0, option.name.find(",!")));
    std::ranges::replace(names, ',', '/');
    const auto refuse_second = [names] { throw Error(ErrorKind::usage, names + ": given more than once"); };
    CLI::Option* declared = nullptr;
    if (type == FieldType::flag) {
        declared = app_->add_flag_function(std::string(option.name), [=, &app = *app_](std::int64_t) {
            // "true", or "false" of "--no-…". What the number says of them depends on the version of CLI11.
            const CLI::results_t& given = app.get_option(name)->results();
            if (std::ranges::count(given, given.front()) != std::ssize(given)) {
                throw Error(ErrorKind::usage, fmt::format("{} and --no-{} cannot be used together", name, name.substr(2)));
            }
            if (given.size() > 1) {
                refuse_second();
            }
            set(given.front() == "true");
        });
    } else {
        declared = app_->add_option(std::string(option.name), [=, allowed = option.allowed](const CLI::results_t& texts) {
            if (texts.size() > 1 && allowed.type != FieldType::choices) { // of which a second list adds to the first
                refuse_second();
            }
            for (const std::string& text : texts) {
                set(value_of(name, unmarked(text), allowed));
            }
            return true;
        });
    }
    declared->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->group(group_)->disable_flag_override();
}

bool Options::wants_keys() const
{
    return listed_ != nullptr || typed_ == nullptr || is_typed(model::option::set, *typed_);
}

void Options::add_set()
{
    const OptionInfo option{model::option::set, "KEY=VALUE",
                            "any other setting by its name in JSON; `attn-cli help recipes` lists them"};
    if (listed_ != nullptr) {
        listed_->push_back(
            {{std::string(option.name)}, std::string(option.symbol), description(option), group_, {}, false, keys_});
    } else if (wants_keys()) {
        app_->add_option(std::string(option.name),
                         [keys = keys_](const CLI::results_t& texts) {
                             for (const std::string& text : texts) {
                                 keys->set(unmarked(text));
                             }
                             return true;
                         })
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
            ->group(group_);
    }
}

void Options::add_key(std::string_view key, const OptionInfo& option, const Set& set)
{
    if (wants_keys()) {
        keys_->add(key_like(option, std::string(key), group_, [set](Index, const FieldValue& value) { set(value); }));
    }
}

void Options::add_key(const FieldInfo& field, const Set& set)
{
    const bool was_option = !field.symbol.empty() || field.allowed.type == FieldType::flag;
    const std::string name = was_option ? dashed_name(field, old_names) : "";
    add_key(field.key, option_of(field, name), set);
}

void Options::add_step_keys(const SetOfStep& set)
{
    for (const FieldInfo* field : wants_keys() ? fields_of_steps() : std::vector<const FieldInfo*>()) {
        keys_->add(key_like(option_of(*field, ""), key_of_step(*field), group_,
                            [set, field](Index step, const FieldValue& value) { set(step, *field, value); }));
    }
}

void Options::need(std::initializer_list<std::string_view> options, std::string_view other)
{
    if (app_ == nullptr) {
        return;
    }
    CLI::Option* needed = app_->get_option_no_throw(std::string(other));
    for (const std::string_view option : options) {
        CLI::Option* needing = app_->get_option_no_throw(std::string(option));
        if (needing != nullptr && needed != nullptr) {
            needing->needs(needed);
        }
        incomplete_ = incomplete_ || (needing != nullptr && needed == nullptr);
    }
}

void Options::exclude(std::initializer_list<std::string_view> options)
{
    std::vector<CLI::Option*> declared;
    for (const std::string_view option : options) {
        CLI::Option* found = app_ == nullptr ? nullptr : app_->get_option_no_throw(std::string(option));
        if (found != nullptr) {
            std::ranges::for_each(declared, [&](CLI::Option* other) { other->excludes(found); });
            declared.push_back(found);
        }
    }
}

} // namespace attn::cli
