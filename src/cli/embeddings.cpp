#include "cli/embeddings.hpp"

#include "attn/io/file_digest.hpp"
#include "attn/io/word_vectors.hpp"
#include "attn/tensor/error.hpp"

#include "cli/option_values.hpp"

#include <array>
#include <memory>

namespace attn::cli {
namespace {

using model::Setting;
using model::WordVectors;

constexpr std::array specs{
    OptionSpec{
        "--embeddings",
        "FILE[:NAME]",
        "the embedding table from a file: word vectors as text (GloVe, word2vec, fastText .vec), of which only the words "
        "of the input are read, or a tensor (.npy, .npz, .safetensors)",
        {}},
    OptionSpec{"--embedding-words", "FILE", "the words of the tensor's rows, one a line (default: rows are ids)", {}},
    OptionSpec{"--unknown", "TOKEN", "words that the file lacks get the vector of this one", {}},
};

/// Word vectors as text, in a file that stays where it is.
class TextVectors {
public:
    TextVectors(const MappedFile& file, bool allow_nonfinite)
        : file_(file), text_(io::open_vector_text(file.bytes(), file.name())), allow_nonfinite_(allow_nonfinite)
    {
    }

    [[nodiscard]] Index dim() const { return text_.dim; }

    [[nodiscard]] model::FoundVectors find(const model::WantedWords& wanted) const
    {
        return index_ ? index_->find(wanted, allow_nonfinite_) : io::find_vectors(text_, wanted, search());
    }

    void make_index() { index_.emplace(text_, search()); }

private:
    [[nodiscard]] io::VectorSearch search() const
    {
        const auto drop = [this, from = std::size_t{0}](std::size_t offset) mutable {
            file_.drop(from, offset);
            from = offset;
        };
        return {.allow_nonfinite = allow_nonfinite_, .passed = drop};
    }

