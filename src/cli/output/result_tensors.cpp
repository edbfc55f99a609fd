#include "cli/output/result_tensors.hpp"

#include "attn/report/axes.hpp"
#include "attn/report/json/json.hpp"
#include "attn/tensor/error.hpp"
#include "cli/output/tensor_output.hpp"

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
    write_tensors(collector.tensors(), format, {{"schema", "attn-cli/result/1"}, {"config", config}}, output);
}

} // namespace attn::cli
