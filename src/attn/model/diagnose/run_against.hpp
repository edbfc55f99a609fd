// A file of numbers held against what a run gives. Where they differ, the mistake that explains it is one of its attention
// (mistakes.hpp), or one around it (run_mistakes.hpp), which is made in the recipe; or two of them.
#pragma once

#include "attn/model/diagnose/against.hpp"
#include "attn/model/diagnose/run_mistakes.hpp"
#include "attn/model/layer/model_dims.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/run/run.hpp"

namespace attn::model::diagnose {

class RunAgainst {
public:
    /// What is held against it.
    struct File {
        const ComparedTensor& tensor;
        std::string name; ///< for messages
    };

    /// Makes the right run, all rows and heads of it. `item`: the array that files hold; nothing: what their tensor is
    /// called, or of several of the same shape among output, context and weights the one that is explained. Where the recipe
    /// asks for some rows, files hold those or all. `only`: the file where it is one, which is refused before the run takes
    /// memory. Throws as run() and against().
    RunAgainst(Recipe recipe, RunSettings settings, std::optional<Item> item, const std::optional<File>& only = {});

    /// Throws Error(data) for a shape that no such array has.
    [[nodiscard]] Against against(const File& file, const Criterion& criterion, const core::Work& work) const;

    /// What a recipe asks for of an array.
    struct Part {
        std::vector<Index> rows = {};  ///< empty: all
        std::vector<Index> heads = {}; ///< as Recipe::head
        bool single = false;           ///< one number a row: (H, T)

        [[nodiscard]] bool mean() const { return is_mean(heads); }
        [[nodiscard]] bool all() const { return rows.empty() && heads.empty(); }
    };

private:
    struct Held {
        Item item;
        Part part;
    };
    class Search;

    [[nodiscard]] Result made(const Recipe& recipe) const;
    [[nodiscard]] std::vector<Held> held(const File& file) const;
    /// The numbers of a file, a context by its heads.
    [[nodiscard]] std::vector<double> ordered(const std::vector<double>& numbers, const Held& held) const;
    [[nodiscard]] Against compared(const ComparedTensor& file, const Held& held, const Criterion& criterion) const;
    /// Adds what explains the differences.
    void explain(Against& result, const ComparedTensor& file, const Held& held, const core::Work& work) const;

    Recipe recipe_;
    RunSettings settings_;
    std::optional<Item> item_;
    Part part_;
    Show given_; ///< by the right run
    ModelDims dims_;
    Result right_;
};

} // namespace attn::model::diagnose
