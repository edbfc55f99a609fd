// What a result can hold, each item declared once. --show, JSON in both directions, CSV, tensors, tables, `check` and the
// schema of results read this table.
#pragma once

#include "attn/core/attention.hpp"
#include "attn/core/gradients.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::model {

/// In the order of the JSON result, and of what is computed: from `scores` on, attention has to run (contains_any_from).
enum class Item : std::uint8_t {
    tokens,
    key_tokens,
    vocabulary,
    token_ids,
    key_token_ids,
    token_types,
    offsets,
    query_positions,
    heads,
    alignment,
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
    dropped_weights,
    head_context,
    context,
    output,
    hidden_states,
    pooled,
    lens,
    entropy,
    lse,
    present_key,
    present_value,
    dweights,
    delta,
    dmasked_scores,
    dscores,
    dq,
    dk,
    dv,
    dpast_key,
    dpast_value,
    dmask,
    dsinks,
    dscale,
    logits,
    summary,
};

enum class ItemKind : std::uint8_t {
    words,      ///< a list of words
    vocabulary, ///< words and their ids
    integers,   ///< a list of ids or positions, or of pairs of them
    parameters, ///< the parameters as drawn, each by its own name
    numbers,    ///< one array
    summary,
};

/// What the places along a dimension stand for.
enum class Axis : std::uint8_t {
    none,       ///< no such dimension
    number,     ///< components of a vector, or the rows of a parameter
    vocabulary, ///< rows of the embedding table
    tokens,     ///< all query words
    key_tokens, ///< all key words
    queries,    ///< the query words after --query
    keys,       ///< the key words, and "(bias)" where there is one more key than words
};

/// The innermost dimensions of an array, after that of the heads.
struct Axes {
    Axis row = Axis::number;
    Axis column = Axis::number;

    bool operator==(const Axes&) const = default;
};

/// What makes an item exist. is_gradient() and is_of_models() ask for ranges of it.
enum class Needs : std::uint8_t {
    nothing,
    sentence,
    ids,
    cross,
    key_ids,
    query,
    head,
    softcap,
    mask,
    dropout,
    output_projection,
    cache,
    gradient,       ///< of the context or lse, from which those of the inputs follow
    cache_gradient, ///< and a cache
    mask_gradient,  ///< and a mask of numbers
    sink_gradient,  ///< and sinks
    parameters,     ///< of its own, as drawn or from files
    embeddings,     ///< from which queries, keys and values are made
    key_embeddings,
    model,      ///< a whole trained one
    states,     ///< of the layers of such a model, and not of a cross-attention within them
    cross_part, ///< the cross-attention of such a model
    pool,       ///< of such a model, and how to make one vector of a sentence
    tokenizer,  ///< of such a model
};

/// Whose --show names an item.
enum class ShownBy : std::uint8_t { run, attend, both };

enum class Heads : std::uint8_t { none, queries, keys }; ///< a first dimension of H or H_kv heads

struct ItemInfo {
    Item item;
    std::string_view name; ///< in JSON, after --show, and in files of tensors
    ItemKind kind;
    Needs needs;
    ShownBy shown_by;
    Heads heads = Heads::none;
    Axes axes = {};
    std::string_view meaning = {};               ///< of numbers: their shape, and what the name does not say
    std::optional<core::Stage> stage = {};       ///< that computes it. What attend calls context is head_context in core
    std::optional<core::Gradient> gradient = {}; ///< of core; sums over all queries have none
};

inline constexpr Axes per_token{Axis::tokens, Axis::number};
inline constexpr Axes per_key_token{Axis::key_tokens, Axis::number};
inline constexpr Axes per_query{Axis::queries, Axis::number};
inline constexpr Axes one_per_query{Axis::queries, Axis::none};
inline constexpr Axes per_key{Axis::keys, Axis::number};
inline constexpr Axes per_pair{Axis::queries, Axis::keys};

inline constexpr Axes one_vector{Axis::none, Axis::number};
inline constexpr Axes per_word{Axis::queries, Axis::vocabulary};

inline constexpr Axes per_value{Axis::number, Axis::number}; ///< in the shape of an input

[[nodiscard]] constexpr ItemInfo numbers(Item item, std::string_view name, Needs needs, ShownBy shown_by, Heads heads,
                                         Axes axes, std::string_view meaning, std::optional<core::Stage> stage = {})
{
    return {item, name, ItemKind::numbers, needs, shown_by, heads, axes, meaning, stage};
}

/// What `attend` gives when it is told a gradient of its results.
[[nodiscard]] constexpr ItemInfo gradient(Item item, std::string_view name, Needs needs, Heads heads, Axes axes,
                                          std::string_view meaning, std::optional<core::Gradient> of = {})
{
    return {item, name, ItemKind::numbers, needs, ShownBy::attend, heads, axes, meaning, {}, of};
}

