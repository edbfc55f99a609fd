#include "attn/io/json/tokenizer_file.hpp"

#include "attn/io/json/json_reader.hpp"
#include "attn/io/json/tokenizer_parts.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace attn::io {

// ---- the model's tables ----------------------------------------------------------------------------------------------------

namespace {

constexpr std::int32_t highest_id = std::numeric_limits<std::int32_t>::max() - 1;

std::string place(std::string_view name, std::size_t i)
{
    return fmt::format("{}[{}]", name, i);
}

class ModelReader {
public:
    ModelReader(JsonScanner& scanner, std::string_view text) : scanner_(scanner), rest_(text) {}

    /// Of a file that is a vocabulary alone.
    text::PieceList read_ids()
    {
        require('{', "the vocabulary", "an object of pieces and ids");
        ids("the vocabulary");
        return std::move(tables_.vocabulary);
    }

    ModelTables read()
    {
        bool has_vocabulary = false;
        require('{', "model", "an object");
        (void)scanner_.next();
        scanner_.object([&](std::string_view key) {
            if (key == "vocab") {
                refuse_twice(std::exchange(has_vocabulary, true), "model.vocab");
                vocabulary();
            } else if (key == "merges") {
                refuse_twice(std::exchange(tables_.has_merges, true), "model.merges");
                merges();
            } else {
                rest_.skip(scanner_);
            }
        });
        if (!has_vocabulary) {
            throw Error(ErrorKind::data, "model: key 'vocab' is missing");
        }
        tables_.rest = std::move(rest_).done();
        return std::move(tables_);
    }

private:
    static void refuse_twice(bool seen, std::string_view name)
    {
        if (seen) {
            throw Error(ErrorKind::data, name, "two of them", "one");
        }
    }
    void require(char first, const std::string& where, std::string_view allowed)
    {
        if (scanner_.next() != first) {
            throw Error(ErrorKind::data, where, "another value", allowed);
        }
    }
    void vocabulary()
    {
        if (scanner_.next() == '[') {
            tables_.is_list = true;
            scanner_.array([&] { scored_piece(); });
            return;
        }
        require('{', "model.vocab", "an object of pieces and ids, or an array of pieces and scores");
        ids("model.vocab");
    }
    void ids(std::string_view where)
    {
        scanner_.object([&](std::string_view piece) {
            // The piece lies in the scanner until the next string.
            tables_.vocabulary.add(piece, 0);
            tables_.vocabulary.entries.back().id = id(where);
        });
    }
    std::int32_t id(std::string_view where)
    {
        const std::string_view digits = scanner_.skip();
        std::int32_t value = -1;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc() || end != digits.data() + digits.size() || value < 0 || value > highest_id) {
            const text::PieceList& list = tables_.vocabulary;
            const bool nested = digits.starts_with('{') || digits.starts_with('['); // and may have several lines
            throw Error(ErrorKind::data, fmt::format("{}[{}]", where, in_quotes(list.text(list.entries.size() - 1))),
                        nested ? "another value" : std::string(digits.substr(0, 40)),
                        fmt::format("an id from 0 to {}", highest_id));
        }
        return value;
    }
    /// ["piece", -1.5]
    void scored_piece()
    {
        const std::size_t entry = tables_.vocabulary.entries.size();
        const std::string where = "a piece and its score";
        std::size_t part = 0;
        if (scanner_.next() != '[') {
            throw Error(ErrorKind::data, place("model.vocab", entry), "another value", where);
        }
        scanner_.array([&] {
            const char first = scanner_.next();
            if (part == 0 && first == '"') {
                tables_.vocabulary.add(scanner_.string(), static_cast<std::int32_t>(entry));
            } else if (part == 1 && (first == '-' || (first >= '0' && first <= '9'))) {
                tables_.scores.push_back(score(entry));
            } else {
                throw Error(ErrorKind::data, place("model.vocab", entry), "another value", where);
            }
            ++part;
        });
        if (part != 2) {
            throw Error(ErrorKind::data, place("model.vocab", entry), counted(static_cast<std::int64_t>(part), "value"), where);
        }
    }
    double score(std::size_t entry)
    {
        const std::string_view digits = scanner_.number();
        double value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc()) {
            throw Error(ErrorKind::data, place("model.vocab", entry), std::string(digits.substr(0, 40)),
                        "a score within float64");
        }
        return value;
    }
    void merges()
    {
        require('[', "model.merges", "an array");
        scanner_.array([&] {
            if (scanner_.next() == '"') {
                spaced_merge(scanner_.string());
            } else {
                paired_merge();
            }
        });
    }
    /// "a b"
    void spaced_merge(std::string_view pair)
    {
        const std::size_t space = pair.find(' ');
        if (space == std::string_view::npos || pair.find(' ', space + 1) != std::string_view::npos) {
            throw Error(ErrorKind::data, place("model.merges", tables_.merges.entries.size()), in_quotes(pair),
                        "two pieces and a space between them");
        }
        tables_.merges.add(pair.substr(0, space), pair.substr(space + 1));
    }
    /// ["a", "b"]
    void paired_merge()
    {
        const std::size_t rank = tables_.merges.entries.size();
        const auto refuse = [&] { throw Error(ErrorKind::data, place("model.merges", rank), "another value", "two pieces"); };
        std::size_t part = 0;
        if (scanner_.next() != '[') {
            refuse();
        }
        scanner_.array([&] {
            if (scanner_.next() != '"' || part == 2) {
                refuse();
            }
            const std::string_view piece = scanner_.string();
            if (part++ == 0) {
                left_ = piece;
            } else {
                tables_.merges.add(left_, piece);
            }
        });
        if (part != 2) {
            refuse();
        }
    }
    JsonScanner& scanner_;
    SmallMembers rest_;
    ModelTables tables_;
    std::string left_;
};

} // namespace

