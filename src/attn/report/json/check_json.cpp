#include "attn/report/json/check_json.hpp"

#include "attn/model/recipe/documents.hpp"
#include "attn/report/json/comparison_json.hpp"

#include <optional>

namespace attn::report {
namespace {

namespace key = model::key;

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

} // namespace

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

namespace {

namespace key = model::key;

void begin_report(JsonWriter& json, std::string_view name, bool passed)
{
    json.member(key::schema, "attn-cli/check/1");
    json.member(key::name, name);
    json.member("passed", passed);
}

void write_finding(JsonWriter& json, const model::Finding& finding)
{
    json.member("what", finding.what);
    write_counts(json, finding);
    json.member(largest_absolute, finding.largest_absolute);
    json.member(largest_relative, finding.largest_relative);
    for (const auto& [name, text] : {std::pair(first_difference, &finding.first), {"hint", &finding.hint}}) {
        if (!text->empty()) {
            json.member(name, *text);
        }
    }
}

} // namespace

void write_check_json(const model::CheckReport& report, std::string_view name, Buffer& buffer)
{
    write_json_line(buffer, [&](JsonWriter& json) {
        begin_report(json, name, report.passed());
        json.objects("statements", report.findings, [&](const model::Finding& finding) { write_finding(json, finding); });
    });
}

void write_check_error_json(std::string_view name, int code, std::string_view message, Buffer& buffer)
{
    write_json_line(buffer, [&](JsonWriter& json) {
        begin_report(json, name, false);
        json.error(code, message);
    });
}

} // namespace attn::report
