#include "attn/model/diagnose/layers_against.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

namespace attn::model::diagnose {
namespace {

Shape without_ones(Shape shape)
{
    std::erase(shape, 1);
    return shape;
}

/// Of one layer after the other.
std::vector<double> numbers_of_layers(const Result& result, Item item)
{
    std::vector<double> numbers;
    for (const Layer& layer : result.layers) {
        const auto& values = std::get<Tensor<float>>(*layer.find(item)).values;
        numbers.insert(numbers.end(), values.begin(), values.end());
    }
    return numbers;
}

/// (layers, heads, rows, width) of what is (heads, rows, width), (rows, width) or (width) in a layer.
ComparedDims dims_of_layers(Index layers, const Shape& one)
{
    const std::size_t rank = one.size();
    return {layers, rank > 2 ? one[0] : 1, rank > 1 ? one[rank - 2] : 1, one.back()};
}

} // namespace

Against against_layers(const Result& result, Item item, const ComparedTensor& file, const std::string& what,
                       const Criterion& criterion)
{
    const Shape& one = shape_of(*result.front().find(item));
    const Index layers = std::ssize(result.layers);
    Shape all = one;
    all.insert(all.begin(), layers);
    if (without_ones(file.view.shape) != without_ones(all)) {
        throw Error(ErrorKind::data, what, "the shape " + to_string(file.view.shape),
                    fmt::format("{}, the {} of {}; --layer chooses others", to_string(layers > 1 ? all : one), name_of(item),
                                layers > 1 ? counted(layers, "layer") : name_of(result.front().place())));
    }
    Against found;
    found.array =
        layers > 1 ? std::string(name_of(item)) : fmt::format("{} of {}", name_of(item), name_of(result.front().place()));
    found.of_layers = true;
    found.of_weights = item == Item::weights;
    const std::vector<double> right = numbers_of_layers(result, item);
    StoredTensor expected(std::string(name_of(item)), ElementType::float32, file.view.shape);
    store<double>(expected, 0, right);
    const ComparedTensor right_numbers{{expected.name, expected.view()}};
    found.comparison = compare({{file}, {}}, {{right_numbers}, {}}, {.tolerance = criterion.tolerance}).tensors.front();
    found.agreement = found.comparison.agrees() ? Agreement::within_tolerance : Agreement::differs;
    const Tolerance& tolerance = found.comparison.tolerance;
    found.where =
        where(dims_of_layers(layers, one), found.of_weights, numbers_beside(file, right_numbers, tolerance), right, tolerance);
    return found;
}

} // namespace attn::model::diagnose
