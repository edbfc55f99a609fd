#include "attn/report/text/explanation_steps.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace attn::report {

using model::ExplainedKey;
using model::PositionKind;
using model::Target;

namespace {

constexpr std::size_t most_terms = 12; ///< of a sum over the keys

} // namespace

// ---- softmax ----------------------------------------------------------------------------------------------------------

void ExplanationSteps::write_softmax()
{
    const std::string s = words_.last_name();
    step("Softmax: weight = " + glued(fmt::format("exp({} - max) / sum", s)));
    if (e_.sum == 0) {
        prose_.paragraph("Every key is hidden: the row has no sum to divide by, and every weight is 0.");
        write_softmax_table(words_.number(e_.sum));
        return;
    }
    const auto largest = std::ranges::max_element(e_.keys, {}, &ExplainedKey::weight) - e_.keys.begin();
    const auto shown = static_cast<std::size_t>(e_.key.value_or(largest));
    const Quotient quotient = words_.quotient(e_.keys[shown]);
    const std::vector<std::string> scores = words_.numbers({e_.keys[shown].last_score(attention().mask_at), e_.maximum});
    const std::string& maximum = scores[1];
    prose_.paragraph(fmt::format("max = {}, the largest of the {} scores; sum = {}, of the exponentials of all {} keys",
                                 maximum, s, quotient.sum, e_.keys.size()));
    if (e_.maximum == std::numeric_limits<double>::infinity()) {
        prose_.paragraph("A score overflowed: inf counts 1, beside which every finite one is 0.");
    }
    write_softmax_table(quotient.sum);
    if (std::isfinite(e_.maximum) && e_.keys[shown].hidden == model::Hidden::no) {
        prose_.blank();
        const auto alike = std::ranges::count(e_.keys, e_.keys[shown].weight, &ExplainedKey::weight);
        const std::string introduction = e_.key       ? ""
                                         : alike == 1 ? "The largest, "
                                                      : fmt::format("The first of {} largest, ", alike);
        prose_.paragraph(fmt::format("{}{}: {} = {} = {}", introduction, in_quotes(words_.key_word(shown)),
                                     glued(fmt::format("exp({} - {}) / {}", scores[0], bracketed(maximum), quotient.sum)),
                                     glued(quotient.exponential + " / " + quotient.sum), quotient.weight));
    }
}

void ExplanationSteps::write_softmax_table(const std::string& row_sum)
{
    Column labels{"", {}};
    for (std::size_t j = 0; j < e_.keys.size(); ++j) {
        labels.cells.push_back(words_.key_word(j));
        std::ranges::replace(labels.cells.back(), glue, ' ');
    }
    labels.cells.emplace_back("sum");
    std::vector<Column> columns;
    const auto add = [&](const std::string& title, std::vector<std::string> cells, const std::string& sum = "") {
        cells.push_back(sum);
        columns.push_back({title, std::move(cells)});
    };
    const auto of = [&](auto get) { return words_.of_keys(get); };
    const auto shade = [&](auto get) { std::ranges::transform(e_.keys, std::back_inserter(columns.back().shares), get); };
    const ExplainedKey& first = e_.keys.front();
    const double weights = std::accumulate(e_.keys.begin(), e_.keys.end(), 0.0,
                                           [](double sum, const ExplainedKey& key) { return sum + key.weight; });
    const bool mask_first = attention().mask_at == core::MaskAt::scores;
    add("score", of(&ExplainedKey::score));
    if (!mask_first) {
        add("scaled", of(&ExplainedKey::scaled));
    }
    if (first.capped) {
        add("capped", of([](const ExplainedKey& key) { return *key.capped; }));
    }
    if (first.masked && (attention().has_mask() || is_biased())) {
        add(is_biased() ? "bias" : "mask", of(&ExplainedKey::mask));
    }
    if (first.masked && positions_are(PositionKind::alibi)) {
        add("distance", of(&ExplainedKey::distance));
    }
    if (first.masked) {
        add("masked", words_.masked());
    }
    if (mask_first) {
        add("scaled", of(&ExplainedKey::scaled));
    }
    add("exp", of(&ExplainedKey::exponential), row_sum);
    add("weight", of(&ExplainedKey::weight), words_.number(weights));
    shade(&ExplainedKey::weight);
    if (first.dropped) {
        add("dropped", of([](const ExplainedKey& key) { return *key.dropped; }));
    }
    prose_.blank();
    prose_.table(labels, columns);
}

