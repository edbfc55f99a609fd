// What config.json says, and whether we have understood all of it.
//
// An unknown key may change what a model computes. So a description asks for each key that it knows, and what is
// left over is refused by name, unless it is harmless (training, generation, tokens, bookkeeping) or the user says that it is.
#pragma once

#include "attn/tensor/shape.hpp"

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attn::transformer {

using ConfigNull = std::monostate;
/// Stands for an object, or inside a list for an object or a list; what is inside has entries of its own.
struct ConfigObject {
    bool operator==(const ConfigObject&) const = default;
};
using ConfigScalar = std::variant<ConfigNull, bool, double, std::string, ConfigObject>;
using ConfigValue = std::variant<ConfigNull, bool, double, std::string, ConfigObject, std::vector<ConfigScalar>>;
/// By key; inside an object "outer.inner", and of an object or list inside a list "outer.0" and on.
using ConfigValues = std::map<std::string, ConfigValue, std::less<>>;
/// What a file calls keys, where it has other names for them.
using ConfigNames = std::map<std::string, std::string, std::less<>>;

inline constexpr Index largest_count = 1'000'000'000;
inline constexpr Index most_layers = 4096; ///< of a model

/// A config being read. Where a function takes several keys, they are names of the same thing, and the first one that has a
/// value counts; null is no value. Each throws Error(data) for a value of another kind or out of range; without `otherwise`
/// also for a key that is not there.
class Config {
public:
    using Keys = std::initializer_list<std::string_view>;

    /// `ignored`: keys, as the file calls them, that are taken as if they were not there, each with all that is inside of it;
    /// one that is not there anyway is Error(usage). Of a model for pictures and text, the part "text_config" alone is read.
    explicit Config(ConfigValues values, const std::vector<std::string>& ignored = {}, ConfigNames names = {});

    /// Whether one of the keys has a value, or is an object.
    [[nodiscard]] bool has(Keys keys) const;

    /// Whether the value is this text. The key is not asked for by that.
    [[nodiscard]] bool says(std::string_view key, std::string_view text) const;

    /// From 1 to 1,000,000,000.
    [[nodiscard]] Index count(Keys keys);
    [[nodiscard]] Index count(Keys keys, Index otherwise);
    /// From 1 to most_layers.
    [[nodiscard]] Index layers(Keys keys);
    /// A count; nothing when the value is null, `absent` when no key is there.
    [[nodiscard]] std::optional<Index> optional_count(Keys keys, std::optional<Index> absent);
    /// From 0 on: ids, places.
    [[nodiscard]] Index place(Keys keys, Index otherwise);
    /// Above 0 and finite.
    [[nodiscard]] double positive(Keys keys);
    [[nodiscard]] double positive(Keys keys, double otherwise);
    /// The same; nothing when the value is null, `absent` when no key is there.
    [[nodiscard]] std::optional<double> optional_positive(Keys keys, std::optional<double> absent);
    [[nodiscard]] bool flag(Keys keys, bool otherwise);
    [[nodiscard]] std::optional<bool> optional_flag(Keys keys);
    [[nodiscard]] std::string text(Keys keys);
    [[nodiscard]] std::string text(Keys keys, std::string_view otherwise);
    /// Empty when there is none.
    [[nodiscard]] std::vector<std::string> texts(Keys keys);
    [[nodiscard]] std::vector<Index> places(Keys keys);

    /// Throws Error(data) unless the value is this, or there is none.
    void require(std::string_view key, const ConfigScalar& value);
    /// These change nothing that is computed here.
    void pass_over(Keys keys);

    /// Throws Error(data) naming every key that was not asked for, or the object if none of its keys was.
    void require_all_used() const;

private:
    struct Found;
    /// As the file calls it, for messages.
    [[nodiscard]] std::string_view shown(std::string_view key) const;
    /// Throws for what is not there.
    template <typename Value>
    [[nodiscard]] Value needed(std::optional<Value> value, Keys keys) const;
    [[nodiscard]] std::optional<Found> find(Keys keys);
    /// What `read` makes of the value, if there is one.
    template <typename Read>
    [[nodiscard]] auto value(Keys keys, const Read& read);

    ConfigValues values_;
    ConfigNames names_;
    std::set<std::string, std::less<>> used_;
};

} // namespace attn::transformer
