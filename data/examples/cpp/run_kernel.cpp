// usage: run_kernel CASE.bin RESULT.bin — what the kernels make of a case, for attn-cli to judge: the context, or the gradients
// where the case has one.
#include "kernel.hpp"

int main(int, char** words)
{
    const auto arrays = read_raw(words[1]);
    const Array &q = arrays.at("queries"), &k = arrays.at("keys"), &v = arrays.at("values");
    if (!arrays.contains("grad")) {
        write_raw(words[2], {{"context", attention(q, k, v)}});
        return 0;
    }
    const auto [dq, dk, dv] = attention_backward(q, k, v, arrays.at("grad"));
    write_raw(words[2], {{"dq", dq}, {"dk", dk}, {"dv", dv}});
}
