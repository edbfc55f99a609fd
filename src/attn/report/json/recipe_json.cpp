#include "attn/report/json/recipe_json.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/model/recipe/recipe_fields.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attn::report {
namespace {

using model::Allowed;
using model::FieldInfo;
using model::FieldType;
using model::FieldValue;
namespace field = model::field;
namespace draw_field = model::draw_field;
namespace key = model::key;

// ---- what an article states; io/json/published.cpp reads it ----------------------------------------------------------------

/// Rows of a word and its id, as an object.
void write_stated_vocabulary(JsonWriter& json, const TextList& values)
{
    json.begin_object();
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
        json.key(values[i]);
        json.raw(values[i + 1]);
    }
    json.end_object();
}

/// The values below one place of the first `level` dimensions; `next` walks through them.
void write_stated_nested(JsonWriter& json, const model::Published& published, bool quote, std::size_t level, std::size_t& next)
{
    if (level == published.shape.size()) {
        const std::string_view value = published.values[next++];
        if (quote && !(published.printed && value == "null")) { // a word may be "null"
            json.string(value);
        } else {
            json.raw(value);
        }
        return;
    }
    json.begin_array();
    for (Index i = 0; i < published.shape[level]; ++i) {
        write_stated_nested(json, published, quote, level + 1, next);
    }
    json.end_array();
}

/// The values below one place of the first `level` dimensions, as a list prints them.
std::string pasted(const model::Published& published, std::size_t level, std::size_t& next)
{
    if (level == published.shape.size()) {
        return std::string(published.values[next++]);
    }
    std::string text;
    for (Index i = 0; i < published.shape[level]; ++i) {
        text += (i > 0 ? ", " : "") + pasted(published, level + 1, next);
    }
    return "[" + text + "]";
}

void write_stated_values(JsonWriter& json, const model::Published& published)
{
    if (published.values.empty()) {
        json.member(key::shape, published.shape);
        return;
    }
    json.key(key::values);
    const model::ItemKind kind = model::kind_of(published.array);
    if (kind == model::ItemKind::vocabulary) {
        write_stated_vocabulary(json, published.values);
        return;
    }
    std::size_t next = 0;
    if (published.digits) {
        json.string(pasted(published, 0, next));
        return;
    }
    write_stated_nested(json, published, kind == model::ItemKind::words || published.printed, 0, next);
}

void write_statement(JsonWriter& json, const model::Published& published)
{
    json.member(key::array, published.array);
    if (!published.at.empty()) {
        json.array(key::at, published.at,
                   [&](const std::optional<Index>& index) { index ? json.integer(*index) : json.null(); });
    }
    write_stated_values(json, published);
    for (const auto& [name, tolerance] :
         {std::pair(key::units, published.units), {key::rtol, published.rtol}, {key::atol, published.atol}}) {
        if (tolerance != 0) {
            json.member(name, tolerance);
        }
    }
    if (published.dtype) {
        json.member(key::dtype, name_of(*published.dtype));
    }
}

/// The members "published" and "precision", where there is something to state.
void write_published(JsonWriter& json, const model::Recipe& recipe)
{
    if (!recipe.published.empty()) {
        json.objects(model::field::published.name(), recipe.published,
                     [&](const model::Published& published) { write_statement(json, published); });
    }
    if (!recipe.precision.empty()) {
        json.objects(model::field::precision.name(), recipe.precision, [&](const model::PrecisionClaim& claim) {
            json.member(key::array, claim.array);
            json.member(key::rtol, claim.rtol);
            json.member(key::atol, claim.atol);
        });
    }
}

// ---- the recipe ------------------------------------------------------------------------------------------------------------

/// Nested arrays, from the number `next` on.
class LiteralWriter {
public:
    LiteralWriter(JsonWriter& json, const model::Literal& literal) : json_(json), literal_(literal) {}

