#include "cli/input/documents.hpp"

#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace attn::cli {
namespace {

constexpr std::string_view white_space = " \t\r\n"; ///< of JSON

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

std::optional<std::string_view> schema_of_document(std::string_view text)
{
    constexpr std::string_view key = R"("schema")";
    std::optional<std::string_view> found;
    std::string_view rest = io::json_of(text);
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

void refuse_document(std::string_view text, std::string_view thing, std::string_view input)
{
    refuse(text, thing, "a sentence", input);
}

void refuse_document_of_lines(std::string_view front, std::string_view thing, std::string_view input)
{
    const std::string_view json = io::json_of(front);
    const std::string_view first = json.substr(0, io::object_length(json));
    if (first.find('\n') != std::string_view::npos) {
        refuse(first, thing, "one sentence per line", input);
    }
}

} // namespace attn::cli
