// The files of a whole trained model: a .gguf, or a folder as model hubs have it, with config.json, tokenizer.json or a model
// of SentencePiece, and model.safetensors or several files that model.safetensors.index.json lists; of an encoder with a
// decoder also generation_config.json, where it is there.
#pragma once

#include "attn/io/models/model_files.hpp"
#include "attn/model/recipe/trained_config.hpp"
#include "cli/system/digest.hpp"
#include "cli/system/mapped_file.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace attn::cli {

class ModelFolder {
public:
    /// Opens the .gguf or the folder, with its slash, that the config names, or the model of that name that is built in, and
    /// states or compares its digest, as `digests` says, and says in the config what model::complete() does. Throws
    /// Error(no_input) for a folder or a file of it that is not there; Error(data) for tensors that it lacks or has too many,
    /// for configs, tokenizers and tensors that are not understood, and for a model that is there in another form, with what to
    /// do. `beside`: a folder with its slash, where a relative name is looked for first.
    ModelFolder(model::TrainedConfig& config, Digests digests, const std::string& beside = {});

    [[nodiscard]] const model::Trained& trained() const { return *trained_; }

    /// Throws Error(io) when a file was written to in the meantime.
    void require_unchanged() const;
    /// Throws Error(usage) when -o names one of the files.
    void require_apart_from(const std::optional<std::string>& output) const;

private:
    [[nodiscard]] io::NamedBytes map(const std::string& name);
    [[nodiscard]] std::vector<io::NamedBytes> weights();
    struct Tokenizers {
        std::optional<text::PieceTokenizer> text, target = {}; ///< one for both, or one each
    };
    /// Of the folder's tokenizer.json, or where it has none of its models of SentencePiece.
    [[nodiscard]] Tokenizers tokenizers(const std::string& model_type, bool required);
    void open(model::TrainedConfig& config, Digests digests, const std::string& beside);
    void open_path(const model::TrainedConfig& config, const std::string& beside);
    void open_gguf(const std::string& path, const std::vector<std::string>& ignored);
    void open_folder(const std::string& path, const std::vector<std::string>& ignored);
    void require_digests(model::TrainedConfig& config, Digests wanted) const;
    [[nodiscard]] std::string listing(bool sampled) const;

    std::string folder_; ///< with its slash; empty: the model is built in
    std::deque<MappedFile> files_;
    std::deque<std::string> names_; ///< of the files, in the same order
    std::unique_ptr<model::Trained> trained_;
};

} // namespace attn::cli