    void write(std::size_t depth = 0)
    {
        if (depth == literal_.shape.size()) {
            return write_number();
        }
        json_.begin_array();
        for (Index i = 0; i < literal_.shape[depth]; ++i) {
            write(depth + 1);
        }
        json_.end_array();
    }

private:
    void write_number()
    {
        const double value = literal_.values[static_cast<std::size_t>(next_)];
        const bool integer = integers_ < literal_.integers.size() && literal_.integers[integers_] == next_;
        ++next_;
        if (literal_.truths) {
            json_.boolean(value != 0);
        } else if (integer) {
            ++integers_;
            json_.raw(math::fixed(value, 0));
        } else if (std::isinf(value)) { // of a mask
            json_.null();
        } else {
            json_.number(value);
        }
    }

    JsonWriter& json_;
    const model::Literal& literal_;
    Index next_ = 0;
    std::size_t integers_ = 0; ///< written so far
};

/// Writes the value of a field in the form that JSON gives it.
struct ValueWriter {
    JsonWriter& json;
    const Allowed& allowed;

    void operator()(std::monostate) const { json.null(); }
    void operator()(bool value) const { json.boolean(value); }
    void operator()(Index value) const
    {
        if (allowed.type == FieldType::choice) {
            json.string(allowed.names[static_cast<std::size_t>(value)]);
        } else {
            json.integer(value);
        }
    }
    void operator()(std::uint64_t value) const { json.unsigned_integer(value); }
    void operator()(double value) const
    {
        if (allowed.none == value) {
            json.string("none");
        } else {
            json.number(value);
        }
    }
    void operator()(const std::string& value) const { json.string(value); }
    void operator()(const std::vector<std::string>& values) const { json.strings(values); }
    void operator()(const std::vector<Index>& values) const
    {
        if (allowed.type == FieldType::choices) {
            json.begin_array();
            for (const Index place : values) {
                json.string(allowed.names[static_cast<std::size_t>(place)]);
            }
            json.end_array();
        } else if (!allowed.instead.empty() && values == std::vector<Index>{-1}) {
            json.string(allowed.instead);
        } else {
            json.integers(values);
        }
    }
    void operator()(const model::Literal& literal) const { LiteralWriter(json, literal).write(); }
    void operator()(const std::vector<model::Length>& values) const
    {
        json.begin_array();
        for (const model::Length& length : values) {
            std::visit(*this, FieldValue(std::visit([](const auto& part) -> FieldValue { return part; }, length)));
        }
        json.end_array();
    }
};

void write_value(JsonWriter& json, const FieldInfo& field, const FieldValue& value)
{
    json.key(field.name());
    std::visit(ValueWriter{json, field.allowed}, value);
}

/// Whether the value is what holds without it.
bool says_nothing(const FieldInfo& field, const FieldValue& value)
{
    const auto empty = []<typename Value>(const Value& v) {
        if constexpr (requires { v.empty(); }) {
            return v.empty();
        } else {
            return std::is_same_v<Value, std::monostate>;
        }
    };
    const auto number = []<typename Value>(const Value& v) -> std::optional<double> {
        if constexpr (std::is_arithmetic_v<Value>) {
            return static_cast<double>(v);
        } else {
            return std::nullopt;
        }
    };
    return (!field.required && std::visit(empty, value)) || (field.left_out && std::visit(number, value) == field.left_out);
}

template <typename Fields, typename Struct>
bool is_written(const FieldInfo& field, const FieldValue& value, const Fields& fields, const Struct& object)
{
    const auto other = std::ranges::find_if(fields, [&](const FieldInfo* f) { return f == field.only.other; });
    const bool fits = other == std::ranges::end(fields) || goes_with(field.only, (*other)->member.get(object));
    return fits && !says_nothing(field, value);
}

/// Opens and closes the objects that fields stand in; one without members is not written.
class Sections {
public:
    explicit Sections(JsonWriter& json) : json_(json) {}

    void enter(std::string_view section)
    {
        while (model::key_within(section, open_).empty() && section != open_) {
            close();
        }
        while (section != open_) {
            const std::string_view key = model::key_within(section, open_);
            json_.key(key);
            json_.begin_object();
            open_ = section.substr(0, (open_.empty() ? 0 : open_.size() + 1) + key.size());
        }
    }

private:
    void close()
    {
        json_.end_object();
        const std::size_t dot = open_.rfind('.');
        open_ = open_.substr(0, dot == std::string_view::npos ? 0 : dot);
    }

