// Many short texts in one: a document may hold a hundred million decimals, for which a string each would take three times the
// memory.
#pragma once

#include "attn/tensor/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Less than 4 GiB together.
class TextList {
public:
    TextList() = default;
    TextList(std::initializer_list<std::string_view> list) // NOLINT(google-explicit-constructor)
    {
        for (const std::string_view text : list) {
            push_back(text);
        }
    }
    explicit TextList(const std::vector<std::string>& list)
    {
        for (const std::string& text : list) {
            push_back(text);
        }
    }

    void reserve(std::size_t count) { ends_.reserve(count); }
    void push_back(std::string_view text)
    {
        all_ += text;
        ends_.push_back(static_cast<std::uint32_t>(all_.size()));
    }

    [[nodiscard]] std::size_t size() const { return ends_.size(); }
    [[nodiscard]] bool empty() const { return ends_.empty(); }
    /// Constant, since assigning to it would change nothing in the list. NOLINTNEXTLINE(readability-const-return-type)
    [[nodiscard]] const std::string_view operator[](std::size_t i) const
    {
        const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
        return std::string_view(all_).substr(begin, ends_[i] - begin);
    }
    [[nodiscard]] std::string_view front() const { return (*this)[0]; }
    [[nodiscard]] std::vector<std::string> strings() const
    {
        std::vector<std::string> list;
        list.reserve(size());
        for (std::size_t i = 0; i < size(); ++i) {
            list.emplace_back((*this)[i]);
        }
        return list;
    }

    bool operator==(const TextList&) const = default;

private:
    std::string all_;
    std::vector<std::uint32_t> ends_;
};

/// An array as a document states it or an article prints it: decimals as they stand there, row-major.
struct TextArray {
    Shape shape; ///< () of one alone
    TextList texts;
};

} // namespace attn
