// A field of a plain struct, declared once: its key in JSON, what it may hold, what it means, and which member it is.
//
// recipe_fields.hpp is the table of a recipe's fields. All code reads it that reads or writes JSON, prints the
// JSON Schema, offers options with their help or keys of --set, lays both over a recipe, or says whose fault a value is.
#pragma once

#include "attn/model/recipe/recipe.hpp"
#include "attn/tensor/error.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace attn::model {

/// What a field holds, in the one form that readers, writers and options share. std::monostate: it is absent. A choice is its
/// place among the names.
using FieldValue = std::variant<std::monostate, bool, Index, std::uint64_t, double, std::string, std::vector<std::string>,
                                std::vector<Index>, std::vector<Length>, Literal>;

// ---- what a field is -------------------------------------------------------------------------------------------------

enum class FieldType {
    flag,          ///< true or false
    integer,       ///< Index
    natural,       ///< std::uint64_t
    real,          ///< double, finite
    choice,        ///< one of `names`
    text,          ///< a string
    texts,         ///< strings
    text_or_texts, ///< a string, or several
    integers,      ///< Index each
    choices,       ///< some of `names`, as their places
    rows,          ///< words, or positions as digits
    lengths,       ///< Length each
    numbers,       ///< a Literal
    mask,          ///< a Literal of truths, or of numbers and -inf
    digest,        ///< a string of 64 hexadecimal digits
    objects,       ///< objects, with fields of their own
};

/// What a field may hold.
struct Allowed {
    FieldType type = FieldType::text;
    Index least = 0, most = 0;           ///< of an integer, of each of several; of a choice, the first place
    Index multiple_of = 1;               ///< of an integer
    std::size_t fewest = 0, longest = 0; ///< how many of several; 0: any number
    double above = -std::numeric_limits<double>::infinity(); ///< of a real
    bool above_itself = false;                               ///< whether a real may be `above`
    double below = std::numeric_limits<double>::infinity();  ///< of a real
    std::optional<double> none = {};                         ///< of a real: the number that "none" stands for
    std::optional<double> absent = {};                       ///< of a real: the number that says that it is absent
    std::span<const std::string_view> names = {};            ///< of a choice, in the order of its enumeration
    std::span<const Alias> aliases = {};                     ///< of a choice: what others call some of the names
    std::string_view in_words = {};                          ///< of a real or of several: what an error says is allowed
    std::string_view instead = {};                           ///< of integers: the word that stands for -1 alone
    /// Of integers: the word that stands for `most` on a command line, where 0-5 stands for all from 0 to 5.
    std::string_view last = {};
};

/// How a command line says a field.
enum class Spelling {
    option, ///< by an option, mostly one of its own
    key,    ///< as --set KEY=VALUE
    file,   ///< not at all: it describes a file
};

struct FieldInfo;

/// Says that a field goes only with some choices of another one in the same object.
struct OnlyWith {
    const FieldInfo* other = nullptr; ///< none: it goes with anything
    Index first = 0, last = 0;        ///< places among the other's names
    std::optional<Index> but = {};    ///< one between them that it does not go with

    [[nodiscard]] bool allows(Index place) const { return place >= first && place <= last && place != but; }
};

/// All of a field but where it stands.
struct FieldInfo {
    std::string_view key; ///< in JSON: "dims.heads" is "heads" in the object "dims"
    Allowed allowed;
    std::string_view meaning = {};       ///< a phrase for help and schema
    std::string_view usual = {};         ///< in words: what holds where the field is absent
    std::string_view symbol = {};        ///< what help calls the value, such as "H"
    std::optional<double> left_out = {}; ///< the number, choice or flag that is not written, being what holds without it
    bool required = false;               ///< in its object, where it is written even when empty
    OnlyWith only = {};
    Spelling spelling = Spelling::option;

    [[nodiscard]] constexpr std::string_view name() const { return key.substr(key.rfind('.') + 1); }
    /// "dims" of "dims.heads"; empty at the top.
    [[nodiscard]] constexpr std::string_view section() const
    {
        const std::size_t dot = key.rfind('.');
        return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
    }
};

/// "only with "init": "uniform"", as errors say it.
[[nodiscard]] std::string in_words(const OnlyWith& only);
[[nodiscard]] bool goes_with(const OnlyWith& only, const FieldValue& other);

/// "mask" of "attention.mask.file" within "attention"; empty for a key that is not within.
[[nodiscard]] std::string_view key_within(std::string_view key, std::string_view section);

/// The fields within a section, by the kinds of object that it can be: a field that is required begins each. All of the top are
/// of one kind.
template <typename Fields>
[[nodiscard]] auto kinds_of(std::string_view section, const Fields& fields)
{
    std::vector<std::vector<std::ranges::range_value_t<Fields>>> kinds;
    for (const auto* field : fields) {
        if (key_within(field->key, section).empty()) {
            continue;
        }
        if (kinds.empty() || (!section.empty() && field->required && field->section() == section)) {
            kinds.emplace_back();
        }
        kinds.back().push_back(field);
    }
    return kinds;
}

