#include "attn/io/models/gguf.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace attn::io {

// ---- the bytes, one after the other ----------------------------------------------------------------------------------------

namespace {

constexpr std::string_view magic = "GGUF";
constexpr std::uint64_t most_entries = 65536; ///< keys, and tensors: models have a few hundred
constexpr std::uint32_t most_lengths = 4;     ///< dimensions of a tensor

[[noreturn]] void refuse(std::string_view thing, const std::string& value, const std::string& allowed)
{
    throw Error(ErrorKind::data, thing, value, allowed);
}

/// What is being read: "key 7", "the value of 'general.name'". Made into text for a message alone.
struct Subject {
    std::string_view before;
    std::string_view name = {};

    [[nodiscard]] std::string text() const { return std::string(before) + (name.empty() ? "" : in_quotes(name)); }
};

class Reader {
public:
    explicit Reader(Bytes bytes) : bytes_(bytes) {}

    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

    Bytes take(std::uint64_t count, const Subject& subject)
    {
        if (count > left()) {
            refuse_end(subject.text(), count, 1);
        }
        const Bytes taken = bytes_.subspan(at_, static_cast<std::size_t>(count));
        at_ += taken.size();
        return taken;
    }

    template <typename Unsigned>
    Unsigned number(const Subject& subject)
    {
        return little<Unsigned>(take(sizeof(Unsigned), subject), 0);
    }

    std::string_view text(const Subject& subject)
    {
        const auto size = number<std::uint64_t>(subject);
        return as_text(take(size, subject));
    }

    /// How many there are of what takes `least` bytes or more each.
    std::uint64_t count(std::size_t least, std::uint64_t most, const Subject& subject)
    {
        const auto count = number<std::uint64_t>(subject);
        if (count > most) {
            refuse(subject.text(), std::to_string(count), fmt::format("up to {}", most));
        }
        if (count > left() / least) {
            refuse_end(fmt::format("{}, {}", subject.text(), count), count, least);
        }
        return count;
    }

private:
    /// Where `count` of so many bytes each are promised, and less is left.
    [[noreturn]] void refuse_end(const std::string& promise, std::uint64_t count, std::size_t each) const
    {
        const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
        const std::uint64_t needed = count > (most - at_) / each ? most : at_ + count * each;
        refuse("the file ends too early for " + promise, fmt::format("{} bytes", bytes_.size()),
               fmt::format("{} or more; is it cut short?", needed));
    }

    Bytes bytes_;
    std::size_t at_ = 0;
};

// ---- values ----------------------------------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 13> kind_names{"u8",   "i8",   "u16",  "i16", "u32", "i32", "f32",
                                                      "bool", "text", "list", "u64", "i64", "f64"};
constexpr std::array<std::size_t, 13> kind_sizes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}; ///< 0: its own length says it

std::size_t size_of(GgufKind kind)
{
    return kind_sizes.at(static_cast<std::size_t>(kind));
}

std::string_view name_of(GgufKind kind)
{
    return kind_names.at(static_cast<std::size_t>(kind));
}

GgufKind read_kind(Reader& reader, const Subject& subject)
{
    const auto kind = reader.number<std::uint32_t>(subject);
    if (kind >= kind_names.size()) {
        refuse(subject.text() + ": kind", std::to_string(kind), fmt::format("0 to {}", kind_names.size() - 1));
    }
    return static_cast<GgufKind>(kind);
}

template <typename Unsigned, typename Signed>
double as_signed(Bytes bytes)
{
    return static_cast<double>(std::bit_cast<Signed>(little<Unsigned>(bytes, 0)));
}

