#include "attn/io/texts/printed_array.hpp"

#include "attn/io/bytes.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace attn::io {
namespace {

constexpr std::string_view white_space = " \t\r\n";
constexpr std::size_t most_calls = 8; ///< in each other

constexpr std::string_view parameter = "Parameter containing:";

/// What arrays and numbers are called, behind the name of a module.
constexpr std::array<std::string_view, 13> calls{"tensor",  "array",   "Tensor",  "Array", "DeviceArray", "matrix",   "asarray",
                                                 "float16", "float32", "float64", "int32", "int64",       "Parameter"};

/// The length of "np.array(" at the front; 0: there is no such call.
std::size_t call_length(std::string_view text)
{
    constexpr std::size_t longest = 40;
    const std::size_t end = text.substr(0, longest).find('(');
    if (end == std::string_view::npos) {
        return 0;
    }
    const std::string_view name = text.substr(0, end);
    const auto is_name = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    };
    const std::string_view last = name.substr(name.rfind('.') + 1);
    return std::ranges::all_of(name, is_name) && std::ranges::find(calls, last) != calls.end() ? end + 1 : 0;
}

/// TensorFlow's <tf.Tensor: shape=(2,), dtype=float32, numpy=array([…], dtype=float32)>: what stands before the array; 0: there
/// is none.
std::size_t angle_length(std::string_view text)
{
    constexpr std::size_t longest = 300;
    constexpr std::string_view numpy = "numpy=";
    const std::size_t found = text.starts_with("<tf.") ? text.substr(0, longest).find(numpy) : std::string_view::npos;
    return found == std::string_view::npos ? 0 : found + numpy.size();
}

bool begins_array(std::string_view text)
{
    return text.starts_with('[') || text.starts_with(parameter) || call_length(text) > 0 || angle_length(text) > 0;
}

std::size_t behind_space(std::string_view text, std::size_t at)
{
    return std::min(text.find_first_not_of(white_space, at), text.size());
}

/// Where an array may begin: at the front, and behind what may be a title.
std::vector<std::size_t> possible_begins(std::string_view text, std::size_t from)
{
    constexpr std::size_t longest_title = 200;
    std::vector<std::size_t> begins{behind_space(text, from)};
    const std::size_t line = begins.front() + std::min(text.substr(begins.front(), longest_title).find_first_of("\r\n"),
                                                       std::min(longest_title, text.size() - begins.front()));
    for (std::size_t at = begins.front(); at < std::min(line + 1, text.size()); ++at) {
        const std::size_t next = behind_space(text, at + 1);
        // print("context", c) leaves a blank, behind which a bracket may yet belong to the title.
        const bool behind_blank =
            text[at] == ' ' && begins_array(text.substr(next)) && (text[next] != '[' || text.substr(next).starts_with("[["));
        const bool behind_factor = text[at] == '*' && begins_array(text.substr(next)); // which is refused
        if (text[at] == ':' || text[at] == '=' || text[at] == '\n' || text[at] == '\r' || behind_blank || behind_factor) {
            begins.push_back(next);
        }
    }
    return begins;
}

/// Nothing: there is none.
std::optional<std::size_t> find_begin(std::string_view text, std::size_t from)
{
    const std::vector<std::size_t> begins = possible_begins(text, from);
    const auto here = [&](std::size_t begin) { return begins_array(text.substr(begin)); };
    const auto found = std::ranges::find_if(begins, here);
    return found == begins.end() ? std::nullopt : std::optional(*found);
}

std::size_t front_of(std::string_view text)
{
    return text.size() - without_byte_order_mark(text).size();
}

/// "W_q" of "W_q = ", ">>> W_q", "W_q:" and "W_q (4, 4)".
std::string name_of_title(std::string_view title)
{
    constexpr std::string_view prompt = ">>>";
    title = trimmed(title);
    while (title.ends_with(':') || title.ends_with('=') || title.ends_with(',')) {
        title = trimmed(title.substr(0, title.size() - 1));
    }
    title = title.starts_with(prompt) ? trimmed(title.substr(prompt.size())) : title;
    const std::size_t shape = title.rfind('(');
    if (shape != std::string_view::npos && shape > 0 && title.ends_with(')') &&
        title.find_first_not_of("0123456789, ", shape + 1) == title.size() - 1) {
        title = trimmed(title.substr(0, shape));
    }
    return std::string(title);
}

