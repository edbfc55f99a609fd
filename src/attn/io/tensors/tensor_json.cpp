#include "attn/io/tensors/tensor_json.hpp"

#include "attn/io/bytes.hpp"
#include "attn/math/decimal.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

namespace attn::io {
namespace {

namespace key = model::key;

/// null is a masked score.
std::optional<std::string_view> decimal_or_masked(JsonKind kind, std::string_view text)
{
    return kind == JsonKind::null ? "-inf" : decimal(kind, text);
}

} // namespace

ElementType stated_type(const JsonValue& value, std::span<const ElementType> types)
{
    std::vector<std::string_view> names;
    std::ranges::transform(types, std::back_inserter(names), [](ElementType type) { return name_of(type); });
    return types[value.one_of(names)];
}

Shape stated_shape(const JsonValue& value)
{
    if (value.size() > most_dimensions) { // before there is a JsonValue for each
        value.refuse(fmt::format("up to {} dimensions", most_dimensions));
    }
    Shape shape;
    for (const JsonValue& length : value.elements()) {
        shape.push_back(length.integer(0, std::numeric_limits<Index>::max()));
    }
    return shape;
}

StoredTensor parse_tensor_json(std::string_view json)
{
    const JsonDocument document(json);
    const JsonObject object(document.root(), key::of_tensor);
    (void)object.at(key::schema).one_of({name_of(model::Document::tensor)});
    StoredTensor tensor;
    tensor.name = object.has(key::name) ? object.at(key::name).string() : "";
    constexpr std::array types{ElementType::float16, ElementType::bfloat16, ElementType::float32, ElementType::float64};
    tensor.type = stated_type(object.at(key::dtype), types);
    tensor.shape = stated_shape(object.at(key::shape));
    const TextArray nested = object.at(key::data).nested(decimal_or_masked, R"(a number, "inf", "-inf", "nan" or null)");
    // (2, 0) and (0, 2) can look alike.
    const bool empty = nested.texts.empty() && std::ranges::find(tensor.shape, Index{0}) != tensor.shape.end();
    if (nested.shape != tensor.shape && !empty) {
        throw Error(ErrorKind::data, key::data, "arrays of the shape " + to_string(nested.shape),
                    to_string(tensor.shape) + ", the shape stated");
    }
    std::vector<double> values;
    values.reserve(nested.texts.size());
    for (std::size_t i = 0; i < nested.texts.size(); ++i) { // as the type that it was written from, so that it is rounded once
        const std::string_view leaf = nested.texts[i];
        const bool wide = tensor.type == ElementType::float64;
        values.push_back(wide ? math::nearest<double>(leaf) : static_cast<double>(math::nearest<float>(leaf)));
    }
    tensor.bytes = to_bytes<double>(tensor.type, values);
    const Tensor<double> held = load<double>(row_major_view(tensor.type, tensor.shape, tensor.bytes));
    for (std::size_t i = 0; i < held.values.size(); ++i) {
        const std::string_view leaf = nested.texts[i];
        if (std::isinf(held.values[i]) && leaf.find('n') == std::string::npos) { // neither "inf" nor null
            throw Error(ErrorKind::data,
                        fmt::format("{} at {}", key::data, to_string(index_of(tensor.shape, static_cast<Index>(i)))),
                        fmt::format("{}, which is beyond {}", leaf.substr(0, 40), name_of(tensor.type)),
                        R"(numbers that the type holds, or "inf")");
        }
    }
    return tensor;
}

} // namespace attn::io
