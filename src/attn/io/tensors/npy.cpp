#include "attn/io/tensors/npy.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace attn::io {
namespace {

/// The few Python literals of a header, read strictly from left to right.
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

void PythonLiteral::refuse(std::string_view allowed) const
{
    const std::string_view rest = text_.substr(at_);
    throw Error(ErrorKind::data, fmt::format("{}, character {}", what_, at_ + 1),
                rest.empty() ? "its end" : in_quotes(rest.substr(0, 24)), allowed);
}

void PythonLiteral::blanks()
{
    at_ = std::min(text_.find_first_not_of(" \t\r\n\f", at_), text_.size());
}

bool PythonLiteral::skip(char c)
{
    blanks();
    const bool found = at_ < text_.size() && text_[at_] == c;
    at_ += found ? 1 : 0;
    return found;
}

void PythonLiteral::expect(char c)
{
    if (!skip(c)) {
        refuse(fmt::format("'{}'", c));
    }
}

bool PythonLiteral::skip_word(std::string_view word)
{
    const bool found = text_.substr(at_).starts_with(word);
    at_ += found ? word.size() : 0;
    return found;
}

std::string_view PythonLiteral::string()
{
    blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = text_.find(quote, at_ + 1);
    const std::string_view content = end == std::string_view::npos ? "\n" : text_.substr(at_ + 1, end - at_ - 1);
    if ((quote != '\'' && quote != '"') || content.find_first_of("\\\n") != std::string_view::npos) {
        refuse("a string between quotes, without escapes");
    }
    at_ = end + 1;
    return content;
}

std::string_view PythonLiteral::string_or_list()
{
    blanks();
    const std::size_t begin = at_;
    std::size_t depth = 0;
    do {
        blanks();
        const char c = at_ < text_.size() ? text_[at_] : '\0';
        if (c == '[' || c == '(') {
            ++depth;
        } else if (depth == 0) {
            return string();
        } else if (c == ']' || c == ')') {
            --depth;
        } else if (c == '\'' || c == '"') {
            (void)string();
            continue;
        } else if (at_ == text_.size()) {
            refuse("the end of the list");
        }
        ++at_;
    } while (depth > 0);
    return text_.substr(begin, at_ - begin);
}

bool PythonLiteral::truth()
{
    blanks();
    const bool yes = skip_word("True");
    if (!yes && !skip_word("False")) {
        refuse("True or False");
    }
    return yes;
}

Index PythonLiteral::integer()
{
    blanks();
    Index value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    const bool padded = end - begin > 1 && *begin == '0';
    if (error != std::errc() || padded || *begin == '-') {
        refuse("a length from 0 to 2^63-1");
    }
    at_ += static_cast<std::size_t>(end - begin);
    skip_word("L");
    return value;
}

Shape PythonLiteral::tuple(std::size_t most)
{
    Shape shape;
    expect('(');
    while (!skip(')')) {
        if (shape.size() == most) {
            refuse(fmt::format("up to {} dimensions", most));
        }
        shape.push_back(integer());
        if (!skip(',')) {
            if (shape.size() == 1) {
                refuse("',': a tuple of one length needs it");
            }
            expect(')');
            break;
        }
    }
    return shape;
}

struct NamedType {
    std::string_view code;
    ElementType type;
};
constexpr NamedType untyped{"V2", ElementType::bfloat16}; // as it is stored
constexpr std::array named_types{
    NamedType{"f2", ElementType::float16}, NamedType{"f4", ElementType::float32}, NamedType{"f8", ElementType::float64},
    NamedType{"b1", ElementType::boolean}, NamedType{"u1", ElementType::uint8},   NamedType{"i4", ElementType::int32},
    NamedType{"i8", ElementType::int64},
};

[[noreturn]] void refuse(std::string_view what, std::string_view thing, const std::string& value, const std::string& allowed)
{
    throw Error(ErrorKind::data, fmt::format("{}: {}", what, thing), value, allowed);
}

/// '<f4' is little-endian, '>f4' big-endian, '=f4', '|f4' and 'f4' the reader's own order.
std::string_view without_order(std::string_view code)
{
    const bool ordered = !code.empty() && std::string_view("<>=|").find(code[0]) != std::string_view::npos;
    return code.substr(ordered ? 1 : 0);
}

/// Two bytes have no order that NumPy could have written as '>V2'.
bool says_no_type(std::string_view code)
{
    return without_order(code) == untyped.code && code[0] != '>';
}

void set_type(NpyHeader& header, std::string_view code)
{
    for (const NamedType& named : named_types) {
        if (without_order(code) == named.code) {
            header.type = named.type;
            header.swapped = code[0] == '>';
        }
    }
    header.untyped = says_no_type(code);
}

/// Where the header's text begins, and its length.
std::pair<std::size_t, std::size_t> header_extent(Bytes front, std::string_view what)
{
    if (!as_text(front).starts_with(npy_magic)) {
        refuse(what, "first bytes", in_quotes(as_text(front).substr(0, npy_magic.size())), in_quotes(npy_magic));
    }
    if (front.size() < 10) {
        refuse(what, "size", fmt::format("{} bytes", front.size()), "at least the header of an .npy (is it cut short?)");
    }
    const int major = std::to_integer<int>(front[6]), minor = std::to_integer<int>(front[7]);
    if (major < 1 || major > 3 || minor != 0) {
        refuse(what, "version", fmt::format("{}.{}", major, minor), "1.0, 2.0, 3.0");
    }
    const std::size_t begin = major == 1 ? 10 : 12;
    if (front.size() < begin) {
        refuse(what, "size", fmt::format("{} bytes", front.size()), "at least the header of an .npy (is it cut short?)");
    }
    const std::size_t length = major == 1 ? little<std::uint16_t>(front, 8) : little<std::uint32_t>(front, 8);
    if (length > npy_header_most) {
        refuse(what, "length of the header", std::to_string(length), fmt::format("up to {}", npy_header_most));
    }
    if (length > front.size() - begin) {
        refuse(what, "length of the header", std::to_string(length),
               fmt::format("up to {}, the rest of the file", front.size() - begin));
    }
    return {begin, length};
}

std::string elements_of(const Shape& shape)
{
    return shape.size() > 8 ? fmt::format("a shape of {} dimensions", shape.size()) : "the shape " + to_string(shape);
}

} // namespace