    const MappedFile& file_;
    io::VectorText text_;
    bool allow_nonfinite_;
    std::optional<io::VectorIndex> index_;
};

WordVectors vectors_of_text(const MappedFile& file, const model::FileEmbeddings& embeddings)
{
    if (!embeddings.name.empty() || embeddings.words) {
        throw Error(ErrorKind::data, file.name(), "word vectors as text",
                    std::string("a tensor (.npy, .npz, .safetensors) beside ") +
                        (embeddings.words ? "a list of its words" : "the name of one, " + quoted(embeddings.name)));
    }
    const auto text = std::make_shared<TextVectors>(file, embeddings.allow_nonfinite);
    return {.name = file.name(),
            .dim = text->dim(),
            .find = [text](const model::WantedWords& wanted) { return text->find(wanted); },
            .prepare = [text] { text->make_index(); }};
}

/// The rows of a tensor (rows, D), by the words of a list.
model::FoundVectors find_rows(const TensorView& tensor, const io::WordList& list, const model::WantedWords& wanted)
{
    const auto count = static_cast<Index>(wanted.words.size());
    model::FoundVectors found{.rows = Tensor<double>({count, tensor.shape[1]}),
                              .found = std::vector<bool>(wanted.words.size())};
    for (const std::string& word : wanted.noticed) {
        found.noticed.push_back(list.row_of(word).has_value());
    }
    for (Index i = 0; i < count; ++i) {
        if (const auto row = list.row_of(wanted.words[static_cast<std::size_t>(i)])) {
            found.rows.matrix().row(i) = load_matrix<double>(row_block(tensor, *row, 1), {});
            found.found[static_cast<std::size_t>(i)] = true;
        }
    }
    return found;
}

void require_table(const TensorView& tensor, const std::string& what)
{
    const bool fits = tensor.shape.size() == 2 && tensor.shape[0] >= 1 && tensor.shape[0] <= largest_int32 &&
                      tensor.shape[1] >= 1 && tensor.shape[1] <= model::largest_vector;
    if (!fits) {
        throw Error(ErrorKind::data, what, "the shape " + to_string(tensor.shape),
                    "(rows, D), D up to " + std::to_string(model::largest_vector));
    }
}

/// The rows of the words that are wanted must be numbers; of others nobody knows.
void require_finite_rows(const TensorView& tensor, const io::WordList& list, std::span<const std::string> words,
                         const std::string& what)
{
    for (const std::string& word : words) {
        if (const auto row = list.row_of(word)) {
            require_finite(row_block(tensor, *row, 1), what + ", row " + std::to_string(*row) + ", " + quoted(word) + ",");
        }
    }
}

WordVectors vectors_of_tensor(const MappedFile& file, const model::FileEmbeddings& embeddings, TensorInputs& inputs)
{
    const TensorView tensor = inputs.open({embeddings.file, embeddings.name});
    const std::string what = embeddings.name.empty() ? file.name() : quoted(embeddings.name) + " of " + file.name();
    require_table(tensor, what);
    WordVectors vectors{.name = what, .dim = tensor.shape[1]};
    if (!embeddings.words) {
        vectors.row_count = tensor.shape[0];
        vectors.rows = [tensor, what, lenient = embeddings.allow_nonfinite] {
            if (!lenient) {
                require_finite(tensor, what);
            }
            return load<double>(tensor);
        };
        return vectors;
    }
    const MappedFile& words_file = inputs.any_file(embeddings.words->file);
    const auto list = std::make_shared<io::WordList>(words_file.bytes(), words_file.name());
    if (list->size() != tensor.shape[0]) {
        throw Error(ErrorKind::data, words_file.name(), std::to_string(list->size()) + " words",
                    std::to_string(tensor.shape[0]) + ", as many as " + what + " has rows");
    }
    vectors.find = [tensor, what, list, lenient = embeddings.allow_nonfinite](const model::WantedWords& wanted) {
        if (!lenient) {
            require_finite_rows(tensor, *list, wanted.words, what);
        }
        return find_rows(tensor, *list, wanted);
    };
    return vectors;
}

void require_digest(const MappedFile& file, model::FileDigest& stated)
{
    const model::FileDigest digest = io::file_digest(file.bytes());
    if (stated.stated() && stated != digest) {
        const auto text = [](const model::FileDigest& known) {
            return (known.sha256.empty() ? known.sha256_sample : known.sha256) +
                   (known.bytes ? " (" + std::to_string(*known.bytes) + " bytes)" : "");
        };
        throw Error(ErrorKind::data, "sha256 of " + file.name(), text(digest),
                    text(stated) + ", that of the file which was used");
    }
    stated = digest;
}

/// What the file decides: puts it in, or throws where another one is stated.
void put(std::optional<Index>& length, Index of_file, Setting setting, const model::Given& given, const std::string& file)
{
    if (length && *length != of_file) {
        throw Error(given.fault({setting}), given.name_of(setting), std::to_string(*length),
                    std::to_string(of_file) + ", which is that of " + file);
    }
    length = of_file;
}

} // namespace

std::span<const OptionSpec> embedding_specs()
{
    return specs;
}

std::optional<model::FileEmbeddings> read_embeddings(const Arguments& arguments)
{
    const auto file = arguments.value("--embeddings");
    const auto words = arguments.value("--embedding-words");
    const auto unknown = arguments.value("--unknown");
    if (!file) {
        for (const char* option : {"--embedding-words", "--unknown"}) {
            if (arguments.value(option)) {
                throw Error(ErrorKind::usage, std::string(option) + " needs --embeddings");
            }
        }
        return std::nullopt;
    }
    model::FileEmbeddings embeddings{.file = *file, .allow_nonfinite = arguments.flag("--allow-nonfinite")};
    if (words) {
        embeddings.words = {.file = *words};
    }
    embeddings.unknown = unknown;
    return embeddings;
}

void split_name(model::FileEmbeddings& embeddings)
{
    TensorArgument argument = split_tensor_argument(embeddings.file);
    embeddings.file = std::move(argument.path);
    embeddings.name = std::move(argument.name);
}

void load_embeddings(model::Recipe& recipe, TensorInputs& inputs, model::RunSettings& settings)
{
    settings.word_vectors.reset();
    if (!recipe.embeddings) {
        return;
    }
    model::FileEmbeddings& embeddings = *recipe.embeddings;
    refuse_standard_input(embeddings.file, "--embeddings");
    const MappedFile& file = inputs.any_file(embeddings.file);
    require_digest(file, embeddings.digest);
    if (embeddings.words) {
        refuse_standard_input(embeddings.words->file, "--embedding-words");
        require_digest(inputs.any_file(embeddings.words->file), embeddings.words->digest);
    }
    WordVectors vectors =
        io::is_tensor_file(file.bytes()) ? vectors_of_tensor(file, embeddings, inputs) : vectors_of_text(file, embeddings);
    if (recipe.parameters && recipe.dims.embed_dim && *recipe.dims.embed_dim != vectors.dim) {
        throw Error(ErrorKind::data, vectors.name, "vectors of " + std::to_string(vectors.dim) + " numbers",
                    std::to_string(*recipe.dims.embed_dim) + ", which the layer of " + quoted(recipe.parameters->file) +
                        " reads");
    }
    put(recipe.dims.embed_dim, vectors.dim, Setting::embed_dim, settings.given, vectors.name);
    const bool ids = std::holds_alternative<model::IdsInput>(recipe.input);
    if (vectors.rows && (ids || recipe.dims.vocab_size)) {
        put(recipe.dims.vocab_size, vectors.row_count, Setting::vocab_size, settings.given, vectors.name);
    }
    if (vectors.find && ids) {
        throw Error(settings.given.fault({Setting::ids}),
                    settings.given.name_of(Setting::ids) + " beside " + vectors.name +
                        ", which has vectors for words; allowed: a sentence, or a tensor without --embedding-words, whose rows "
                        "are ids");
    }
    if (vectors.find && recipe.dims.vocab_size) {
        throw Error(settings.given.fault({Setting::vocab_size}),
                    settings.given.name_of(Setting::vocab_size) +
                        " beside vectors of words: the table has a row for each distinct word of the input");
    }
    if (!vectors.find && embeddings.unknown) {
        throw Error(ErrorKind::data, vectors.name + " has no words for --unknown; allowed: with --embedding-words");
    }
    settings.word_vectors = std::move(vectors);
}

} // namespace attn::cli
