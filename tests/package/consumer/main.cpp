// Uses the installed library the way another project would, and checks its answer.
#include "attn/tensor/tensor.hpp"

#include <iostream>

int main()
{
    const attn::Tensor<float> tensor({2, 3}, {1, 2, 3, 4, 5, 6});
    if (attn::to_string(tensor.shape) != "(2, 3)" || tensor.matrix().row(1).sum() != 15.0F) {
        std::cerr << "wrong answer\n";
        return 1;
    }
    std::cout << "attn::attn answers\n";
}
