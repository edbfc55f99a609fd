#include "attn/model/summary.hpp"

#include "attn/math/elementary.hpp"
#include "attn/model/result.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <numeric>

namespace attn::model {
namespace {

/// Larger weights first, then in the order of the array.
bool stronger(const Pair& a, const Pair& b)
{
    return a.weight != b.weight ? a.weight > b.weight : a.query != b.query ? a.query < b.query : a.key < b.key;
}

/// The mean of what was counted.
class Mean {
public:
    void count(double value)
    {
        sum_ += value;
        ++count_;
    }
    [[nodiscard]] std::optional<double> value() const
    {
        return count_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(count_));
    }

private:
    double sum_ = 0;
    Index count_ = 0;
};

/// weights (T, S) of one head, whose rows are the queries at `positions`; the keys 0 … words-1 are the queries' own words.
template <typename Matrix>
HeadSummary summary_of(const Matrix& weights, const std::vector<Index>& positions, Index words)
{
    HeadSummary head;
    Mean itself;
    Mean first;
    Mean previous;
    Mean next;
    for (Index i = 0; i < weights.rows(); ++i) {
        const Index position = positions[static_cast<std::size_t>(i)];
        const auto count = [&](Mean& mean, Index key) {
            if (key >= 0 && key < words) {
                mean.count(static_cast<double>(weights(i, key)));
            }
        };
        first.count(static_cast<double>(weights(i, 0)));
        count(itself, position);
        count(previous, position - 1);
        count(next, position + 1);
    }
    head.itself = itself.value();
    head.first = first.value().value_or(0);
    head.previous = previous.value();
    head.next = next.value();
    return head;
}

/// A heap holds the strongest so far, the weakest of them on top.
template <typename Matrix>
std::vector<Pair> strongest_pairs(const Matrix& weights, const std::vector<Index>& positions, Index top)
{
    std::vector<Pair> heap;
    for (Index i = 0; i < weights.rows(); ++i) {
        for (Index j = 0; j < weights.cols(); ++j) {
            const Pair pair{positions[static_cast<std::size_t>(i)], j, static_cast<double>(weights(i, j))};
            const bool full = std::ssize(heap) >= top;
            if (!(pair.weight > 0) || (full && !stronger(pair, heap.front()))) {
                continue;
            }
            if (full) {
                std::pop_heap(heap.begin(), heap.end(), stronger);
                heap.pop_back();
            }
            heap.push_back(pair);
            std::push_heap(heap.begin(), heap.end(), stronger);
        }
    }
    std::sort_heap(heap.begin(), heap.end(), stronger);
    return heap;
}

} // namespace

Summary summarize(const Result& result, Index top)
{
    const AnyTensor* found = result.find(name_of(Item::weights));
    const AnyTensor* entropies = result.find(name_of(Item::entropy));
    if (found == nullptr || entropies == nullptr) {
        throw Error(ErrorKind::internal, "summary", "nothing", "a result with weights and entropy");
    }
    return std::visit(
        [&]<typename Scalar>(const Tensor<Scalar>& weights) {
            Summary summary{std::is_same_v<Scalar, float> ? Dtype::float32 : Dtype::float64, 0, {}};
            summary.largest_entropy = math::log(static_cast<double>(weights.columns()));
            std::vector<Index> positions = result.query_positions;
            if (positions.empty()) {
                positions.resize(static_cast<std::size_t>(weights.rows()));
                std::iota(positions.begin(), positions.end(), Index{0});
            }
            const Index words = result.cross ? 0 : std::ssize(result.tokens);
            const auto& entropy = std::get<Tensor<Scalar>>(*entropies);
            for (Index h = 0; h < weights.shape[0]; ++h) {
                HeadSummary head = summary_of(weights.matrix(h), positions, words);
                Mean mean;
                for (Index i = 0; i < weights.rows(); ++i) {
                    mean.count(static_cast<double>(entropy.values[static_cast<std::size_t>(h * weights.rows() + i)]));
                }
                head.entropy = mean.value().value_or(0);
                head.pairs = strongest_pairs(weights.matrix(h), positions, top);
                summary.heads.push_back(std::move(head));
            }
            return summary;
        },
        *found);
}

} // namespace attn::model
