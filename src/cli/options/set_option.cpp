#include "cli/options/set_option.hpp"

#include "attn/io/json/recipe.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/model/recipe/trained_config.hpp"
#include "attn/report/json_writer.hpp"
#include "attn/tensor/error.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/options.hpp"
#include "cli/options/suggest.hpp"

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
namespace draw_field = model::draw_field;

constexpr std::string_view begin_of_step = "draws[", end_of_step = "].", any_step = "draws[N].";
constexpr std::string_view page = "`attn-cli help recipes` lists the keys";

std::string_view key_of(std::string_view text)
{
    return text.substr(0, text.find('='));
}

/// "3" of "draws[3].init"; nothing where the key is of no step.
std::string_view step_of(std::string_view key)
{
    if (!key.starts_with(begin_of_step)) {
        return {};
    }
    const std::string_view rest = key.substr(begin_of_step.size());
    return rest.substr(0, std::min(rest.find(end_of_step), rest.size()));
}

/// "draws[N].init" of "draws[3].init", and any other key as it is.
std::string declared_form(std::string_view key)
{
    const std::string_view step = step_of(key);
    return step.empty() ? std::string(key)
                        : std::string(any_step).append(
                              key.substr(std::min(begin_of_step.size() + step.size() + end_of_step.size(), key.size())));
}

std::string as_json(std::string_view text)
{
    Buffer buffer;
    report::JsonWriter(buffer).string(text);
    return std::move(buffer.text());
}

/// [4,"T","D"] of "4,T,D".
std::string lengths_as_json(std::string_view name, std::string_view text)
{
    std::string json;
    for (const std::string_view length : list_of_words(name, text)) {
        const bool number = length.find_first_not_of("0123456789") == std::string_view::npos;
        json.append(json.empty() ? "[" : ",").append(number ? length : as_json(length));
    }
    return json + "]";
}

/// What a file says is read as that; an error is the command line's.
FieldValue value_of_json(const std::string& name, std::string_view json, const Allowed& allowed)
{
    try {
        return io::parse_value(json, allowed, name);
    } catch (const Error& error) {
        throw Error(ErrorKind::usage, error.what());
    }
}

FieldValue value_of_key(const std::string& name, std::string_view text, const Allowed& allowed)
{
    if (text.starts_with('[') || text.starts_with('"')) {
        return value_of_json(name, text, allowed);
    }
    constexpr std::array<std::string_view, 2> truths{"false", "true"};
    switch (allowed.type) {
    case FieldType::flag: return choice(name, text, truths) == 1;
    case FieldType::lengths: return value_of_json(name, lengths_as_json(name, text), allowed);
    case FieldType::numbers:
    case FieldType::mask: return value_of_json(name, as_json(text), allowed);
    default: return value_of(name, text, allowed);
    }
}

/// The last name of each key, which stands for it in a guess.
std::vector<Alias> short_names(const std::vector<SetKey>& keys)
{
    std::vector<Alias> aliases;
    for (const SetKey& key : keys) {
        const std::string_view text = key.key;
        if (!text.starts_with(begin_of_step)) {
            aliases.emplace_back(text.substr(text.rfind('.') + 1), text);
        }
    }
    return aliases;
}

/// Of a recipe or of the config of a trained model, by its key or the last name of it.
const FieldInfo* field_called(std::string_view key)
{
    const auto find = [&](const auto& fields) -> const FieldInfo* {
        const auto found =
            std::ranges::find_if(fields, [&](const FieldInfo* field) { return field->key == key || field->name() == key; });
        return found == fields.end() ? nullptr : *found;
    };
    const FieldInfo* of_recipe = find(model::field::all);
    return of_recipe != nullptr ? of_recipe : find(model::trained_field::all);
}

/// Whether what completion offers are values, and no pattern of files.
bool names_values(const SetKey& key)
{
    return !key.offered.empty() && !key.offered.front().starts_with('*');
}

[[noreturn]] void refuse_key(std::string_view key, const std::vector<SetKey>& keys)
{
    const FieldInfo* field = field_called(key);
    if (field != nullptr && field->spelling == model::Spelling::option) {
        throw Error(ErrorKind::usage, fmt::format("{}: use {}", name_of_key(key), option_name(*field)));
    }
    if (field != nullptr && field->spelling == model::Spelling::file) {
        const bool steps = field == &model::field::draws;
        throw Error(ErrorKind::usage,
                    name_of_key(key) + (steps ? ": a key of one of its steps is missing, such as draws[2].init=normal"
                                              : ": only a recipe file can set it"));
    }
    const auto names = names_of(keys, [](const SetKey& each) { return std::string_view(each.key); });
    const std::string guess = did_you_mean(declared_form(key), names, short_names(keys));
    throw Error(ErrorKind::usage, fmt::format("{}: this command has no key {}{}", model::option::set, in_quotes(key),
                                              guess.empty() ? fmt::format("; {}", page) : guess));
}

} // namespace

std::string SetKey::named_as(std::string_view typed) const
{
    if (!key.starts_with(any_step)) {
        return key;
    }
    const std::string_view step = step_of(typed);
    return fmt::format("{}{}{}{}", begin_of_step, step.empty() ? "0" : step, end_of_step, key.substr(any_step.size()));
}

void SetKeys::add(SetKey key)
{
    if (std::ranges::find(keys_, key.key, &SetKey::key) == keys_.end()) {
        keys_.push_back(std::move(key));
    }
}

const SetKey* SetKeys::find(std::string_view text) const
{
    const auto found = std::ranges::find(keys_, declared_form(key_of(text)), &SetKey::key);
    return found == keys_.end() ? nullptr : &*found;
}

void SetKeys::set(std::string_view text)
{
    const std::string_view key = key_of(text);
    const SetKey* known = find(key);
    if (known == nullptr && !key.empty()) {
        refuse_key(key, keys_);
    }
    if (key.size() == text.size() || known == nullptr) {
        throw Error(ErrorKind::usage, model::option::set, in_quotes(text), "KEY=VALUE, such as rounding=step");
    }
    const std::string name = name_of_key(key);
    if (!given_.emplace(key).second) {
        throw Error(ErrorKind::usage, name + ": given more than once");
    }
    const std::string_view step = step_of(key);
    const Index place = step.empty() ? 0 : integer(model::option::set, step, 0, model::field::largest_length, "a step, from 0");
    known->set(place, value_of_key(name, text.substr(key.size() + 1), known->allowed));
}

std::string SetKeys::instead_of(std::string_view option, std::string_view typed) const
{
    const auto key = std::ranges::find(keys_, option, &SetKey::old_name);
    if (key == keys_.end()) {
        return {};
    }
    std::string value(typed);
    if (typed.empty() && key->allowed.type == FieldType::flag) {
        value = option.starts_with("--no-") ? "false" : "true";
    } else if (typed.empty() && names_values(*key)) {
        for (const std::string& each : key->offered) {
            value += (value.empty() ? "" : "|") + each;
        }
    } else if (typed.empty()) {
        value = key->symbol;
    }
    return fmt::format("{} is now {} {}={}", option, model::option::set, key->key, value);
}

std::string name_of_key(std::string_view text)
{
    return fmt::format("{} {}", model::option::set, key_of(text));
}

std::vector<const FieldInfo*> fields_of_steps()
{
    std::vector<const FieldInfo*> fields{&draw_field::seed};
    std::ranges::copy(draw_field::all, std::back_inserter(fields));
    fields.push_back(&draw_field::values);
    return fields;
}

std::string key_of_step(const FieldInfo& field)
{
    return std::string(any_step).append(field.key);
}

} // namespace attn::cli
