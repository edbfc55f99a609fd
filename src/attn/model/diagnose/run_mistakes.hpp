// The mistakes that people make around attention: in words, draws, projections and positions. Each changes a recipe, and the
// run is made again.
#pragma once

#include "attn/model/diagnose/mistakes.hpp"
#include "attn/model/run/result.hpp"

#include <functional>
#include <optional>
#include <span>

namespace attn::model::diagnose {

struct RunMistake : MistakeInfo {
    /// Changes a recipe whose result is `right`, with parameters, embeddings, queries, keys and values at least; leaves it as
    /// it is, or gives nothing, where the mistake cannot be made.
    using Change = std::function<std::optional<Recipe>(Recipe recipe, const Result& right)>;
    /// What it does to queries, keys and values once they are made; their attention is then computed again. Or, of `finish`,
    /// to what came of them.
    using Alter = void (*)(Result& result, const Recipe& right);

    RunMistake(std::string called, Group of, std::string gives, std::string_view advised, Change how, Alter then = nullptr)
        : MistakeInfo{std::move(called), of, std::move(gives), advised}, change(std::move(how)), alter(then)
    {
    }

    /// The recipe with the mistake; nothing where it cannot be made.
    [[nodiscard]] std::optional<Recipe> in(const Recipe& recipe, const Result& right) const;

    Change change;
    Alter alter;
    Alter finish = nullptr; ///< of what is tried alone
};

[[nodiscard]] std::span<const RunMistake> run_mistakes();
/// Other seeds than that of the recipe: those that people use, then all up to 999.
[[nodiscard]] std::span<const RunMistake> seeds();
inline constexpr std::size_t usual_seeds = 12; ///< the first of seeds()
/// What is tried alone, each in several ways that share a name.
[[nodiscard]] std::span<const RunMistake> modules();
inline constexpr std::string_view dropout_on = "dropout-on"; ///< one of them

} // namespace attn::model::diagnose
