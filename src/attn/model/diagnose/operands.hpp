// Queries, keys and values of one head as a variant reads them, in float64.
#pragma once

#include "attn/model/diagnose/call.hpp"
#include "attn/model/diagnose/variant.hpp"

#include <compare>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace attn::model::diagnose {

// Numbers that several variants need.

using KeptNumbers = std::shared_ptr<const std::vector<double>>;

/// Keeps the last used of them, as many as have room. For many threads.
template <typename Key>
class Kept {
public:
    explicit Kept(std::size_t most_bytes) : room_(most_bytes) {}

    /// What is kept under `key`; otherwise what make() gives, which is kept then.
    template <typename Make>
    [[nodiscard]] KeptNumbers get(const Key& key, const Make& make)
    {
        if (KeptNumbers found = find(key)) {
            return found;
        }
        auto made = std::make_shared<const std::vector<double>>(make());
        keep(key, made);
        return made;
    }

private:
    using Made = std::list<std::pair<Key, KeptNumbers>>;

    /// Bytes: numbers, and what finds them, which for short rows is more.
    static std::size_t taken_by(const KeptNumbers& numbers)
    {
        constexpr std::size_t nodes = 192; // of list and map, and what the allocator adds
        return numbers->size() * sizeof(double) + 2 * sizeof(Key) + nodes;
    }

    KeptNumbers find(const Key& key)
    {
        const std::lock_guard lock(mutex_);
        const auto found = places_.find(key);
        if (found == places_.end()) {
            return nullptr;
        }
        entries_.splice(entries_.begin(), entries_, found->second);
        return found->second->second;
    }

    void keep(const Key& key, const KeptNumbers& numbers)
    {
        const std::lock_guard lock(mutex_);
        const std::size_t bytes = taken_by(numbers);
        if (bytes > room_ || places_.contains(key)) { // another thread made it meanwhile
            return;
        }
        for (; held_ + bytes > room_; entries_.pop_back()) {
            held_ -= taken_by(entries_.back().second);
            places_.erase(entries_.back().first);
        }
        held_ += bytes;
        entries_.emplace_front(key, numbers);
        places_.emplace(key, entries_.begin());
    }

    std::mutex mutex_;
    const std::size_t room_;
    std::size_t held_ = 0;
    Made entries_; ///< the last used comes first
    std::map<Key, typename Made::iterator> places_;
};

/// The sizes that a variant computes with: other positions change places with T, and S are all keys that there are, P = 0.
[[nodiscard]] core::AttentionDims sizes_of(const Call& call, const ReadKnobs& knobs);

enum class Operand { queries, keys, values };

/// How a variant reads it.
[[nodiscard]] Reading reading_of(const ReadKnobs& knobs, Operand operand);

/// What lies side by side in a block: the numbers of a row, or those of a column.
enum class Order { rows, columns };

/// Rows of a head, one after another. A head of a thousand is one block; a large one is never in memory as a whole.
struct HeadBlock {
    Index first, count, size;
    KeptNumbers numbers; ///< (count, size), or (size, count) by columns

    [[nodiscard]] const double* row(Index i) const { return numbers->data() + (i - first) * size; }
    [[nodiscard]] const double* column(Index x) const { return numbers->data() + x * count; }
};

/// Keeps what was read last: variants share most of it. For many threads.
class Operands {
public:
    explicit Operands(const Call& call, std::size_t among = 1); ///< calls that share the memory

    /// The rows of a head.
    [[nodiscard]] Index count(const ReadKnobs& knobs, Operand operand) const;
    /// The block that has row i, of a query head for queries, otherwise of a key/value head.
    [[nodiscard]] HeadBlock block(const ReadKnobs& knobs, Operand operand, Order order, Index b, Index h, Index i);
    /// Calls use(block) for each block of a head, in order.
    template <typename Use>
    void for_each_block(const ReadKnobs& knobs, Operand operand, Order order, Index b, Index h, const Use& use)
    {
        const Index rows = count(knobs, operand);
        for (Index i = 0; i < rows;) {
            const HeadBlock block = this->block(knobs, operand, order, b, h, i);
            use(block);
            i = block.first + block.count;
        }
    }

private:
    struct Key {
        Operand operand;
        Order order;
        Index b, h, first;
        ReadKnobs knobs;

        auto operator<=>(const Key&) const = default; // NOLINT(modernize-use-nullptr): in code that the compiler writes
    };

    const Call& call_;
    Kept<Key> blocks_;
};

} // namespace attn::model::diagnose