/// Where an operator ends a title, as in "W = 2 *" and "-", which would change the numbers behind it; "W -", "W*" and "**W**"
/// are names. Nothing: there is none.
std::optional<std::size_t> operator_behind(std::string_view title)
{
    const std::size_t last = title.find_last_not_of(white_space);
    if (last == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view before = trimmed(title.substr(0, last));
    const std::string_view operand = trimmed(before.substr(before.find_last_of("=:") + 1));
    const bool blank_before = before.empty() || white_space.find(title[last - 1]) != std::string_view::npos;
    const bool blank_behind = last + 1 < title.size();
    const std::string_view operators = operand.empty() || is_number(operand)     ? "*/@+-"
                                       : blank_before                            ? "*/@"
                                       : blank_behind || before.starts_with('*') ? ""
                                                                                 : "*";
    return operators.find(title[last]) == std::string_view::npos ? std::nullopt : std::optional(last);
}

/// How places are said.
enum class Places { characters, lines };

class Reader {
public:
    Reader(std::string_view text, const std::string& what, Places places)
        : text_(text), what_(what), places_(places), numbers_(text, what)
    {
    }

    /// The array that begins there, without a name.
    ArrayText array_at(std::size_t begin)
    {
        at_ = begin;
        shape_.clear();
        closed_ = false;
        (void)take(parameter);
        read_value(0);
        return numbers_.take("", std::move(shape_));
    }

    [[nodiscard]] std::size_t here() const { return at_; }

    /// Throws Error(data) for a factor before an array, at the end of its title.
    void require_no_operator(std::size_t from, std::size_t begin)
    {
        if (const std::optional<std::size_t> at = operator_behind(text_.substr(from, begin - from))) {
            at_ = from + *at;
            refuse(std::string(without_factor));
        }
    }

    /// Nothing but white space is left.
    [[nodiscard]] bool at_end()
    {
        skip_space();
        return at_ == text_.size();
    }

    [[noreturn]] void refuse(const std::string& allowed) const
    {
        const std::string_view rest = text_.substr(at_);
        const std::string got =
            rest.empty() ? "the end of the text" : in_quotes(rest.substr(0, std::max<std::size_t>(1, token().size())), 30);
        throw Error(ErrorKind::data, place(), got, allowed);
    }

    /// The arrays of an object, each with what leads to it.
    void read_object(std::size_t begin, const std::string& prefix, std::vector<ArrayText>& arrays)
    {
        at_ = begin;
        Nested nested(*this);
        require("{");
        while (!take("}")) {
            const std::string name = prefix + key();
            require(":");
            skip_space();
            if (begins_array(text_.substr(at_))) {
                arrays.push_back(array_at(at_));
                arrays.back().name = name;
                if (arrays.size() > most_arrays) {
                    refuse(fmt::format("at most {} arrays", most_arrays));
                }
            } else if (text_.substr(at_).starts_with('{')) {
                read_object(at_, name + '.', arrays);
            } else {
                skip_scalar();
            }
            skip_space();
            if (!take(",") && !text_.substr(at_).starts_with('}')) {
                refuse("',' or '}'");
            }
        }
    }

private:
    /// One more call or object in the others.
    class Nested {
    public:
        explicit Nested(Reader& reader) : depth_(reader.nested_)
        {
            if (++depth_ > most_calls) {
                reader.refuse(fmt::format("at most {} calls in each other", most_calls));
            }
        }
        Nested(const Nested&) = delete;
        Nested& operator=(const Nested&) = delete;
        Nested(Nested&&) = delete;
        Nested& operator=(Nested&&) = delete;
        ~Nested() { --depth_; }

    private:
        std::size_t& depth_;
    };

    [[nodiscard]] std::string place(std::string_view where = "at") const
    {
        return places_ == Places::lines ? place_in(text_, what_, at_) : fmt::format("{} {} character {}", what_, where, at_);
    }

    void skip_space() { at_ = behind_space(text_, at_); }

    /// Whether this comes next, behind white space; then it is read.
    bool take(std::string_view wanted)
    {
        skip_space();
        const bool there = text_.substr(at_).starts_with(wanted);
        at_ += there ? wanted.size() : 0;
        return there;
    }

    void require(std::string_view wanted)
    {
        if (!take(wanted)) {
            refuse(in_quotes(wanted));
        }
    }

    /// Whether a bracket comes next: of a list, or behind its first one of a tuple, too.
    std::optional<std::string_view> take_bracket(std::size_t depth)
    {
        if (take("[")) {
            return "]";
        }
        return depth > 0 && take("(") ? std::optional<std::string_view>(")") : std::nullopt;
    }

    [[nodiscard]] std::string_view token() const
    {
        return text_.substr(at_, std::min(text_.find_first_of(" \t\r\n,[](){}", at_), text_.size()) - at_);
    }

    /// A number, a call around a value, or a list of values of the same shape.
    void read_value(std::size_t depth)
    {
        skip_space();
        const std::string_view rest = text_.substr(at_);
        if (const std::size_t call = call_length(rest)) {
            const Nested nested(*this);
            at_ += call;
            read_value(depth);
            return skip_arguments(depth);
        }
        if (const std::size_t angle = angle_length(rest)) {
            const Nested nested(*this);
            constexpr std::string_view key = "shape=";
            const std::string_view front = rest.substr(0, angle);
            const std::size_t shape = front.find(key);
            at_ += angle;
            read_value(depth);
            if (shape != std::string_view::npos) {
                const std::string_view stated = front.substr(shape + key.size());
                require_shape(stated.substr(0, stated.find(')') + 1), depth);
            }
            return require(">");
        }
        const std::optional<std::string_view> closing = take_bracket(depth);
        if (!closing) {
            return read_number(depth);
        }
        if (depth == most_text_dimensions) {
            --at_;
            refuse(fmt::format("at most {} brackets in each other", most_text_dimensions));
        }
        read_list(depth, *closing);
    }

    void read_list(std::size_t depth, std::string_view closing)
    {
        const bool first = !closed_ && shape_.size() == depth;
        if (first) {
            shape_.push_back(0);
        } else if (depth >= shape_.size()) {
            --at_;
            refuse("a number, as before");
        }
        Index length = 0;
        while (!take(closing)) {
            read_value(depth + 1);
            take(",");
            ++length;
        }
        closed_ = true; // the first row is, which gives the shape
        Index& expected = shape_[depth];
        expected = first ? length : expected;
        if (length == 0 || length != expected) {
            throw Error(ErrorKind::data, place("up to"), counted(length, "element") + " in a row",
                        length == 0 ? "at least one" : fmt::format("{}, as before", expected));
        }
    }

    void read_number(std::size_t depth)
    {
        const std::string_view number = token();
        if (number.find("...") != std::string_view::npos || number.find("…") != std::string_view::npos) {
            throw Error(ErrorKind::data, place(), in_quotes(number),
                        "all numbers; paste the whole array, printed with threshold=10**9 in set_printoptions");
        }
        if (depth > 0 && number.find('=') != std::string_view::npos) {
            throw Error(ErrorKind::data, place(), in_quotes(number, 30),
                        fmt::format("a ']' before it for each '[' that is open, of which there {} {}",
                                    depth == 1 ? "is" : "are", depth));
        }
        const bool quoted = places_ == Places::lines && number.size() > 2 && number.front() == number.back() &&
                            (number.front() == '"' || number.front() == '\'');
        const std::size_t begin = at_ + (quoted ? 1 : 0);
        const std::string_view word = number.substr(quoted ? 1 : 0, number.size() - (quoted ? 2 : 0));
        const bool plain = places_ == Places::lines || math::usual_spelling(word) == word; // of an article
        const bool fits = depth == shape_.size();
        if (!plain || word.empty() || math::word_at(text_, begin).size() != word.size() ||
            !(fits ? numbers_.try_add(begin) : is_number(word))) {
            refuse("numbers as PyTorch or NumPy prints them, such as tensor([[0.2961, 0.5166]]) or [[0.2961 0.5166]]");
        }
        if (!fits) {
            refuse("a row of numbers, as before");
        }
        closed_ = true;
        at_ += number.size();
    }

    /// "(2, 3)" of an array beside its numbers.
    void require_shape(std::string_view stated, std::size_t depth)
    {
        const std::optional<Shape> shape = shape_in(stated);
        const Shape numbers(shape_.begin() + static_cast<std::ptrdiff_t>(depth), shape_.end());
        if (shape != numbers) {
            at_ = static_cast<std::size_t>(stated.data() - text_.data());
            throw Error(ErrorKind::data, place(), shape ? "the shape " + to_string(*shape) : in_quotes(stated, 30),
                        to_string(numbers) + ", which the numbers have");
        }
    }

    /// ", grad_fn=<MmBackward0>, shape=(2, 3), dtype=torch.float64)" of an array that is within so many.
    void skip_arguments(std::size_t depth)
    {
        while (take(",")) {
            skip_space();
            if (text_.substr(at_).starts_with(')')) { // a comma may end the list
                break;
            }
            const std::size_t equals = text_.find_first_of("=,)", at_);
            if (equals == std::string_view::npos || text_[equals] != '=') {
                refuse("a name and a value, such as grad_fn=<MmBackward0>");
            }
            const std::string_view name = trimmed(text_.substr(at_, equals - at_));
            at_ = equals + 1;
            constexpr std::array<std::pair<char, char>, 5> pairs{
                {{'<', '>'}, {'(', ')'}, {'[', ']'}, {'\'', '\''}, {'"', '"'}}};
            const char first = at_ < text_.size() ? text_[at_] : '\0';
            const auto pair = std::ranges::find(pairs, first, &std::pair<char, char>::first);
            at_ = std::min(pair == pairs.end() ? at_ : text_.find(pair->second, at_ + 1), text_.size());
            at_ = std::min(text_.find_first_of(",)", at_ + (pair == pairs.end() ? 0 : 1)), text_.size());
            if (name == "shape" || name == "size") {
                require_shape(trimmed(text_.substr(equals + 1, at_ - equals - 1)), depth);
            }
        }
        if (!take(")")) {
            refuse(text_.substr(at_).starts_with('*') ? std::string(without_factor) : "')' behind the array");
        }
    }

    /// Between quotes of either kind; with what stands for a character in it as it stands.
    std::string key()
    {
        skip_space();
        const std::size_t begin = at_ + 1;
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        const std::size_t end = quote == '"' || quote == '\'' ? text_.find(quote, begin) : std::string_view::npos;
        if (end == std::string_view::npos) {
            refuse("a name in quotes, such as \"W_q\"");
        }
        at_ = end + 1;
        return std::string(text_.substr(begin, end - begin));
    }

    /// A text or a word that is no array.
    void skip_scalar()
    {
        if (const char quote = at_ < text_.size() ? text_[at_] : '\0'; quote == '"' || quote == '\'') {
            for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
                at_ += text_[at_] == '\\' ? 1 : 0; // what stands behind it ends nothing
            }
            at_ = std::min(at_ + 1, text_.size());
        } else if (token().empty()) {
            refuse("a list, or an object with lists");
        } else {
            at_ += token().size();
        }
    }

    std::string_view text_;
    const std::string& what_;
    Places places_;
    NumbersInText numbers_;
    std::size_t at_ = 0;
    Shape shape_;
    bool closed_ = false; ///< the number of dimensions is known
    std::size_t nested_ = 0;
};

