#include "attn/model/diagnose/layers_against.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

void require_layers(const ComparedTensor& file, const std::string& what, Item item, const Shape& one,
                    const std::vector<LayerPlace>& layers)
{
    Shape all = one;
    all.insert(all.begin(), std::ssize(layers));
    if (without_ones(file.view.shape) != without_ones(all)) {
        const bool several = layers.size() > 1;
        throw Error(ErrorKind::data, what, "the shape " + to_string(file.view.shape),
                    fmt::format("{}, the {} of {}; --layer chooses others", to_string(several ? all : one), name_of(item),
                                several ? counted(std::ssize(layers), "layer") : name_of(layers.front())));
    }
}

Against against_layers(const Result& result, Item item, const ComparedTensor& file, const std::string& what,
                       const Criterion& criterion)
{
    const Shape& one = shape_of(*result.front().find(item));
    const Index layers = std::ssize(result.layers);
    std::vector<LayerPlace> places;
    std::ranges::transform(result.layers, std::back_inserter(places), &Layer::place);
    require_layers(file, what, item, one, places);
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
