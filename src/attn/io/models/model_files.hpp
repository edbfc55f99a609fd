// A whole trained model out of the bytes of its files, which are called as model hubs call them.
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/model/trained/run_trained.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

struct NamedBytes {
    std::string name; ///< for messages
    Bytes bytes;      ///< outlive the model
};

struct ModelFiles {
    NamedBytes config;                   ///< config.json
    std::optional<NamedBytes> tokenizer; ///< tokenizer.json; none: words are symbols
    std::vector<NamedBytes> weights;     ///< .safetensors; none where there are draws
    std::optional<NamedBytes> draws;     ///< draws.json of a tutorial's model
};

/// `ignored`: keys of the config that are taken as if they were not there. Throws Error(data) for what is not understood, does
/// not fit together, or is missing, naming the file.
[[nodiscard]] model::Trained read_model(const ModelFiles& files, const std::vector<std::string>& ignored = {});

/// The names of the files that a model.safetensors.index.json lists, in alphabetical order. Throws Error(data).
[[nodiscard]] std::vector<std::string> listed_files(const NamedBytes& index);

/// The model of data/models; nothing where there is none of that name.
[[nodiscard]] std::optional<model::Trained> builtin_model(std::string_view name, const std::vector<std::string>& ignored = {});

} // namespace attn::io