/// Rows that were printed one by one become one array, which `one` then is.
bool is_row_below(const ArrayText& one, const ArrayText& row)
{
    const Shape& shape = one.shape;
    return row.shape.size() == 1 && (shape.size() == 1 || shape.size() == 2) && shape.back() == row.shape.front();
}

void add_row(ArrayText& one, const ArrayText& row)
{
    one.shape = one.shape.size() == 1 ? Shape{2, one.shape[0]} : Shape{one.shape[0] + 1, one.shape[1]};
    one.numbers.begins.insert(one.numbers.begins.end(), row.numbers.begins.begin(), row.numbers.begins.end());
    one.whole = one.whole && row.whole;
    one.truths = one.truths && row.truths;
}

/// Of numbers that were rounded together.
math::PackedDigits digits_of(std::string_view text, const ArrayText& array)
{
    math::DigitsSeen seen;
    for (const std::uint32_t begin : array.numbers.begins) {
        (void)seen.add(math::usual_spelling(math::word_at(text, begin)));
    }
    return math::PackedDigits(seen.digits());
}

} // namespace

PrintedArray parse_printed_array(std::string_view text, const std::string& what)
{
    Reader reader(text, what, Places::characters);
    const std::size_t front = front_of(text);
    const std::size_t first = find_begin(text, front).value_or(behind_space(text, front));
    reader.require_no_operator(front, first);
    const ArrayText array = reader.array_at(first);
    if (!reader.at_end()) {
        reader.refuse("nothing behind the array");
    }
    PrintedArray printed;
    printed.shape = array.shape;
    printed.texts.reserve(array.numbers.begins.size());
    for (const std::uint32_t begin : array.numbers.begins) {
        printed.texts.push_back(math::word_at(text, begin));
    }
    printed.digits = array.numbers.digits.front().unpacked();
    return printed;
}

