#include "attn/io/safetensors.hpp"

#include "attn/io/json_reader.hpp"
#include "attn/io/npy.hpp"
#include "attn/tensor/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace attn::io {
namespace {

constexpr std::uint64_t most_header = 100'000'000;
constexpr std::size_t alignment = 8;

struct NamedType {
    std::string_view name;
    Index bits;
    std::optional<ElementType> type; ///< nothing when we do not read it
};

/// Every dtype of the format (version 0.8 of the reference implementation), so that the size of each tensor can be checked.
constexpr std::array named_types{
    NamedType{"F16", 16, ElementType::float16},
    NamedType{"BF16", 16, ElementType::bfloat16},
    NamedType{"F32", 32, ElementType::float32},
    NamedType{"F64", 64, ElementType::float64},
    NamedType{"BOOL", 8, ElementType::boolean},
    NamedType{"I64", 64, ElementType::int64},
    NamedType{"F4", 4, {}},
    NamedType{"F6_E2M3", 6, {}},
    NamedType{"F6_E3M2", 6, {}},
    NamedType{"U8", 8, {}},
    NamedType{"I8", 8, {}},
    NamedType{"F8_E5M2", 8, {}},
    NamedType{"F8_E4M3", 8, {}},
    NamedType{"F8_E8M0", 8, {}},
    NamedType{"F8_E4M3FNUZ", 8, {}},
    NamedType{"F8_E5M2FNUZ", 8, {}},
    NamedType{"I16", 16, {}},
    NamedType{"U16", 16, {}},
    NamedType{"I32", 32, {}},
    NamedType{"U32", 32, {}},
    NamedType{"C64", 64, {}},
    NamedType{"U64", 64, {}},
};

struct Stored {
    std::string name;
    NamedType type;
    Shape shape;
    Index begin = 0, end = 0;
};

[[noreturn]] void refuse(const std::string& thing, const std::string& value, const std::string& allowed)
{
    throw Error(ErrorKind::data, thing, value, allowed);
}

/// The header's JSON.
std::string_view header_of(Bytes file, std::string_view what)
{
    const std::string thing = std::string(what) + ": length of the header";
    if (file.size() < 8) {
        refuse(std::string(what), std::to_string(file.size()) + " bytes", "a .safetensors file, which has a header");
    }
    const auto length = little<std::uint64_t>(file, 0);
    const std::uint64_t most = std::min<std::uint64_t>(most_header, file.size() - 8);
    if (length > most) {
        refuse(thing, std::to_string(length),
               "up to " + std::to_string(most) + (most == most_header ? "" : ", the rest of the file"));
    }
    const std::string_view text = as_text(file).substr(8, length);
    if (!text.starts_with('{')) {
        refuse(std::string(what) + ": first byte of the header", attn::quoted(text.substr(0, 1)), "'{'");
    }
    return text;
}

NamedType type_of(const JsonValue& value)
{
    const std::string name = value.string();
    const auto* const named =
        std::find_if(named_types.begin(), named_types.end(), [&](const NamedType& each) { return each.name == name; });
    if (named == named_types.end()) {
        value.refuse("F16, BF16, F32, F64, BOOL, I64, and the other types of the format");
    }
    return *named;
}

Stored stored_tensor(const std::string& name, const JsonValue& value)
{
    constexpr Index most = std::numeric_limits<Index>::max();
    const JsonObject object(value, {"dtype", "shape", "data_offsets"});
    Stored stored{name, type_of(object.at("dtype")), {}, 0, 0};
    const JsonValue& shape = object.at("shape");
    if (shape.size() > most_dimensions) { // before there is a JsonValue for each
        shape.refuse("up to " + std::to_string(most_dimensions) + " dimensions");
    }
    for (const JsonValue& length : shape.elements()) {
        stored.shape.push_back(length.integer(0, most));
    }
    if (object.at("data_offsets").size() != 2) {
        object.at("data_offsets").refuse("two offsets");
    }
    const std::vector<JsonValue> offsets = object.at("data_offsets").elements();
    stored.begin = offsets[0].integer(0, most);
    stored.end = offsets[1].integer(stored.begin, most);
    const std::optional<Index> needed = bytes_of(stored.shape, stored.type.bits);
    if (!needed || *needed != stored.end - stored.begin) {
        refuse(value.place() + ": data", std::to_string(stored.end - stored.begin) + " bytes",
               needed ? std::to_string(*needed) + " for its shape of " + std::string(stored.type.name)
                      : "a shape whose bytes can be addressed");
    }
    return stored;
}

struct Header {
    std::vector<Stored> tensors;
    Metadata metadata;
};

Header header_in(std::string_view json, std::string_view what)
{
    const std::string header = std::string(what) + ": header";
    const JsonDocument document(json, header);
    Header read;
    for (const auto& [name, value] : JsonValue(document, 0, header).members()) {
        if (name != "__metadata__") {
            read.tensors.push_back(stored_tensor(name, value));
            continue;
        }
        for (const auto& [key, text] : value.members()) {
            read.metadata.emplace_back(key, text.string());
        }
    }
    return read;
}

/// One behind the other, over all of the `size` bytes.
void require_gapless(const std::vector<Stored>& sorted, Index size, std::string_view what)
{
    Index end = 0;
    for (const Stored& tensor : sorted) {
        if (tensor.begin != end) {
            refuse(std::string(what) + ": offset of " + attn::quoted(tensor.name), std::to_string(tensor.begin),
                   std::to_string(end) + ", where the one before ends");
        }
        end = tensor.end;
    }
    if (end != size) {
        refuse(std::string(what) + ": bytes of the tensors", std::to_string(end),
               std::to_string(size) + ", the rest of the file");
    }
}

std::string_view code_of(ElementType type)
{
    const auto* const named =
        std::find_if(named_types.begin(), named_types.end(), [&](const NamedType& each) { return each.type == type; });
    return named->name;
}

} // namespace

