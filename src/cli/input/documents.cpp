#include "cli/input/documents.hpp"

#include "attn/io/bytes.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace attn::cli {
namespace {

constexpr std::string_view white_space = " \t\r\n"; ///< of JSON

/// The length of the object at the front of `text`, or of everything when it does not end.
std::size_t object_length(std::string_view text)
{
    Index depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            i += c == '\\' ? 1 : 0;
            in_string = c != '"';
            continue;
        }
        in_string = c == '"';
        depth += c == '{' || c == '[' ? 1 : 0;
        depth -= c == '}' || c == ']' ? 1 : 0;
        if (depth == 0) {
            return i + 1;
        }
    }
    return text.size();
}

/// The front of a document, as far as a text goes.
struct Front {
    bool differs = false; ///< whatever follows
    std::optional<DocumentFront> whole = {};
};

Front front_of(std::string_view text)
{
    constexpr std::array<std::string_view, 4> tokens{"{", R"("schema")", ":", R"("attn-cli/)"};
    std::string_view rest = io::without_byte_order_mark(text);
    const char* brace = nullptr;
    for (const std::string_view token : tokens) {
        rest.remove_prefix(std::min(rest.find_first_not_of(white_space), rest.size()));
        brace = brace == nullptr ? rest.data() : brace;
        if (!rest.starts_with(token)) {
            return {.differs = !token.starts_with(rest)};
        }
        rest.remove_prefix(token.size());
    }
    const std::size_t end = rest.find('"');
    if (end == std::string_view::npos) {
        return {};
    }
    const std::string_view whole(brace, static_cast<std::size_t>(rest.data() - brace) + end);
    const std::string_view schema = whole.substr(whole.rfind('"') + 1);
    return {.whole = DocumentFront{schema, whole.find('\n') != std::string_view::npos}};
}

/// The commands that read a document, up to what names the file.
std::vector<std::string_view> readers_of(std::string_view schema)
{
    using model::Document;
    if (schema == name_of(Document::recipe)) {
        return {"run --recipe", "explain --recipe", "check"};
    }
    if (schema == name_of(Document::result)) {
        return {"check", "plot", "explain --recipe"};
    }
    if (schema == name_of(Document::layers)) {
        return {"check", "plot"};
    }
    if (schema == name_of(Document::tensor)) {
        return {"plot", "compare OTHER"};
    }
    return {};
}

/// "a sentence; attn-cli check - or attn-cli plot - reads such a document"
std::string allowed_besides(std::string_view sentence, std::string_view schema, std::string_view input)
{
    const std::vector<std::string_view> readers = readers_of(schema);
    std::string commands;
    for (const std::string_view& reader : readers) {
        const bool last = &reader == &readers.back();
        commands += fmt::format("{}attn-cli {} {}", commands.empty() ? "" : last ? " or " : ", ", reader, input);
    }
    return fmt::format("{}; {} reads such a document", sentence, commands.empty() ? "no command" : commands);
}

[[noreturn]] void refuse(const DocumentFront& front, std::string_view thing, std::string_view sentence, std::string_view input)
{
    throw Error(ErrorKind::data, thing, "a document, " + in_quotes(front.schema),
                allowed_besides(sentence, front.schema, input));
}

} // namespace

bool begins_json(std::span<const std::byte> front)
{
    // A .safetensors that begins with a brace goes on with NUL, of which its length is full.
    const std::string_view text(reinterpret_cast<const char*>(front.data()), std::min<std::size_t>(front.size(), 8));
    const std::string_view json = io::without_byte_order_mark(text);
    const std::size_t first = json.find_first_not_of(white_space);
    return first != std::string_view::npos && json[first] == '{' && json.find('\0') == std::string_view::npos;
}

std::vector<JsonText> split_documents(std::string_view file)
{
    file = io::without_byte_order_mark(file);
    std::vector<JsonText> documents;
    Index line = 1;
    for (std::string_view rest = file;;) {
        const std::size_t first = std::min(rest.find_first_not_of(white_space), rest.size());
        if (first == rest.size()) {
            break;
        }
        const std::size_t begin = rest.substr(0, first).rfind('\n') + 1; // of its line; 0 when there is no newline before it
        line += std::ranges::count(rest.substr(0, begin), '\n');
        const std::size_t object = rest[first] == '{' ? first + object_length(rest.substr(first)) : rest.size();
        const std::size_t end = std::min(rest.find('\n', object), rest.size());
        documents.push_back({rest.substr(begin, end - begin), line});
        line += std::ranges::count(documents.back().text, '\n');
        rest.remove_prefix(end);
    }
    if (documents.size() == 1) {
        documents.front().text = file;
    }
    return documents;
}

std::optional<DocumentFront> document_front(std::string_view text)
{
    return front_of(text).whole;
}

bool may_become_document(std::string_view text)
{
    const Front front = front_of(text);
    return !front.differs && !front.whole;
}

void refuse_document(std::string_view text, std::string_view thing, std::string_view input)
{
    if (const auto front = document_front(text)) {
        refuse(*front, thing, "a sentence", input);
    }
}

void refuse_document_of_lines(std::string_view text, std::string_view thing, std::string_view input)
{
    const auto front = document_front(text);
    if (front && front->spans_lines) {
        refuse(*front, thing, "one sentence per line", input);
    }
}

} // namespace attn::cli
