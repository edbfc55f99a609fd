// The JSON Schemas (draft 2020-12) of what the program writes and reads.
#pragma once

#include <string>
#include <string_view>

namespace attn::io {

/// That of data/schemas by this name, with what the tables of model/recipe say of recipes and results. Nothing in it refers to
/// another file.
[[nodiscard]] std::string json_schema(std::string_view name);

} // namespace attn::io