TensorFile read_safetensors(Bytes file, std::string_view what, std::string_view only)
{
    const std::string_view json = header_of(file, what);
    const Bytes data = file.subspan(8 + json.size());
    auto [tensors, metadata] = header_in(json, what);
    std::stable_sort(tensors.begin(), tensors.end(), [](const Stored& a, const Stored& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); // those without bytes before the one that begins there
    });
    require_gapless(tensors, static_cast<Index>(data.size()), what);

    TensorFile read;
    read.metadata = std::move(metadata);
    for (Stored& tensor : tensors) {
        if (!only.empty() && tensor.name != only) {
            continue;
        }
        if (tensor.type.type) {
            const Bytes bytes =
                data.subspan(static_cast<std::size_t>(tensor.begin), static_cast<std::size_t>(tensor.end - tensor.begin));
            read.entries.push_back({std::move(tensor.name), row_major_view(*tensor.type.type, std::move(tensor.shape), bytes)});
        } else {
            read.unsupported.push_back({std::move(tensor.name), std::string(tensor.type.name)});
        }
    }
    if (!only.empty()) {
        (void)read.at(only, what);
    }
    return read;
}

void write_safetensors(const std::vector<TensorBytes>& tensors, const ByteSink& sink, const Metadata& metadata)
{
    std::vector<const TensorBytes*> sorted;
    sorted.reserve(tensors.size());
    for (const TensorBytes& tensor : tensors) {
        sorted.push_back(&tensor);
    }
    std::sort(sorted.begin(), sorted.end(), [](const TensorBytes* a, const TensorBytes* b) {
        return std::pair(-size_of(a->type), std::string_view(a->name)) <
               std::pair(-size_of(b->type), std::string_view(b->name));
    });
    std::string json = "{";
    if (!metadata.empty()) {
        nlohmann::ordered_json described = nlohmann::ordered_json::object();
        for (const auto& [key, text] : metadata) {
            described[key] = text;
        }
        json.append("\"__metadata__\":").append(described.dump());
    }
    std::size_t offset = 0;
    for (const TensorBytes* tensor : sorted) {
        const nlohmann::ordered_json described{{"dtype", code_of(tensor->type)},
                                               {"shape", tensor->shape},
                                               {"data_offsets", {offset, offset + tensor->bytes.size()}}};
        json += json.size() == 1 ? "" : ",";
        json += nlohmann::json(tensor->name).dump();
        json += ":";
        json += described.dump();
        offset += tensor->bytes.size();
    }
    json += '}';
    json.append((alignment - json.size() % alignment) % alignment, ' ');
    std::string length;
    append_little<std::uint64_t>(length, json.size());
    sink(length + json);
    for (const TensorBytes* tensor : sorted) {
        sink(as_text(tensor->bytes));
    }
}

} // namespace attn::io
