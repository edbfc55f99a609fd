#include "attn/tensor/stored.hpp"

#include "attn/tensor/error.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace attn {
namespace {

static_assert(std::endian::native == std::endian::little, "bytes are stored as they are in memory");

template <typename Stored, typename Scalar, typename Convert>
void store_as(std::byte* to, std::span<const Scalar> values, const Convert& convert)
{
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Stored value = convert(values[i]);
        std::memcpy(to + i * sizeof(Stored), &value, sizeof(Stored));
    }
}

} // namespace

StoredTensor::StoredTensor(std::string tensor_name, ElementType element, Shape dims)
    : name(std::move(tensor_name)), type(element), shape(std::move(dims)),
      bytes(static_cast<std::size_t>(checked_product(element_count(shape), size_of(type), "bytes of a tensor")))
{
}

template <typename Scalar>
void store(StoredTensor& tensor, Index first, std::span<const Scalar> values)
{
    const Index size = size_of(tensor.type);
    if (first < 0 || (first + static_cast<Index>(values.size())) * size > static_cast<Index>(tensor.bytes.size())) {
        throw Error(ErrorKind::internal, "store", std::to_string(values.size()) + " values at " + std::to_string(first),
                    "within " + to_string(tensor.shape));
    }
    std::byte* to = tensor.bytes.data() + first * size;
    switch (tensor.type) {
    case ElementType::float16: return store_as<std::uint16_t>(to, values, [](Scalar v) { return to_float16(v); });
    case ElementType::bfloat16: return store_as<std::uint16_t>(to, values, [](Scalar v) { return to_bfloat16(v); });
    case ElementType::float32: return store_as<float>(to, values, [](Scalar v) { return static_cast<float>(v); });
    case ElementType::float64: return store_as<double>(to, values, [](Scalar v) { return static_cast<double>(v); });
    default: throw Error(ErrorKind::internal, "store", std::string(name_of(tensor.type)), "a floating-point type");
    }
}

template void store(StoredTensor&, Index, std::span<const float>);
template void store(StoredTensor&, Index, std::span<const double>);

} // namespace attn