inline constexpr std::array items{
    ItemInfo{Item::tokens, "tokens", ItemKind::words, Needs::nothing, ShownBy::run},
    ItemInfo{Item::key_tokens, "key_tokens", ItemKind::words, Needs::cross, ShownBy::run},
    ItemInfo{Item::vocabulary, "vocabulary", ItemKind::vocabulary, Needs::sentence, ShownBy::run},
    ItemInfo{Item::token_ids, "token_ids", ItemKind::integers, Needs::ids, ShownBy::run},
    ItemInfo{Item::key_token_ids, "key_token_ids", ItemKind::integers, Needs::key_ids, ShownBy::run},
    ItemInfo{Item::token_types, "token_types", ItemKind::integers, Needs::tokenizer, ShownBy::run},
    ItemInfo{Item::offsets, "offsets", ItemKind::integers, Needs::tokenizer, ShownBy::run},
    ItemInfo{Item::query_positions, "query_positions", ItemKind::integers, Needs::query, ShownBy::run},
    ItemInfo{Item::heads, "heads", ItemKind::integers, Needs::head, ShownBy::run},
    ItemInfo{Item::alignment, "alignment", ItemKind::integers, Needs::cross_part, ShownBy::run},
    ItemInfo{Item::parameters, "parameters", ItemKind::parameters, Needs::parameters, ShownBy::run},
    numbers(Item::embeddings, "embeddings", Needs::embeddings, ShownBy::run, Heads::none, per_token, "(T, D)"),
    numbers(Item::key_embeddings, "key_embeddings", Needs::key_embeddings, ShownBy::run, Heads::none, per_key_token, "(S, D)"),
    numbers(Item::queries, "queries", Needs::nothing, ShownBy::run, Heads::queries, per_query, "(H, T, d_k)"),
    numbers(Item::keys, "keys", Needs::nothing, ShownBy::run, Heads::keys, per_key, "(H_kv, S, d_k)"),
    numbers(Item::values, "values", Needs::nothing, ShownBy::run, Heads::keys, per_key, "(H_kv, S, d_v)"),
    numbers(Item::scores, "scores", Needs::nothing, ShownBy::both, Heads::queries, per_pair,
            "(H, T, S): Q·Kᵀ, or what another function gives", core::Stage::scores),
    numbers(Item::scaled_scores, "scaled_scores", Needs::nothing, ShownBy::both, Heads::queries, per_pair, "(H, T, S)",
            core::Stage::scaled_scores),
    numbers(Item::capped_scores, "capped_scores", Needs::softcap, ShownBy::both, Heads::queries, per_pair, "(H, T, S)",
            core::Stage::capped_scores),
    numbers(Item::masked_scores, "masked_scores", Needs::mask, ShownBy::both, Heads::queries, per_pair, "(H, T, S)",
            core::Stage::masked_scores),
    numbers(Item::weights, "weights", Needs::nothing, ShownBy::both, Heads::queries, per_pair, "(H, T, S): softmax over keys",
            core::Stage::weights),
    numbers(Item::dropped_weights, "dropped_weights", Needs::dropout, ShownBy::both, Heads::queries, per_pair,
            "(H, T, S): weights · kept / (1 - p)", core::Stage::dropped_weights),
    numbers(Item::head_context, "head_context", Needs::nothing, ShownBy::run, Heads::queries, per_query, "(H, T, d_v)",
            core::Stage::head_context),
    numbers(Item::context, "context", Needs::nothing, ShownBy::both, Heads::none, per_query, "(T, H·d_v): heads side by side"),
    numbers(Item::output, "output", Needs::output_projection, ShownBy::run, Heads::none, per_query, "(T, output_dim)"),
    numbers(Item::hidden_states, "hidden_states", Needs::states, ShownBy::run, Heads::none, per_token,
            "(T, D): what leaves the layer, the last one's behind the final norm"),
    numbers(Item::pooled, "pooled", Needs::pool, ShownBy::run, Heads::none, one_vector,
            "(D): of the hidden states the mean over all tokens, or the first or last token's"),
    numbers(Item::lens, "lens", Needs::states, ShownBy::run, Heads::none, per_word,
            "(T, V): the logits if this layer were the last: what leaves it through the final norm and the head"),
    numbers(Item::entropy, "entropy", Needs::nothing, ShownBy::both, Heads::queries, one_per_query, "(H, T), in nats",
            core::Stage::entropy),
    numbers(Item::lse, "lse", Needs::nothing, ShownBy::both, Heads::queries, one_per_query,
            "(H, T): ln Σ exp of what goes into the softmax; -inf for a row without keys", core::Stage::lse),
    numbers(Item::present_key, "present_key", Needs::cache, ShownBy::attend, Heads::keys, per_key, "(H_kv, S, d_k)"),
    numbers(Item::present_value, "present_value", Needs::cache, ShownBy::attend, Heads::keys, per_key, "(H_kv, S, d_v)"),
    gradient(Item::dweights, "dweights", Needs::gradient, Heads::queries, per_pair, "(H, T, S): dO·Vᵀ",
             core::Gradient::dweights),
    gradient(Item::delta, "delta", Needs::gradient, Heads::queries, one_per_query,
             "(H, T): Σ dO·O over components, less the gradient of lse", core::Gradient::delta),
    gradient(Item::dmasked_scores, "dmasked_scores", Needs::gradient, Heads::queries, per_pair,
             "(H, T, S): weights · (dweights - delta)", core::Gradient::dmasked_scores),
    gradient(Item::dscores, "dscores", Needs::gradient, Heads::queries, per_pair,
             "(H, T, S): of Q·Kᵀ, before scale and softcap", core::Gradient::dscores),
    gradient(Item::dq, "dq", Needs::gradient, Heads::queries, per_query, "as the queries", core::Gradient::dq),
    gradient(Item::dk, "dk", Needs::gradient, Heads::keys, per_key, "as the keys", core::Gradient::dk),
    gradient(Item::dv, "dv", Needs::gradient, Heads::keys, per_key, "as the values", core::Gradient::dv),
    gradient(Item::dpast_key, "dpast_key", Needs::cache_gradient, Heads::keys, per_key, "as the cached keys",
             core::Gradient::dpast_key),
    gradient(Item::dpast_value, "dpast_value", Needs::cache_gradient, Heads::keys, per_key, "as the cached values",
             core::Gradient::dpast_value),
    gradient(Item::dmask, "dmask", Needs::mask_gradient, Heads::none, per_value,
             "as the mask, summed over what it is repeated along"),
    gradient(Item::dsinks, "dsinks", Needs::sink_gradient, Heads::none, per_value, "(H)"),
    gradient(Item::dscale, "dscale", Needs::gradient, Heads::none, per_value, "one number"),
    numbers(Item::logits, "logits", Needs::model, ShownBy::run, Heads::none, per_word,
            "(T, V): scores of the next word, or of a masked one"),
    ItemInfo{Item::summary, "summary", ItemKind::summary, Needs::nothing, ShownBy::run},
};

