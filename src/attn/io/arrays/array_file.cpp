#include "attn/io/arrays/array_file.hpp"

#include "attn/io/json/json_reader.hpp"
#include "attn/io/json/json_scanner.hpp"
#include "attn/io/json/json_texts.hpp"
#include "attn/io/json/saved_result.hpp"
#include "attn/io/tensors/tensor_json.hpp"
#include "attn/io/texts/array_text.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace attn::io {
namespace {

// ---- JSON ----------------------------------------------------------------------------------------------------------------

/// A name in single quotes comes first, which no JSON has.
bool begins_dict(std::string_view text)
{
    const std::string_view json = json_of(text);
    const std::size_t first = json.find_first_not_of(" \t\r\n", std::min<std::size_t>(1, json.size()));
    return json.starts_with('{') && first != std::string_view::npos && json[first] == '\'';
}

void keep(ArrayFile& file, StoredTensor tensor, const std::string& prefix)
{
    tensor.name = prefix + tensor.name;
    file.file.entries.push_back(owned(std::move(tensor)));
}

void add_document(ArrayFile& file, std::string_view json, const std::string& prefix)
{
    switch (kind_of(json)) {
    case Document::tensor: return keep(file, parse_tensor_json(json), prefix);
    case Document::result:
    case Document::layers: {
        model::ResultTensors result = model::tensors_of(parse_saved_result(json));
        for (StoredTensor& tensor : result.tensors) {
            keep(file, std::move(tensor), prefix);
        }
        for (model::NamedWords& words : result.words) {
            file.words.push_back({prefix + words.name, std::move(words.words)});
        }
        return;
    }
    case Document::failed_line: throw Error(ErrorKind::data, "holds an error in place of a result: " + parse_failed_line(json));
    default: refuse_schema(json, {Document::result, Document::layers, Document::tensor});
    }
}

/// What `run` writes beside the arrays of a .safetensors.
Metadata metadata_of(std::string_view json)
{
    Metadata metadata;
    JsonScanner scanner(json);
    scanner.object([&](std::string_view key) {
        if (key == model::key::config) {
            metadata.emplace_back(model::key::config, scanner.skip());
        } else {
            (void)scanner.skip();
        }
    });
    metadata.emplace_back(model::key::schema, name_of(Document::result));
    return metadata;
}

/// What is wrong with one of several texts: malformed JSON where it stands in the file, the rest by the line where the text
/// begins.
std::string wrong_in(const JsonText& text, const Error& error)
{
    try {
        require_json(text.text, text.line);
    } catch (const Error& malformed) {
        return malformed.what();
    }
    return fmt::format("line {}: {}", text.line, error.what());
}

/// Several results, as `run --lines` writes them, are told apart by their lines; the tensors of `attend --show` by their names.
ArrayFile open_json(std::string_view text, const std::string& what)
{
    const std::vector<JsonText> documents = split_documents(text);
    ArrayFile file;
    for (const JsonText& document : documents) {
        const std::string line = documents.size() > 1 ? fmt::format("line {}", document.line) : "";
        try {
            const bool result = kind_of(document.text) != Document::tensor;
            add_document(file, document.text, result && !line.empty() ? line + " " : "");
        } catch (const Error& error) {
            throw Error(error.kind(), what + ": " + (line.empty() ? error.what() : wrong_in(document, error)));
        }
    }
    if (documents.size() == 1 && kind_of(documents.front().text) == Document::result) {
        file.file.metadata = metadata_of(documents.front().text);
    }
    return file;
}

/// NaN and Infinity, which Python writes into JSON, and JSON does not have.
bool is_json_of_python(std::string_view text)
{
    const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
    return (has("NaN") || has("Infinity")) && !has(R"("schema")");
}

/// Whether it is one object that says nothing of a document of ours.
bool is_other_object(std::string_view text, const std::string& what)
{
    const std::vector<JsonText> documents = split_documents(text);
    try {
        return documents.size() == 1 && kind_of(documents.front().text) == Document::unknown &&
               !schema_of(documents.front().text);
    } catch (const Error& error) {
        throw Error(error.kind(), what + ": " + error.what());
    }
}

// ---- text ----------------------------------------------------------------------------------------------------------------

double value_at(std::string_view text, std::size_t begin)
{
    return math::parse_printed(math::usual_spelling(math::word_at(text, begin))).value;
}

std::int64_t integer_at(std::string_view text, std::size_t begin)
{
    const std::string_view word = math::usual_spelling(math::word_at(text, begin));
    std::int64_t value = 0;
    (void)std::from_chars(word.data(), word.data() + word.size(), value);
    return value;
}

StoredTensor numbers_of(const ArrayText& array, std::string_view text)
{
    const ElementType type = array.truths ? ElementType::boolean : array.whole ? ElementType::int64 : ElementType::float64;
    StoredTensor tensor(array.name, type, array.shape);
    std::byte* to = tensor.bytes.data();
    for (const std::uint32_t begin : array.numbers.begins) {
        if (array.whole) {
            const std::int64_t value = integer_at(text, begin);
            std::ranges::copy(std::as_bytes(std::span(&value, 1)), to);
        } else {
            const double value = value_at(text, begin);
            to_bytes<double>(type, std::span(&value, 1), to);
        }
        to += size_of(type);
    }
    return tensor;
}

ArrayFile open_text(std::string_view text, const std::string& what)
{
    ArrayFile file;
    for (ArrayText& array : read_text_arrays(text, what)) {
        file.file.entries.push_back(owned(numbers_of(array, text)));
        file.texts.push_back(
            {math::PrintedNumbers(text, std::move(array.numbers)), std::move(array.rows), std::move(array.columns)});
    }
    return file;
}

// --------------------------------------------------------------------------------------------------------------------------

/// Leaves the one that is wanted alone.
void keep_only(ArrayFile& file, std::string_view only, std::string_view what)
{
    std::vector<NamedTensor>& entries = file.file.entries;
    const auto found = std::ranges::find(entries, only, &NamedTensor::name);
    if (found == entries.end()) {
        if (entries.size() == 1 && entries.front().name.empty()) {
            (void)file.file.at(only, what); // which says so
        }
        std::vector<std::string> names;
        std::ranges::transform(entries, std::back_inserter(names), &NamedTensor::name);
        throw Error(ErrorKind::data, fmt::format("tensor of {}", what), in_quotes(only),
                    names.empty() ? "the name of an array of numbers in it" : quoted_list(names));
    }
    const auto at = found - entries.begin();
    entries = {std::move(*found)};
    if (!file.texts.empty()) {
        file.texts = {std::move(file.texts[static_cast<std::size_t>(at)])};
    }
    file.words.clear();
}

/// Throws for what is none of the formats, but for a .safetensors with a length that its reader refuses.
ArrayFormat none_but_tensors(Bytes bytes, const std::string& what)
{
    (void)format_of(bytes, what, fmt::format("a result or tensor as JSON, {}, or ", text_forms));
    return ArrayFormat::tensors;
}

} // namespace

