#include "attn/io/tensors/safetensors.hpp"

#include "attn/io/bytes.hpp"
#include "attn/io/json/json_reader.hpp"
#include "attn/io/json/json_scanner.hpp"
#include "attn/io/tensors/npy.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/text_list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

namespace attn::io {
namespace {

constexpr Index most = std::numeric_limits<Index>::max();

/// Every dtype of the format (version 0.8 of the reference implementation), so that the size of each tensor can be checked.
constexpr std::array types{
    SafetensorsType{"F16", 16, ElementType::float16},
    SafetensorsType{"BF16", 16, ElementType::bfloat16},
    SafetensorsType{"F32", 32, ElementType::float32},
    SafetensorsType{"F64", 64, ElementType::float64},
    SafetensorsType{"BOOL", 8, ElementType::boolean},
    SafetensorsType{"U8", 8, ElementType::uint8},
    SafetensorsType{"I32", 32, ElementType::int32},
    SafetensorsType{"I64", 64, ElementType::int64},
    SafetensorsType{"F4", 4, {}},
    SafetensorsType{"F6_E2M3", 6, {}},
    SafetensorsType{"F6_E3M2", 6, {}},
    SafetensorsType{"I8", 8, {}},
    SafetensorsType{"F8_E5M2", 8, {}},
    SafetensorsType{"F8_E4M3", 8, {}},
    SafetensorsType{"F8_E8M0", 8, {}},
    SafetensorsType{"F8_E4M3FNUZ", 8, {}},
    SafetensorsType{"F8_E5M2FNUZ", 8, {}},
    SafetensorsType{"I16", 16, {}},
    SafetensorsType{"U16", 16, {}},
    SafetensorsType{"U32", 32, {}},
    SafetensorsType{"C64", 64, {}},
    SafetensorsType{"U64", 64, {}},
};

constexpr std::array<std::string_view, 3> keys{safetensors_key::dtype, safetensors_key::shape, safetensors_key::data_offsets};

class HeaderReader {
public:
    HeaderReader(std::string_view json, std::string_view what) : what_(what), scanner_(json, what) {}

    SafetensorsHeader read()
    {
        if (scanner_.next() != '{') {
            unexpected(what_, "an object");
        }
        bool has_metadata = false;
        scanner_.object([&](std::string_view key) {
            refuse_nul(key);
            if (key == safetensors_key::metadata) {
                refuse_twice(std::exchange(has_metadata, true), key);
                metadata();
            } else {
                if (header_.tensors.size() == most_tensors) {
                    throw Error(ErrorKind::data, what_ + ": number of tensors", "more", fmt::format("up to {}", most_tensors));
                }
                header_.tensors.emplace_back().name = key;
                tensor();
            }
        });
        std::vector<std::string_view> names;
        names.reserve(header_.tensors.size());
        for (const HeaderTensor& tensor : header_.tensors) {
            names.emplace_back(tensor.name);
        }
        refuse_twice(std::move(names));
        scanner_.end();
        return std::move(header_);
    }

private:
    /// What messages call a part of the tensor that is being read: "header.name.shape[1]".
    [[nodiscard]] std::string place(std::string_view part) const
    {
        return member_place(what_, header_.tensors.back().name) + std::string(part);
    }

    /// The next value is of the wrong kind or out of range.
    [[noreturn]] void unexpected(const std::string& where, std::string_view allowed)
    {
        std::string value;
        switch (scanner_.next()) {
        case '{': value = "an object"; break;
        case '[': value = "an array"; break;
        case '"': value = in_quotes(scanner_.string()); break;
        default: value = scanner_.skip().substr(0, 40);
        }
        throw Error(ErrorKind::data, where, value, allowed);
    }

    void metadata()
    {
        const std::string where = member_place(what_, safetensors_key::metadata);
        if (scanner_.next() != '{') {
            unexpected(where, "an object");
        }
        TextList all; // there may be millions
        scanner_.object([&](std::string_view key) {
            refuse_nul(key);
            all.push_back(key);
            const bool known = key == model::key::schema || key == model::key::config;
            const std::string name(known || scanner_.next() != '"' ? key : "");
            if (scanner_.next() != '"') {
                unexpected(member_place(where, name), "a string");
            }
            const std::string_view value = scanner_.string();
            if (known) {
                header_.metadata.emplace_back(name, value);
            }
        });
        std::vector<std::string_view> names;
        names.reserve(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            names.push_back(all[i]);
        }
        refuse_twice(std::move(names));
    }