[[nodiscard]] constexpr const ItemInfo& info_of(Item item)
{
    return items[static_cast<std::size_t>(item)];
}
/// The items that core computes, in the order of its stages: each has one.
inline constexpr auto stage_items = [] {
    core::PerStage<Item> list;
    for (const core::Stage stage : core::every_stage) {
        list[stage] = std::ranges::find(items, std::optional(stage), &ItemInfo::stage)->item;
    }
    return list;
}();
static_assert(std::ranges::count_if(items, [](const ItemInfo& info) { return info.stage.has_value(); }) == core::stage_count,
              "core::stage_count names the last stage");
[[nodiscard]] constexpr Item item_of(core::Stage stage)
{
    return stage_items[stage];
}
/// Nothing for what core does not compute.
[[nodiscard]] constexpr std::optional<core::Stage> stage_of(Item item)
{
    return info_of(item).stage;
}

[[nodiscard]] constexpr std::string_view name_of(Item item)
{
    return info_of(item).name;
}
[[nodiscard]] constexpr std::optional<Item> item_called(std::string_view name)
{
    for (const ItemInfo& info : items) {
        if (info.name == name) {
            return info.item;
        }
    }
    return std::nullopt;
}

/// Of an array of a result; a name that is not an item's is a parameter's.
[[nodiscard]] constexpr ItemKind kind_of(std::string_view array)
{
    const std::optional<Item> item = item_called(array);
    return item ? info_of(*item).kind : ItemKind::numbers;
}

/// Whether these scores are -inf where a mask is, which JSON writes as null and CSV as nothing.
[[nodiscard]] constexpr bool is_masked(std::optional<Item> item)
{
    return item == Item::masked_scores;
}

/// Whether its integers are pairs: where something begins, and where it ends.
[[nodiscard]] constexpr bool is_paired(Item item)
{
    return item == Item::offsets;
}

/// Where an item stands in the result of a whole trained model.
enum class Standing {
    nowhere,       ///< such a run has none
    before_layers, ///< the layers have it in common
    in_layer,
    behind_layers,
};
[[nodiscard]] constexpr Standing standing_of(Item item)
{
    if (info_of(item).shown_by == ShownBy::attend) {
        return Standing::nowhere;
    }
    switch (item) {
    case Item::vocabulary:
    case Item::parameters:
    case Item::key_embeddings:
    case Item::dropped_weights: return Standing::nowhere;
    case Item::tokens:
    case Item::key_tokens:
    case Item::token_ids:
    case Item::key_token_ids:
    case Item::token_types:
    case Item::offsets:
    case Item::query_positions: return Standing::before_layers;
    case Item::logits: return Standing::behind_layers;
    default: return Standing::in_layer;
    }
}

