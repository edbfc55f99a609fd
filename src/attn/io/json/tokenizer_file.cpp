#include "attn/io/json/tokenizer_file.hpp"

#include "attn/io/json/json_reader.hpp"
#include "attn/io/json/tokenizer_steps.hpp"
#include "attn/io/json/tokenizer_tables.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>

namespace attn::io {
namespace {

bool is_setting(std::string_view key)
{
    return key == "version" || key == "truncation" || key == "padding" || key == "decoder";
}

/// The file's two parts: the model, and the members that say the steps.
struct FileParts {
    ModelTables model;
    std::string steps; ///< JSON
};

FileParts read_parts(std::string_view json)
{
    JsonScanner scanner(json);
    if (scanner.next() != '{' && scanner.next() != '\0') {
        throw Error(ErrorKind::data, "the tokenizer", "another value", "an object");
    }
    std::optional<ModelTables> model;
    SmallMembers steps(json);
    scanner.object([&](std::string_view key) {
        if (is_setting(key)) {
            (void)scanner.skip();
        } else if (key != "model") {
            steps.skip(scanner);
        } else if (model) {
            throw Error(ErrorKind::data, "model", "two of them", "one");
        } else {
            model = read_model_tables(scanner, json);
        }
    });
    scanner.end();
    if (!model) {
        throw Error(ErrorKind::data, "key 'model' is missing: is it a tokenizer.json?");
    }
    return {std::move(*model), std::move(steps).done()};
}

} // namespace

text::TokenizerSpec read_tokenizer(std::string_view json)
{
    if (json.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(ErrorKind::too_large, "JSON", fmt::format("{} bytes", json.size()), "up to 4294967295");
    }
    FileParts parts = read_parts(json);
    const JsonDocument model(parts.model.rest, "model");
    const JsonDocument steps(parts.steps);
    const Members members(steps.root());
    text::TokenizerSpec spec;
    spec.model = read_model(JsonValue(model, 0, "model"), parts.model);
    spec.vocabulary = std::move(parts.model.vocabulary);
    if (const JsonValue* normalizer = members.find("normalizer")) {
        spec.normalizer = read_normalizer(*normalizer);
    }
    if (const JsonValue* pre_tokenizer = members.find("pre_tokenizer")) {
        spec.splitter = read_pre_tokenizer(*pre_tokenizer);
    }
    if (const JsonValue* added = members.find("added_tokens")) {
        spec.added = read_added_tokens(*added);
    }
    if (const JsonValue* post_processor = members.find("post_processor")) {
        read_post_processor(*post_processor, spec);
    }
    return spec;
}

} // namespace attn::io
