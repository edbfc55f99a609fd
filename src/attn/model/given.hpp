// Who said what: an error about an option is one of usage and names the option; an error about what a recipe or the config of a
// saved result says is one of that file's data and names the key.
#pragma once

#include "attn/model/overrides.hpp"
#include "attn/tensor/error.hpp"

#include <initializer_list>
#include <set>
#include <string>

namespace attn::model {

/// What a run can find fault with only when it knows the words.
enum class Setting { embed_dim, heads, kv_heads, d_k, d_v, vocab_size, ids, cross, positions, query, unknown };

/// The settings that the command line gave.
class Given {
public:
    Given() = default; ///< none: all comes from a file
    /// Those that lie over a recipe.
    explicit Given(const Overrides& overrides);
    /// All, for a run without any file.
    [[nodiscard]] static Given all();

    /// The same beside an embedding table that came with the parameters of a file, which says how many rows there are.
    [[nodiscard]] Given with_table_of(std::string file) const;

    [[nodiscard]] bool contains(Setting setting) const { return settings_.contains(setting); }
    /// "--heads" when the command line gave it, otherwise "dims.heads".
    [[nodiscard]] std::string name_of(Setting setting) const;
    /// Error(usage) when the command line gave one of those that do not fit together, otherwise Error(data).
    [[nodiscard]] ErrorKind fault(std::initializer_list<Setting> settings) const;
    /// "the embedding table of 'layer.npz'", or nothing when no file of parameters brought one.
    [[nodiscard]] const std::string& table() const { return table_; }

private:
    std::set<Setting> settings_;
    std::string table_;
};

} // namespace attn::model