/// Whether it is a gradient, of an input or of what lies on the way.
[[nodiscard]] constexpr bool is_gradient(Item item)
{
    const Needs needs = info_of(item).needs;
    return needs >= Needs::gradient && needs <= Needs::sink_gradient;
}

/// Scores of every kind, and weights: a number per query and key, which a picture can show.
[[nodiscard]] constexpr bool is_drawn(Item item)
{
    return info_of(item).axes == per_pair;
}

/// Whether the mean of all heads is taken of it: of weights alone, as nn.MultiheadAttention does.
[[nodiscard]] constexpr bool has_mean(Item item)
{
    return item == Item::weights;
}

/// Whether the item says which part of the rest there is, and so is there whenever --query or --head is.
[[nodiscard]] constexpr bool is_choice(Item item)
{
    return item == Item::query_positions || item == Item::heads;
}

/// Whether a plain run never has it.
[[nodiscard]] constexpr bool is_of_models(const ItemInfo& info)
{
    return info.needs >= Needs::model;
}

/// Whether its numbers are scores of words, which the head of a model gives.
[[nodiscard]] constexpr bool scores_words(Item item)
{
    return info_of(item).axes == per_word;
}

/// Whether --show has to name it: `all` leaves out what says the rest in other words, and what is as long as a vocabulary.
[[nodiscard]] constexpr bool is_named_alone(Item item)
{
    return info_of(item).kind == ItemKind::summary || item == Item::alignment || scores_words(item);
}

/// Whether the mean of all heads leaves no such item.
[[nodiscard]] constexpr bool is_lost_in_mean(const ItemInfo& info)
{
    return (info.heads != Heads::none && !has_mean(info.item)) || info.kind == ItemKind::summary;
}

/// Whether --show of `run` or `attend` names the item.
[[nodiscard]] constexpr bool is_shown_by(const ItemInfo& info, ShownBy command)
{
    return (info.shown_by == command || info.shown_by == ShownBy::both) && !is_choice(info.item);
}

/// A set of items; walking through it gives them in the order of the enum.
class Show {
public:
    Show() = default;
    Show(std::initializer_list<Item> list) { insert(list); }

    void insert(Item item) { bits_ |= bit(item); }
    void insert(std::initializer_list<Item> list) { insert(list.begin(), list.end()); }
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
    [[nodiscard]] int size() const { return std::popcount(bits_); }
    /// How many of them stand before this one.
    [[nodiscard]] int count_before(Item item) const { return std::popcount(bits_ & (bit(item) - 1)); }
    [[nodiscard]] Show with(const Show& other) const
    {
        Show both;
        both.bits_ = bits_ | other.bits_;
        return both;
    }
    /// Those that the other does not have.
    [[nodiscard]] Show without(const Show& other) const
    {
        Show rest;
        rest.bits_ = bits_ & ~other.bits_;
        return rest;
    }

    class Iterator {
    public:
        using value_type = Item;
        using difference_type = std::ptrdiff_t;

        Iterator() = default;
        explicit Iterator(std::uint64_t left) : left_(left) {}
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
        std::uint64_t left_ = 0; ///< the items that are still to come
    };
    [[nodiscard]] Iterator begin() const { return Iterator(bits_); }
    [[nodiscard]] static Iterator end() { return {}; }

    bool operator==(const Show&) const = default;

private:
    static_assert(items.size() <= 64);
    [[nodiscard]] static std::uint64_t bit(Item item) { return std::uint64_t{1} << static_cast<unsigned>(item); }

    std::uint64_t bits_ = 0;
};

/// Those of the items that core computes.
[[nodiscard]] core::StageSelection stages_of(const Show& show);

/// What a run, a whole model or a call of attention has that items need, and what takes some of them away again.
struct Provided {
    ShownBy command;
    std::vector<std::pair<Needs, bool>> needs; ///< those that are not among them are not met
    bool mean = false;                         ///< of all heads
    bool joined = false;                       ///< pieces to words, of which there are weights alone
    bool packed = false;                       ///< sequences one after another, which have no array of pairs
};
/// The items that exist, without those that --show has to name (is_named_alone).
[[nodiscard]] Show existing_items(const Provided& provided);

/// Throws Error(usage) for the first item asked for that does not exist, naming what it requires.
void require_items(const Show& asked, const Show& existing);

} // namespace attn::model
