#include "attn/model/layer/parameters.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::model {
namespace {

/// Limits and deviations may lead out of the type: PyTorch draws in float32 whatever the run computes in.
template <typename Scalar>
void require_held(std::span<const Scalar> values, const PlannedDraw& draw)
{
    if (!all_finite(values)) {
        throw Error(ErrorKind::data, fmt::format("{}: {}", place_of_step(draw.step), name_of(draw.target)),
                    "numbers that are not finite",
                    "limits, means, deviations and gains for numbers up to 3.4e38; generators of NumPy go beyond with --dtype "
                    "float64");
    }
}

std::vector<double> numbers_of(const Ones& ones, Index count)
{
    std::vector<double> numbers(static_cast<std::size_t>(count));
    for (const Index place : ones.places) {
        numbers[static_cast<std::size_t>(place)] = 1.0;
    }
    return numbers;
}

/// What is kept of the numbers, where it lies in its parameter, which its first head makes room for.
template <typename Scalar>
void keep(std::vector<Parameter<Scalar>>& parameters, const PlannedDraw& draw, std::span<const double> numbers)
{
    auto found = std::ranges::find(parameters, draw.target, &Parameter<Scalar>::target);
    if (found == parameters.end()) {
        found = parameters.insert(found, {draw.target, draw.side, Tensor<Scalar>(draw.shape)});
    }
    Tensor<Scalar>& tensor = found->tensor;
    const auto at = static_cast<std::size_t>(draw.at), kept = static_cast<std::size_t>(draw.kept);
    const std::span<Scalar> part = std::span(tensor.values).subspan(at, kept);
    std::ranges::transform(numbers.subspan(static_cast<std::size_t>(draw.first), kept), part.begin(),
                           [](double number) { return static_cast<Scalar>(number); });
    require_held<Scalar>(part, draw);
    if (draw.padding) {
        tensor.matrix().row(*draw.padding).setZero();
    }
}

} // namespace

template <typename Scalar>
Drawn<Scalar> draw_parameters(const DrawPlan& plan)
{
    Drawn<Scalar> drawn;
    for (const auto& step : plan.steps) {
        if (const auto* seed = std::get_if<Seed>(&step)) {
            drawn.stream = start_stream(plan.generator, seed->value);
            continue;
        }
        const auto& draw = std::get<PlannedDraw>(step);
        if (const auto* given = std::get_if<TensorView>(&draw.numbers)) {
            drawn.parameters.push_back({draw.target, draw.side, {draw.shape, load<Scalar>(*given).values}});
            continue;
        }
        const auto* ones = std::get_if<Ones>(&draw.numbers);
        const std::vector<double> numbers = ones != nullptr
                                                ? numbers_of(*ones, draw.count)
                                                : draw_numbers(*drawn.stream, std::get<Distribution>(draw.numbers), draw.count);
        if (draw.target != Target::none) {
            keep<Scalar>(drawn.parameters, draw, numbers);
        }
    }
    std::ranges::sort(drawn.parameters, {}, &Parameter<Scalar>::target);
    return drawn;
}

template <typename Scalar>
Matrix<double> as_right_factor(const Parameter<Scalar>& W, Index heads)
{
    const Tensor<Scalar>& tensor = W.tensor;
    if (W.side == Side::left) { // (heads, d, D) in memory is the one matrix (heads·d, D)
        const Index D = tensor.columns();
        const Eigen::Map<const Matrix<Scalar>> stack(tensor.values.data(), element_count(tensor.shape) / D, D);
        return stack.template cast<double>().transpose();
    }
    if (tensor.shape.size() == 2) {
        return tensor.matrix().template cast<double>();
    }
    const Index d = tensor.columns();
    Matrix<double> factor(tensor.rows(), heads * d);
    for (Index h = 0; h < heads; ++h) {
        factor.middleCols(h * d, d) = tensor.matrix(h).template cast<double>();
    }
    return factor;
}

template Drawn<float> draw_parameters(const DrawPlan&);
template Drawn<double> draw_parameters(const DrawPlan&);
template Matrix<double> as_right_factor(const Parameter<float>&, Index);
template Matrix<double> as_right_factor(const Parameter<double>&, Index);

} // namespace attn::model
