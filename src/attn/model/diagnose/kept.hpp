// Numbers that several variants need.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace attn::model::diagnose {

using KeptNumbers = std::shared_ptr<const std::vector<double>>;

/// Keeps the last used of them, as many as have room. For many threads.
template <typename Key>
class Kept {
public:
    explicit Kept(std::size_t most_bytes) : room_(most_bytes / sizeof(double)) {}

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
        if (numbers->size() > room_ || places_.contains(key)) { // another thread made it meanwhile
            return;
        }
        for (; held_ + numbers->size() > room_; entries_.pop_back()) {
            held_ -= entries_.back().second->size();
            places_.erase(entries_.back().first);
        }
        held_ += numbers->size();
        entries_.emplace_front(key, numbers);
        places_.emplace(key, entries_.begin());
    }

    std::mutex mutex_;
    const std::size_t room_;
    std::size_t held_ = 0;
    Made entries_; ///< the last used comes first
    std::map<Key, typename Made::iterator> places_;
};

} // namespace attn::model::diagnose
