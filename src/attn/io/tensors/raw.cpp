#include "attn/io/tensors/raw.hpp"

#include "attn/io/tensors/tensor_json.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace attn::io {
namespace {

namespace key = model::key;
constexpr std::string_view schema_name = "attn-cli/raw/1", bytes_key = "bytes", arrays_key = "arrays", offset_key = "offset";

constexpr std::size_t raw_alignment = 64;

std::size_t padding_before(std::size_t offset)
{
    return (raw_alignment - offset % raw_alignment) % raw_alignment;
}

NamedTensor array_of(const JsonValue& described, Bytes numbers)
{
    using enum ElementType;
    constexpr std::array types{float16, bfloat16, float32, float64, boolean, uint8, int32, int64};
    constexpr Index bits_per_byte = 8;
    const JsonObject object(described, {key::name, key::dtype, key::shape, offset_key});
    const ElementType type = stated_type(object.at(key::dtype), types);
    Shape shape = stated_shape(object.at(key::shape));
    const auto size = static_cast<Index>(numbers.size());
    const Index offset = object.at(offset_key).integer(0, size);
    const std::optional<Index> bytes = bytes_of(shape, bits_per_byte * size_of(type));
    if (!bytes || *bytes > size - offset) {
        throw Error(ErrorKind::data, object.at(key::shape).place(), to_string(shape),
                    fmt::format("an array of {} within the {} bytes from its offset on", name_of(type), size - offset));
    }
    return {object.at(key::name).string(),
            row_major_view(type, std::move(shape),
                           numbers.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(*bytes)))};
}

} // namespace

void write_raw(const std::vector<NamedTensor>& tensors, Buffer& buffer)
{
    std::size_t offset = 0;
    for (const NamedTensor& tensor : tensors) {
        const std::string zeros(padding_before(offset), '\0');
        buffer.append(zeros);
        buffer.append(as_text(tensor.view.bytes));
        offset += zeros.size() + tensor.view.bytes.size();
    }
}

std::string raw_header(const std::vector<NamedTensor>& tensors)
{
    std::size_t offset = 0;
    nlohmann::ordered_json arrays = nlohmann::ordered_json::array();
    for (const NamedTensor& tensor : tensors) {
        offset += padding_before(offset);
        arrays.push_back({{key::name, tensor.name},
                          {key::dtype, name_of(tensor.view.type)},
                          {key::shape, tensor.view.shape},
                          {offset_key, offset}});
        offset += tensor.view.bytes.size();
    }
    return nlohmann::ordered_json({{key::schema, schema_name}, {bytes_key, offset}, {arrays_key, arrays}}).dump() + "\n";
}

TensorFile read_raw(std::string_view header, Bytes numbers)
{
    const JsonDocument document(header);
    const JsonObject object(document.root(), {key::schema, bytes_key, arrays_key});
    (void)object.at(key::schema).one_of({schema_name});
    const JsonValue& bytes = object.at(bytes_key);
    if (bytes.unsigned_integer() != numbers.size()) {
        bytes.refuse(fmt::format("{}, as the numbers have", numbers.size()));
    }
    TensorFile file;
    std::set<std::string, std::less<>> names;
    for (const JsonValue& described : object.at(arrays_key).elements()) {
        const NamedTensor& read = file.entries.emplace_back(array_of(described, numbers));
        if (!names.insert(read.name).second) {
            throw Error(ErrorKind::data, described.place(), in_quotes(read.name), "a name that no array before it has");
        }
    }
    return file;
}

} // namespace attn::io
