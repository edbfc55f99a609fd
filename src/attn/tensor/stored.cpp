#include "attn/tensor/stored.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace attn {
StoredTensor::StoredTensor(std::string tensor_name, ElementType element, Shape dims)
    : name(std::move(tensor_name)), type(element), shape(std::move(dims)),
      bytes(static_cast<std::size_t>(checked_product(element_count(shape), size_of(type), "bytes of a tensor")))
{
}

NamedTensor owned(StoredTensor tensor)
{
    const auto owner = std::make_shared<const StoredTensor>(std::move(tensor));
    return {.name = owner->name, .view = owner->view(), .owner = owner};
}

NamedTensor owned(std::string name, Tensor<float> tensor)
{
    const auto owner = std::make_shared<const Tensor<float>>(std::move(tensor));
    const auto bytes = std::as_bytes(std::span(owner->values));
    return {.name = std::move(name), .view = row_major_view(ElementType::float32, owner->shape, bytes), .owner = owner};
}

template <typename Scalar>
void store(StoredTensor& tensor, Index first, std::span<const Scalar> values)
{
    const Index size = size_of(tensor.type);
    if (first < 0 || (first + static_cast<Index>(values.size())) * size > static_cast<Index>(tensor.bytes.size())) {
        throw Error(ErrorKind::internal, "store", fmt::format("{} values at {}", values.size(), first),
                    "within " + to_string(tensor.shape));
    }
    require_floating(tensor.view(), "store");
    to_bytes(tensor.type, values, tensor.bytes.data() + first * size);
}

template void store(StoredTensor&, Index, std::span<const float>);
template void store(StoredTensor&, Index, std::span<const double>);

} // namespace attn
