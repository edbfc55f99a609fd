// The parts of a tokenizer.json: the long tables of its model, read as they come, and its steps, as the smallest steps that
// text/pieces knows.
#pragma once

#include "attn/io/json/json_reader.hpp"
#include "attn/io/json/json_scanner.hpp"
#include "attn/text/pieces/tokenizer_spec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

/// Members of an object that are small enough to be laid down: written as an object of their own.
class SmallMembers {
public:
    explicit SmallMembers(std::string_view text) : text_(text) {}

    /// Of the member whose key was read last: its value is passed over.
    void skip(JsonScanner& scanner);
    [[nodiscard]] std::string done() && { return std::move(members_) + "}"; }

private:
    std::string_view text_;
    std::string members_ = "{";
};

struct ModelTables {
    text::PieceList vocabulary;
    std::vector<double> scores; ///< of a list of pieces
    bool is_list = false;
    text::MergeList merges;
    bool has_merges = false;
    std::string rest; ///< JSON: an object of the other members
};

/// Reads the value that comes next in `text`, at which `scanner` stands. Throws Error(data), naming the place.
[[nodiscard]] ModelTables read_model_tables(JsonScanner& scanner, std::string_view text);

/// An object of tokenizer.json. The format grows, so unknown members are allowed; null counts as absent.
class Members {
public:
    /// Throws Error(data) when `value` is no object.
    explicit Members(const JsonValue& value) : value_(value), members_(value.members()) {}

    [[nodiscard]] const JsonValue* find(std::string_view key) const;
    [[nodiscard]] const JsonValue& at(std::string_view key) const; ///< throws Error(data) when absent
    [[nodiscard]] bool boolean(std::string_view key, bool otherwise) const;
    [[nodiscard]] std::string string(std::string_view key, std::string_view otherwise) const;

private:
    JsonValue value_;
    std::vector<JsonValue::Member> members_;
};

/// Each of these throws Error(data): a type that is not here, what has no meaning where it stands.
[[nodiscard]] std::vector<text::NormalizerStep> read_normalizer(const JsonValue& value);
[[nodiscard]] std::vector<text::SplitterStep> read_pre_tokenizer(const JsonValue& value);
[[nodiscard]] std::vector<text::AddedToken> read_added_tokens(const JsonValue& value);
/// `rest` is the model without its tables, which move into what is returned, except the vocabulary.
[[nodiscard]] text::PieceModel read_model(const JsonValue& rest, ModelTables& tables);
/// Templates and trimmed bounds, into `spec`.
void read_post_processor(const JsonValue& value, text::TokenizerSpec& spec);

} // namespace attn::io
