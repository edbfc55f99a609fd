// How the steps of an explanation call things: words, vectors and numbers.
#pragma once

#include "attn/model/explain/explanation.hpp"
#include "attn/report/text/explanation.hpp"
#include "attn/report/text/prose.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace attn::report {

/// Text that stays on one line.
[[nodiscard]] std::string glued(std::string text);
/// "5", "0.25"
[[nodiscard]] std::string plain(double value);
[[nodiscard]] std::string in_quotes(const std::string& word);
/// A negative number as a factor or behind a sign: "(-0.5)".
[[nodiscard]] std::string bracketed(const std::string& number);
/// "v(eat)"
[[nodiscard]] std::string vector_of(const std::string& symbol, const std::string& word);
/// "b_q"
[[nodiscard]] std::string bias_name(model::Target W);
[[nodiscard]] std::string shape_text(const Shape& lengths);

/// As many of the places as have the largest values, in their order.
template <typename Value>
void keep_largest(std::vector<std::size_t>& places, std::size_t count, const Value& value)
{
    if (count < places.size()) {
        std::ranges::stable_sort(places, std::ranges::greater(), value);
        places.resize(count);
        std::ranges::sort(places);
    }
}

/// A weight as a quotient.
struct Quotient {
    std::string exponential, sum, weight;
};

class Wording {
public:
    /// For a page so many columns wide. The explanation must outlive it.
    Wording(const model::Explanation& explanation, const ExplanationOptions& options, Index width);

    [[nodiscard]] std::string query_word() const;
    /// A key's word, with its position where the word occurs several times: "eat", "be[5]".
    [[nodiscard]] std::string key_word(std::size_t j) const;
    /// The same as what a vector belongs to; "bias" of the key that is a parameter.
    [[nodiscard]] std::string key_owner(std::size_t j) const;
    /// Whether the key stands for no word, but is a parameter (model/layer/extra_key.hpp).
    [[nodiscard]] bool is_bias(std::size_t j) const { return j >= (e_.cross ? e_.key_tokens : e_.tokens).size(); }
    [[nodiscard]] std::string own_vector() const; ///< "q(is)", or where scores are K·Qᵀ "k(is)"
    [[nodiscard]] std::string other_vector(const std::string& word) const;
    /// What makes them.
    [[nodiscard]] model::Target own_matrix() const { return e_.swapped ? model::Target::W_k : model::Target::W_q; }
    [[nodiscard]] model::Target other_matrix() const { return e_.swapped ? model::Target::W_q : model::Target::W_k; }
    /// "W_q·x(is): (24,) = (24, 16)·(16,)" or "x(is)·W_q: …", with its bias if there is one.
    [[nodiscard]] std::string projection(model::Target W, const std::string& of) const;
    /// " = " and that, of a query, key or value; or that the recipe gives it.
    [[nodiscard]] std::string made_by(model::Target W, const std::string& of) const;

    [[nodiscard]] int digits() const { return digits_; }
    /// "q(is)·k(word)", or what another function of the scores makes of them.
    [[nodiscard]] std::string score_formula(const std::string& word) const;

    /// Numbers that belong together, in one notation.
    [[nodiscard]] std::vector<std::string> numbers(const std::vector<double>& values) const;
    [[nodiscard]] std::string number(double value) const { return numbers({value}).front(); }
    /// A number of every key.
    template <typename Get>
    [[nodiscard]] std::vector<std::string> of_keys(Get get) const
    {
        std::vector<double> values;
        std::ranges::transform(e_.keys, std::back_inserter(values), get);
        return numbers(values);
    }
    /// How the weight of this key comes about: the numbers have so many digits that the first two give the third.
    [[nodiscard]] Quotient quotient(const model::ExplainedKey& key) const;
    [[nodiscard]] std::vector<std::string> masked() const; ///< masked scores, or what hides a key
    [[nodiscard]] std::string last_name() const;           ///< of the scores that go into the softmax

private:
    [[nodiscard]] std::string shown(const std::string& word) const;

    const model::Explanation& e_;
    int digits_;
    Index longest_word_;
    std::vector<std::string> repeated_; ///< words of several keys, sorted
};

} // namespace attn::report