void ExplanationSteps::write_dropout()
{
    if (!attention().dropout) {
        return;
    }
    const double p = attention().dropout->p;
    const std::string factor = plain(1 - p);
    step(fmt::format("Dropout: dropped = {}, or 0 with probability {}", glued("weight / " + factor), plain(p)));
    const auto kept = std::ranges::count_if(e_.keys, [](const ExplainedKey& key) { return *key.dropped != 0; });
    prose_.paragraph(
        fmt::format("Drawn at random: {} of {} weights are left, in the last column above.", kept, e_.keys.size()));
    if (e_.key) {
        const std::string dropped = words_.number(*cell().dropped);
        prose_.paragraph(*cell().dropped == 0 ? in_quotes(cell_word()) + " is dropped: " + dropped
                                              : glued(words_.number(cell().weight) + " / " + factor) + " = " + dropped);
    }
}

// ---- context ----------------------------------------------------------------------------------------------------------

std::vector<std::string> ExplanationSteps::weighted(const std::vector<std::string>& values) const
{
    std::vector<std::size_t> chosen;
    for (std::size_t j = 0; j < e_.keys.size(); ++j) {
        if (e_.keys[j].last_weight() != 0) {
            chosen.push_back(j);
        }
    }
    const std::size_t all = chosen.size();
    keep_largest(chosen, most_terms, [&](std::size_t j) { return e_.keys[j].last_weight(); });
    const std::vector<std::string> weights = words_.of_keys(&ExplainedKey::last_weight);
    std::vector<std::string> terms;
    terms.reserve(chosen.size() + 1);
    for (const std::size_t j : chosen) {
        terms.push_back(weights[j] + "·" + bracketed(values[j]));
    }
    if (all > most_terms) {
        terms.push_back(glued(fmt::format("… {} with smaller weights", all - most_terms)));
    }
    return terms.empty() ? std::vector<std::string>{"0"} : terms;
}

void ExplanationSteps::write_context()
{
    step(fmt::format("Context: the sum of {}·v(word) over the keys, {}", attention().dropout ? "dropped" : "weight",
                     shape_text({std::ssize(e_.context)})));
    if (e_.key) {
        write_share();
    }
    std::vector<std::string> values;
    for (std::size_t j = 0; j < e_.keys.size(); ++j) {
        values.push_back(vector_of("v", words_.key_owner(j)));
    }
    prose_.sum("context = ", weighted(values));
    write_vector(e_.context);
    const auto shown = static_cast<std::size_t>(e_.component);
    if (!e_.key && e_.sum != 0 && shown < e_.context.size()) {
        std::vector<std::string> terms = weighted(words_.of_keys([&](const ExplainedKey& key) { return key.value[shown]; }));
        terms.back() += glued(" = " + words_.numbers(e_.context)[shown]);
        prose_.paragraph(shown == 0 ? "Its first number, from the first of each value:"
                                    : fmt::format("Its number [{}], from that of each value:", shown));
        prose_.sum("", terms);
    }
}

/// What the one key gives.
void ExplanationSteps::write_share()
{
    const std::string v = vector_of("v", cell_owner());
    const std::string x = vector_of("x", cell_word());
    const std::string bias = "bias_v: " + shape_text({std::ssize(e_.context)});
    prose_.paragraph(v + (cell_is_bias() ? " = " + bias : words_.made_by(Target::W_v, x)));
    write_vector(cell().value);
    write_projection(Target::W_v, v, x);
    prose_.paragraph(fmt::format("its share, {}·{}", words_.number(cell().last_weight()), v));
    write_vector(cell().weighted_value);
}

void ExplanationSteps::write_output()
{
    const Index d_v = std::ssize(e_.context);
    if (e_.heads > 1) {
        step(fmt::format("Heads side by side: {}, of which this head's numbers are [{}] to [{}]",
                         shape_text({std::ssize(e_.joined)}), e_.head * d_v, (e_.head + 1) * d_v - 1));
        write_vector(e_.joined);
    }
    if (!e_.output.empty()) {
        const std::string x = e_.heads > 1 ? "heads" : "context";
        step("Output = " + words_.projection(Target::W_o, x));
        write_vector(e_.output);
        write_projection(Target::W_o, "output", x);
    }
}

} // namespace attn::report
