#include "attn/model/recipe/recipe.hpp"

#include <fmt/format.h>

namespace attn::model {

std::string place_of_step(std::size_t step)
{
    return fmt::format("draws[{}]", step);
}

std::vector<Draw> parts_of(const Draw& draw)
{
    if (draw.init != Initialisation::multihead_attention || draw.target != Target::none) {
        return {draw};
    }
    std::vector<Draw> parts{{.target = Target::W_o, .init = Initialisation::linear, .side = Side::left}};
    const auto add = [&](std::initializer_list<Target> targets, Initialisation init) {
        for (const Target target : targets) {
            parts.push_back({.target = target, .init = init});
        }
    };
    if (draw.bias) { // drawn with the matrix, and made zero with the other biases
        parts.push_back({.init = Initialisation::uniform, .shape = {{"D"}}});
    }
    add({Target::W_q, Target::W_k, Target::W_v}, Initialisation::multihead_attention);
    if (draw.bias) {
        add({Target::b_q, Target::b_k, Target::b_v, Target::b_o}, Initialisation::zeros);
    }
    if (draw.add_bias_kv) {
        for (const Target target : {Target::bias_k, Target::bias_v}) {
            parts.push_back({.target = target,
                             .init = Initialisation::xavier_normal,
                             .shape = {{Index{1}, Index{1}, "D"}},
                             .take = {0, 0}});
        }
    }
    return parts;
}

std::optional<Draw> find_draw(const Recipe& recipe, Target target)
{
    for (const Step& step : recipe.draws) {
        const auto* draw = std::get_if<Draw>(&step);
        if (draw == nullptr || (draw->target != target && draw->target != Target::none)) { // a layer has no target
            continue;
        }
        for (const Draw& part : parts_of(*draw)) {
            if (part.target == target) {
                return part;
            }
        }
    }
    return std::nullopt;
}

Side side_of(const Recipe& recipe, Target matrix)
{
    const Side usual = matrix == Target::W_o ? Side::right : Side::left;
    if (const std::optional<Draw> draw = find_draw(recipe, matrix)) {
        return draw->side.value_or(usual);
    }
    const bool in_out = recipe.parameters && recipe.parameters->layout == MatrixLayout::in_out;
    return is_of_score(matrix) && in_out ? Side::right : usual;
}

Recipe default_recipe()
{
    const auto draw = [](Target target, Initialisation init) { return Draw{.target = target, .init = init}; };
    Recipe recipe;
    recipe.draws = {
        Seed{usual_seed},
        draw(Target::embedding, Initialisation::normal),
        draw(Target::W_q, Initialisation::uniform),
        draw(Target::W_k, Initialisation::uniform),
        draw(Target::W_v, Initialisation::uniform),
    };
    return recipe;
}

} // namespace attn::model
