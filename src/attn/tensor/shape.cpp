#include "attn/tensor/shape.hpp"

#include "attn/tensor/error.hpp"

#include <limits>

namespace attn {
namespace {

[[noreturn]] void overflows(const char* what)
{
    throw Error(ErrorKind::too_large, std::string(what) + ": more than 2^63-1, the most that can be addressed");
}

} // namespace

std::string to_string(const Shape& shape)
{
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    }
    return text + (shape.size() == 1 ? ",)" : ")");
}

Index checked_product(Index a, Index b, const char* what)
{
    Index product = 0;
    if (__builtin_mul_overflow(a, b, &product)) {
        overflows(what);
    }
    return product;
}

Index checked_sum(Index a, Index b, const char* what)
{
    Index sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) {
        overflows(what);
    }
    return sum;
}

Index element_count(const Shape& shape)
{
    bool empty = false;
    for (const Index length : shape) {
        if (length < 0) {
            throw Error(ErrorKind::internal, "shape", to_string(shape), "lengths of 0 and more");
        }
        empty = empty || length == 0;
    }
    Index count = 1;
    for (const Index length : shape) {
        count = empty ? 0 : checked_product(count, length, "elements of a tensor");
    }
    return count;
}

Shape index_of(const Shape& shape, Index place)
{
    Shape index(shape.size());
    for (std::size_t d = shape.size(); d-- > 0;) {
        index[d] = place % shape[d];
        place /= shape[d];
    }
    return index;
}

} // namespace attn