    void tensor()
    {
        require('{', "", "an object");
        std::array<bool, keys.size()> seen{};
        scanner_.object([&](std::string_view key) {
            refuse_nul(key);
            const auto* const found = std::find(keys.begin(), keys.end(), key);
            if (found == keys.end()) {
                throw Error(ErrorKind::data, place(": key"), in_quotes(key), joined(keys));
            }
            refuse_twice(std::exchange(seen.at(static_cast<std::size_t>(found - keys.begin())), true), key);
            if (*found == safetensors_key::dtype) {
                type();
            } else if (*found == safetensors_key::shape) {
                shape();
            } else {
                offsets();
            }
        });
        const auto* const missing = std::find(seen.begin(), seen.end(), false);
        if (missing != seen.end()) {
            throw Error(ErrorKind::data, fmt::format("{}: key {} is missing", place(""),
                                                     in_quotes(keys.at(static_cast<std::size_t>(missing - seen.begin())))));
        }
        const HeaderTensor& tensor = header_.tensors.back();
        const std::optional<Index> needed = bytes_of(tensor.shape, tensor.type->bits);
        if (!needed || *needed != tensor.end - tensor.begin) {
            throw Error(ErrorKind::data, place(": data"), fmt::format("{} bytes", tensor.end - tensor.begin),
                        needed ? fmt::format("{} for its shape of {}", *needed, tensor.type->name)
                               : "a shape whose bytes can be addressed");
        }
    }

    void type()
    {
        constexpr std::string_view allowed = "F16, BF16, F32, F64, BOOL, I64, and the other types of the format";
        require('"', ".dtype", allowed);
        const std::string_view name = scanner_.string();
        const auto* const found = std::ranges::find(types, name, &SafetensorsType::name);
        if (found == types.end()) {
            throw Error(ErrorKind::data, place(".dtype"), in_quotes(name), allowed);
        }
        header_.tensors.back().type = found;
    }

    void shape()
    {
        require('[', ".shape", "an array");
        Shape& shape = header_.tensors.back().shape;
        scanner_.array([&] {
            const Index length = integer(".shape", shape.size(), 0);
            if (shape.size() == most_dimensions) {
                throw Error(ErrorKind::data, place(".shape"), "more", fmt::format("up to {} dimensions", most_dimensions));
            }
            shape.push_back(length);
        });
        shape.shrink_to_fit();
    }

    void offsets()
    {
        require('[', ".data_offsets", "an array");
        HeaderTensor& tensor = header_.tensors.back();
        std::size_t count = 0;
        scanner_.array([&] {
            const Index offset = integer(".data_offsets", count, count == 1 ? tensor.begin : 0);
            if (count == 2) {
                throw Error(ErrorKind::data, place(".data_offsets"), "more", "two offsets");
            }
            (count++ == 0 ? tensor.begin : tensor.end) = offset;
        });
        if (count != 2) {
            throw Error(ErrorKind::data, place(".data_offsets"), std::to_string(count), "two offsets");
        }
    }

    /// Element `i` of such a list: digits alone.
    Index integer(std::string_view list, std::size_t i, Index least)
    {
        const auto where = [&] { return place(fmt::format("{}[{}]", list, i)); };
        const auto allowed = [&] { return fmt::format("an integer from {} to {}", least, most); };
        const char first = scanner_.next();
        if (first != '-' && (first < '0' || first > '9')) {
            unexpected(where(), allowed());
        }
        const std::string_view digits = scanner_.skip();
        Index value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (first == '-' || error != std::errc() || end != digits.data() + digits.size() || value < least) {
            throw Error(ErrorKind::data, where(), std::string(digits.substr(0, 40)), allowed());
        }
        return value;
    }

    void require(char first, std::string_view part, std::string_view allowed)
    {
        if (scanner_.next() != first) {
            unexpected(place(part), allowed);
        }
    }
    void refuse_nul(std::string_view key) const
    {
        if (key.find('\0') != std::string_view::npos) {
            scanner_.fail("NUL character in a string", scanner_.member().end - 1);
        }
    }
    void refuse_twice(bool seen, std::string_view key) const
    {
        if (seen) {
            scanner_.fail(fmt::format("key {} given twice", in_quotes(key)), scanner_.member().end - 1);
        }
    }
    /// Keys of the object that has just ended.
    void refuse_twice(std::vector<std::string_view> names) const
    {
        std::sort(names.begin(), names.end());
        const auto twice = std::adjacent_find(names.begin(), names.end());
        if (twice != names.end()) {
            scanner_.fail(fmt::format("key {} given twice in the object that ends here", in_quotes(*twice)),
                          scanner_.here() - 1);
        }
    }

