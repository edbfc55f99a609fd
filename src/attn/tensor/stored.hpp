// A tensor as it goes to a file: its type, shape and row-major little-endian bytes.
#pragma once

#include "attn/tensor/view.hpp"

#include <string>
#include <vector>

namespace attn {

struct StoredTensor {
    std::string name;
    ElementType type = ElementType::float32;
    Shape shape;
    std::vector<std::byte> bytes;

    StoredTensor() = default;
    /// Zeros. Throws Error(too_large) for what cannot be addressed.
    StoredTensor(std::string tensor_name, ElementType element, Shape dims);

    [[nodiscard]] TensorView view() const { return row_major_view(type, shape, bytes); }
};

/// Writes `values`, each rounded once to the tensor's type, from flat position `first` on.
template <typename Scalar>
void store(StoredTensor& tensor, Index first, std::span<const Scalar> values);

} // namespace attn