double number_of(GgufKind kind, Bytes bytes)
{
    switch (kind) {
    case GgufKind::u8: return little<std::uint8_t>(bytes, 0);
    case GgufKind::i8: return as_signed<std::uint8_t, std::int8_t>(bytes);
    case GgufKind::u16: return little<std::uint16_t>(bytes, 0);
    case GgufKind::i16: return as_signed<std::uint16_t, std::int16_t>(bytes);
    case GgufKind::u32: return little<std::uint32_t>(bytes, 0);
    case GgufKind::i32: return as_signed<std::uint32_t, std::int32_t>(bytes);
    case GgufKind::f32: return as_signed<std::uint32_t, float>(bytes);
    case GgufKind::u64: return static_cast<double>(little<std::uint64_t>(bytes, 0));
    case GgufKind::i64: return as_signed<std::uint64_t, std::int64_t>(bytes);
    case GgufKind::f64: return as_signed<std::uint64_t, double>(bytes);
    default: return little<std::uint8_t>(bytes, 0);
    }
}

GgufList read_list(Reader& reader, Bytes file, const Subject& subject)
{
    GgufList list{.kind = read_kind(reader, subject)};
    if (list.kind == GgufKind::list) {
        refuse(subject.text(), "a list of lists", "a list of numbers, texts or bools");
    }
    const std::size_t each = size_of(list.kind);
    const std::size_t least = each == 0 ? sizeof(std::uint64_t) : each;
    list.count = static_cast<std::size_t>(reader.count(least, std::numeric_limits<std::uint64_t>::max(), subject));
    const std::size_t begin = reader.at();
    if (each != 0) {
        (void)reader.take(list.count * each, subject);
    }
    for (std::size_t i = 0; each == 0 && i < list.count; ++i) {
        (void)reader.text(subject);
    }
    list.bytes = file.subspan(begin, reader.at() - begin);
    return list;
}

GgufValue read_value(Reader& reader, Bytes file, const Subject& subject)
{
    const GgufKind kind = read_kind(reader, subject);
    if (kind == GgufKind::text) {
        return reader.text(subject);
    }
    if (kind == GgufKind::list) {
        return read_list(reader, file, subject);
    }
    const double number = number_of(kind, reader.take(size_of(kind), subject));
    if (kind != GgufKind::boolean) {
        return number;
    }
    if (number > 1) {
        refuse(subject.text(), fmt::format("{}", number), "0 or 1, for it is a bool");
    }
    return number == 1;
}

// ---- tensors ---------------------------------------------------------------------------------------------------------------

/// Of every type by its number; empty where there is none.
constexpr std::array<std::string_view, 41> type_names{
    "F32",   "F16",    "Q4_0",  "Q4_1", "",     "",        "Q5_0",   "Q5_1",    "Q8_0",  "Q8_1",   "Q2_K",
    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K", "Q8_K", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S",
    "IQ2_S", "IQ4_XS", "I8",    "I16",  "I32",  "I64",     "F64",    "IQ1_M",   "BF16",  "",       "",
    "",      "TQ1_0",  "TQ2_0", "",     "",     "",        "MXFP4",  "NVFP4"};

std::optional<ElementType> element_of(std::string_view type)
{
    return type == "F32"    ? std::optional(ElementType::float32)
           : type == "F16"  ? std::optional(ElementType::float16)
           : type == "BF16" ? std::optional(ElementType::bfloat16)
                            : std::nullopt;
}

std::string types_that_are_read()
{
    std::string names = "F32, F16, BF16";
    for (const transformer::BlockFormat& format : transformer::block_formats()) {
        names += ", " + std::string(format.name);
    }
    return names + "; `llama-quantize --allow-requantize IN.gguf OUT.gguf Q8_0` of llama.cpp writes one of them";
}

/// A line of the table of tensors.
struct Entry {
    std::string_view name;
    Shape shape = {}; ///< rows first
    std::string_view type = {};
    std::uint64_t offset = 0, size = 0; ///< of its bytes, from the first byte of the data
};

/// The bytes that the tensor takes; none when they cannot be addressed, or end within a block.
std::optional<Index> bytes_of_entry(const Entry& entry)
{
    if (const auto element = element_of(entry.type)) {
        return bytes_of(entry.shape, attn::size_of(*element) * 8);
    }
    const transformer::BlockFormat& format = *transformer::block_format(entry.type);
    const std::optional<Index> count = bytes_of(entry.shape, 8); // of numbers, since each then is a byte
    if (!count || *count > std::numeric_limits<Index>::max() / 2 || entry.shape.back() % format.numbers != 0) {
        return std::nullopt;
    }
    return *count / format.numbers * format.bytes;
}

