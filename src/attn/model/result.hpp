// What a run gives: plain values, in the order and with the names of the JSON result.
#pragma once

#include "attn/model/recipe.hpp"
#include "attn/model/summary.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace attn::model {

/// Everything a result can show, in its order. Parameters are shown together, under "parameters".
enum class Item {
    tokens,
    key_tokens,
    vocabulary,
    token_ids,
    key_token_ids,
    parameters,
    embeddings,
    key_embeddings,
    queries,
    keys,
    values,
    scores,
    scaled_scores,
    capped_scores,
    masked_scores,
    weights,
    head_context,
    context,
    output,
    entropy,
    summary,
};
inline constexpr std::array item_names{
    "tokens",         "key_tokens", "vocabulary",   "token_ids", "key_token_ids", "parameters",    "embeddings",
    "key_embeddings", "queries",    "keys",         "values",    "scores",        "scaled_scores", "capped_scores",
    "masked_scores",  "weights",    "head_context", "context",   "output",        "entropy",       "summary",
};
[[nodiscard]] constexpr std::string_view name_of(Item item)
{
    return item_names[static_cast<std::size_t>(item)];
}

/// A set of items; walking through it gives them in the order of the enum.
class Show {
public:
    Show() = default;
    Show(std::initializer_list<Item> items) { insert(items); }

    void insert(Item item) { bits_ |= bit(item); }
    void insert(std::initializer_list<Item> items) { insert(items.begin(), items.end()); }
    template <typename Iterator>
    void insert(Iterator first, Iterator last)
    {
        for (; first != last; ++first) {
            insert(*first);
        }
    }
    [[nodiscard]] bool contains(Item item) const { return (bits_ & bit(item)) != 0; }
    [[nodiscard]] bool contains_any_from(Item first) const { return bits_ >= bit(first); }
    [[nodiscard]] bool empty() const { return bits_ == 0; }

    class Iterator {
    public:
        using value_type = Item;
        using difference_type = std::ptrdiff_t;

        Iterator() = default;
        explicit Iterator(std::uint32_t left) : left_(left) {}
        Item operator*() const { return static_cast<Item>(std::countr_zero(left_)); }
        Iterator& operator++()
        {
            left_ &= left_ - 1;
            return *this;
        }
        Iterator operator++(int)
        {
            const Iterator before = *this;
            ++*this;
            return before;
        }
        bool operator==(const Iterator&) const = default;

    private:
        std::uint32_t left_ = 0; ///< the items that are still to come
    };
    [[nodiscard]] Iterator begin() const { return Iterator(bits_); }
    [[nodiscard]] static Iterator end() { return {}; }

    bool operator==(const Show&) const = default;

private:
    static_assert(item_names.size() <= 32);
    [[nodiscard]] static std::uint32_t bit(Item item) { return std::uint32_t{1} << static_cast<unsigned>(item); }

    std::uint32_t bits_ = 0;
};

/// A numeric array of the result.
struct Array {
    std::string name; ///< "weights", or for a parameter "W_q"
    AnyTensor tensor;
};

/// The largest difference between an array and the same computed in float64.
struct Difference {
    std::string array;
    double absolute = 0;
    double relative = 0; ///< |x - y| / |y|, over y ≠ 0
};

struct Result {
    Recipe config;
    std::vector<std::string> tokens;     ///< (T) the words; with ids the labels, or the ids as strings
    std::vector<std::string> key_tokens; ///< (S) only with cross-attention; otherwise the tokens are the keys' too
    std::optional<std::vector<std::string>> vocabulary; ///< sorted; a word's id is its place. Absent with ids and positions
    std::vector<Index> token_ids, key_token_ids;        ///< empty for bare positions
    std::vector<Index> query_positions;                 ///< the rows that --query chose; empty: all
    std::vector<Array> parameters;                      ///< as drawn: embedding, W_q, W_k, W_v, W_o, …
    std::vector<Array> arrays;      ///< embeddings … entropy, those that were asked for and exist, in order
    std::optional<Summary> summary; ///< only where it was asked for
    std::vector<Difference> verify; ///< only with Recipe::verify
    std::vector<std::string> warnings;
    std::string_view portable_because = {}; ///< what an isa that was asked for does not compute; empty: it did
    Show show;                              ///< what a report prints of the above
    bool cross = false;
    std::optional<Index> head;           ///< of several the one that was kept; its arrays are (1, …)
    bool foreign = false;                ///< numbers of another program, of which the config says nothing but the words
    std::vector<std::string> key_labels; ///< the words of the keys and "(bias)", where there is one more key than words

    [[nodiscard]] const std::vector<std::string>& words_of_keys() const
    {
        return !key_labels.empty() ? key_labels : cross ? key_tokens : tokens;
    }
    /// The words of the query rows, after --query.
    [[nodiscard]] std::vector<std::string> words_of_queries() const;
    [[nodiscard]] const AnyTensor* find(std::string_view name) const; ///< in arrays, then in parameters; nullptr if absent
};

/// Throws Error(usage) for a --head that is none of so many.
void require_head(Index head, Index heads);

} // namespace attn::model