namespace allow {

[[nodiscard]] constexpr Allowed integer(Index least, Index most)
{
    return {.type = FieldType::integer, .least = least, .most = most};
}
[[nodiscard]] constexpr Allowed one_of(std::span<const std::string_view> names, std::span<const Alias> aliases = {})
{
    return {.type = FieldType::choice, .names = names, .aliases = aliases};
}
/// Any finite number; or one above 0, or 0, which says that there is none; or one from a limit on.
[[nodiscard]] constexpr Allowed real(std::string_view in_words)
{
    return {.type = FieldType::real, .in_words = in_words};
}
[[nodiscard]] constexpr Allowed real_or_0(std::string_view in_words)
{
    return {.type = FieldType::real, .above = 0, .above_itself = true, .absent = 0, .in_words = in_words};
}
[[nodiscard]] constexpr Allowed real_from(double limit, std::string_view in_words)
{
    return {.type = FieldType::real, .above = limit, .above_itself = true, .in_words = in_words};
}
/// From one limit on, and less than another.
[[nodiscard]] constexpr Allowed real_between(double from, double below, std::string_view in_words)
{
    return {.type = FieldType::real, .above = from, .above_itself = true, .below = below, .in_words = in_words};
}
inline constexpr Allowed flag{.type = FieldType::flag};
inline constexpr Allowed text{.type = FieldType::text};

} // namespace allow

/// A real as a field holds it: nothing where the number says so.
[[nodiscard]] inline FieldValue real_value(double number, const Allowed& allowed)
{
    return allowed.absent == number ? FieldValue() : number;
}

// ---- where it stands -------------------------------------------------------------------------------------------------

/// How the member of a Struct is read and written.
template <typename Struct>
struct Access {
    FieldValue (*get)(const Struct&);
    void (*set)(Struct&, const FieldValue&); ///< makes the optional parts that lead to the member
    bool (*exists)(const Struct&);           ///< whether those parts are there
};

template <typename Struct>
struct Field : FieldInfo {
    Access<Struct> member;
};

namespace detail {

template <typename Class, typename Member>
Class class_of(Member Class::*);
template <auto member>
using ClassOf = decltype(class_of(member));

template <typename Type>
inline constexpr bool is_optional = false;
template <typename Type>
inline constexpr bool is_optional<std::optional<Type>> = true;
template <typename Type>
inline constexpr bool is_variant = false;
template <typename... Types>
inline constexpr bool is_variant<std::variant<Types...>> = true;

/// The member at the end of a path of pointers to members; nullptr where an optional on the way is empty or a variant holds
/// something else. In an object that is not const, what is missing is made.
template <auto first, auto... rest, typename Object>
constexpr auto* reach(Object& object)
{
    auto& next = object.*first;
    using Next = std::remove_cvref_t<decltype(next)>;
    if constexpr (sizeof...(rest) == 0) {
        return &next;
    } else if constexpr (is_optional<Next>) {
        if constexpr (!std::is_const_v<Object>) {
            if (!next) {
                next.emplace();
            }
        }
        return next ? reach<rest...>(*next) : nullptr;
    } else if constexpr (is_variant<Next>) {
        using Inner = ClassOf<std::get<0>(std::tuple(rest...))>;
        if constexpr (!std::is_const_v<Object>) {
            if (!std::holds_alternative<Inner>(next)) {
                next.template emplace<Inner>();
            }
        }
        auto* inner = std::get_if<Inner>(&next);
        return inner == nullptr ? nullptr : reach<rest...>(*inner);
    } else {
        return reach<rest...>(next);
    }
}

template <typename Member>
FieldValue value_of(const Member& member)
{
    if constexpr (is_optional<Member>) {
        return member ? value_of(*member) : FieldValue();
    } else if constexpr (std::is_enum_v<Member>) {
        return static_cast<Index>(member);
    } else if constexpr (std::is_same_v<Member, core::Window>) {
        return std::vector<Index>{member.left, member.right};
    } else {
        return member;
    }
}

} // namespace detail

/// Gives a member the value of its field.
template <typename Member>
void assign(Member& member, const FieldValue& value)
{
    if constexpr (detail::is_optional<Member>) {
        if (std::holds_alternative<std::monostate>(value)) {
            member.reset();
        } else {
            assign(member.emplace(), value);
        }
    } else if constexpr (std::is_enum_v<Member>) {
        member = static_cast<Member>(std::get<Index>(value));
    } else if constexpr (std::is_same_v<Member, core::Window>) {
        const auto& sides = std::get<std::vector<Index>>(value);
        member = {sides.front(), sides.back()};
    } else if constexpr (std::is_integral_v<Member>) { // a bool may be a choice of two, an int or a size a whole number
        std::visit(
            [&]<typename Value>(const Value& v) {
                if constexpr (std::is_integral_v<Value>) {
                    member = static_cast<Member>(v);
                }
            },
            value);
    } else {
        member = std::get<Member>(value);
    }
}

/// The member at the end of a path, such as at<&Recipe::dims, &Dims::heads>.
template <auto first, auto... rest>
inline constexpr Access<detail::ClassOf<first>> at{
    .get = [](const detail::ClassOf<first>& object) -> FieldValue {
        const auto* member = detail::reach<first, rest...>(object);
        return member == nullptr ? FieldValue() : detail::value_of(*member);
    },
    .set = [](detail::ClassOf<first>& object,
              const FieldValue& value) { assign(*detail::reach<first, rest...>(object), value); },
    .exists = [](const detail::ClassOf<first>& object) { return detail::reach<first, rest...>(object) != nullptr; }};

} // namespace attn::model
