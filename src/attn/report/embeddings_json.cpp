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
    json.member("bytes", digest.bytes);
    member_unless_empty(json, "sha256", digest.sha256);
    member_unless_empty(json, "sha256_sample", digest.sha256_sample);
}

} // namespace

void write_embeddings(JsonWriter& json, const model::FileEmbeddings& embeddings)
{
    json.begin_object("embeddings");
    json.member("file", embeddings.file);
    member_unless_empty(json, "name", embeddings.name);
    if (embeddings.words) {
        json.begin_object("words");
        json.member("file", embeddings.words->file);
        write_digest(json, embeddings.words->digest);
        json.end_object();
    }
    json.member("unknown", embeddings.unknown);
    if (embeddings.allow_nonfinite) {
        json.member("allow_nonfinite", true);
    }
    write_digest(json, embeddings.digest);
    json.end_object();
}

} // namespace attn::report
