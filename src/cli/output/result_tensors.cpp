#include "cli/output/result_tensors.hpp"

#include "attn/model/layer/matrix_sides.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/report/axes.hpp"
#include "attn/report/json/json.hpp"
#include "attn/tensor/error.hpp"
#include "cli/options/show_option.hpp"
#include "cli/output/tensor_output.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::cli {
namespace {

class Collector {
public:
    explicit Collector(const model::Result& result)
    {
        for (const model::Layer& layer : result.layers) {
            add_all(result, layer, result.model ? fmt::format("layers.{}.", layer.number.value_or(0)) : "");
        }
        if (result.logits) {
            add(std::string(name_of(model::Item::logits)), *result.logits);
        }
    }

    [[nodiscard]] const std::vector<NamedTensor>& tensors() const { return tensors_; }

private:
    void add_all(const model::Result& result, const model::Layer& layer, const std::string& prefix)
    {
        const bool is_first = &layer == &result.front();
        for (const model::ItemInfo& info : model::items) {
            const bool of_layer = info.item == model::Item::heads;
            const auto* list = of_layer || is_first ? result.integers(info.item, layer) : nullptr; // layers share the rest
            if (list != nullptr && result.shows(info.item)) {
                add((of_layer ? prefix : "") + std::string(info.name), *list,
                    model::Result::shape_of_integers(info.item, *list));
            }
        }
        for (const model::Array* array : report::shown_arrays(result, layer)) {
            add(prefix + array->name, array->tensor);
        }
    }

    void add(const std::string& name, const std::vector<Index>& values, const Shape& shape)
    {
        static_assert(sizeof(Index) == sizeof(std::int64_t));
        tensors_.push_back({name, row_major_view(ElementType::int64, shape, std::as_bytes(std::span(values)))});
    }

    void add(const std::string& name, const AnyTensor& any)
    {
        std::visit(
            [&]<typename Scalar>(const Tensor<Scalar>& tensor) {
                const auto bytes = std::as_bytes(std::span(tensor.values));
                tensors_.push_back({name, row_major_view(element_type_of<Scalar>, tensor.shape, bytes)});
            },
            any);
    }

    std::vector<NamedTensor> tensors_; ///< refer to the result
};

/// For an .npz: nothing where all matrices lie in the order `run`.
io::Metadata sides_of(const model::Result& result)
{
    model::MatrixSides sides;
    for (const model::Array* array : report::shown_arrays(result, result.front())) {
        const auto matrix = std::ranges::find(model::matrices, array->name, [](model::Target one) { return name_of(one); });
        if (matrix != model::matrices.end()) {
            sides[*matrix] = array->side;
        }
    }
    const bool usual =
        std::ranges::all_of(sides, [](const auto& one) { return one.second == side_in(model::MatrixLayout::run, one.first); });
    return usual ? io::Metadata() : io::Metadata{{std::string(model::right_matrices), text_of(sides)}};
}

} // namespace

void write_result_tensors(const model::Result& result, Format format, Buffer& out)
{
    const Collector collector(result);
    if (collector.tensors().empty()) {
        throw Error(ErrorKind::usage, model::option::show, "only words",
                    "in .npz and .safetensors at least one array of numbers, such as weights");
    }
    const io::Metadata metadata = format == Format::npz ? sides_of(result)
                                  : result.model        ? report::metadata_of(*result.model)
                                                        : report::metadata_of(result.config());
    write_tensors(collector.tensors(), format, metadata, out);
}

} // namespace attn::cli
