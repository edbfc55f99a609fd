// JSON read once from front to back, for texts of many megabytes that go straight into tables.
//
// The reader says what comes next and gets it; nothing is laid down. As strict as JsonDocument, whose words it uses for what is
// malformed. Strings are UTF-8, and may hold NUL as \u0000.
#pragma once

#include <string>
#include <string_view>

namespace attn::io {

class JsonScanner {
public:
    /// `text` outlives the scanner.
    explicit JsonScanner(std::string_view text) : text_(text) {}

    /// The first byte of what comes next: '{', '[', '"', 't', 'f', 'n', '-' or a digit begin a value. NUL at the end.
    [[nodiscard]] char next();
    /// How many bytes are behind.
    [[nodiscard]] std::size_t here() const { return at_; }

    /// Where the key stands that object() read last.
    [[nodiscard]] std::size_t member() const { return member_; }

    /// Each of these throws Error(data) for what is no JSON, and for a value of another kind, as if it were none.

    /// take(key) for each member; it reads the value or skips it. The key is valid until another string is read.
    template <typename Take>
    void object(Take take)
    {
        open('{');
        for (bool more = !close('}'); more; more = !ends('}')) {
            (void)next();
            member_ = at_;
            const std::string_view key = string();
            expect(':');
            take(key);
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
    /// As it stands in the text.
    [[nodiscard]] std::string_view number();
    /// The text of a value of any kind.
    std::string_view skip();
    /// Nothing but white space is left.
    void end();

private:
    void open(char bracket);
    [[nodiscard]] bool close(char bracket);
    /// Behind a value: a comma, or the bracket, which ends.
    [[nodiscard]] bool ends(char bracket);
    void expect(char c);
    void word(std::string_view letters);
    [[nodiscard]] std::size_t digits();
    /// Appends what an escape stands for to `decoded_`.
    void escape();
    [[nodiscard]] unsigned hexadecimal();
    [[noreturn]] void malformed() const;

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t member_ = 0;
    std::size_t depth_ = 0;
    std::string decoded_;
};

} // namespace attn::io
