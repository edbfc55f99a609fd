#include "cli/input/model_folder.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/digest.hpp"
#include "attn/io/models/builtin_model.hpp"
#include "attn/model/trained/drawn_model.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/named.hpp"
#include "cli/options/options.hpp"
#include "cli/system/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

namespace attn::cli {
namespace {

constexpr const char* config_file = "config.json";
constexpr const char* generation_file = "generation_config.json";
constexpr const char* tokenizer_file = "tokenizer.json";
constexpr const char* tokenizer_config_file = "tokenizer_config.json";
constexpr const char* source_file = "source.spm"; // of Marian, with both others
constexpr const char* target_file = "target.spm";
constexpr const char* vocabulary_file = "vocab.json";
constexpr std::array sentencepiece_files{"spiece.model", "tokenizer.model", "sentencepiece.bpe.model"};
constexpr const char* weights_file = "model.safetensors";
constexpr const char* index_file = "model.safetensors.index.json";
constexpr const char* draws_file = "draws.json";
constexpr std::string_view gguf_ending = ".gguf";
constexpr std::string_view how_to_get_one = "models are not downloaded, `attn-cli help models` shows how to get one";

bool is_there(const std::string& path)
{
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

std::string folder_of(const std::string& name)
{
    if (name.find('/') == std::string::npos) {
        std::string names;
        for (const io::BuiltinModel& model : io::builtin_models()) {
            names += (names.empty() ? "" : " and ") + std::string(model.name);
        }
        throw Error(ErrorKind::no_input, option_name(model::trained_field::name), in_quotes(name),
                    fmt::format("{}, which are built in, the path of a folder, with a slash{}, or of a {}", names,
                                is_there(name) ? ", such as ./" + visible_path(name) : "", gguf_ending));
    }
    std::error_code ignored;
    if (!std::filesystem::is_directory(name, ignored)) {
        throw Error(ErrorKind::no_input, option_name(model::trained_field::name), quoted_path(name),
                    is_there(name) ? fmt::format("a folder or a {}, and this is another file", gguf_ending)
                                   : fmt::format("a folder that is there; {}", how_to_get_one));
    }
    return name.ends_with('/') ? name : name + '/';
}

/// Throws Error(no_input) for what is no regular file: a FIFO or a device would never end.
void require_gguf(const std::string& path)
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
        throw Error(ErrorKind::no_input, option_name(model::trained_field::name), quoted_path(path),
                    is_there(path) ? "a file, and this is none" : fmt::format("a file that is there; {}", how_to_get_one));
    }
}

/// What is in the folder in place of model.safetensors.
[[noreturn]] void refuse_weights(const std::string& folder)
{
    ErrorKind kind = ErrorKind::no_input;
    std::string found = fmt::format("neither {} nor {}", weights_file, index_file);
    std::string advice = "both are what save_pretrained() of the Python package transformers writes";
    const auto in_python = [](std::string_view call) {
        return fmt::format("model.safetensors, which from_pretrained(…{}) of the Python package transformers writes", call);
    };
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".bin") || name.ends_with(".pt") || name.ends_with(".pth")) {
            found = in_quotes(name) + ", a pickle, which can run any program";
            advice = in_python(").save_pretrained(…, safe_serialization=True");
            kind = ErrorKind::data;
        } else if (name.ends_with(gguf_ending)) {
            found = in_quotes(name) + ", which is a whole model";
            advice = option_name(model::trained_field::name) + " and the path of that file";
            kind = ErrorKind::data;
        }
    }
    throw Error(kind, quoted_path(folder), found, advice);
}

} // namespace

io::NamedBytes ModelFolder::map(const std::string& name)
{
    const std::string path = folder_ + name;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) { // a FIFO or a device would never end
        throw Error(ErrorKind::no_input, quoted_path(folder_),
                    (is_there(path) ? "something that is not a file as " : "no ") + in_quotes(name),
                    fmt::format("a folder with {}, {} and {}, or with {} and {}", config_file, tokenizer_file, weights_file,
                                config_file, draws_file));
    }
    names_.push_back(name);
    const MappedFile& file = files_.emplace_back(path);
    return {file.name(), file.bytes()};
}

std::vector<io::NamedBytes> ModelFolder::weights()
{
    std::vector<std::string> names{weights_file};
    if (!is_there(folder_ + weights_file)) {
        if (!is_there(folder_ + index_file)) {
            refuse_weights(folder_);
        }
        const io::NamedBytes index = map(index_file);
        names = named(index.name, [&] { return io::listed_files(index.bytes); });
    }
    std::vector<io::NamedBytes> files;
    files.reserve(names.size());
    std::ranges::transform(names, std::back_inserter(files), [&](const std::string& name) { return map(name); });
    return files;
}

ModelFolder::Tokenizers ModelFolder::tokenizers(const std::string& model_type, bool required)
{
    const auto here = [&](const char* name) { return is_there(folder_ + name); };
    const auto* const model_file = std::ranges::find_if(sentencepiece_files, here);
    if (!here(tokenizer_file) && here(source_file)) {
        const io::NamedBytes vocabulary = map(vocabulary_file);
        const auto side = [&](const char* file) {
            const io::NamedBytes model = map(file);
            return named(model.name, [&] { return io::read_marian_pieces(model.bytes, vocabulary.bytes); });
        };
        text::PieceTokenizer source = side(source_file);
        return {std::move(source), side(target_file)};
    }
    if (here(tokenizer_file) || (required && model_file == sentencepiece_files.end())) {
        const io::NamedBytes tokenizer_json = map(tokenizer_file);
        return {named(tokenizer_json.name, [&] { return io::read_pieces(tokenizer_json.bytes); })};
    }
    if (model_file == sentencepiece_files.end()) {
        return {};
    }
    const io::NamedBytes settings = here(tokenizer_config_file) ? map(tokenizer_config_file) : io::NamedBytes();
    const io::TextEnds ends = named(settings.name.empty() ? quoted_path(folder_) : settings.name,
                                    [&] { return io::read_text_ends(settings.bytes, model_type); });
    const io::NamedBytes model = map(*model_file);
    return {named(model.name, [&] { return io::read_sentencepiece(model.bytes, ends); })};
}

