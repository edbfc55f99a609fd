#include "attn/io/tensors/safetensors_header.hpp"

#include "attn/io/bytes.hpp"
#include "attn/io/json/json_events.hpp"
#include "attn/io/json/json_reader.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
    SafetensorsType{"I32", 32, ElementType::int32},
    SafetensorsType{"I64", 64, ElementType::int64},
    SafetensorsType{"F4", 4, {}},
    SafetensorsType{"F6_E2M3", 6, {}},
    SafetensorsType{"F6_E3M2", 6, {}},
    SafetensorsType{"U8", 8, {}},
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
enum Key : std::size_t { dtype, shape, data_offsets };

/// Keys side by side, for there may be millions. A header has at most 100 MB, so that 32 bits count its bytes.
class Keys {
public:
    void add(std::string_view text)
    {
        all_ += text;
        ends_.push_back(static_cast<std::uint32_t>(all_.size()));
    }
    [[nodiscard]] std::vector<std::string_view> views() const
    {
        std::vector<std::string_view> views;
        views.reserve(ends_.size());
        std::size_t begin = 0;
        for (const std::uint32_t end : ends_) {
            views.push_back(std::string_view(all_).substr(begin, end - begin));
            begin = end;
        }
        return views;
    }

private:
    std::string all_;
    std::vector<std::uint32_t> ends_;
};

class Header : public JsonEvents {
public:
    Header(std::string_view json, std::string_view what) : JsonEvents(json, what), what_(what) {}

    std::deque<HeaderTensor> tensors;
    std::vector<std::pair<std::string, std::string>> known_metadata;

    /// What the parser would copy again and again for its message: a number of megabytes, a string that does not end.
    void refuse_endless_tokens() const;

    bool null() { unexpected("null"); }
    bool boolean(bool value) { unexpected(value ? "true" : "false"); }
    bool number_integer(Json::number_integer_t value) { unexpected(value == 0 ? "-0" : std::to_string(value)); } // below 0
    bool number_unsigned(Json::number_unsigned_t value);
    bool number_float(Json::number_float_t, const std::string& text) { unexpected(text.substr(0, 40)); }
    bool string(std::string& value);
    bool key(std::string& value);
    bool start_object(std::size_t);
    bool end_object();
    bool start_array(std::size_t);
    bool end_array();

private:
    enum class In { nothing, header, tensor, shape, offsets, metadata };

    /// Where the next value stands, in words.
    [[nodiscard]] std::string place() const;
    [[nodiscard]] std::string allowed() const;
    /// The next value is of the wrong kind or out of range.
    [[noreturn]] void unexpected(const std::string& value) const { throw Error(ErrorKind::data, place(), value, allowed()); }
    [[nodiscard]] std::string metadata_place() const { return member_place(what_, safetensors_key::metadata); }
    [[nodiscard]] std::string tensor_place() const { return member_place(what_, tensors.back().name); }
    void finish_tensor();
    /// Refuses keys of the object that ends here.
    void refuse_twice(std::vector<std::string_view> names) const;

    std::string what_;
    In in_ = In::nothing;
    Keys metadata_;
    bool has_metadata_ = false;
    std::string last_key_;       ///< of the metadata
    bool is_metadata_ = false;   ///< the value that comes next in the header
    std::size_t key_ = 0;        ///< of a tensor
    std::array<bool, 3> seen_{}; ///< its keys
    std::size_t offsets_ = 0;    ///< read
};

void Header::refuse_endless_tokens() const
{
    constexpr std::size_t longest = 1000; // of what is no string, in bytes; no number that is allowed has more than 19
    std::size_t bare = 0;
    std::size_t i = 0;
    for (; i < text().size(); ++i) {
        const char c = text()[i];
        if (c == '"') {
            for (++i; i < text().size() && text()[i] != '"'; ++i) {
                i += text()[i] == '\\' ? 1 : 0;
            }
            if (i >= text().size()) {
                fail("a string without its closing quote", text().size());
            }
        }
        const bool between = c == '"' || c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}' || c == ' ' ||
                             c == '\t' || c == '\r' || c == '\n';
        bare = between ? 0 : bare + 1;
        if (bare > longest) {
            fail(fmt::format("a number or word of more than {} bytes", longest), i);
        }
    }
}

std::string Header::place() const
{
    switch (in_) {
    case In::nothing: return what_;
    case In::header: return is_metadata_ ? metadata_place() : tensor_place();
    case In::metadata: return member_place(metadata_place(), last_key_);
    case In::tensor: return member_place(tensor_place(), keys.at(key_));
    case In::shape: return fmt::format("{}.shape[{}]", tensor_place(), tensors.back().shape.size());
    case In::offsets: break;
    }
    return fmt::format("{}.data_offsets[{}]", tensor_place(), offsets_);
}

std::string Header::allowed() const
{
    const Index least = in_ == In::offsets && offsets_ == 1 ? tensors.back().begin : 0;
    switch (in_) {
    case In::nothing:
    case In::header: return "an object";
    case In::metadata: return "a string";
    case In::tensor: return key_ == dtype ? "F16, BF16, F32, F64, BOOL, I64, and the other types of the format" : "an array";
    case In::shape:
    case In::offsets: break;
    }
    return fmt::format("an integer from {} to {}", least, most);
}

