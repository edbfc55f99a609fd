// The options of a command, each declared once and bound to the member that it sets. CLI11 matches the words and
// knows what needs or excludes what; help, manual pages and completions read the list of the same declarations.
//
// CLI11 reads 010 as 8, 0x10 as 16, ' 4' as 4 and -1 as 2^64-1, so every value passes `value_of`, strict and ranged, before it
// is assigned.
#pragma once

#include "attn/model/recipe/overrides.hpp"
#include "cli/options/set_option.hpp"

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace attn::cli {

/// An option as data, of which whoever needs its name takes it. Where a recipe has such a field, it comes from the field.
struct OptionInfo {
    std::string_view name;         ///< "--heads", with its short form "-q,--queries", with its opposite "--causal,!--no-causal"
    std::string_view symbol = {};  ///< what help calls the value
    std::string_view meaning = {}; ///< a phrase; the range, the choices and what is usual are added by help
    std::string_view usual = {};   ///< what holds without it
    model::Allowed allowed = model::allow::text;
    /// What completion offers where neither choices nor the symbol say it: words, with commas between them. "*.npz" stands for
    /// files, RECIPE for the built-in ones.
    std::string_view offered = {};
};

/// An option without a value.
[[nodiscard]] constexpr OptionInfo switch_option(std::string_view name, std::string_view meaning)
{
    return {.name = name, .meaning = meaning, .allowed = model::allow::flag};
}
[[nodiscard]] constexpr OptionInfo json_option(std::string_view meaning)
{
    return switch_option("--json", meaning);
}

/// An option as help, manual pages and completions show it.
struct ListedOption {
    std::vector<std::string> names; ///< "-q", "--queries"
    std::string symbol;             ///< empty: a switch
    std::string meaning;            ///< with choices, range and what is usual
    std::string group;
    std::vector<std::string> offered;
    bool takes_list = false;                  ///< several of them, with commas
    std::shared_ptr<const SetKeys> keys = {}; ///< of --set
};

inline constexpr model::Allowed tolerance = model::allow::real_from(0, "a finite number from 0, such as 1e-6");
[[nodiscard]] constexpr OptionInfo rtol_option(std::string_view meaning, std::string_view usual)
{
    return {"--rtol", "X", meaning, usual, tolerance};
}
[[nodiscard]] constexpr OptionInfo atol_option(std::string_view meaning, std::string_view usual)
{
    return {"--atol", "X", meaning, usual, tolerance};
}

/// What is typed for a field of a recipe: "--embed-dim" for "dims.embed_dim"; a few have names of their own. Of one that has no
/// option "--set dims.d_a".
[[nodiscard]] std::string option_name(const model::FieldInfo& field);
/// `name` is its option_name(), which must outlive what it gives.
[[nodiscard]] OptionInfo option_of(const model::FieldInfo& field, std::string_view name);

/// The meaning of a typed text. Throws Error(usage): the option, the text, what is allowed.
[[nodiscard]] model::FieldValue value_of(std::string_view option, std::string_view text, const model::Allowed& allowed);

/// The declarations of one command.
class Options {
public:
    /// `typed`: only options among these words are declared, since declaring all takes longer than a short sentence; nullptr:
    /// all.
    explicit Options(CLI::App& app, const std::vector<std::string_view>* typed = nullptr) : app_(&app), typed_(typed) {}
    /// Lists all options and declares none.
    explicit Options(std::vector<ListedOption>& listed) : listed_(&listed) {}

    /// The title of those that follow.
    void group(std::string_view title) { group_ = title; }

    using Set = std::function<void(const model::FieldValue&)>;
    void add(const OptionInfo& option, const Set& set);
    /// Bound to a member: a bool is a switch; an std::optional stays empty when the option is not given.
    template <typename Member>
    void add(const OptionInfo& option, Member& member)
    {
        add(option, [&member](const model::FieldValue& value) { model::assign(member, value); });
    }
    /// The option of a field, bound to a member, or laid over the recipe.
    template <typename Member>
    void add(const model::FieldInfo& field, Member& member)
    {
        add(option_of(field, option_name(field)), member);
    }
    void add(const model::FieldInfo& field, model::Overrides& overrides)
    {
        add(option_of(field, option_name(field)), [&](const model::FieldValue& value) { overrides.set(field, value); });
    }

    /// Declares --set, for the keys that follow.
    void add_set();
    /// Declares a key of --set as an option is declared; the name of `option` is the one that it had as an option, if any.
    void add_key(std::string_view key, const OptionInfo& option, const Set& set);
    template <typename Member>
    void add_key(std::string_view key, const OptionInfo& option, Member& member)
    {
        add_key(key, option, [&member](const model::FieldValue& value) { model::assign(member, value); });
    }
    /// That of a field, bound to a member, or laid over the recipe.
    void add_key(const model::FieldInfo& field, const Set& set);
    template <typename Member>
    void add_key(const model::FieldInfo& field, Member& member)
    {
        add_key(field, [&member](const model::FieldValue& value) { model::assign(member, value); });
    }
    void add_key(const model::FieldInfo& field, model::Overrides& overrides)
    {
        add_key(field, [&](const model::FieldValue& value) { overrides.set(field, value); });
    }
    /// Keys of any step of the draws.
    using SetOfStep = std::function<void(Index step, const model::FieldInfo& field, const model::FieldValue& value)>;
    void add_step_keys(const SetOfStep& set);
    [[nodiscard]] const std::shared_ptr<SetKeys>& keys() const { return keys_; }

    /// Whether a typed option needs one that is not typed, and so not declared; then all have to be.
    [[nodiscard]] bool incomplete() const { return incomplete_; }

    /// Every one of `options` means something only beside `other`.
    void need(std::initializer_list<std::string_view> options, std::string_view other);
    /// No two of them go together.
    void exclude(std::initializer_list<std::string_view> options);

private:
    CLI::App* app_ = nullptr;
    const std::vector<std::string_view>* typed_ = nullptr;
    std::vector<ListedOption>* listed_ = nullptr;
    [[nodiscard]] bool wants_keys() const;

    std::shared_ptr<SetKeys> keys_ = std::make_shared<SetKeys>();
    bool incomplete_ = false;
    std::string group_;
};

} // namespace attn::cli
