#include "attn/report/embeddings_json.hpp"

namespace attn::report {
namespace {

void member_unless_empty(JsonWriter& json, std::string_view key, std::string_view text)
{
    if (!text.empty()) {
        json.member(key, text);
    }
}

void write_digest(JsonWriter& json, const model::FileDigest& digest)
{
    if (digest.bytes) {
        json.key("bytes");
        json.integer(*digest.bytes);
    }
    member_unless_empty(json, "sha256", digest.sha256);
    member_unless_empty(json, "sha256_sample", digest.sha256_sample);
}

} // namespace

void write_embeddings(JsonWriter& json, const model::FileEmbeddings& embeddings)
{
    json.key("embeddings");
    json.begin_object();
    json.member("file", embeddings.file);
    member_unless_empty(json, "name", embeddings.name);
    if (embeddings.words) {
        json.key("words");
        json.begin_object();
        json.member("file", embeddings.words->file);
        write_digest(json, embeddings.words->digest);
        json.end_object();
    }
    if (embeddings.unknown) {
        json.member("unknown", *embeddings.unknown);
    }
    if (embeddings.allow_nonfinite) {
        json.key("allow_nonfinite");
        json.boolean(true);
    }
    write_digest(json, embeddings.digest);
    json.end_object();
}

} // namespace attn::report
