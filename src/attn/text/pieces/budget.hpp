// How much work one text may be, so that no tokenizer.json makes a short sentence take minutes or gigabytes.
#pragma once

#include <cstddef>

namespace attn::text {

/// Steps: of matching, and some for each byte and piece that is written. 25 tokenizers of real models needed up to 120 for each
/// byte of any text.
class Budget {
public:
    /// 1024 steps for each byte of the text, and a million.
    explicit Budget(std::size_t bytes) : left_(1024 * bytes + (std::size_t{1} << 20U)) {}

    /// Throws Error(data) when it is used up.
    void spend(std::size_t steps);

private:
    std::size_t left_;
};

} // namespace attn::text
