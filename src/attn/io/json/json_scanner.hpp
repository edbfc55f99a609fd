// JSON read once from front to back: the reader says what comes next and gets it; nothing is laid down. For texts of many
// megabytes, and for those of which little is wanted.
//
// As strict as JsonDocument. What is malformed, here and there, is said in the words of this file. Strings are UTF-8, and may
// hold NUL as \u0000.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace attn::io {

inline constexpr std::size_t deepest_json = 32; ///< objects and arrays within one another

class JsonScanner {
public:
    /// `text` outlives the scanner, and so does `what`, which names it in messages. A byte order mark before it is left out,
    /// and counts for no column. Throws Error(data) for a NUL byte.
    explicit JsonScanner(std::string_view text, std::string_view what = {});

    /// The first byte of what comes next: '{', '[', '"', 't', 'f', 'n', '-' or a digit begin a value. NUL at the end.
    [[nodiscard]] char next();
    /// How many bytes have been read.
    [[nodiscard]] std::size_t here() const { return at_; }

    /// The key that object() read last, and its quotes.
    struct Extent {
        std::size_t begin = 0, end = 0;
    };
    [[nodiscard]] Extent member() const { return member_; }

    /// Each of these throws Error(data) for what is not JSON, and for a value of another kind, as if it were none.

    /// take(key) for each member; it reads the value or skips it, and may say false to stop there. The key is valid until
    /// another string is read.
    template <typename Take>
    void object(Take take)
    {
        open('{');
        for (bool more = !close('}'); more; more = !ends('}')) {
            (void)next();
            const std::size_t begin = at_;
            const std::string_view key = string();
            member_ = {begin, at_};
            expect(':', "':'");
            if constexpr (std::is_same_v<decltype(take(key)), bool>) {
                if (!take(key)) {
                    return;
                }
            } else {
                take(key);
            }
        }
        --depth_;
    }
    /// take() for each element.
    template <typename Take>
    void array(Take take)
    {
        open('[');
        for (bool more = !close(']'); more; more = !ends(']')) {
            take();
        }
        --depth_;
    }
    /// Valid until another string is read.
    [[nodiscard]] std::string_view string();
    /// As it stands in the text, however large.
    [[nodiscard]] std::string_view number();
    /// The text of a value of any kind, of which no number is beyond float64.
    std::string_view skip();
    /// Nothing but white space is left.
    void end();

    /// What is no JSON; and what is, but not what it should be: Error(data) with line and column.
    [[noreturn]] void fail(std::string_view reason, std::size_t offset) const;
    [[noreturn]] void refuse(std::string_view reason, std::size_t offset) const;

private:
    void open(char bracket);
    [[nodiscard]] bool close(char bracket);
    /// Behind a value: a comma, or the bracket, which ends.
    [[nodiscard]] bool ends(char bracket);
    void expect(char c, std::string_view name);
    void word(std::string_view letters);
    [[nodiscard]] char at(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
    [[nodiscard]] std::size_t digits();
    /// Appends what an escape stands for to `decoded_`.
    void escape();
    [[nodiscard]] unsigned hexadecimal();
    /// What comes next is no JSON, or has no place here.
    [[noreturn]] void unexpected(std::string_view expected);
    /// What a string does not hold.
    [[noreturn]] void refuse_character() const;

    std::string_view text_;
    std::string_view what_;
    std::size_t at_ = 0;
    Extent member_;
    std::size_t depth_ = 0;
    std::string decoded_;
};

} // namespace attn::io
