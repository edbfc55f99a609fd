// The words that no query sees: a mask over the keys.
#pragma once

#include "attn/model/layer/words.hpp"
#include "attn/tensor/view.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attn::model {

/// The places among `keys` that the recipe hides, ascending and without repetition: digits are always a position, a word is
/// every place where it stands. Throws Error for a position or word that is not there: usage or data, as `origin` says.
[[nodiscard]] std::vector<Index> hidden_places(const Recipe& recipe, const std::vector<std::string>& keys,
                                               const Origin& origin = {});

/// What the scores of a run meet, beside causal and window: the mask that the recipe states, or that of its file, and what it
/// hides. It keeps what it makes.
class WholeMask {
public:
    /// `of_file` counts where the recipe states none. Throws as hidden_places, and as broadcast_mask for a mask that does not
    /// broadcast to `scores` (H, T, S). `read_numbers`, where there is one, is called before the first number of a mask is
    /// read.
    WholeMask(const Recipe& recipe, const std::optional<TensorView>& of_file, const Shape& scores,
              const std::vector<std::string>& keys, const Origin& origin = {}, const std::function<void()>& read_numbers = {});
    WholeMask(const WholeMask&) = delete;
    WholeMask& operator=(const WholeMask&) = delete;
    WholeMask(WholeMask&&) = delete;
    WholeMask& operator=(WholeMask&&) = delete;
    ~WholeMask() = default;

    /// Without what is hidden; nothing if there is no mask.
    [[nodiscard]] const std::optional<TensorView>& given() const { return given_; }
    /// With it.
    [[nodiscard]] const std::optional<TensorView>& view() const { return view_; }

private:
    std::optional<StoredTensor> stated_, hiding_;
    std::optional<TensorView> given_, view_;
};

} // namespace attn::model
