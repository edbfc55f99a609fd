// What a result can hold, each item declared once.
#pragma once

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

} // namespace attn::model
