// The models that are built in, and weights that are drawn, as theirs may be.
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/model/trained/trained.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

/// What a draws.json makes for the architecture. Throws Error(data).
[[nodiscard]] transformer::Weights read_draws(Bytes draws, const transformer::Architecture& architecture);

/// The model of data/models; nothing where there is none of that name.
[[nodiscard]] std::optional<model::Trained> builtin_model(std::string_view name, const std::vector<std::string>& ignored = {});

} // namespace attn::io