Entry read_entry(Reader& reader)
{
    Entry entry{.name = reader.text({"the name of a tensor"})};
    const Subject subject{"tensor ", entry.name};
    if (entry.name.empty()) {
        refuse("the name of a tensor", "''", "a name");
    }
    const auto lengths = reader.number<std::uint32_t>(subject);
    if (lengths < 1 || lengths > most_lengths) {
        refuse(subject.text() + ": dimensions", std::to_string(lengths), fmt::format("1 to {}", most_lengths));
    }
    for (std::uint32_t i = 0; i < lengths; ++i) {
        const auto length = reader.number<std::uint64_t>(subject);
        if (length < 1 || length > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
            refuse(subject.text() + ": length", std::to_string(length), "1 or more, as a number of 63 bits");
        }
        entry.shape.insert(entry.shape.begin(), static_cast<Index>(length));
    }
    const auto type = reader.number<std::uint32_t>(subject);
    entry.type = type < type_names.size() ? type_names.at(type) : std::string_view();
    if (!element_of(entry.type) && transformer::block_format(entry.type) == nullptr) {
        refuse(subject.text() + ": type", entry.type.empty() ? std::to_string(type) : std::string(entry.type),
               types_that_are_read());
    }
    entry.offset = reader.number<std::uint64_t>(subject);
    const std::optional<Index> bytes = bytes_of_entry(entry);
    if (!bytes) {
        refuse(subject.text() + ": shape", to_string(entry.shape),
               fmt::format("one of {} whose bytes can be addressed, and whose rows are whole blocks", entry.type));
    }
    entry.size = static_cast<std::uint64_t>(*bytes);
    return entry;
}

std::uint64_t alignment_of(const std::map<std::string_view, GgufValue>& metadata)
{
    constexpr std::string_view key = "general.alignment";
    constexpr double usual = 32, least = 8, most = 1 << 20;
    const auto found = metadata.find(key);
    if (found == metadata.end()) {
        return static_cast<std::uint64_t>(usual);
    }
    const auto* number = std::get_if<double>(&found->second);
    if (number == nullptr || !(*number >= least && *number <= most) ||
        !std::has_single_bit(static_cast<std::uint64_t>(*number))) {
        refuse(key, written(found->second), "a power of two from 8 to 1048576");
    }
    return static_cast<std::uint64_t>(*number);
}

void require_within(const Entry& entry, Bytes data, std::uint64_t alignment)
{
    const Subject subject{"tensor ", entry.name};
    if (entry.offset % alignment != 0) {
        refuse(subject.text() + ": offset", std::to_string(entry.offset), fmt::format("a multiple of {}", alignment));
    }
    if (entry.offset > data.size() || entry.size > data.size() - entry.offset) {
        refuse(subject.text(), fmt::format("{} bytes from offset {} of the data on", entry.size, entry.offset),
               fmt::format("bytes within the {} of the data; is the file cut short?", data.size()));
    }
}

void require_apart(const std::vector<Entry>& entries)
{
    std::vector<const Entry*> sorted;
    sorted.reserve(entries.size());
    for (const Entry& entry : entries) {
        sorted.push_back(&entry);
    }
    std::ranges::sort(sorted, {}, &Entry::offset);
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        const Entry& before = *sorted[i - 1];
        if (before.offset + before.size > sorted[i]->offset) {
            refuse(Subject{"tensor ", sorted[i]->name}.text() + ": offset", std::to_string(sorted[i]->offset),
                   fmt::format("{} or more, where {} ends", before.offset + before.size, in_quotes(before.name)));
        }
    }
}

GgufTensor tensor_of(const Entry& entry, Bytes data)
{
    const Bytes bytes = data.subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.size));
    if (const auto element = element_of(entry.type)) {
        return {.view = row_major_view(*element, entry.shape, bytes)};
    }
    const transformer::BlockFormat& format = *transformer::block_format(entry.type);
    Shape shape = entry.shape;
    shape.back() = shape.back() / format.numbers * format.bytes;
    return {.view = row_major_view(ElementType::uint8, std::move(shape), bytes), .blocks = &format};
}

