// Tensors with names, as they come from files and go to files.
#pragma once

#include "attn/tensor/view.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace attn {

/// What every reader of files gives and every writer of them takes: its bytes belong to another (a mapped file, a result), or
/// `owner`'s.
struct NamedTensor {
    std::string name; ///< UTF-8; "" where a file holds one without a name
    TensorView view;
    /// Brings the numbers to where the view points, once; from whichever thread. Empty: they are there.
    std::function<void()> read = {};
    std::shared_ptr<const void> owner = {}; ///< of the view's bytes, where they go when the last copy goes

    /// For a caller that has checked type and shape and reads the numbers next. Throws Error(data) for damaged data, each time.
    void read_numbers() const
    {
        if (read) {
            read();
        }
    }
};

/// A tensor that is being made: its type, shape and row-major little-endian bytes.
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

/// The same, which owns its bytes from now on.
[[nodiscard]] NamedTensor owned(StoredTensor tensor);
[[nodiscard]] NamedTensor owned(std::string name, Tensor<float> tensor);

/// Writes `values`, each rounded once to the tensor's type, from flat position `first` on.
template <typename Scalar>
void store(StoredTensor& tensor, Index first, std::span<const Scalar> values);

} // namespace attn
