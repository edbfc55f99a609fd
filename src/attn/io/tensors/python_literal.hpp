// The few Python literals of an .npy header, read strictly from left to right.
#pragma once

#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace attn::io {

/// Every reader skips white space, takes one literal, and throws Error(data) naming the place for anything else.
class PythonLiteral {
public:
    PythonLiteral(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

    /// {'key': value, …} and nothing but white space behind it; `member(key)` reads the value.
    template <typename Member>
    void dict(Member member)
    {
        expect('{');
        while (!skip('}')) {
            const std::string_view key = string();
            expect(':');
            member(key);
            if (!skip(',')) {
                expect('}');
                break;
            }
        }
        blanks();
        if (at_ != text_.size()) {
            refuse("the end of the header");
        }
    }

    /// 'text' or "text", without escapes.
    [[nodiscard]] std::string_view string();
    /// What a string says, or the text of a list or tuple of anything, brackets and all.
    [[nodiscard]] std::string_view string_or_list();
    /// True or False.
    [[nodiscard]] bool truth();
    /// (), (3,), (3, 4) of integers ≥ 0, each with an L behind it if Python 2 wrote it.
    [[nodiscard]] Shape tuple(std::size_t most);

    [[noreturn]] void refuse(std::string_view allowed) const;

private:
    void blanks();
    bool skip(char c);
    void expect(char c);
    bool skip_word(std::string_view word);
    [[nodiscard]] Index integer();

    std::string_view text_;
    std::string what_;
    std::size_t at_ = 0;
};

} // namespace attn::io
