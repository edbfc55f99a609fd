#include "cli/input/embeddings.hpp"

#include "attn/io/json/saved_result.hpp"
#include "attn/io/words/word_vectors.hpp"
#include "attn/model/layer/embedding_tensor.hpp"
#include "attn/tensor/error.hpp"

#include "attn/model/recipe/recipe_fields.hpp"
#include "cli/input/found_file.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace attn::cli {
namespace {

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

/// Of a text that is none of ours, or no JSON: unknown.
model::Document document_in(std::string_view text)
{
    try {
        return text.starts_with('{') ? io::kind_of(text) : model::Document::unknown;
    } catch (const Error&) {
        return model::Document::unknown;
    }
}

/// Throws for a document of ours, whose first line reads like a word and numbers that are none.
void refuse_document(const MappedFile& file)
{
    const model::Document kind = document_in({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
    if (kind != model::Document::unknown) {
        throw Error(ErrorKind::data, file.name(),
                    kind == model::Document::recipe   ? "a recipe"
                    : kind == model::Document::tensor ? "a tensor as JSON"
                                                      : "a result of attn-cli",
                    io::vectors_allowed);
    }
}

model::VectorsOfWords vectors_of_text(const MappedFile& file, const model::FileEmbeddings& embeddings)
{
    refuse_document(file);
    if (!embeddings.name.empty() || embeddings.words) {
        const bool named = !embeddings.name.empty();
        throw Error(ErrorKind::data, fmt::format("{} holds word vectors as text, which take no {}", file.name(),
                                                 named ? "name; got " + in_quotes(embeddings.name) : "list of words"));
    }
    const auto text = std::make_shared<TextVectors>(file, embeddings.allow_nonfinite);
    return {.name = file.name(),
            .dim = text->dim(),
            .find = [text](const model::WantedWords& wanted) { return text->find(wanted); },
            .prepare = [text] { text->make_index(); }};
}

/// `path` and `words_path` are where its files were found.
model::WordVectors vectors_of_tensor(const std::string& path, const std::string& words_path,
                                     const model::FileEmbeddings& embeddings, TensorInputs& inputs)
{
    const MappedFile& file = inputs.any_file(path);
    NamedTensor table = inputs.open({path, embeddings.name});
    table.name = embeddings.name.empty() ? file.name() : fmt::format("{} of {}", in_quotes(embeddings.name), file.name());
    model::require_table(table);
    if (!embeddings.words) {
        return model::vectors_of_ids(std::move(table), embeddings.allow_nonfinite);
    }
    const MappedFile& words_file = inputs.any_file(words_path);
    const Index rows = table.view.shape[0];
    const auto list = std::make_shared<io::WordList>(words_file.bytes(), words_file.name(), rows);
    if (list->size() != rows) {
        throw Error(ErrorKind::data, words_file.name(), counted(list->size(), "word"),
                    fmt::format("{}, as many as {} has rows", rows, table.name));
    }
    return model::vectors_of_words(std::move(table), embeddings.allow_nonfinite,
                                   [list](std::string_view word) { return list->row_of(word); });
}

} // namespace

void load_embeddings(model::Recipe& recipe, const LoadedFiles& files)
{
    auto& [inputs, settings, log, digests, folder] = files;
    settings.word_vectors.reset();
    if (!recipe.embeddings) {
        return;
    }
    model::FileEmbeddings& embeddings = *recipe.embeddings;
    refuse_standard_input(embeddings.file, model::field::embeddings_file, settings.origin);
    const FileSearch search{folder, settings.origin};
    const std::string path = found_file(search, model::field::embeddings_file, embeddings.file, embeddings.digest);
    std::string words_path;
    const MappedFile& file = inputs.any_file(path);
    require_digest(file, embeddings.digest, digests);
    if (embeddings.words) {
        model::WordListFile& words = *embeddings.words;
        refuse_standard_input(words.file, model::field::words_file, settings.origin);
        words_path = found_file(search, model::field::words_file, words.file, words.digest);
        require_digest(inputs.any_file(words_path), words.digest, digests);
    }
    model::WordVectors vectors = io::is_tensor_file(file.bytes()) ? vectors_of_tensor(path, words_path, embeddings, inputs)
                                                                  : model::WordVectors(vectors_of_text(file, embeddings));
    recipe = model::with_vectors(recipe, vectors, settings.origin);
    const auto* table = std::get_if<model::VectorsOfIds>(&vectors);
    if (table != nullptr && std::holds_alternative<model::IdsInput>(recipe.input)) {
        settings.origin = settings.origin.with_table_of(table->name);
    }
    settings.word_vectors = std::move(vectors);
}

void prepare_embeddings(const model::RunSettings& settings)
{
    const auto* words = settings.word_vectors ? std::get_if<model::VectorsOfWords>(&*settings.word_vectors) : nullptr;
    if (words != nullptr && words->prepare) {
        words->prepare();
    }
}

} // namespace attn::cli
