#include "cli/input/documents.hpp"

#include "attn/io/bytes.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace attn::cli {
namespace {

constexpr std::string_view white_space = " \t\r\n"; ///< of JSON

/// The length of the object at the front of `text`, or of everything when it does not end.
std::size_t object_length(std::string_view text)
{
    return OpenObject().end_in(text).value_or(text.size());
}

/// From its first brace or bracket on; nothing of a text that begins otherwise.
std::string_view json_of(std::string_view text)
{
    text = io::without_byte_order_mark(text);
    text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
    return text.starts_with('{') || text.starts_with('[') ? text : std::string_view{};
}

/// Takes `token` off the front of `text`, and the white space before it.
bool take(std::string_view& text, std::string_view token)
{
    text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
    const bool is_there = text.starts_with(token);
    text.remove_prefix(is_there ? token.size() : 0);
    return is_there;
}

/// The commands that read a document, up to what names the file.
std::vector<std::string_view> readers_of(std::string_view schema)
{
    using model::Document;
    if (schema == name_of(Document::recipe)) {
        return {"run --recipe", "explain --recipe", "check"};
    }
    if (schema == name_of(Document::result)) {
        return {"check", "plot", "run --recipe", "explain --recipe"};
    }
    if (schema == name_of(Document::layers)) {
        return {"check", "plot"};
    }
    if (schema == name_of(Document::tensor)) {
        return {"plot", "compare OTHER"};
    }
    return {};
}

/// "attn-cli check -, plot - or run --recipe -"
std::string commands_that_read(std::string_view schema, std::string_view input)
{
    const std::vector<std::string_view> readers = readers_of(schema);
    std::string commands;
    for (const std::string_view& reader : readers) {
        const bool last = &reader == &readers.back();
        commands += fmt::format("{}{} {}", commands.empty() ? "attn-cli " : last ? " or " : ", ", reader, input);
    }
    return commands.empty() ? "no command" : commands;
}

/// `text` is taken for `sentence`.
void refuse(std::string_view text, std::string_view thing, std::string_view sentence, std::string_view input)
{
    if (const auto schema = schema_of_document(text)) {
        throw Error(ErrorKind::data, thing, "a document, " + in_quotes(*schema),
                    fmt::format("{}; such a document is read by {}", sentence, commands_that_read(*schema, input)));
    }
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

std::optional<std::string_view> schema_of_document(std::string_view text)
{
    constexpr std::string_view key = R"("schema")";
    std::optional<std::string_view> found;
    std::string_view rest = json_of(text);
    for (std::size_t at = rest.find(key); at != std::string_view::npos; at = rest.find(key)) {
        rest.remove_prefix(at + key.size());
        if (!take(rest, ":") || !take(rest, "\"") || !rest.starts_with("attn-cli/")) {
            continue;
        }
        found = rest.substr(0, rest.find('"'));
        if (found != name_of(model::Document::recipe)) { // which others hold as their "config"
            break;
        }
    }
    return found;
}

std::optional<std::size_t> OpenObject::end_in(std::string_view piece)
{
    constexpr std::string_view outside_strings = "{}[],:\"+-.0123456789eEtrufalsn \t\r\n"; // numbers, true, false, null
    for (std::size_t i = 0; i < piece.size(); ++i) {
        const char c = piece[i];
        if (std::exchange(escaped_, false)) {
            continue;
        }
        if (in_string_) {
            escaped_ = c == '\\';
            in_string_ = c != '"';
            is_json_ = is_json_ && c != '\n';
            continue;
        }
        is_json_ = is_json_ && outside_strings.find(c) != std::string_view::npos;
        in_string_ = c == '"';
        depth_ += c == '{' || c == '[' ? 1 : 0;
        depth_ -= c == '}' || c == ']' ? 1 : 0;
        if (depth_ == 0) {
            return i + 1;
        }
    }
    return std::nullopt;
}

bool OpenObject::goes_on(std::string_view piece)
{
    if (depth_ == 0) {
        piece = json_of(piece);
    }
    return !piece.empty() && !end_in(piece) && is_json_;
}

void refuse_document(std::string_view text, std::string_view thing, std::string_view input)
{
    refuse(text, thing, "a sentence", input);
}

void refuse_document_of_lines(std::string_view front, std::string_view thing, std::string_view input)
{
    const std::string_view json = json_of(front);
    const std::string_view first = json.substr(0, object_length(json));
    if (first.find('\n') != std::string_view::npos) {
        refuse(first, thing, "one sentence per line", input);
    }
}

} // namespace attn::cli
