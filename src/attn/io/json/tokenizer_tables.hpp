// The model of a tokenizer.json: its long tables, read as they come, and the rest of it.
#pragma once

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

} // namespace attn::io
