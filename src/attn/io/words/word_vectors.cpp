#include "attn/io/words/word_vectors.hpp"

#include "attn/io/words/vector_lines.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

namespace attn::io {
namespace {

constexpr std::size_t first_lines = 64;                         ///< that decide upon the dimension
constexpr std::size_t most_first_bytes = std::size_t{8} << 20U; ///< of them together, or one line
constexpr std::size_t first_bytes = 1U << 16U;                  ///< in which a binary file shows itself

constexpr std::string_view words_allowed = "words as text, one a line";

/// Throws for bytes that are no text.
TextFile open_text(Bytes bytes, std::string name, std::string_view allowed)
{
    std::string_view text = as_text(bytes);
    const std::size_t nul = text.substr(0, first_bytes).find('\0');
    const bool packed = text.starts_with("\x1f\x8b") || text.starts_with("BZh") ||
                        text.starts_with("\xFD"
                                         "7zXZ");
    if (packed || nul != std::string_view::npos) {
        throw Error(ErrorKind::data, name, packed ? "a compressed file" : fmt::format("a binary file (a NUL at byte {})", nul),
                    allowed);
    }
    text = without_byte_order_mark(text);
    if (text.empty()) {
        throw Error(ErrorKind::data, name, "an empty file", allowed);
    }
    return {text, std::move(name)};
}

std::optional<Index> whole_number(std::string_view field)
{
    if (field.empty() || field.find_first_not_of("0123456789") != std::string_view::npos) {
        return std::nullopt;
    }
    Index value = 0;
    const auto error = std::from_chars(field.data(), field.data() + field.size(), value).ec;
    return error == std::errc() ? value : std::numeric_limits<Index>::max();
}

void require_dim(Index dim, const std::string& name, Index line)
{
    if (dim < 1 || dim > model::largest_vector) {
        throw Error(ErrorKind::data, place_of(name, line), counted(dim, "number") + " per word",
                    fmt::format("1 to {}", model::largest_vector));
    }
}

/// Throws for a line whose fields something else than a space parts.
void require_spaces(const VectorLine& line, const std::string& name)
{
    const std::size_t other = line.text.find_first_of("\t,");
    if (line.spaces == 0 && other != std::string_view::npos) {
        throw Error(ErrorKind::data, place_of(name, line.number),
                    line.text[other] == '\t' ? "tabs and no space" : "commas and no space",
                    "a word and its numbers, separated by one space");
    }
}

/// Takes the header, if the first line is one.
void read_header(VectorText& text, const VectorLine& line)
{
    const std::size_t space = line.text.find(' ');
    if (line.spaces != 1) {
        return;
    }
    const auto count = whole_number(line.text.substr(0, space));
    const auto dim = whole_number(line.text.substr(space + 1));
    if (count && dim) {
        require_dim(*dim, text.file.name, line.number);
        text.count = count;
        text.dim = *dim;
    }
}

/// How many numbers most of the first lines have; the first of those that are as many.
Index usual_dim(const VectorText& text)
{
    std::vector<Index> spaces;
    VectorLines lines(text.file, 0, 1);
    for (auto line = lines.next(); line && spaces.size() < first_lines && line->offset < most_first_bytes;
         line = lines.next()) {
        spaces.push_back(line->spaces);
    }
    return *std::max_element(spaces.begin(), spaces.end(), [&](Index a, Index b) {
        return std::count(spaces.begin(), spaces.end(), a) < std::count(spaces.begin(), spaces.end(), b);
    });
}

void require_count(const VectorText& text, Index words)
{
    if (text.count && *text.count != words) {
        throw Error(ErrorKind::data, text.file.name, counted(words, "word"),
                    fmt::format("{}, as its first line says (is it cut short?)", *text.count));
    }
}

[[noreturn]] void refuse_repeated(const std::string& name, std::string_view word, Index first, Index second)
{
    throw Error(ErrorKind::data, fmt::format("{}: the word {} is also in line {}; allowed: once", place_of(name, second),
                                             in_quotes(word), first));
}

Index first_word_line(const VectorText& text)
{
    return text.count ? 2 : 1;
}

/// Rows that are made when the first vector comes: what a header claims takes no memory.
class Rows {
public:
    Rows(const VectorText& text, std::size_t words, bool allow_nonfinite)
        : text_(text), allow_nonfinite_(allow_nonfinite), found_{.rows = {}, .found = std::vector<bool>(words)}
    {
        found_.rows.shape = {static_cast<Index>(words), text.dim};
    }

