#include "attn/model/run/summary.hpp"

#include "attn/math/elementary.hpp"
#include "attn/model/run/result.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/text/tokenizer.hpp"

#include <algorithm>
#include <span>

namespace attn::model {
namespace {

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

/// weights (T, S) of one head, whose rows are the queries at `positions`; the first keys are the queries' own words, `ids`.
template <typename Matrix>
HeadSummary summary_of(const Matrix& weights, const std::vector<Index>& positions, const std::vector<Index>& ids)
{
    const Index words = std::ssize(ids);
    HeadSummary head;
    Mean itself, first, previous, next, same, induction;
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
        std::optional<double> others;
        std::optional<double> behind;
        for (Index key = 0; key < words; ++key) {
            if (key == position || ids[static_cast<std::size_t>(key)] != ids[static_cast<std::size_t>(position)]) {
                continue;
            }
            others = others.value_or(0) + static_cast<double>(weights(i, key));
            if (key + 1 < position) {
                behind = behind.value_or(0) + static_cast<double>(weights(i, key + 1));
            }
        }
        if (others) {
            same.count(*others);
        }
        if (behind) {
            induction.count(*behind);
        }
    }
    head.itself = itself.value();
    head.first = first.value().value_or(0);
    head.previous = previous.value();
    head.next = next.value();
    head.same = same.value();
    head.induction = induction.value();
    return head;
}

/// Of the queries' words, which are keys too but with cross-attention: numbers that are equal where words are.
std::vector<Index> ids_of_keys(const Result& result, const Layer& layer)
{
    if (result.is_cross(layer)) {
        return {};
    }
    const std::vector<std::string>& words = result.row_words(layer);
    const bool has_ids = result.row_ids(layer).size() == words.size(); // not of pieces that were joined to words
    return has_ids ? result.row_ids(layer) : text::ids_of(words, text::vocabulary(words));
}

/// -Σ w·ln w, in nats.
template <typename Row>
double entropy_of(const Row& row)
{
    double sum = 0;
    for (const auto weight : row) {
        sum -= weight > 0 ? static_cast<double>(weight) * math::log(static_cast<double>(weight)) : 0;
    }
    return sum;
}

/// (1, T, S): each row equal over the keys that it sees, which are all, or those up to its own where no weight lies beyond.
template <typename Scalar>
Tensor<double> equal_weights(const Tensor<Scalar>& weights, const std::vector<Index>& positions)
{
    bool causal = true;
    for (Index h = 0; h < weights.shape[0]; ++h) {
        for (Index i = 0; i < weights.rows(); ++i) {
            const Index beyond = std::max<Index>(weights.columns() - positions[static_cast<std::size_t>(i)] - 1, 0);
            causal = causal && (weights.matrix(h).row(i).tail(beyond).array() == 0).all();
        }
    }
    Tensor<double> equal({1, weights.rows(), weights.columns()});
    for (Index i = 0; i < weights.rows(); ++i) {
        const Index seen = causal ? std::min(positions[static_cast<std::size_t>(i)] + 1, weights.columns()) : weights.columns();
        equal.matrix(0).row(i).head(seen).setConstant(1 / static_cast<double>(seen));
    }
    return equal;
}

/// The strongest of one head, by the positions of their words.
template <typename Scalar>
std::vector<Pair> pairs_of(std::span<const Scalar> weights, Index keys, const std::vector<Index>& positions, Index top)
{
    std::vector<Pair> pairs = strongest_pairs(weights, keys, top);
    for (Pair& pair : pairs) {
        pair.query = positions[static_cast<std::size_t>(pair.query)];
    }
    return pairs;
}

} // namespace

Summary summarize(const Result& result, const Layer& layer, Index top)
{
    const AnyTensor* found = layer.find(Item::weights);
    const AnyTensor* entropies = layer.find(Item::entropy);
    if (found == nullptr) {
        throw Error(ErrorKind::internal, "summary", "nothing", "a result with weights");
    }
    const std::vector<Index> ids = ids_of_keys(result, layer);
    return std::visit(
        [&]<typename Scalar>(const Tensor<Scalar>& weights) {
            Summary summary{dtype_of<Scalar>, 0, {}, {}};
            summary.largest_entropy = math::log(static_cast<double>(weights.columns()));
            const std::vector<Index> positions =
                result.query_positions.empty() ? indices(weights.rows()) : result.query_positions;
            summary.equal = summary_of(equal_weights(weights, positions).matrix(0), positions, ids);
            const auto* entropy = entropies == nullptr ? nullptr : &std::get<Tensor<Scalar>>(*entropies);
            for (Index h = 0; h < weights.shape[0]; ++h) {
                HeadSummary head = summary_of(weights.matrix(h), positions, ids);
                Mean mean;
                for (Index i = 0; i < weights.rows(); ++i) {
                    mean.count(entropy == nullptr
                                   ? entropy_of(weights.matrix(h).row(i))
                                   : static_cast<double>(entropy->values[static_cast<std::size_t>(h * weights.rows() + i)]));
                }
                head.entropy = mean.value().value_or(0);
                const auto size = static_cast<std::size_t>(weights.rows() * weights.columns());
                const auto numbers = std::span(weights.values).subspan(static_cast<std::size_t>(h) * size, size);
                head.pairs = pairs_of(numbers, weights.columns(), positions, top);
                summary.heads.push_back(std::move(head));
            }
            return summary;
        },
        *found);
}

std::vector<Summary> summaries_of(const Result& result)
{
    std::vector<Summary> summaries;
    for (const Layer& layer : result.layers) {
        if (layer.find(Item::weights) != nullptr) {
            summaries.push_back(summarize(result, layer, 1));
        }
    }
    return summaries;
}

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
