// JSON where a sentence should be.
#pragma once

#include "attn/io/json/json_texts.hpp"

#include <optional>
#include <string_view>

namespace attn::cli {

using io::begins_json;
using io::JsonText;
using io::OpenObject;
using io::split_documents;

/// "attn-cli/result/1" of a text that begins with a brace or a bracket and holds "schema": "attn-cli/result/1" anywhere, for
/// `jq -S` sorts the keys. Nothing is parsed.
[[nodiscard]] std::optional<std::string_view> schema_of_document(std::string_view text);

/// Throws Error(data) for a text that is a document of ours, naming the commands that read one. `thing` is what should have
/// been a sentence, `input` how those commands name the file: "-" or FILE.
void refuse_document(std::string_view text, std::string_view thing, std::string_view input);
/// The same of the beginning of many lines, for a document that spans them; those of one line are refused where they stand.
void refuse_document_of_lines(std::string_view front, std::string_view thing, std::string_view input);

} // namespace attn::cli
