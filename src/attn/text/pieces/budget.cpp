#include "attn/text/pieces/budget.hpp"

#include "attn/tensor/error.hpp"

namespace attn::text {

void Budget::spend(std::size_t steps)
{
    if (steps > left_) {
        throw Error(ErrorKind::data, "the tokenizer's steps and expressions", "more work than any model's tokenizer makes",
                    "1024 steps for each byte of the text, and 1048576");
    }
    left_ -= steps;
}

} // namespace attn::text