const OfText& ArrayFile::of_text(const NamedTensor& entry) const
{
    static const OfText none{};
    const auto found = std::ranges::find(file.entries, entry.name, &NamedTensor::name);
    return texts.empty() || found == file.entries.end() ? none : texts[static_cast<std::size_t>(found - file.entries.begin())];
}

ArrayFormat may_begin_arrays(Bytes front, const std::string& what)
{
    if (is_tensor_file(front)) {
        return ArrayFormat::tensors;
    }
    if (begins_json(front)) {
        return ArrayFormat::json;
    }
    if (!front.empty() && may_begin_text(as_text(front))) {
        return ArrayFormat::text;
    }
    return none_but_tensors(front, what);
}

ArrayFormat array_format(Bytes bytes, const std::string& what)
{
    const ArrayFormat format = may_begin_arrays(bytes, what);
    const std::string_view text = as_text(bytes);
    if (format == ArrayFormat::json && (begins_dict(text) || is_json_of_python(text) || is_other_object(text, what))) {
        return ArrayFormat::text;
    }
    return format == ArrayFormat::text && !is_text_of_arrays(text) ? none_but_tensors(bytes, what) : format;
}

ArrayFile open_arrays(Bytes bytes, const std::string& what, std::string_view only)
{
    const ArrayFormat format = array_format(bytes, what);
    if (format == ArrayFormat::tensors) {
        return {.file = open_tensors(bytes, what, only)};
    }
    const std::string_view text = as_text(bytes);
    ArrayFile file = format == ArrayFormat::json ? open_json(text, what) : open_text(text, what);
    if (!only.empty()) {
        keep_only(file, only, what);
    }
    return file;
}

} // namespace attn::io
