// SHA-256 (FIPS 180-4, libcrypto), by which a config names the files that it was computed with.
#pragma once

#include "attn/io/bytes.hpp"

#include <string>

namespace attn::io {

/// 64 lower-case hexadecimal digits, as `sha256sum` prints them.
[[nodiscard]] std::string sha256(Bytes bytes);
/// "sha256-" and the digest in base64, by which a Content-Security-Policy names a script.
[[nodiscard]] std::string sha256_source(Bytes bytes);

} // namespace attn::io
