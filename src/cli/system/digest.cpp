#include "cli/system/digest.hpp"

#include "attn/io/digest.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

namespace attn::cli {
namespace {

[[noreturn]] void refuse(const MappedFile& file, const std::string& digest, const std::string& stated)
{
    throw Error(ErrorKind::data, "sha256 of " + file.name(), digest, stated + ", as recorded when the file was used");
}

std::string text(const model::FileDigest& digest)
{
    return (digest.sha256.empty() ? digest.sha256_sample : digest.sha256) +
           (digest.bytes ? fmt::format(" ({} bytes)", *digest.bytes) : "");
}

} // namespace

bool has_digest(const MappedFile& file, const std::string& sha256)
{
    return !sha256.empty() && sha256 == io::sha256(file.bytes());
}

bool has_digest(const MappedFile& file, const model::FileDigest& stated)
{
    return stated.stated() && stated == io::file_digest(file.bytes());
}

void require_digest(const MappedFile& file, std::string& sha256, Digests wanted)
{
    if (sha256.empty() && wanted == Digests::stated) {
        return;
    }
    const std::string digest = io::sha256(file.bytes());
    if (!sha256.empty() && sha256 != digest) {
        refuse(file, digest, sha256);
    }
    sha256 = digest;
}

void require_digest(const MappedFile& file, model::FileDigest& stated, Digests wanted)
{
    if (!stated.stated() && wanted == Digests::stated) {
        return;
    }
    const model::FileDigest digest = io::file_digest(file.bytes());
    if (stated.stated() && stated != digest) {
        refuse(file, text(digest), text(stated));
    }
    stated = digest;
}

} // namespace attn::cli
