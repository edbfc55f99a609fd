// What the command line says about a recipe, laid over it; and whose fault a value of the recipe is.
#pragma once

#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/tensor/error.hpp"

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace attn::model {

/// New values of some fields of one step of the draws.
using StepValues = std::map<const FieldInfo*, FieldValue>;

/// Values of fields; what is not there stays as the recipe has it. Beside the fields of a recipe these count: that of a seed,
/// which then replaces every seed, that of an initialisation, which then is that of every W_…, or of the layer in their place,
/// and field::output_projection, which holds for draws, too.
class Overrides {
public:
    void set(const FieldInfo& field, FieldValue value) { values_.insert_or_assign(&field, std::move(value)); }
    [[nodiscard]] bool contains(const FieldInfo& field) const { return values_.contains(&field); }
    /// The value of a field that is there.
    [[nodiscard]] const FieldValue& at(const FieldInfo& field) const { return values_.at(&field); }
    template <typename Value>
    [[nodiscard]] std::optional<Value> find(const FieldInfo& field) const
    {
        const auto found = values_.find(&field);
        return found == values_.end() ? std::nullopt : std::optional(std::get<Value>(found->second));
    }

private:
    std::map<const FieldInfo*, FieldValue> values_;
};

/// Who said what: an error about an option is one of usage and names the option; an error about what a recipe or the config of
/// a saved result says is one of that file's data and names the key.
class Origin {
public:
    /// What the user types for a field: "--embed-dim", "--set dims.d_a".
    using OptionName = std::string (*)(const FieldInfo&);

    Origin() = default; ///< all comes from a file
    /// `overrides` lie over a recipe.
    Origin(Overrides overrides, OptionName option) : overrides_(std::move(overrides)), option_(option) {}
    /// There is no file: whatever is not said by an option is its default.
    [[nodiscard]] static Origin options_alone(OptionName option);

    /// The same beside an embedding table that came with the parameters of a file, which says how many rows there are.
    [[nodiscard]] Origin with_table_of(const std::string& file) const;

    /// The same where draws say sizes that nothing else does: "draws[1].shape" of field::vocab_size.
    [[nodiscard]] Origin with_sizes_of(std::map<const FieldInfo*, std::string> draws) const;

    /// The same where the command line has changed these steps of the draws.
    [[nodiscard]] Origin with_steps(std::set<std::size_t> steps) const;
    [[nodiscard]] bool changes_step(std::size_t step) const { return steps_.contains(step); }

    /// Whether the command line decides over the field.
    [[nodiscard]] bool from_option(const FieldInfo& field) const { return all_ || overrides_.contains(field); }
    /// "--heads" when the command line decides, "heads of draws[2].shape" when a draw does, otherwise "dims.heads".
    [[nodiscard]] std::string name_of(const FieldInfo& field) const;
    /// "--heads" in any case; nothing where no option could change the field.
    [[nodiscard]] std::string option_of(const FieldInfo& field) const
    {
        return option_ == nullptr || sizes_.contains(&field) ? "" : option_(field);
    }
    /// "--init linear", "--set rounding=step", or "init linear" where a file says it.
    [[nodiscard]] std::string said(const FieldInfo& field, std::string_view value) const;
    /// Error(usage) when the command line decides over one of those that do not fit together, otherwise Error(data).
    [[nodiscard]] ErrorKind fault(std::initializer_list<const FieldInfo*> fields) const;
    /// "the embedding table of 'layer.npz'", or nothing when no file of parameters brought one.
    [[nodiscard]] const std::string& table() const { return table_; }

private:
    Overrides overrides_;
    OptionName option_ = nullptr;
    bool all_ = false;
    std::string table_;
    std::map<const FieldInfo*, std::string> sizes_;
    std::set<std::size_t> steps_;
};

/// Throws Error(usage) for a seed from an option that the generator does not take: NumPy's RandomState takes no wider one than
/// 32 bits.
void require_seed(Generator generator, std::uint64_t seed, const Origin& origin);

/// The recipe with the overrides in place; published numbers are dropped. Saying more than one head, and nothing about the
/// output projection, adds W_o as the last draw, and so does its size; saying one head drops it, but that of a layer that is
/// drawn whole. With parameters from a file dims but the heads come from there, and so does W_o. Throws Error(usage) when an
/// override does not fit the recipe's input or generator, belongs to a part of it that is not there, or draws where neither it
/// nor the recipe says a seed.
[[nodiscard]] Recipe apply(Recipe recipe, const Overrides& overrides, const Origin& origin = {});

/// Whether the recipe draws W_o, or its file holds it (known once it is loaded).
[[nodiscard]] bool has_output_projection(const Recipe& recipe);

} // namespace attn::model