void SmallMembers::skip(JsonScanner& scanner)
{
    const std::size_t begin = scanner.member().begin;
    (void)scanner.skip();
    members_ += members_.size() == 1 ? "" : ",";
    members_ += text_.substr(begin, scanner.here() - begin);
}

ModelTables read_model_tables(JsonScanner& scanner, std::string_view text)
{
    return ModelReader(scanner, text).read();
}

// ---- the file --------------------------------------------------------------------------------------------------------------

namespace {

bool is_setting(std::string_view key)
{
    return key == "version" || key == "truncation" || key == "padding" || key == "decoder";
}

/// The file's two parts: the model, and the members that say the steps.
struct FileParts {
    ModelTables model;
    std::string steps; ///< JSON
};

FileParts read_parts(std::string_view json)
{
    JsonScanner scanner(json);
    if (scanner.next() != '{' && scanner.next() != '\0') {
        throw Error(ErrorKind::data, "the tokenizer", "another value", "an object");
    }
    std::optional<ModelTables> model;
    SmallMembers steps(json);
    scanner.object([&](std::string_view key) {
        if (is_setting(key)) {
            (void)scanner.skip();
        } else if (key != "model") {
            steps.skip(scanner);
        } else if (model) {
            throw Error(ErrorKind::data, "model", "two of them", "one");
        } else {
            model = read_model_tables(scanner, json);
        }
    });
    scanner.end();
    if (!model) {
        throw Error(ErrorKind::data, "key 'model' is missing: is it a tokenizer.json?");
    }
    return {std::move(*model), std::move(steps).done()};
}

} // namespace

namespace {

void require_addressable(std::string_view json)
{
    if (json.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(ErrorKind::too_large, "JSON", fmt::format("{} bytes", json.size()), "up to 4294967295");
    }
}

} // namespace

text::PieceList read_vocabulary(std::string_view json)
{
    require_addressable(json);
    JsonScanner scanner(json);
    text::PieceList vocabulary = ModelReader(scanner, json).read_ids();
    scanner.end();
    return vocabulary;
}

text::TokenizerSpec read_tokenizer(std::string_view json)
{
    require_addressable(json);
    FileParts parts = read_parts(json);
    const JsonDocument model(parts.model.rest, "model");
    const JsonDocument steps(parts.steps);
    const Members members(steps.root());
    text::TokenizerSpec spec;
    spec.model = read_model(JsonValue(model, 0, "model"), parts.model);
    spec.vocabulary = std::move(parts.model.vocabulary);
    if (const JsonValue* normalizer = members.find("normalizer")) {
        spec.normalizer = read_normalizer(*normalizer);
    }
    if (const JsonValue* pre_tokenizer = members.find("pre_tokenizer")) {
        spec.splitter = read_pre_tokenizer(*pre_tokenizer);
    }
    if (const JsonValue* added = members.find("added_tokens")) {
        spec.added = read_added_tokens(*added);
    }
    if (const JsonValue* post_processor = members.find("post_processor")) {
        read_post_processor(*post_processor, spec);
    }
    return spec;
}

} // namespace attn::io
