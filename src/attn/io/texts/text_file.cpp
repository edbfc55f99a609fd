#include "attn/io/texts/text_file.hpp"

#include "attn/io/bytes.hpp"
#include "attn/io/texts/long_csv.hpp"
#include "attn/io/texts/printed_array.hpp"
#include "attn/io/texts/rows.hpp"
#include "attn/io/texts/tables.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace attn::io {
namespace {

struct TextForm {
    bool (*begins)(std::string_view text);
    std::vector<ArrayText> (*read)(std::string_view text, const std::string& what);
};

/// What is told by more stands before what is told by less.
constexpr std::array forms{
    TextForm{begins_long_csv, read_long_csv},
    TextForm{begins_tables, read_tables},
    TextForm{begins_printed_arrays, read_printed_arrays},
    TextForm{begins_rows, [](std::string_view text, const std::string& what) { return std::vector{read_rows(text, what)}; }},
};

const TextForm* form_of(std::string_view text)
{
    const auto* const form = std::ranges::find_if(forms, [&](const TextForm& each) { return each.begins(text); });
    return may_begin_text(text) && form != forms.end() ? form : nullptr;
}

bool is_control(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v') || byte == 0x7F;
}

} // namespace

bool may_begin_text(std::string_view front)
{
    constexpr std::size_t enough = 4096;
    constexpr std::ptrdiff_t lines_without_numbers = 16;
    front = front.substr(0, enough);
    if (std::ranges::any_of(front, is_control)) {
        return false;
    }
    // A text without end, such as that of `yes`, must not be read in vain.
    const bool numbers = front.find_first_of("0123456789[{") != std::string_view::npos;
    return numbers || std::ranges::count(front, '\n') < lines_without_numbers;
}

bool is_text_of_arrays(std::string_view text)
{
    return form_of(text) != nullptr;
}

std::vector<ArrayText> read_text_arrays(std::string_view text, const std::string& what)
{
    const TextForm* form = form_of(text);
    if (form == nullptr) {
        throw Error(ErrorKind::data, what, "a text that begins with " + in_quotes(text.substr(0, 9)), text_forms);
    }
    std::vector<ArrayText> arrays = form->read(text, what);
    if (arrays.empty()) {
        throw Error(ErrorKind::data, what, "no array of numbers", "at least one");
    }
    std::unordered_set<std::string_view> names;
    for (const ArrayText& array : arrays) {
        if (!names.insert(array.name).second) {
            throw Error(ErrorKind::data, what, "two arrays with the name " + in_quotes(array.name, 40), "one of a name");
        }
    }
    return arrays;
}

} // namespace attn::io