void refuse_type(const std::string& what, std::string_view type)
{
    const bool object = type == "|O" || type == "O";
    if (says_no_type(type)) {
        throw Error(ErrorKind::data, what + ": element type", in_quotes(type) + ", two bytes without a type",
                    fmt::format("FILE:{0} or FILE:NAME:{0}, if they are {0} as ml_dtypes stores it", name_of(untyped.type)));
    }
    throw Error(ErrorKind::data, what + ": element type",
                object ? "Python objects ('O'), a pickle, which is never loaded" : in_quotes(type),
                "float16, bfloat16, float32, float64, bool, uint8, int32, int64");
}

void require_untyped(const NpyHeader& header, std::string_view what)
{
    if (!header.untyped) {
        throw Error(ErrorKind::data, std::string(what) + ": element type",
                    fmt::format("{} for a tensor of type {}", name_of(untyped.type), in_quotes(header.dtype)),
                    fmt::format(":{} for '<{}' and '|V2' alone", name_of(untyped.type), untyped.code));
    }
}

NpyHeader read_npy_header(Bytes front, std::string_view what, Untyped untyped_are)
{
    const auto [begin, length] = header_extent(front, what);
    NpyHeader header;
    header.data = begin + length;
    PythonLiteral literal(as_text(front).substr(begin, length), std::string(what) + ": header");
    bool has_type = false, has_order = false, has_shape = false;
    literal.dict([&](std::string_view key) {
        if (key == "descr" && !std::exchange(has_type, true)) {
            header.dtype = literal.string_or_list();
            set_type(header, header.dtype);
        } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
            header.fortran_order = literal.truth();
        } else if (key == "shape" && !std::exchange(has_shape, true)) {
            header.shape = literal.tuple(most_dimensions);
        } else {
            literal.refuse("each of 'descr', 'fortran_order', 'shape' once, and nothing else");
        }
    });
    if (!has_type || !has_order || !has_shape) {
        literal.refuse("each of 'descr', 'fortran_order', 'shape' once, and nothing else");
    }
    if (header.untyped && untyped_are == Untyped::bfloat16) {
        header.type = untyped.type;
    }
    return header;
}

void require_npy_size(const NpyHeader& header, Index file_size, std::string_view what)
{
    const std::optional<Index> needed = bytes_of(header.shape, 8 * size_of(*header.type));
    const Index there = file_size - static_cast<Index>(header.data);
    if (!needed) {
        refuse(what, "shape", elements_of(header.shape), "what can be addressed");
    }
    if (*needed != there) {
        refuse(what, "elements", fmt::format("{} bytes", there),
               fmt::format("{} for {} of {}", *needed, elements_of(header.shape), name_of(*header.type)));
    }
}

TensorView npy_view(const NpyHeader& header, Bytes file, std::string_view what)
{
    if (!header.type) {
        refuse_type(std::string(what), header.dtype);
    }
    require_npy_size(header, static_cast<Index>(file.size()), what);
    const Shape strides = header.fortran_order ? column_major_strides(header.shape) : row_major_strides(header.shape);
    return {*header.type, header.shape, strides, header.swapped, file.subspan(header.data)};
}

TensorFile read_npy(Bytes file, std::string_view what, Untyped untyped_are)
{
    const NpyHeader header = read_npy_header(file, what, untyped_are);
    if (untyped_are != Untyped::refused) {
        require_untyped(header, what);
    }
    TensorFile read;
    read.entries.push_back({"", npy_view(header, file, what)});
    return read;
}

std::string npy_header(ElementType type, const Shape& shape)
{
    std::string_view code = untyped.code;
    for (const NamedType& named : named_types) {
        code = named.type == type ? named.code : code;
    }
    std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}", size_of(type) == 1 ? "|" : "<",
                                   code, to_string(shape));
    constexpr std::size_t before = 10, alignment = 64; // of version 1
    text.append(alignment - 1 - (before + text.size()) % alignment, ' ');
    text += '\n';
    std::string header = std::string(npy_magic) + '\x01' + '\0';
    append_little(header, static_cast<std::uint16_t>(text.size()));
    return header + text;
}

void write_npy(const NamedTensor& tensor, Buffer& buffer)
{
    buffer.append(npy_header(tensor.view.type, tensor.view.shape));
    buffer.append(as_text(tensor.view.bytes));
}

} // namespace attn::io
