// A recipe's embeddings that stand in a file.
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

} // namespace

model::FileEmbeddings embeddings_of(const JsonValue& value)
{
    const JsonObject object(value, {"file", "name", "words", "unknown", "allow_nonfinite", "sha256", "sha256_sample", "bytes"});
    model::FileEmbeddings embeddings{.file = object.at("file").string(), .digest = file_digest_of(object)};
    if (const JsonValue* name = object.find("name")) {
        embeddings.name = name->string();
    }
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

} // namespace attn::io