void require_version(Reader& reader)
{
    const Subject subject{"the version"};
    const auto version = reader.number<std::uint32_t>(subject);
    if (version == 2 || version == 3) {
        return;
    }
    const bool swapped = version >> 24U != 0 && (version & 0xFFFFFFU) == 0;
    refuse(subject.text(), std::to_string(version), swapped ? "2 or 3; is it a big-endian file?" : "2 or 3");
}

} // namespace

// ---- the file --------------------------------------------------------------------------------------------------------------

GgufFile read_gguf(Bytes file)
{
    Reader reader(file);
    if (const std::string_view first = as_text(file).substr(0, magic.size()); !magic.starts_with(first)) {
        refuse("the first bytes", in_quotes(first), in_quotes(magic) + ", with which a .gguf begins");
    }
    (void)reader.take(magic.size(), {"the first bytes"});
    require_version(reader);
    constexpr std::size_t least_key = 8 + 4 + 1, least_tensor = 8 + 4 + 8 + 4 + 8; // bytes
    const std::uint64_t tensors = reader.count(least_tensor, most_entries, {"the number of tensors"});
    const std::uint64_t keys = reader.count(least_key, most_entries, {"the number of keys"});

    GgufFile read;
    for (std::uint64_t i = 0; i < keys; ++i) {
        const std::string_view key = reader.text({"the name of a key"});
        if (!read.metadata.emplace(key, read_value(reader, file, {"the value of ", key})).second) {
            refuse(Subject{"key ", key}.text(), "two of them", "one");
        }
    }
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(tensors));
    for (std::uint64_t i = 0; i < tensors; ++i) {
        entries.push_back(read_entry(reader));
    }
    const std::uint64_t alignment = alignment_of(read.metadata);
    const std::uint64_t padding = (alignment - reader.at() % alignment) % alignment;
    (void)reader.take(entries.empty() ? 0 : padding, {"zeros before the data"});
    const Bytes data = file.subspan(reader.at());
    for (const Entry& entry : entries) {
        require_within(entry, data, alignment);
    }
    require_apart(entries);
    for (const Entry& entry : entries) {
        if (!read.tensors.emplace(entry.name, tensor_of(entry, data)).second) {
            refuse(Subject{"tensor ", entry.name}.text(), "two of them", "one");
        }
    }
    return read;
}

// ---- lists -----------------------------------------------------------------------------------------------------------------

std::vector<std::string_view> texts_of(const GgufList& list, std::string_view key)
{
    if (list.kind != GgufKind::text) {
        refuse(key, "a list of " + std::string(name_of(list.kind)), "a list of texts");
    }
    std::vector<std::string_view> texts;
    texts.reserve(list.count);
    Reader reader(list.bytes);
    for (std::size_t i = 0; i < list.count; ++i) {
        texts.push_back(reader.text({key}));
    }
    return texts;
}

std::vector<double> numbers_of(const GgufList& list, std::string_view key)
{
    if (list.kind == GgufKind::text) {
        refuse(key, "a list of texts", "a list of numbers");
    }
    std::vector<double> numbers;
    numbers.reserve(list.count);
    Reader reader(list.bytes);
    for (std::size_t i = 0; i < list.count; ++i) {
        numbers.push_back(number_of(list.kind, reader.take(size_of(list.kind), {key})));
    }
    return numbers;
}

std::string written(const GgufValue& value)
{
    if (const auto* truth = std::get_if<bool>(&value)) {
        return *truth ? "true" : "false";
    }
    if (const auto* number = std::get_if<double>(&value)) {
        return fmt::format("{}", *number);
    }
    if (const auto* text = std::get_if<std::string_view>(&value)) {
        return in_quotes(*text);
    }
    return fmt::format("a list of {}", std::get<GgufList>(value).count);
}

} // namespace attn::io