bool begins_printed_arrays(std::string_view text)
{
    const std::size_t front = front_of(text);
    return text.substr(behind_space(text, front)).starts_with('{') || find_begin(text, front);
}

std::vector<ArrayText> read_printed_arrays(std::string_view text, const std::string& what)
{
    Reader reader(text, what, Places::lines);
    std::vector<ArrayText> arrays;
    std::size_t from = front_of(text);
    if (const std::size_t begin = behind_space(text, from); text.substr(begin).starts_with('{')) {
        reader.read_object(begin, "", arrays);
        if (!reader.at_end()) {
            reader.refuse("nothing behind the object");
        }
        return arrays;
    }
    bool rows = false; // were printed one by one
    do {
        const std::optional<std::size_t> begin = find_begin(text, from);
        // "tensor([1.]) * 2", in its own line
        const std::size_t behind = std::min(text.find_first_not_of(" \t", from), text.size());
        const bool changed = !arrays.empty() && text.substr(behind, 1).find_first_of("*/@+-.%") == 0;
        if (!begin || changed) {
            reader.refuse("nothing behind the array, or another one with its name before it, such as W_k =");
        }
        reader.require_no_operator(from, *begin);
        std::string name = name_of_title(text.substr(from, *begin - from));
        ArrayText array = reader.array_at(*begin);
        from = reader.here();
        if (!arrays.empty() && name.empty()) {
            if (arrays.size() > 1 || !is_row_below(arrays.front(), array)) {
                throw Error(ErrorKind::data, place_in(text, what, *begin), "another array without a name",
                            "one array, or a title before each, such as W_q =");
            }
            add_row(arrays.front(), array);
            rows = true;
        } else {
            array.name = std::move(name);
            arrays.push_back(std::move(array));
        }
        if (arrays.size() > most_arrays) {
            reader.refuse(fmt::format("at most {} arrays", most_arrays));
        }
    } while (!reader.at_end());
    if (rows) {
        arrays.front().numbers.digits = {digits_of(text, arrays.front())};
    }
    if (arrays.size() == 1) {
        arrays.front().name.clear();
    }
    return arrays;
}

bool is_printed_array_at(std::string_view text, std::size_t begin)
{
    return begins_array(text.substr(std::min(begin, text.size())));
}

ArrayText read_printed_array_at(std::string_view text, const std::string& what, std::size_t& begin)
{
    Reader reader(text, what, Places::lines);
    ArrayText array = reader.array_at(begin);
    begin = reader.here();
    return array;
}

} // namespace attn::io
