// Tensors as report::torch_text writes them, for tests/oracle/live_torch_texts.py: reads one tensor a line,
//
//   float32|float64 DIGITS RANK LENGTH… NUMBER…
//
// and prints the text and a line with a form feed.
#include "attn/report/text/torch_text.hpp"
#include "attn/tensor/tensor.hpp"

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

namespace {

using namespace attn;

template <typename Scalar>
std::string text_of(const Shape& shape, int digits, std::istream& in)
{
    Tensor<Scalar> tensor(shape);
    for (Scalar& value : tensor.values) {
        std::string word;
        in >> word;
        value = static_cast<Scalar>(std::strtod(word.c_str(), nullptr)); // hexadecimal floats too, which >> does not read
    }
    return report::torch_text(std::span<const Scalar>(tensor.values), shape, digits);
}

std::string answer(std::istream& in)
{
    std::string type;
    int digits = 0;
    std::size_t rank = 0;
    in >> type >> digits >> rank;
    Shape shape(rank);
    for (Index& length : shape) {
        in >> length;
    }
    return type == "float32" ? text_of<float>(shape, digits, in) : text_of<double>(shape, digits, in);
}

} // namespace

int main()
{
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream in(line);
        std::cout << answer(in) << "\n\f\n";
    }
    return 0;
}
