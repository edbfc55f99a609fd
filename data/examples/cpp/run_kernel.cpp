// usage: run_kernel CASE.bin RESULT.bin — what the kernel makes of a case, for attn-cli to judge.
#include "kernel.hpp"

int main(int, char** words)
{
    const auto arrays = read_raw(words[1]);
    write_raw(words[2], attention(arrays.at("queries"), arrays.at("keys"), arrays.at("values")));
}
