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
    explicit Collector(const model::Result& result) { add_all(result, ""); }
    explicit Collector(const model::LayeredResult& result)
    {
        for (const model::Result& layer : result.layers) {
            add_all(layer, fmt::format("layers.{}.", layer.layer.value_or(0)));
        }
        if (result.logits) {
            logits_ = {std::string(name_of(model::Item::logits)), *result.logits};
            add(*logits_, "");
        }
    }

    [[nodiscard]] const std::vector<io::TensorBytes>& tensors() const { return tensors_; }

private:
    void add_all(const model::Result& result, const std::string& prefix)
    {
        for (const model::ItemInfo& info : model::items) {
            const bool of_layer = info.item == model::Item::heads;
            const bool there = !of_layer && result.layer && !tensors_.empty(); // layers have the same words
            if (const auto* list = result.integers(info.item); list != nullptr && result.shows(info.item) && !there) {
                add((of_layer ? prefix : "") + std::string(info.name), *list,
                    model::Result::shape_of_integers(info.item, *list));
            }
        }
        for (const model::Array* array : report::shown_arrays(result)) {
            add(*array, prefix);
        }
    }

    void add(const std::string& name, const std::vector<Index>& values, const Shape& shape)
    {
        static_assert(sizeof(Index) == sizeof(std::int64_t));
        tensors_.push_back({name, ElementType::int64, shape, std::as_bytes(std::span(values))});
    }

    void add(const model::Array& array, const std::string& prefix)
    {
        std::visit(
            [&]<typename Scalar>(const Tensor<Scalar>& tensor) {
                constexpr ElementType type = sizeof(Scalar) == 4 ? ElementType::float32 : ElementType::float64;
                tensors_.push_back({prefix + array.name, type, tensor.shape, std::as_bytes(std::span(tensor.values))});
            },
            array.tensor);
    }

    std::vector<io::TensorBytes> tensors_;
    std::optional<model::Array> logits_;
};

/// For an .npz: nothing where all matrices lie in the order `run`.
io::Metadata sides_of(const model::Result& result)
{
    model::MatrixSides sides;
    for (const model::Array* array : report::shown_arrays(result)) {
        const auto matrix = std::ranges::find(model::matrices, array->name, [](model::Target one) { return name_of(one); });
        if (matrix != model::matrices.end()) {
            sides[*matrix] = array->side;
        }
    }
    const bool usual =
        std::ranges::all_of(sides, [](const auto& one) { return one.second == side_in(model::MatrixLayout::run, one.first); });
    return usual ? io::Metadata() : io::Metadata{{std::string(model::right_matrices), text_of(sides)}};
}

/// Throws Error(usage) for words alone.
void require_numbers(const Collector& collector)
{
    if (collector.tensors().empty()) {
        throw Error(ErrorKind::usage, model::option::show, "only words",
                    "in .npz and .safetensors at least one array of numbers, such as weights");
    }
}

} // namespace

void write_result_tensors(const model::LayeredResult& result, Format format, Output& output)
{
    const Collector collector(result);
    require_numbers(collector);
    const io::Metadata metadata = format == Format::npz ? io::Metadata() : report::metadata_of(result.config);
    write_tensors(collector.tensors(), format, metadata, output);
}

void write_result_tensors(const model::Result& result, Format format, Output& output)
{
    const Collector collector(result);
    require_numbers(collector);
    const io::Metadata metadata = format == Format::npz ? sides_of(result) : report::metadata_of(result.config);
    write_tensors(collector.tensors(), format, metadata, output);
}

} // namespace attn::cli
