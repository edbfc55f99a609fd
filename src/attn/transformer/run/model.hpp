// A model that is ready to run: an architecture, and the tensors of its files that hold what the architecture asks for.
//
// Tensors stay where they are, in files that the caller has mapped, or that they own; nothing but biases and the weights of
// norms is copied. A model may lie in several files: their tensors are added to one Weights.
#pragma once

#include "attn/tensor/view.hpp"
#include "attn/transformer/architecture.hpp"
#include "attn/transformer/layers/layers.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace attn::transformer {

/// Tensors by the names that the files have for them.
class Weights {
public:
    struct StoredWeights {
        NamedTensor tensor;
        std::string unread; ///< an element type that is not read, "I8": no harm unless the architecture asks for it
        const BlockFormat* blocks = nullptr; ///< the tensor is the bytes of rows of blocks: see WeightMatrix
    };
    /// Throws Error(data) for a name that is already there.
    void add(const NamedTensor& tensor, const std::string& unread = {}, const BlockFormat* blocks = nullptr);

    using Entries = std::map<std::string, StoredWeights, std::less<>>;
    [[nodiscard]] const Entries& entries() const { return entries_; }

private:
    Entries entries_;
};

class Model {
public:
    /// Finds every tensor that the architecture asks for and checks its shape. Takes away one of the architecture's prefixes,
    /// and calls LayerNorm.gamma and LayerNorm.beta of old files weight and bias. Throws Error(data) for a tensor that is
    /// missing, of another shape, of an element type other than float32, float16 and bfloat16 (a matrix may also be rows of
    /// blocks), not row-major, or that the architecture does not know.
    Model(Architecture architecture, const Weights& weights);

    /// With the head that the files have, or none, and of tied words the name of the embedding.
    [[nodiscard]] const Architecture& architecture() const { return architecture_; }

    [[nodiscard]] Linear linear(const LinearPart& part) const;
    [[nodiscard]] Norm norm(const NormPart& part) const;
    /// The matrix `name`.weight.
    [[nodiscard]] WeightMatrix table(std::string_view name) const;
    /// The vector `name`, in full.
    [[nodiscard]] std::vector<float> vector(std::string_view name) const;

private:
    Architecture architecture_;
    Weights::Entries tensors_; ///< those that are needed, by the architecture's names
};

} // namespace attn::transformer