    [[nodiscard]] bool has(std::size_t word) const { return found_.found[word]; }

    void read(std::size_t word, const VectorLine& line, std::string_view numbers)
    {
        const auto dim = static_cast<std::size_t>(text_.dim);
        found_.rows.values.resize(found_.found.size() * dim);
        read_numbers(text_.file.name, line, numbers, allow_nonfinite_, std::span(found_.rows.values).subspan(word * dim, dim));
        found_.found[word] = true;
    }

    model::FoundVectors take()
    {
        found_.rows.values.resize(found_.found.size() * static_cast<std::size_t>(text_.dim));
        return std::move(found_);
    }

private:
    const VectorText& text_;
    bool allow_nonfinite_;
    model::FoundVectors found_;
};

/// Takes the vectors of wanted words from the lines that it is shown, in the order of the file.
class Finder {
public:
    Finder(const VectorText& text, const model::WantedWords& wanted, bool allow_nonfinite)
        : text_(text), rows_(text, wanted.words.size(), allow_nonfinite), lines_(wanted.words.size()), noticed_(wanted.noticed)
    {
        for (const auto& words : {wanted.words, wanted.noticed}) {
            for (const std::string& word : words) {
                seen_.push_back(false);
                wanted_.emplace(word, seen_.size() - 1);
            }
        }
    }

    void look_at(const VectorLine& line)
    {
        const VectorEntry entry = entry_of(text_, line);
        if (const auto found = wanted_.find(entry.word); found != wanted_.end()) {
            take(found->second, line, entry);
        } else if (line.spaces > text_.dim) {
            look_at_longer(line);
        }
    }

    model::FoundVectors take()
    {
        model::FoundVectors found = rows_.take();
        for (const std::string& word : noticed_) {
            found.noticed.push_back(seen_[wanted_.at(word)]);
        }
        const auto missing = std::ranges::find_if(longer_, [&](const auto& line) { return !found.found[line.first]; });
        found.other_count = missing == longer_.end() ? "" : missing->second;
        return found;
    }

private:
    [[nodiscard]] bool is_read(std::size_t word) const { return word < lines_.size(); }

    /// A word of several parts, or a wanted word with too many numbers.
    void look_at_longer(const VectorLine& line)
    {
        const auto found = wanted_.find(lone_word(text_, line));
        if (found != wanted_.end() && is_read(found->second)) {
            longer_.emplace(found->second, other_count(text_, line).what());
        }
    }

    void take(std::size_t word, const VectorLine& line, const VectorEntry& entry)
    {
        seen_[word] = true;
        if (!is_read(word)) {
            return;
        }
        if (rows_.has(word)) {
            refuse_repeated(text_.file.name, entry.word, lines_[word], line.number);
        }
        lines_[word] = line.number;
        rows_.read(word, line, entry.numbers);
    }