/// A line for each file. `sampled`: of a long one with the digest of its pieces, and its length.
std::string ModelFolder::listing(bool sampled) const
{
    std::string text;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        const model::FileDigest digest =
            sampled ? io::file_digest(files_[i].bytes()) : model::FileDigest{.sha256 = io::sha256(files_[i].bytes())};
        text += digest.bytes ? fmt::format("{}  {}  {}\n", digest.sha256_sample, *digest.bytes, names_[i])
                             : fmt::format("{}  {}\n", digest.sha256, names_[i]);
    }
    return text;
}

/// Compares the digests that are stated; where none is, states one if all are wanted.
void ModelFolder::require_digests(model::TrainedConfig& config, Digests wanted) const
{
    const bool none = config.sha256.empty() && config.sha256_sample.empty();
    const bool is_long =
        std::ranges::any_of(files_, [](const MappedFile& file) { return file.bytes().size() > io::whole_file_limit; });
    for (const bool sampled : {false, true}) {
        std::string& stated = sampled ? config.sha256_sample : config.sha256;
        if (stated.empty() && !(none && wanted == Digests::all && sampled == is_long)) {
            continue;
        }
        const std::string list = listing(sampled);
        const std::string digest = io::sha256(std::as_bytes(std::span(list)));
        if (!stated.empty() && stated != digest) {
            throw Error(ErrorKind::data, "sha256 of the files of " + quoted_path(folder_), digest,
                        stated + ", as recorded when they were used");
        }
        stated = digest;
    }
}

ModelFolder::ModelFolder(model::TrainedConfig& config, Digests digests, const std::string& beside)
{
    open(config, digests, beside);
    model::complete(config, trained_->model.architecture());
}

void ModelFolder::open(model::TrainedConfig& config, Digests digests, const std::string& beside)
{
    if (std::optional<model::Trained> inside = io::builtin_model(config.name, config.ignored_keys)) {
        trained_ = std::make_unique<model::Trained>(std::move(*inside));
        return;
    }
    open_path(config, beside);
    require_digests(config, digests);
}

void ModelFolder::open_path(const model::TrainedConfig& config, const std::string& beside)
{
    const bool is_path = config.name.find('/') != std::string::npos || config.name.ends_with(gguf_ending);
    const bool relative = !beside.empty() && !config.name.starts_with('/') && is_path;
    const std::string path = relative && is_there(beside + config.name) ? beside + config.name : config.name;
    if (path.ends_with(gguf_ending)) {
        open_gguf(path, config.ignored_keys);
    } else {
        open_folder(path, config.ignored_keys);
    }
}

void ModelFolder::open_gguf(const std::string& path, const std::vector<std::string>& ignored)
{
    require_gguf(path);
    const std::size_t slash = path.rfind('/');
    folder_ = slash == std::string::npos ? "./" : path.substr(0, slash + 1);
    const io::NamedBytes file = map(path.substr(slash == std::string::npos ? 0 : slash + 1));
    trained_ = named(file.name, [&] { return std::make_unique<model::Trained>(io::read_gguf_model(file.bytes, ignored)); });
}

void ModelFolder::open_folder(const std::string& path, const std::vector<std::string>& ignored)
{
    folder_ = folder_of(path);
    const io::NamedBytes config_json = map(config_file);
    auto architecture = named(config_json.name, [&] { return io::read_architecture(config_json.bytes, ignored); });
    if (architecture.encoder && is_there(folder_ + generation_file)) {
        const io::NamedBytes generation = map(generation_file);
        architecture.target =
            named(generation.name, [&] { return io::read_generation(generation.bytes, architecture.target); });
    }
    const bool is_drawn = is_there(folder_ + draws_file);
    Tokenizers pieces = tokenizers(architecture.type, !is_drawn);
    if (is_drawn && is_there(folder_ + weights_file)) {
        throw Error(ErrorKind::data, quoted_path(folder_), fmt::format("{} and {}", weights_file, draws_file), "one of them");
    }
    const auto draw = [&] {
        const io::NamedBytes draws_json = map(draws_file);
        model::require_room_for_weights(architecture, memory_limit());
        return named(draws_json.name, [&] { return io::read_draws(draws_json.bytes, architecture); });
    };
    const transformer::Weights tensors = is_drawn ? draw() : io::read_weights(weights());
    trained_ = named(quoted_path(folder_), [&] {
        return std::make_unique<model::Trained>(transformer::Model(std::move(architecture), tensors), std::move(pieces.text),
                                                is_drawn, std::move(pieces.target));
    });
}

void ModelFolder::require_unchanged() const
{
    for (const MappedFile& file : files_) {
        file.require_unchanged();
    }
}

void ModelFolder::require_apart_from(const std::optional<std::string>& output) const
{
    for (const std::string& name : names_) {
        require_apart(output, folder_ + name);
    }
}

} // namespace attn::cli
