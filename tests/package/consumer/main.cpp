// Uses the installed library the way another project would, and checks its answer: the row of "is" in the 2023 tutorial.
#include "attn/model/run/run.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <iostream>

int main()
{
    attn::model::Recipe recipe = attn::model::default_recipe();
    recipe.input = attn::model::SentenceInput{.sentence = "Life is short, eat dessert first"};
    const attn::model::Result result = attn::model::run(recipe);

    const attn::AnyTensor* found = result.find("weights");
    if (found == nullptr || attn::shape_of(*found) != attn::Shape{1, 6, 6}) {
        std::cerr << "no weights of the shape (1, 6, 6)\n";
        return 1;
    }
    const auto row = std::get<attn::Tensor<float>>(*found).matrix().row(1);
    const std::array printed{0.0185, 0.0312, 0.1778, 0.6368, 0.1265, 0.0092};
    for (std::size_t i = 0; i < printed.size(); ++i) {
        const auto weight = static_cast<double>(row[static_cast<attn::Index>(i)]);
        if (std::abs(weight - printed.at(i)) > 0.00005) {
            std::cerr << "weight " << i << " is " << weight << ", the tutorial prints " << printed.at(i) << '\n';
            return 1;
        }
    }
    std::cout << result.tokens.at(1) << " looks at " << result.tokens.at(3) << '\n';
}
