// What a run computes from, made ready: the recipe of the options with its files and its text.
#pragma once

#include "attn/model/run/run.hpp"
#include "cli/input/found_file.hpp"
#include "cli/input/recipe_files.hpp"
#include "cli/options/command.hpp"
#include "cli/options/format.hpp"
#include "cli/options/input_options.hpp"
#include "cli/system/system.hpp"

#include "attn/tensor/error.hpp"

namespace attn::cli {

/// The recipe that the options describe; a text that is not known yet is an empty sentence. Throws Error.
[[nodiscard]] model::Recipe make_recipe(const InputOptions& options);

/// For a result that will be written in this format.
[[nodiscard]] constexpr Digests digests_for(Format format)
{
    return info_of(format).holds_config ? Digests::all : Digests::stated;
}

/// All of standard input as a sentence. Throws Error for a terminal that nobody pointed to, saying what might be given
/// `otherwise`, and for no words or a document of ours.
[[nodiscard]] std::string standard_sentence(const InputOptions& options, std::string_view otherwise);

/// Throws Error(data) for a sentence among the options that is a document of ours.
void refuse_documents(const InputOptions& options);

/// Warns when the sentence is a single word that names a recipe or a file, or begins like an option, and says how to give
/// that. `reads_file` says it of a file: "--lines reads a file".
void warn_of_other_meaning(const TypedArguments& typed, std::string_view reads_file, Log& log);

/// The recipe, the files that it names, and the settings that follow from both. Observer and what is shown are the caller's.
class RunInput {
public:
    RunInput(const InputOptions& options, model::Recipe recipe, const Globals& globals, Log& log);

    /// Opens the files that the recipe names, for a result that will be written in this format. Throws as load_files.
    void load(Format format);
    /// Throws Error(usage) when -o names a file that was loaded, or that the recipe comes from.
    void require_apart_from(const std::optional<std::string>& output) const;
    /// Takes standard_sentence().
    void read_standard_input(std::string_view otherwise);
    /// What load() assumed, whether the mask may be another, and whose the rows of a table are, to be said once nothing is
    /// wrong.
    void warn_of_assumptions();

    [[nodiscard]] const model::Recipe& recipe() const { return recipe_; }
    [[nodiscard]] model::RunSettings& settings() { return settings_; }
    [[nodiscard]] const TensorInputs& files() const { return files_; }
    /// By which the files of the recipe are found.
    [[nodiscard]] FileSearch search() const { return {folder_, settings_.origin}; }

    /// model(recipe, settings) with little memory allowed or, where that is too little, with what there is.
    template <typename Model>
    [[nodiscard]] auto within_memory(Model model)
    {
        settings_.memory_limit = small_memory;
        try {
            return model(recipe_, settings_);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::too_large) {
                throw;
            }
        }
        settings_.memory_limit = memory_limit();
        return model(recipe_, settings_);
    }

private:
    const InputOptions& options_;
    model::Recipe recipe_;
    Log& log_;
    TensorInputs files_; ///< that the recipe names
    model::RunSettings settings_;
    std::string folder_; ///< of the recipe
    std::optional<std::string> assumption_;
};

} // namespace attn::cli
