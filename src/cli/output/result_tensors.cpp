#include "cli/output/result_tensors.hpp"

#include "attn/model/layer/matrix_sides.hpp"
#include "attn/report/axes.hpp"
#include "attn/report/json/json.hpp"
#include "attn/tensor/error.hpp"
#include "cli/output/tensor_output.hpp"

#include <algorithm>

namespace attn::cli {
namespace {

class Collector {
public:
    explicit Collector(const model::Result& result)
    {
        for (const model::ItemInfo& info : model::items) {
            if (const auto* list = result.integers(info.item); list != nullptr && result.shows(info.item)) {
                add(info.name, *list);
            }
        }
        for (const model::Array* array : report::shown_arrays(result)) {
            add(*array);
        }
    }

    [[nodiscard]] const std::vector<io::TensorBytes>& tensors() const { return tensors_; }

private:
    void add(std::string_view name, const std::vector<Index>& values)
    {
        static_assert(sizeof(Index) == sizeof(std::int64_t));
        tensors_.push_back(
            {std::string(name), ElementType::int64, {static_cast<Index>(values.size())}, std::as_bytes(std::span(values))});
    }

    void add(const model::Array& array)
    {
        std::visit(
            [&]<typename Scalar>(const Tensor<Scalar>& tensor) {
                constexpr ElementType type = sizeof(Scalar) == 4 ? ElementType::float32 : ElementType::float64;
                tensors_.push_back({array.name, type, tensor.shape, std::as_bytes(std::span(tensor.values))});
            },
            array.tensor);
    }

    std::vector<io::TensorBytes> tensors_;
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

} // namespace

void write_result_tensors(const model::Result& result, Format format, Output& output)
{
    const Collector collector(result);
    if (collector.tensors().empty()) {
        throw Error(ErrorKind::usage, "--show", "only words",
                    "in .npz and .safetensors at least one array of numbers, such as weights");
    }
    std::string config;
    report::write_recipe(result.config, [&](std::string_view json) { config += json; });
    const io::Metadata of_config{{"schema", "attn-cli/result/1"}, {"config", config}};
    write_tensors(collector.tensors(), format, format == Format::npz ? sides_of(result) : of_config, output);
}

} // namespace attn::cli