    std::string what_;
    JsonScanner scanner_;
    SafetensorsHeader header_;
};

} // namespace

SafetensorsHeader read_safetensors_header(std::string_view json, std::string_view what)
{
    return HeaderReader(json, what).read();
}

std::string_view safetensors_name(ElementType type)
{
    const auto* const found =
        std::find_if(types.begin(), types.end(), [&](const SafetensorsType& each) { return each.type == type; });
    return found->name;
}

namespace {

constexpr std::uint64_t most_header = 100'000'000;
constexpr std::size_t alignment = 8;

[[noreturn]] void refuse(const std::string& thing, const std::string& value, const std::string& allowed)
{
    throw Error(ErrorKind::data, thing, value, allowed);
}

/// The header's JSON.
std::string_view header_of(Bytes file, std::string_view what)
{
    const std::string thing = std::string(what) + ": length of the header";
    if (file.size() < 8) {
        refuse(std::string(what), fmt::format("{} bytes", file.size()), "a .safetensors file, which has a header");
    }
    const auto length = little<std::uint64_t>(file, 0);
    const std::uint64_t longest = std::min<std::uint64_t>(most_header, file.size() - 8);
    if (length > longest) {
        refuse(thing, std::to_string(length),
               fmt::format("up to {}{}", longest, longest == most_header ? "" : ", the rest of the file"));
    }
    const std::string_view text = as_text(file).substr(8, length);
    if (!text.starts_with('{')) {
        refuse(std::string(what) + ": first byte of the header", in_quotes(text.substr(0, 1)), "'{'");
    }
    return text;
}

/// One behind the other, over all of the `size` bytes.
void require_gapless(const std::deque<HeaderTensor>& sorted, Index size, std::string_view what)
{
    Index end = 0;
    for (const HeaderTensor& tensor : sorted) {
        if (tensor.begin != end) {
            refuse(fmt::format("{}: offset of {}", what, in_quotes(tensor.name)), std::to_string(tensor.begin),
                   fmt::format("{}, where the one before ends", end));
        }
        end = tensor.end;
    }
    if (end != size) {
        refuse(std::string(what) + ": bytes of the tensors by its header", std::to_string(end),
               fmt::format("{}, the rest of the file{}", size, end > size ? " (is it cut short?)" : ""));
    }
}

} // namespace

TensorFile read_safetensors(Bytes file, std::string_view what, std::string_view only)
{
    const std::string_view json = header_of(file, what);
    const Bytes data = file.subspan(8 + json.size());
    auto [tensors, metadata] = read_safetensors_header(json, std::string(what) + ": header");
    const auto earlier = [](const HeaderTensor& a, const HeaderTensor& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); // those without bytes before the one that begins there
    };
    if (!std::is_sorted(tensors.begin(), tensors.end(), earlier)) {
        std::stable_sort(tensors.begin(), tensors.end(), earlier);
    }
    require_gapless(tensors, static_cast<Index>(data.size()), what);

    // A missing one is refused with the names that there are.
    const bool all = only.empty() || std::ranges::find(tensors, only, &HeaderTensor::name) == tensors.end();
    TensorFile read;
    read.metadata = std::move(metadata);
    read.entries.reserve(all ? tensors.size() : 1);
    for (; !tensors.empty(); tensors.pop_front()) { // what is read takes the place of what was
        HeaderTensor& tensor = tensors.front();
        if (!all && tensor.name != only) {
            continue;
        }
        if (tensor.type->type) {
            const Bytes bytes =
                data.subspan(static_cast<std::size_t>(tensor.begin), static_cast<std::size_t>(tensor.end - tensor.begin));
            read.entries.push_back(
                {std::move(tensor.name), row_major_view(*tensor.type->type, std::move(tensor.shape), bytes)});
        } else {
            read.unsupported.push_back({std::move(tensor.name), std::string(tensor.type->name)});
        }
    }
    if (!only.empty()) {
        (void)read.at(only, what);
    }
    return read;
}

void write_safetensors(const std::vector<NamedTensor>& tensors, Buffer& buffer, const Metadata& metadata)
{
    std::vector<const NamedTensor*> sorted;
    sorted.reserve(tensors.size());
    for (const NamedTensor& tensor : tensors) {
        sorted.push_back(&tensor);
    }
    std::sort(sorted.begin(), sorted.end(), [](const NamedTensor* a, const NamedTensor* b) {
        return std::pair(-size_of(a->view.type), std::string_view(a->name)) <
               std::pair(-size_of(b->view.type), std::string_view(b->name));
    });
    std::string json = "{";
    const auto add = [&](std::string_view name, const nlohmann::ordered_json& described) {
        json += json.size() == 1 ? "" : ",";
        json += nlohmann::json(name).dump() + ":" + described.dump();
    };
    if (!metadata.empty()) {
        nlohmann::ordered_json described = nlohmann::ordered_json::object();
        for (const auto& [key, text] : metadata) {
            described[key] = text;
        }
        add(safetensors_key::metadata, described);
    }
    std::size_t offset = 0;
    for (const NamedTensor* tensor : sorted) {
        add(tensor->name, {{safetensors_key::dtype, safetensors_name(tensor->view.type)},
                           {safetensors_key::shape, tensor->view.shape},
                           {safetensors_key::data_offsets, {offset, offset + tensor->view.bytes.size()}}});
        offset += tensor->view.bytes.size();
    }
    json += '}';
    json.append((alignment - json.size() % alignment) % alignment, ' ');
    std::string length;
    append_little<std::uint64_t>(length, json.size());
    buffer.append(length + json);
    for (const NamedTensor* tensor : sorted) {
        buffer.append(as_text(tensor->view.bytes));
    }
}

} // namespace attn::io
