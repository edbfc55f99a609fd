// Arbitrary bytes as word vectors: found or refused with Error(data) in one line, walking and by the index alike; and what was
// found can be written and found again. The words that are searched are the first fields of the first lines, and a few more.
#include "attn/io/words/word_vectors.hpp"
#include "tensors.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <set>

namespace {

using attn::io::VectorSearch;
using attn::model::FoundVectors;

std::vector<std::string> words_in(std::string_view text)
{
    std::set<std::string> words{"a", "the", ". . ."};
    for (int line = 0; line < 4; ++line) {
        words.emplace(text.substr(0, text.find_first_of(" \n")));
        const std::size_t end = text.find('\n');
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return {words.begin(), words.end()};
}

struct Answer {
    std::optional<FoundVectors> found;
    std::string message;
};

template <typename Find>
Answer answer(Find find)
{
    Answer given;
    try {
        given.found = find();
    } catch (const attn::Error& error) {
        given.message = error.what();
        if (error.kind() != attn::ErrorKind::data || given.message.empty() || given.message.find('\n') != std::string::npos) {
            std::abort();
        }
    }
    return given;
}

void require(bool holds)
{
    if (!holds) {
        std::abort();
    }
}

/// Bit for bit, also NaN.
bool same(const FoundVectors& a, const FoundVectors& b)
{
    const std::size_t bytes = a.rows.values.size() * sizeof(double);
    return a.found == b.found && a.rows.shape == b.rows.shape &&
           (bytes == 0 || std::memcmp(a.rows.values.data(), b.rows.values.data(), bytes) == 0);
}

/// With a header, so that no first word can be taken for one.
std::string written(const std::vector<std::string>& words, const FoundVectors& found)
{
    const auto dim = static_cast<std::size_t>(found.rows.shape[1]);
    std::string lines;
    std::size_t count = 0;
    for (std::size_t word = 0; word < words.size(); ++word) {
        if (!found.found[word]) {
            continue;
        }
        ++count;
        lines += words[word];
        for (std::size_t i = 0; i < dim; ++i) {
            std::array<char, 32> text{};
            const auto end = std::to_chars(text.data(), text.data() + text.size(), found.rows.values[word * dim + i]).ptr;
            lines += " " + std::string(text.data(), end);
        }
        lines += "\n";
    }
    return count == 0 ? "" : std::to_string(count) + " " + std::to_string(dim) + "\n" + lines;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
    const std::vector<std::string> words = words_in(attn::io::as_text(bytes));
    const std::vector<std::string> noticed{"a", "unk"};
    (void)fuzz::refused([&] { (void)attn::io::WordList(bytes, "file", 1000).row_of("a"); });
    for (const bool lenient : {false, true}) {
        const auto walk = [&] {
            return attn::io::find_vectors(attn::io::open_vector_text(bytes, "file"), {words, noticed}, {lenient, {}});
        };
        const auto index = [&] {
            const auto text = attn::io::open_vector_text(bytes, "file");
            return attn::io::VectorIndex(text, VectorSearch{}).find({words, noticed}, lenient);
        };
        const Answer walked = answer(walk);
        const Answer indexed = answer(index);
        require(walked.found.has_value() == indexed.found.has_value());
        if (!walked.found) {
            continue;
        }
        require(same(*walked.found, *indexed.found) && walked.found->noticed == indexed.found->noticed);
        const std::string again = written(words, *walked.found);
        if (!again.empty() && !lenient) { // a NaN's bits are not written
            require(same(attn::io::find_vectors(attn::io::open_vector_text(attn::io::as_bytes(again), "again"), {words}),
                         *walked.found));
        }
    }
    return 0;
}
