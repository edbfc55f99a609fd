#include "attn/report/json/comparison_json.hpp"

#include "attn/model/recipe/documents.hpp"

#include <optional>
#include <string>

namespace attn::report {
namespace {

/// Numbers as JSON has them, infinities, NaN and words as strings.
void write_value(JsonWriter& json, const std::string& text)
{
    const bool number = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) && text != "-inf";
    number ? json.raw(text) : json.string(text);
}

void write_place(JsonWriter& json, const model::Place& place)
{
    json.member(model::key::index, place.index);
    json.key("a");
    write_value(json, place.a);
    json.key("b");
    write_value(json, place.b);
}

void write_largest(JsonWriter& json, std::string_view key, const std::optional<model::LargestDifference>& largest)
{
    if (!largest) {
        return;
    }
    json.begin_object(key);
    json.member("difference", largest->value);
    write_place(json, largest->place);
    json.end_object();
}

void write_tensor(JsonWriter& json, const model::TensorComparison& tensor)
{
    json.begin_object();
    json.member(model::key::name, tensor.name);
    json.member("equal", tensor.agrees());
    if (!tensor.why.empty()) {
        json.member("reason", tensor.why);
        json.end_object();
        return;
    }
    json.member(model::key::shape, tensor.shape);
    write_counts(json, tensor);
    json.member("percentage", tensor.percentage());
    if (tensor.first) {
        json.begin_object(first_difference);
        write_place(json, *tensor.first);
        json.end_object();
    }
    write_largest(json, largest_absolute, tensor.absolute);
    write_largest(json, largest_relative, tensor.relative);
    json.end_object();
}

} // namespace

void write_comparison_json(const model::Comparison& comparison, Buffer& buffer)
{
    JsonWriter json(buffer);
    json.begin_object();
    json.member("equal", comparison.agrees());
    json.begin_array("tensors");
    for (const model::TensorComparison& tensor : comparison.tensors) {
        write_tensor(json, tensor);
    }
    json.end_array();
    json.end_object();
    json.newline();
}

} // namespace attn::report
