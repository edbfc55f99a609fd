// Uses the installed library the way another project would, and checks its answers: the row of "is" in the 2023 tutorial, and a
// gradient that a hand computes.
#include "attn/core/gradients.hpp"
#include "attn/model/run/run.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <iostream>

namespace {

/// One query, 0, over two keys, so that both weights are 1/2; their values are 1 and 3. By FlashAttention's names dP is 2 and
/// 6, delta 4 and dS -1 and 1.
attn::Tensor<double> gradient_of_the_query()
{
    namespace core = attn::core;
    const attn::Tensor<double> queries{{1, 1, 1}, {0}}, keys{{1, 2, 1}, {1, -1}}, values{{1, 2, 1}, {1, 3}},
        grad{{1, 1, 1}, {2}};
    attn::Tensor<double> dq(queries.shape);
    core::GradientOutputs outputs;
    outputs[core::Gradient::dq] = core::span_of(dq);
    core::attention_backward(
        {.queries = core::as_batch(queries), .keys = core::as_batch(keys), .values = core::as_batch(values)}, {.scale = 1},
        {.context = core::as_batch(grad)}, outputs, {});
    return dq;
}

} // namespace

int main()
{
    if (gradient_of_the_query().values.front() != -2) {
        std::cerr << "the gradient of the query is not -2\n";
        return 1;
    }
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
