// Parts of a recipe: what stands in files, and positions.
#include "attn/io/json_reader.hpp"
#include "attn/io/recipe.hpp"

#include <limits>

namespace attn::io {
namespace {

std::string digest_of(const JsonObject& object, std::string_view key)
{
    const JsonValue* digest = object.find(key);
    if (digest == nullptr) {
        return {};
    }
    std::string text = digest->string();
    if (text.size() != 64 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
        digest->refuse("64 hexadecimal digits in lower case");
    }
    return text;
}

std::string text_of(const JsonObject& object, std::string_view key)
{
    const JsonValue* text = object.find(key);
    return text == nullptr ? std::string() : text->string();
}

/// "sha256", or "sha256_sample" and "bytes".
model::FileDigest file_digest_of(const JsonObject& object)
{
    model::FileDigest digest{
        .sha256 = digest_of(object, "sha256"), .sha256_sample = digest_of(object, "sha256_sample"), .bytes = {}};
    if (const JsonValue* bytes = object.find("bytes")) {
        digest.bytes = bytes->integer(0, std::numeric_limits<Index>::max());
    }
    return digest;
}

model::WordList word_list_of(const JsonValue& value)
{
    const JsonObject object(value, {"file", "sha256", "sha256_sample", "bytes"});
    return {.file = object.at("file").string(), .digest = file_digest_of(object)};
}

core::Rope rope_of(const JsonObject& object)
{
    core::Rope rope;
    if (const JsonValue* base = object.find("base")) {
        constexpr std::string_view allowed = "a finite number from 1";
        rope.base = base->number(allowed);
        if (rope.base < 1) {
            base->refuse(allowed);
        }
    }
    if (const JsonValue* dim = object.find("dim")) {
        rope.dim = dim->integer(2, 1048576);
        if (*rope.dim % 2 != 0) {
            dim->refuse("an even number");
        }
    }
    if (const JsonValue* style = object.find("style")) {
        rope.style = style->one_of({"half", "interleaved"}) == 0 ? core::RopeStyle::half : core::RopeStyle::interleaved;
    }
    return rope;
}

} // namespace

Dtype dtype_of_numbers(const JsonValue& value)
{
    return value.one_of({name_of(Dtype::float32), name_of(Dtype::float64)}) == 0 ? Dtype::float32 : Dtype::float64;
}

model::FileTensor file_tensor_of(const JsonValue& value)
{
    const JsonObject object(value, {"file", "name", "sha256"});
    return {object.at("file").string(), text_of(object, "name"), digest_of(object, "sha256")};
}

model::FileParameters file_parameters_of(const JsonValue& value)
{
    const JsonObject object(value, {"file", "prefix", "layout", "output_projection", "allow_nonfinite", "sha256"});
    model::FileParameters parameters{
        .file = object.at("file").string(), .prefix = text_of(object, "prefix"), .sha256 = digest_of(object, "sha256")};
    if (const JsonValue* layout = object.find("layout")) {
        parameters.layout = static_cast<model::MatrixLayout>(layout->one_of(model::layout_names));
    }
    if (const JsonValue* output = object.find("output_projection")) {
        parameters.output_projection = output->boolean();
    }
    if (const JsonValue* nonfinite = object.find("allow_nonfinite")) {
        parameters.allow_nonfinite = nonfinite->boolean();
    }
    return parameters;
}

model::FileEmbeddings embeddings_of(const JsonValue& value)
{
    const JsonObject object(value, {"file", "name", "words", "unknown", "allow_nonfinite", "sha256", "sha256_sample", "bytes"});
    model::FileEmbeddings embeddings{
        .file = object.at("file").string(), .name = text_of(object, "name"), .digest = file_digest_of(object)};
    if (const JsonValue* words = object.find("words")) {
        embeddings.words = word_list_of(*words);
    }
    if (const JsonValue* unknown = object.find("unknown")) {
        embeddings.unknown = unknown->string();
    }
    if (const JsonValue* nonfinite = object.find("allow_nonfinite")) {
        embeddings.allow_nonfinite = nonfinite->boolean();
    }
    return embeddings;
}

model::Positions positions_of_words(const JsonValue& value)
{
    const JsonObject object(value, {"kind", "base", "dim", "style"});
    model::Positions positions;
    positions.kind = static_cast<model::PositionKind>(object.at("kind").one_of(model::position_names));
    if (positions.kind == model::PositionKind::rope) {
        positions.rope = rope_of(object);
        return positions;
    }
    for (const std::string_view key : {"base", "dim", "style"}) {
        if (const JsonValue* given = object.find(key)) {
            given->refuse(R"(only with "kind": "rope")");
        }
    }
    return positions;
}

} // namespace attn::io
