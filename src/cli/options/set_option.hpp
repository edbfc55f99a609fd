// --set KEY=VALUE: what a reader seldom needs, by the name that JSON has for it. A key is declared as an option is, and its
// value read as one of an option, or as JSON.
#pragma once

#include "attn/model/recipe/field.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attn::cli {

/// A key, with what help and completion say of it.
struct SetKey {
    std::string key; ///< "rounding"; of any step of the draws "draws[N].init"
    std::string symbol, meaning;
    std::vector<std::string> offered; ///< values
    std::string group;                ///< as that of an option
    std::string old_name;             ///< of the option that it was, "--rounding"
    model::Allowed allowed;
    std::function<void(Index step, const model::FieldValue&)> set;

    /// The key with the step that `typed` names, or the first: "draws[3].init".
    [[nodiscard]] std::string named_as(std::string_view typed) const;
};

/// The keys of one command.
class SetKeys {
public:
    /// Of two alike, which stand in other kinds of an object, the first counts.
    void add(SetKey key);
    [[nodiscard]] const std::vector<SetKey>& all() const { return keys_; }
    /// Of a key or of KEY=VALUE; nullptr: there is none.
    [[nodiscard]] const SetKey* find(std::string_view text) const;

    /// Reads KEY=VALUE. Throws Error(usage): no such key, one that has an option, a second value, a value that is not allowed.
    void set(std::string_view text);

    /// "--rounding is now --set rounding=stage|step" for an option that became a key; `typed` is what stood behind "=".
    [[nodiscard]] std::string instead_of(std::string_view option, std::string_view typed) const;

private:
    std::vector<SetKey> keys_;
    std::set<std::string, std::less<>> given_;
};

/// "--set rounding" of "rounding=step"
[[nodiscard]] std::string name_of_key(std::string_view text);

/// The fields of a step that a key can name.
[[nodiscard]] std::vector<const model::FieldInfo*> fields_of_steps();
/// "draws[N].init"
[[nodiscard]] std::string key_of_step(const model::FieldInfo& field);

} // namespace attn::cli