    const VectorText& text_;
    std::unordered_map<std::string_view, std::size_t> wanted_; ///< those whose vectors are read come first
    Rows rows_;
    std::vector<Index> lines_;                  ///< where the words were found
    std::map<std::size_t, std::string> longer_; ///< of words that are read: why a line is not theirs
    std::span<const std::string> noticed_;
    std::vector<bool> seen_; ///< of both
};

constexpr std::hash<std::string_view> hash_of;

} // namespace

VectorText open_vector_text(Bytes bytes, std::string name)
{
    VectorText text{.file = open_text(bytes, std::move(name), vectors_allowed)};
    VectorLines lines(text.file, 0, 1);
    VectorLine first = lines.next().value_or(VectorLine{});
    read_header(text, first);
    if (text.count) {
        const auto second = lines.next();
        text.first = second ? second->offset : text.file.text.size();
        if (!second) {
            require_count(text, 0);
            throw Error(ErrorKind::data, text.file.name, "no words", "at least one");
        }
        first = *second;
    } else {
        text.dim = usual_dim(text);
        if (text.dim == 0) {
            require_spaces(first, text.file.name);
        }
        require_dim(text.dim, text.file.name, first.number);
    }
    if (const auto entry = entry_of(text, first); !are_numbers(entry.numbers)) {
        std::vector<double> row(static_cast<std::size_t>(text.dim));
        read_numbers(text.file.name, first, entry.numbers, true, row); // tells which one is none
    }
    return text;
}

model::FoundVectors find_vectors(const VectorText& text, const model::WantedWords& wanted, const VectorSearch& search)
{
    Finder finder(text, wanted, search.allow_nonfinite);
    Index words = 0;
    VectorLines lines(text.file, text.first, first_word_line(text), search.passed);
    for (auto line = lines.next(); line; line = lines.next(), ++words) {
        finder.look_at(*line);
    }
    require_count(text, words);
    return finder.take();
}

// ---- many searches ---------------------------------------------------------------------------------------------------

VectorIndex::VectorIndex(VectorText text, const VectorSearch& search) : text_(std::move(text))
{
    Index words = 0;
    VectorLines lines(text_.file, text_.first, first_word_line(text_), search.passed);
    for (auto line = lines.next(); line; line = lines.next(), ++words) {
        places_.push_back({hash_of(entry_of(text_, *line).word), line->offset, line->number});
        if (const std::string_view word = lone_word(text_, *line); !word.empty()) {
            places_.push_back({hash_of(word), line->offset, line->number});
        }
    }
    require_count(text_, words);
    std::sort(places_.begin(), places_.end(), [](const LinePlace& a, const LinePlace& b) { return a.hash < b.hash; });
}

model::FoundVectors VectorIndex::find(const model::WantedWords& wanted, bool allow_nonfinite) const
{
    std::map<std::size_t, Index> lines; // by their offsets
    const auto look_up = [&](const std::string& word) {
        const std::size_t hash = hash_of(word);
        for (auto place = std::ranges::lower_bound(places_, hash, {}, &LinePlace::hash);
             place != places_.end() && place->hash == hash; ++place) {
            lines.emplace(place->offset, place->line);
        }
    };
    std::ranges::for_each(wanted.words, look_up);
    std::ranges::for_each(wanted.noticed, look_up);
    Finder finder(text_, wanted, allow_nonfinite);
    for (const auto& [offset, number] : lines) {
        finder.look_at(VectorLines(text_.file, offset, number).next().value_or(VectorLine{}));
    }
    return finder.take();
}

// ---- lists of words --------------------------------------------------------------------------------------------------

WordLines word_lines(Bytes bytes, const std::string& name, Index most)
{
    const TextFile file = open_text(bytes, name, words_allowed);
    WordLines found;
    VectorLines lines(file, 0, 1);
    for (auto line = lines.next(); line; line = lines.next()) {
        if (line->text.empty()) {
            throw Error(ErrorKind::data, place_of(name, line->number), "nothing", "one word per line");
        }
        require_word(name, *line, line->text);
        if (found.count++ < most) {
            found.words.push_back(line->text);
        }
    }
    return found;
}

WordList::WordList(Bytes bytes, const std::string& name, Index rows)
{
    const WordLines lines = word_lines(bytes, name, rows);
    size_ = lines.count;
    if (size_ > rows) {
        return;
    }
    for (const std::string_view word : lines.words) {
        rows_.push_back({word, std::ssize(rows_)});
    }
    std::ranges::sort(rows_, {}, [](const WordRow& row) { return std::pair(row.word, row.row); });
    const auto repeated = std::ranges::adjacent_find(rows_, {}, &WordRow::word);
    if (repeated != rows_.end()) {
        refuse_repeated(name, repeated->word, repeated->row + 1, std::next(repeated)->row + 1);
    }
}

std::optional<Index> WordList::row_of(std::string_view word) const
{
    const auto found = std::ranges::lower_bound(rows_, word, {}, &WordRow::word);
    return found != rows_.end() && found->word == word ? std::optional(found->row) : std::nullopt;
}

} // namespace attn::io
