// How much work one text may be, so that no tokenizer.json makes a short sentence take minutes or gigabytes.
#pragma once

#include <cstddef>

namespace attn::text {

/// Steps: of matching, and some for each byte and piece that is written. The tokenizers of real models need less than a
/// hundredth of it.
class Budget {
public:
    /// 4096 steps for each byte of the text, and a million.
    explicit Budget(std::size_t bytes) : left_(4096 * bytes + (std::size_t{1} << 20U)) {}

    /// Throws Error(data) when it is used up.
    void spend(std::size_t steps);

private:
    std::size_t left_;
};

} // namespace attn::text
