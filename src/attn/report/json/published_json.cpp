#include "attn/report/json/published_json.hpp"

#include <optional>

namespace attn::report {
namespace {

/// Rows of a word and its id, as an object.
void write_stated_vocabulary(JsonWriter& json, const std::vector<std::string>& values)
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
        const std::string& value = published.values.at(next++);
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

void write_stated_values(JsonWriter& json, const model::Published& published)
{
    if (published.values.empty()) {
        json.member("shape", published.shape);
        return;
    }
    json.key("values");
    const model::ItemKind kind = model::kind_of(published.array);
    if (kind == model::ItemKind::vocabulary) {
        write_stated_vocabulary(json, published.values);
        return;
    }
    std::size_t next = 0;
    write_stated_nested(json, published, kind == model::ItemKind::words || published.printed, 0, next);
}

void write_statement(JsonWriter& json, const model::Published& published)
{
    json.begin_object();
    json.member("array", published.array);
    if (!published.at.empty()) {
        json.begin_array("at");
        for (const std::optional<Index>& index : published.at) {
            if (index) {
                json.integer(*index);
            } else {
                json.null();
            }
        }
        json.end_array();
    }
    write_stated_values(json, published);
    json.member_unless("units", published.units, 0);
    json.member_unless("rtol", published.rtol, 0);
    json.member_unless("atol", published.atol, 0);
    if (published.dtype) {
        json.member("dtype", name_of(*published.dtype));
    }
    json.end_object();
}

} // namespace

void write_published(JsonWriter& json, const model::Recipe& recipe)
{
    if (!recipe.published.empty()) {
        json.begin_array("published");
        for (const model::Published& published : recipe.published) {
            write_statement(json, published);
        }
        json.end_array();
    }
    if (!recipe.precision.empty()) {
        json.begin_array("precision");
        for (const model::PrecisionClaim& claim : recipe.precision) {
            json.begin_object();
            json.member("array", claim.array);
            json.member("rtol", claim.rtol);
            json.member("atol", claim.atol);
            json.end_object();
        }
        json.end_array();
    }
}

} // namespace attn::report
