#include "attn/report/json/tensor_json.hpp"

#include "attn/model/recipe/documents.hpp"
#include "attn/report/json_writer.hpp"

namespace attn::report {
namespace {

/// The part of `tensor` at `leading`, all but whose last two dimensions are nested here.
template <typename Scalar>
void write_part(JsonWriter& json, const TensorView& tensor, Shape& leading, bool masked)
{
    const std::size_t rank = tensor.shape.size();
    if (rank < 2) {
        json.tensor(load<Scalar>(tensor), masked);
        return;
    }
    json.begin_array();
    if (leading.size() + 2 < rank) {
        const Index length = tensor.shape[leading.size()];
        for (Index i = 0; i < length; ++i) {
            leading.push_back(i);
            write_part<Scalar>(json, tensor, leading, masked);
            leading.pop_back();
        }
    } else {
        const Matrix<Scalar> matrix = load_matrix<Scalar>(tensor, leading);
        for (Index row = 0; row < matrix.rows(); ++row) {
            const auto columns = static_cast<std::size_t>(matrix.cols());
            json.numbers(std::span<const Scalar>(matrix.data() + row * matrix.cols(), columns), masked);
        }
    }
    json.end_array();
}

} // namespace

void write_tensor_json(const TensorView& tensor, const TensorJson& options, Buffer& buffer)
{
    namespace key = model::key;
    write_json_line(buffer, [&](JsonWriter& json) {
        json.member(key::schema, name_of(model::Document::tensor));
        json.member(key::name, options.name);
        json.member(key::dtype, name_of(tensor.type));
        json.member(key::shape, tensor.shape);
        json.key(key::data);
        Shape leading;
        if (tensor.type == ElementType::float64) {
            write_part<double>(json, tensor, leading, options.masked);
        } else {
            write_part<float>(json, tensor, leading, options.masked);
        }
    });
}

} // namespace attn::report
