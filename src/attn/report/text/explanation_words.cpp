#include "attn/report/text/explanation_words.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/text/display.hpp"
#include "attn/report/text/notation.hpp"

#include <fmt/format.h>

#include <charconv>

namespace attn::report {

using model::ExplainedKey;
using model::Target;

namespace {

double number_in(const std::string& text)
{
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

} // namespace

std::string glued(std::string text)
{
    std::ranges::replace(text, ' ', glue);
    return text;
}

std::string plain(double value)
{
    const std::string text = math::shortest(value);
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

std::string in_quotes(const std::string& word)
{
    return '"' + word + '"';
}

std::string bracketed(const std::string& number)
{
    return number.starts_with('-') ? "(" + number + ")" : number;
}

std::string vector_of(const std::string& symbol, const std::string& word)
{
    return fmt::format("{}({})", symbol, word);
}

std::string bias_name(Target W)
{
    return fmt::format("b{}", name_of(W).substr(1));
}

std::string shape_text(const Shape& lengths)
{
    return glued(to_string(lengths));
}

Wording::Wording(const model::Explanation& explanation, const ExplanationOptions& options, Index width)
    : e_(explanation), digits_(options.digits), longest_word_(std::max<Index>(width / 4, 4))
{
    std::vector<std::string> words;
    for (const ExplainedKey& key : e_.keys) {
        words.push_back(key.word);
    }
    std::ranges::sort(words);
    for (auto next = words.begin(); (next = std::adjacent_find(next, words.end())) != words.end(); ++next) {
        repeated_.push_back(*next);
    }
}

std::string Wording::shown(const std::string& word) const
{
    return glued(shortened(visible(word), longest_word_)); // a label may hold blanks
}

std::string Wording::query_word() const
{
    return shown(e_.tokens[static_cast<std::size_t>(e_.position)]);
}

std::string Wording::key_word(std::size_t j) const
{
    const std::string& word = e_.keys[j].word;
    const bool several = std::ranges::binary_search(repeated_, word);
    return shown(word) + (several ? fmt::format("[{}]", j) : "");
}

std::string Wording::key_owner(std::size_t j) const
{
    return is_bias(j) ? "bias" : key_word(j);
}

std::string Wording::own_vector() const
{
    return vector_of(e_.swapped ? "k" : "q", query_word());
}

std::string Wording::other_vector(const std::string& word) const
{
    return vector_of(e_.swapped ? "q" : "k", word);
}

std::string Wording::projection(Target W, const std::string& of) const
{
    const Index made = std::ssize(W == Target::W_o ? e_.output : W == Target::W_v ? e_.context : e_.query);
    const Index read = W == Target::W_o   ? std::ssize(e_.joined)
                       : W == Target::W_v ? e_.values_read
                       : W == Target::W_k ? e_.keys_read
                                          : std::ssize(e_.x);
    const std::string name(name_of(W));
    const std::string bias = bias_name(W);
    const bool biased = std::ranges::any_of(e_.biases, [&](Target target) { return name_of(target) == bias; });
    const bool left = std::ranges::find(e_.on_right, W) == e_.on_right.end();
    const std::string of_W = shape_text(left ? Shape{made, read} : Shape{read, made});
    const std::string of_x = shape_text({read});
    return fmt::format("{}·{}{}: {} = {}·{}{}", left ? name : of, left ? of : name, biased ? " + " + bias : "",
                       shape_text({made}), left ? of_W : of_x, left ? of_x : of_W, biased ? " + " + shape_text({made}) : "");
}

std::string Wording::made_by(Target W, const std::string& of) const
{
    const Index size = std::ssize(W == Target::W_v ? e_.context : W == Target::W_k ? e_.keys.front().key : e_.query);
    return e_.given() ? fmt::format(": {}, as the recipe gives it", shape_text({size})) : " = " + projection(W, of);
}

std::vector<std::string> Wording::numbers(const std::vector<double>& values) const
{
    const Notation notation = notation_of(std::span<const double>(values), digits_);
    std::vector<std::string> texts;
    texts.reserve(values.size());
    for (const double value : values) {
        texts.push_back(text_of(value, notation, digits_));
    }
    return texts;
}

Quotient Wording::quotient(const ExplainedKey& key) const
{
    const auto text = [&](double value, int digits) {
        return text_of(value, notation_of(std::span<const double>(&value, 1), digits_), digits);
    };
    Quotient quotient{text(key.exponential, digits_), text(e_.sum, digits_), text(key.weight, digits_)};
    constexpr int most = 17;
    for (int digits = digits_; digits <= most; ++digits) {
        Quotient finer{text(key.exponential, digits), text(e_.sum, digits), quotient.weight};
        if (text(number_in(finer.exponential) / number_in(finer.sum), digits_) == quotient.weight) {
            return finer;
        }
    }
    return quotient; // more digits than the weight has
}

std::vector<std::string> Wording::masked() const
{
    std::vector<std::string> texts = of_keys([](const ExplainedKey& key) { return *key.masked; });
    for (std::size_t j = 0; j < texts.size(); ++j) {
        const model::Hidden hidden = e_.keys[j].hidden;
        if (hidden != model::Hidden::no) {
            texts[j] = model::hidden_names.at(static_cast<std::size_t>(hidden));
        }
    }
    return texts;
}

std::string Wording::score_formula(const std::string& word) const
{
    const std::string own = own_vector();
    const std::string other = other_vector(word);
    const auto with_bias = [&](const std::string& product, Target bias) {
        const bool biased = std::ranges::find(e_.biases, bias) != e_.biases.end();
        return biased ? fmt::format("{} + {}", product, name_of(bias)) : product;
    };
    const core::Score score = e_.config.attention.score;
    if (score == core::Score::general) {
        const std::string aligned = with_bias("W_a·" + other, Target::b_Wa);
        return own + "·" + (aligned.find('+') == std::string::npos ? aligned : "(" + aligned + ")");
    }
    if (score == core::Score::additive) {
        return with_bias(
            fmt::format("v_a·tanh({} + {})", with_bias("W_a·" + own, Target::b_Wa), with_bias("U_a·" + other, Target::b_Ua)),
            Target::b_va);
    }
    return glued(fmt::format(fmt::runtime(core::function_of(score).formula), fmt::arg("q", own), fmt::arg("k", other)));
}

std::string Wording::last_name() const
{
    if (e_.config.attention.mask_at == core::MaskAt::scores) {
        return "scaled";
    }
    return e_.keys.front().masked ? "masked" : e_.keys.front().capped ? "capped" : "scaled";
}

} // namespace attn::report