bool Header::number_unsigned(Json::number_unsigned_t value)
{
    const auto number = static_cast<Index>(value);
    if ((in_ != In::shape && in_ != In::offsets) || number < 0) {
        unexpected(std::to_string(value));
    }
    HeaderTensor& tensor = tensors.back();
    if (in_ == In::shape) {
        if (tensor.shape.size() == most_dimensions) {
            throw Error(ErrorKind::data, tensor_place() + ".shape", "more",
                        fmt::format("up to {} dimensions", most_dimensions));
        }
        tensor.shape.push_back(number);
        return true;
    }
    if (offsets_ == 2) {
        throw Error(ErrorKind::data, tensor_place() + ".data_offsets", "more", "two offsets");
    }
    if (offsets_ == 1 && number < tensor.begin) {
        unexpected(std::to_string(value));
    }
    (offsets_++ == 0 ? tensor.begin : tensor.end) = number;
    return true;
}

bool Header::string(std::string& value)
{
    if (in_ == In::metadata) {
        if (last_key_ == model::key::schema || last_key_ == model::key::config) {
            known_metadata.emplace_back(last_key_, std::move(value));
        }
        return true;
    }
    const auto* const found =
        std::find_if(types.begin(), types.end(), [&](const SafetensorsType& each) { return each.name == value; });
    if (in_ != In::tensor || key_ != dtype || found == types.end()) {
        unexpected(in_quotes(value));
    }
    tensors.back().type = found;
    return true;
}

bool Header::key(std::string& value)
{
    if (value.find('\0') != std::string::npos) {
        fail("NUL character in a string", here() - 1);
    }
    if (in_ == In::metadata) {
        metadata_.add(value);
        last_key_ = std::move(value);
        return true;
    }
    if (in_ == In::header) {
        is_metadata_ = value == safetensors_key::metadata;
        if (is_metadata_ && std::exchange(has_metadata_, true)) {
            fail(fmt::format("key {} given twice", in_quotes(value)), here() - 1);
        }
        if (!is_metadata_) {
            tensors.emplace_back().name = std::move(value);
            seen_ = {};
            offsets_ = 0;
        }
        return true;
    }
    const auto* const found = std::find(keys.begin(), keys.end(), value);
    if (found == keys.end()) {
        throw Error(ErrorKind::data, tensor_place() + ": key", in_quotes(value), joined(keys));
    }
    key_ = static_cast<std::size_t>(found - keys.begin());
    if (std::exchange(seen_.at(key_), true)) {
        fail(fmt::format("key {} given twice", in_quotes(value)), here() - 1);
    }
    return true;
}

bool Header::start_object(std::size_t)
{
    if (in_ == In::nothing) {
        in_ = In::header;
    } else if (in_ == In::header) {
        in_ = is_metadata_ ? In::metadata : In::tensor;
    } else {
        unexpected("an object");
    }
    return true;
}

bool Header::end_object()
{
    if (in_ == In::header) {
        std::vector<std::string_view> names;
        names.reserve(tensors.size());
        for (const HeaderTensor& tensor : tensors) {
            names.emplace_back(tensor.name);
        }
        refuse_twice(std::move(names));
        return true;
    }
    if (in_ == In::metadata) {
        refuse_twice(metadata_.views());
        metadata_ = {};
    } else {
        finish_tensor();
    }
    in_ = In::header;
    return true;
}

bool Header::start_array(std::size_t)
{
    if (in_ != In::tensor || key_ == dtype) {
        unexpected("an array");
    }
    in_ = key_ == shape ? In::shape : In::offsets;
    return true;
}

bool Header::end_array()
{
    if (in_ == In::offsets && offsets_ != 2) {
        throw Error(ErrorKind::data, tensor_place() + ".data_offsets", std::to_string(offsets_), "two offsets");
    }
    in_ = In::tensor;
    return true;
}

void Header::finish_tensor()
{
    const auto* const missing = std::find(seen_.begin(), seen_.end(), false);
    if (missing != seen_.end()) {
        throw Error(ErrorKind::data, fmt::format("{}: key {} is missing", tensor_place(),
                                                 in_quotes(keys.at(static_cast<std::size_t>(missing - seen_.begin())))));
    }
    HeaderTensor& tensor = tensors.back();
    tensor.shape.shrink_to_fit();
    const std::optional<Index> needed = bytes_of(tensor.shape, tensor.type->bits);
    if (!needed || *needed != tensor.end - tensor.begin) {
        throw Error(ErrorKind::data, tensor_place() + ": data", fmt::format("{} bytes", tensor.end - tensor.begin),
                    needed ? fmt::format("{} for its shape of {}", *needed, tensor.type->name)
                           : "a shape whose bytes can be addressed");
    }
}

void Header::refuse_twice(std::vector<std::string_view> names) const
{
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) {
        fail(fmt::format("key {} given twice in the object that ends here", in_quotes(*twice)), here() - 1);
    }
}

} // namespace

SafetensorsHeader read_safetensors_header(std::string_view json, std::string_view what)
{
    Header header(json, what);
    header.refuse_endless_tokens();
    header.walk(header);
    return {std::move(header.tensors), std::move(header.known_metadata)};
}

std::string_view safetensors_name(ElementType type)
{
    const auto* const found =
        std::find_if(types.begin(), types.end(), [&](const SafetensorsType& each) { return each.type == type; });
    return found->name;
}

} // namespace attn::io
