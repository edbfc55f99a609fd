#include "attn/model/run/strongest.hpp"

#include <algorithm>

namespace attn::model {

bool is_stronger(const Pair& a, const Pair& b)
{
    return a.weight != b.weight ? a.weight > b.weight : a.query != b.query ? a.query < b.query : a.key < b.key;
}

/// A heap holds the strongest so far, the weakest of them on top.
template <typename Scalar>
std::vector<Pair> strongest_pairs(std::span<const Scalar> values, Index columns, Index top)
{
    std::vector<Pair> heap;
    for (Index row = 0; row * columns < std::ssize(values); ++row) {
        for (Index column = 0; column < columns; ++column) {
            const Pair pair{row, column, static_cast<double>(values[static_cast<std::size_t>(row * columns + column)])};
            const bool full = std::ssize(heap) >= top;
            if (!(pair.weight > 0) || (full && !is_stronger(pair, heap.front()))) {
                continue;
            }
            if (full) {
                std::pop_heap(heap.begin(), heap.end(), is_stronger);
                heap.pop_back();
            }
            heap.push_back(pair);
            std::push_heap(heap.begin(), heap.end(), is_stronger);
        }
    }
    std::sort_heap(heap.begin(), heap.end(), is_stronger);
    return heap;
}

template std::vector<Pair> strongest_pairs(std::span<const float>, Index, Index);
template std::vector<Pair> strongest_pairs(std::span<const double>, Index, Index);

} // namespace attn::model