    JsonWriter& json_;
    std::string_view open_;
};

/// A field and its value, where they are written.
template <typename Field, typename Fields, typename Struct>
void write_field(JsonWriter& json, const Field& f, const Fields& fields, const Struct& object, Sections& sections)
{
    if (f.allowed.type == FieldType::objects || !f.member.exists(object)) {
        return;
    }
    const FieldValue value = f.member.get(object);
    if (is_written(f, value, fields, object)) {
        sections.enter(f.section());
        write_value(json, f, value);
    }
}

/// But for those that are `replaced`, and what goes with none of these.
void write_members(JsonWriter& json, const model::Draw& draw, const model::StepValues& replaced = {})
{
    const auto is_replaced = [&](const FieldInfo& f) { return replaced.contains(&f); };
    if (draw.target == model::Target::none && draw.init != model::Initialisation::multihead_attention &&
        !is_replaced(draw_field::tensor)) {
        json.key(draw_field::discard.name());
        json.boolean(true);
    }
    const bool literal = is_replaced(draw_field::values) || (draw.values && !is_replaced(draw_field::init));
    using Fields = std::span<const draw_field::Draws* const>;
    for (const draw_field::Draws* f : literal ? Fields(draw_field::literal) : Fields(draw_field::all)) {
        const bool of_old_init = f->only.other == &draw_field::init && is_replaced(draw_field::init);
        if (is_replaced(*f) || of_old_init) {
            continue;
        }
        const FieldValue value = f->member.get(draw);
        const bool instead = f == &draw_field::tensor && draw.target == model::Target::none;
        const bool needed = f == &draw_field::high && draw.init == model::Initialisation::integers;
        if (needed || (!instead && is_written(*f, value, draw_field::all, draw))) {
            write_value(json, *f, value);
        }
    }
}

void write_members(JsonWriter& json, const model::Seed& seed, const model::StepValues& replaced = {})
{
    if (!replaced.contains(&draw_field::seed)) {
        json.key(draw_field::seed.name());
        json.unsigned_integer(seed.value);
    }
}

void write_draws(JsonWriter& json, const std::vector<model::Step>& draws)
{
    json.key(field::draws.name());
    json.begin_array();
    for (const model::Step& step : draws) {
        json.begin_object();
        std::visit([&](const auto& s) { write_members(json, s); }, step);
        json.end_object();
    }
    json.end_array();
}

} // namespace

std::string step_with(const model::Step& step, const model::StepValues& values)
{
    Buffer text;
    JsonWriter json(text);
    json.begin_object();
    std::visit([&](const auto& s) { write_members(json, s, values); }, step);
    for (const auto& [field, value] : values) {
        write_value(json, *field, value);
    }
    json.end_object();
    return std::move(text.text());
}

void write_config_object(JsonWriter& json, const model::TrainedConfig& config)
{
    json.begin_object();
    Sections sections(json);
    for (const model::trained_field::Fields* f : model::trained_field::all) {
        write_field(json, *f, model::trained_field::all, config, sections);
    }
    sections.enter("");
    json.end_object();
}

void write_dims_and_attention(JsonWriter& json, const model::Recipe& recipe)
{
    Sections sections(json);
    for (const field::Recipes* f : field::all) {
        if (f->section() == field::heads.section() || f->section().starts_with(field::causal.section())) {
            write_field(json, *f, field::all, recipe, sections);
        }
    }
    sections.enter("");
}

void write_recipe_object(JsonWriter& json, const model::Recipe& recipe, WithPublished published)
{
    json.begin_object();
    Sections sections(json);
    for (const field::Recipes* f : field::all) {
        if (f == &field::draws) {
            sections.enter(f->section());
            write_draws(json, recipe.draws);
        }
        write_field(json, *f, field::all, recipe, sections);
    }
    sections.enter("");
    if (published == WithPublished::yes) {
        write_published(json, recipe);
    }
    json.end_object();
}

} // namespace attn::report
