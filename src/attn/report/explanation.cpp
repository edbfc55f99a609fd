#include "attn/report/explanation.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/display.hpp"
#include "attn/report/notation.hpp"
#include "attn/report/prose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace attn::report {
namespace {

using model::ExplainedKey;
using model::Explanation;
using model::PositionKind;
using model::Target;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index widest = 80;           ///< columns of a page
constexpr std::size_t most_terms = 12; ///< of a sum over the keys

/// The choices of a text that all of its steps make alike.
class Wording {
public:
    Wording(const Explanation& explanation, const ExplanationOptions& options, Index width)
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

    [[nodiscard]] std::string shown(const std::string& word) const { return shortened(visible(word), longest_word_); }
    [[nodiscard]] std::string query_word() const { return shown(e_.tokens[static_cast<std::size_t>(e_.position)]); }
    /// A key's word, with its position where the word occurs several times.
    [[nodiscard]] std::string key_word(std::size_t j) const
    {
        const std::string& word = e_.keys[j].word;
        const bool several = std::ranges::binary_search(repeated_, word);
        return shown(word) + (several ? glue + std::to_string(j) : "");
    }
    /// "q(is)", or where scores are K·Qᵀ "k(is)".
    [[nodiscard]] std::string own_vector() const { return (e_.swapped ? "k(" : "q(") + query_word() + ")"; }
    [[nodiscard]] std::string other_vector(const std::string& word) const { return (e_.swapped ? "q(" : "k(") + word + ")"; }

    /// Numbers that belong together, in one notation.
    [[nodiscard]] std::vector<std::string> numbers(const std::vector<double>& values) const
    {
        const Notation notation = notation_of(std::span<const double>(values));
        std::vector<std::string> texts;
        for (const double value : values) {
            texts.push_back(text_of(value, notation, digits_));
        }
        return texts;
    }
    [[nodiscard]] std::string number(double value) const { return numbers({value}).front(); }
    /// As a factor or summand behind a sign.
    static std::string bracketed(const std::string& number) { return number.starts_with('-') ? "(" + number + ")" : number; }

    /// Of every key.
    template <typename Get>
    [[nodiscard]] std::vector<std::string> of_keys(Get get) const
    {
        std::vector<double> values;
        std::ranges::transform(e_.keys, std::back_inserter(values), get);
        return numbers(values);
    }
    [[nodiscard]] std::vector<std::string> masked() const
    {
        std::vector<std::string> texts = of_keys([](const ExplainedKey& key) { return *key.masked; });
        for (std::size_t j = 0; j < texts.size(); ++j) {
            const model::Hidden hidden = e_.keys[j].hidden;
            texts[j] =
                hidden == model::Hidden::no ? texts[j] : std::string(model::hidden_names.at(static_cast<std::size_t>(hidden)));
        }
        return texts;
    }
    /// What goes into the softmax.
    [[nodiscard]] std::string last_name() const
    {
        return e_.keys.front().masked ? "masked" : e_.keys.front().capped ? "capped" : "scaled";
    }
    [[nodiscard]] std::vector<std::string> last_scores() const
    {
        return e_.keys.front().masked ? masked() : of_keys(&ExplainedKey::last_score);
    }

private:
    const Explanation& e_;
    int digits_;
    Index longest_word_;
    std::vector<std::string> repeated_; ///< words of several keys, sorted
};

/// The steps, one function each, in the order of the computation.
class Report {
public:
    Report(const Explanation& explanation, const ExplanationOptions& options, Prose& prose)
        : e_(explanation), words_(explanation, options, prose.width()), prose_(prose)
    {
    }

    void write()
    {
        write_title();
        write_embedding();
        write_query();
        write_keys();
        write_score();
        write_scaling();
        write_softcap();
        write_masks();
        write_softmax();
        write_context();
        write_output();
    }

private:
    [[nodiscard]] const model::Attention& attention() const { return e_.config.attention; }
    [[nodiscard]] bool positions_are(PositionKind kind) const
    {
        return attention().positions && attention().positions->kind == kind;
    }
    /// The key that was asked for.
    [[nodiscard]] const ExplainedKey& cell() const { return e_.keys[static_cast<std::size_t>(*e_.key)]; }
    [[nodiscard]] std::string cell_word() const { return words_.key_word(static_cast<std::size_t>(*e_.key)); }
    /// Its number in a list over all keys.
    [[nodiscard]] const std::string& of_cell(const std::vector<std::string>& texts) const
    {
        return texts[static_cast<std::size_t>(*e_.key)];
    }
    [[nodiscard]] bool has(Target bias) const { return std::ranges::find(e_.biases, bias) != e_.biases.end(); }

    void step(const std::string& text)
    {
        prose_.blank();
        const std::string number = std::to_string(++steps_) + ".";
        prose_.heading(number + " " + text, std::ssize(number) + 1);
    }

    /// "W_q·x(is): (24,) = (24, 16)·(16,)", whichever way round it is.
    [[nodiscard]] std::string projection(Target W, const std::string& of, Index made, Index read) const
    {
        const auto is_it = [&](const model::Step& step) {
            const auto* draw = std::get_if<model::Draw>(&step);
            return draw != nullptr && draw->target == W;
        };
        const auto found = std::ranges::find_if(e_.config.draws, is_it);
        const auto usual = W == Target::W_o ? model::Side::right : model::Side::left;
        const auto side = found == e_.config.draws.end() ? usual : std::get<model::Draw>(*found).side.value_or(usual);
        const std::string name(name_of(W));
        const std::string bias = "b" + name.substr(1);
        const bool biased = std::ranges::any_of(e_.biases, [&](Target target) { return name_of(target) == bias; });
        const std::string plus = biased ? " + " + bias : "";
        const bool left = side == model::Side::left;
        return (left ? name + "·" + of : of + "·" + name) + plus + ": " + shape({made}) + " = " +
               (left ? shape({made, read}) + "·" + shape({read}) : shape({read}) + "·" + shape({read, made})) +
               (biased ? " + " + shape({made}) : "");
    }
    /// A shape that stays together.
    static std::string shape(const Shape& lengths)
    {
        std::string text = to_string(lengths);
        std::ranges::replace(text, ' ', glue);
        return text;
    }

    void write_title();
    void write_embedding();
    void write_query();
    void write_keys();
    void write_score();
    void write_products();
    void write_scaling();
    void write_softcap();
    void write_masks();
    void write_cell_masks(const std::string& before);
    void write_softmax();
    void write_softmax_table();
    void write_context();
    void write_output();
    [[nodiscard]] std::vector<std::string> weighted(const std::vector<std::string>& values, const std::string& before,
                                                    const std::string& after) const;

    const Explanation& e_;
    Wording words_;
    Prose& prose_;
    int steps_ = 0;
};

// ---- from the word to its query ---------------------------------------------------------------------------------------

void Report::write_title()
{
    const auto sentence = [&](const std::vector<std::string>& words) {
        std::string text;
        for (const std::string& word : words) {
            text += (text.empty() ? "" : " ") + visible(word);
        }
        return shortened(text, prose_.width());
    };
    prose_.heading("How \"" + words_.query_word() + "\", position " + std::to_string(e_.position) + ", attends" +
                       (e_.cross ? " from" : " in"),
                   0);
    prose_.paragraph(sentence(e_.tokens));
    if (e_.cross) {
        prose_.heading("to", 0);
        prose_.paragraph(sentence(e_.key_tokens));
    }
    if (e_.heads > 1) {
        const std::string head = "head " + std::to_string(e_.head) + " of " + std::to_string(e_.heads);
        const std::string shared = e_.kv_heads == e_.heads ? ""
                                                           : ", which reads key/value head " + std::to_string(e_.kv_head) +
                                                                 " of " + std::to_string(e_.kv_heads);
        prose_.heading(head + shared + "; --head N shows another", 0);
    }
}

void Report::write_embedding()
{
    const std::string x = "x(" + words_.query_word() + ")";
    const auto size = static_cast<Index>(e_.x.size());
    const std::string row = e_.id ? "row " + std::to_string(*e_.id) + " of the embedding table " + shape({e_.table_rows, size})
                                  : "row " + std::to_string(e_.position) + " of the embeddings";
    if (e_.sinusoid.empty()) {
        const std::string added = positions_are(PositionKind::sinusoidal) ? ", with the sinusoids of its position" : "";
        step("Embedding " + x + ": " + shape({size}) + ", " + row + added);
    } else {
        step("Embedding " + x + ": " + shape({size}) + ", the sum of two vectors");
        prose_.paragraph(row + ",");
        prose_.vector(words_.numbers(e_.embedding));
        prose_.paragraph("and the sinusoids of position " + std::to_string(e_.position) + ",");
        prose_.vector(words_.numbers(e_.sinusoid));
        prose_.paragraph("are");
    }
    prose_.vector(words_.numbers(e_.x));
}

void Report::write_query()
{
    const Index d_k = std::ssize(e_.query);
    const Index read = e_.swapped ? e_.keys_read : std::ssize(e_.x);
    step((e_.swapped ? "Key " : "Query ") + words_.own_vector() + " = " +
         projection(e_.swapped ? Target::W_k : Target::W_q, "x(" + words_.query_word() + ")", d_k, read));
    if (positions_are(PositionKind::rope)) {
        prose_.paragraph("turned by RoPE: pair i by the angle " + std::to_string(e_.position) + " / " +
                         math::shortest(attention().positions->rope.base) + "^(2i/" +
                         std::to_string(attention().positions->rope.dim.value_or(d_k)) + ")");
    }
    prose_.vector(words_.numbers(e_.query));
}

void Report::write_keys()
{
    const Index d_k = std::ssize(e_.query);
    const Index d_v = std::ssize(e_.context);
    const std::string word = e_.key ? cell_word() : "word";
    const std::string x = "x(" + word + ")";
    const std::string key =
        words_.other_vector(word) + " = " +
        projection(e_.swapped ? Target::W_q : Target::W_k, x, d_k, e_.swapped ? std::ssize(e_.x) : e_.keys_read);
    const std::string value = "v(" + word + ") = " + projection(Target::W_v, x, d_v, e_.values_read);
    const bool extra = e_.key && static_cast<std::size_t>(*e_.key) >= (e_.cross ? e_.key_tokens : e_.tokens).size();
    if (!e_.key) {
        step(std::string(e_.swapped ? "Queries" : "Keys") + " and values, of every word in the same way");
        prose_.paragraph(key);
        prose_.paragraph(value);
        return;
    }
    step(extra ? "Key " + words_.other_vector(word) + " = bias_k: " + shape({d_k}) + ", the same for every sentence"
               : (e_.swapped ? "Query " : "Key ") + key);
    prose_.vector(words_.numbers(cell().key));
}

// ---- scores -----------------------------------------------------------------------------------------------------------

void Report::write_score()
{
    const std::string terms = std::to_string(e_.query.size()) + " products";
    if (!e_.key) {
        step("Scores: score = " + words_.own_vector() + "·" + words_.other_vector("word") + ", the sum of " + terms);
        return;
    }
    step("Score: " + words_.own_vector() + "·" + words_.other_vector(cell_word()) + ", the sum of " + terms);
    write_products();
    prose_.paragraph("score = " + words_.number(cell().score));
}

void Report::write_products()
{
    std::vector<double> sums(cell().products.size());
    std::partial_sum(cell().products.begin(), cell().products.end(), sums.begin());
    Column places{"i", {}};
    const std::string last = std::to_string(sums.size() - 1);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::string place = std::to_string(i);
        places.cells.push_back(std::string(last.size() - place.size(), ' ') + place);
    }
    const std::string own = e_.swapped ? "k[i]" : "q[i]";
    const std::string other = e_.swapped ? "q[i]" : "k[i]";
    prose_.table(places, {{own, words_.numbers(e_.query)},
                          {other, words_.numbers(cell().key)},
                          {own + "·" + other, words_.numbers(cell().products)},
                          {"sum so far", words_.numbers(sums)}});
}

void Report::write_scaling()
{
    const std::string factor = words_.number(e_.scale);
    const std::string size = std::to_string(e_.query.size());
    const std::string root = words_.number(std::sqrt(static_cast<double>(e_.query.size())));
    const std::string score = e_.key ? words_.number(cell().score) : "score";
    const std::string result = e_.key ? " = " + words_.number(cell().scaled) : "";
    if (!attention().scale) {
        step("Scaling: scaled = score / √d_k");
        prose_.paragraph(score + " / √" + size + " = " + score + " / " + root + result + (e_.key ? "" : ",") +
                         " (as a factor: 1/√" + size + " = " + factor + ")");
    } else if (e_.scale == 1) {
        step("Scaling: none, scaled = score" + result);
    } else {
        step("Scaling: scaled = score·" + Wording::bracketed(math::shortest(e_.scale)));
        if (e_.key) {
            prose_.paragraph(score + "·" + Wording::bracketed(math::shortest(e_.scale)) + result);
        }
    }
}

void Report::write_softcap()
{
    if (!attention().softcap) {
        return;
    }
    const std::string cap = math::shortest(*attention().softcap);
    step("Softcap: capped = " + cap + "·tanh(scaled" + glue + "/" + glue + cap + ")");
    if (e_.key) {
        prose_.paragraph(cap + "·tanh(" + words_.number(cell().scaled) + glue + "/" + glue + cap +
                         ") = " + words_.number(*cell().capped));
    }
}

// ---- masks ------------------------------------------------------------------------------------------------------------

void Report::write_masks()
{
    if (!e_.keys.front().masked) {
        return;
    }
    const std::string before = e_.keys.front().capped ? "capped" : "scaled";
    const bool alibi = positions_are(PositionKind::alibi);
    const std::string name = attention().mask ? " + mask" : "";
    step("Mask: masked = " + before + name + (alibi ? " + distance" : "") + ", -inf where a key is hidden");
    if (attention().causal) {
        prose_.paragraph("causal: hides the keys after position " + std::to_string(e_.position));
    }
    if (attention().window) {
        const auto side = [](Index count) { return count < 0 ? std::string("all") : std::to_string(count); };
        prose_.paragraph("window: hides all but " + side(attention().window->left) + " keys back and " +
                         side(attention().window->right) + " ahead of position " + std::to_string(e_.position));
    }
    if (attention().mask) {
        prose_.paragraph("mask: what " + quoted(attention().mask->file) + " holds for this row");
    }
    if (alibi) {
        prose_.paragraph("distance: ALiBi, minus the head's slope times |" + std::to_string(e_.position) +
                         " - position of the key|");
    }
    if (e_.key) {
        write_cell_masks(before);
    }
}

void Report::write_cell_masks(const std::string& before)
{
    const ExplainedKey& key = cell();
    if (key.hidden != model::Hidden::no) {
        prose_.paragraph(cell_word() + " is hidden: -inf");
        return;
    }
    std::vector<std::string> terms{words_.number(before == "capped" ? *key.capped : key.scaled)};
    if (attention().mask) {
        terms.push_back(Wording::bracketed(words_.number(key.mask)) + glue + "(mask)");
    }
    if (positions_are(PositionKind::alibi)) {
        terms.push_back(Wording::bracketed(words_.number(key.distance)) + glue + "(distance)");
    }
    terms.back() += std::string(1, glue) + "=" + glue + words_.number(*key.masked);
    prose_.sum("", terms);
}

// ---- softmax ----------------------------------------------------------------------------------------------------------

void Report::write_softmax()
{
    const std::string s = words_.last_name();
    step("Softmax: weight = exp(" + s + glue + "-" + glue + "max) / sum");
    if (e_.sum == 0) {
        prose_.paragraph("Every key is hidden: the row has no sum to divide by, and every weight is 0.");
        write_softmax_table();
        return;
    }
    const std::string maximum = words_.number(e_.maximum);
    prose_.paragraph("max = " + maximum + ", the largest of the " + s + " scores; sum = " + words_.number(e_.sum) +
                     ", of the exponentials of all " + std::to_string(e_.keys.size()) + " keys");
    if (e_.maximum == infinity) {
        prose_.paragraph("A score overflowed: inf counts 1, beside which every finite one is 0.");
    }
    write_softmax_table();
    const auto largest = std::ranges::max_element(e_.keys, {}, &ExplainedKey::weight) - e_.keys.begin();
    const auto shown = static_cast<std::size_t>(e_.key.value_or(largest));
    const ExplainedKey& key = e_.keys[shown];
    if (std::isfinite(e_.maximum) && key.hidden == model::Hidden::no) {
        prose_.blank();
        prose_.paragraph((e_.key ? "" : "Most goes to ") + words_.key_word(shown) + ": exp(" + words_.number(key.last_score()) +
                         glue + "-" + glue + Wording::bracketed(maximum) + ")" + glue + "/" + glue + words_.number(e_.sum) +
                         " = " + words_.number(key.exponential) + glue + "/" + glue + words_.number(e_.sum) + " = " +
                         words_.number(key.weight));
    }
}

void Report::write_softmax_table()
{
    Column labels{"", {}};
    for (std::size_t j = 0; j < e_.keys.size(); ++j) {
        labels.cells.push_back(words_.key_word(j));
        std::ranges::replace(labels.cells.back(), glue, ' ');
    }
    labels.cells.emplace_back("sum");
    std::vector<Column> columns;
    const auto add = [&](bool there, const std::string& title, std::vector<std::string> cells, const std::string& sum = "") {
        if (there) {
            cells.push_back(sum);
            columns.push_back({title, std::move(cells)});
        }
    };
    const auto of = [&](auto get) { return words_.of_keys(get); };
    const ExplainedKey& first = e_.keys.front();
    const double weights = std::accumulate(e_.keys.begin(), e_.keys.end(), 0.0,
                                           [](double sum, const ExplainedKey& key) { return sum + key.weight; });
    add(true, "score", of(&ExplainedKey::score));
    add(true, "scaled", of(&ExplainedKey::scaled));
    if (first.capped) {
        add(true, "capped", of([](const ExplainedKey& key) { return *key.capped; }));
    }
    add(first.masked && attention().mask, "mask", of(&ExplainedKey::mask));
    add(first.masked && positions_are(PositionKind::alibi), "distance", of(&ExplainedKey::distance));
    if (first.masked) {
        add(true, "masked", words_.masked());
    }
    add(true, "exp", of(&ExplainedKey::exponential), words_.number(e_.sum));
    add(true, "weight", of(&ExplainedKey::weight), words_.number(weights));
    prose_.blank();
    prose_.table(labels, columns);
}

// ---- context ----------------------------------------------------------------------------------------------------------

/// "0.0185·v(Life)", … of the keys with the largest weights, in their order, and what is left out.
std::vector<std::string> Report::weighted(const std::vector<std::string>& values, const std::string& before,
                                          const std::string& after) const
{
    std::vector<std::size_t> chosen;
    for (std::size_t j = 0; j < e_.keys.size(); ++j) {
        if (e_.keys[j].weight != 0) {
            chosen.push_back(j);
        }
    }
    const std::size_t all = chosen.size();
    if (all > most_terms) {
        std::ranges::stable_sort(chosen, std::ranges::greater(), [&](std::size_t j) { return e_.keys[j].weight; });
        chosen.resize(most_terms);
        std::ranges::sort(chosen);
    }
    const std::vector<std::string> weights = words_.of_keys(&ExplainedKey::weight);
    std::vector<std::string> terms;
    for (const std::size_t j : chosen) {
        terms.push_back(weights[j] + "·" + before + Wording::bracketed(values[j]) + after);
    }
    if (all > most_terms) {
        terms.push_back("…" + (glue + std::to_string(all - most_terms)) + glue + "smaller" + glue + "ones");
    }
    return terms.empty() ? std::vector<std::string>{"0"} : terms;
}

void Report::write_context()
{
    step("Context: the sum of weight·v(word) over the keys, " + shape({std::ssize(e_.context)}));
    std::vector<std::string> names;
    for (std::size_t j = 0; j < e_.keys.size(); ++j) {
        names.push_back(words_.key_word(j));
    }
    if (e_.key) {
        const std::string v = "v(" + cell_word() + ")";
        const bool extra = static_cast<std::size_t>(*e_.key) >= (e_.cross ? e_.key_tokens : e_.tokens).size();
        prose_.paragraph(v + " = " +
                         (extra ? "bias_v: " + shape({std::ssize(e_.context)})
                                : projection(Target::W_v, "x(" + cell_word() + ")", std::ssize(e_.context), e_.values_read)));
        prose_.vector(words_.numbers(cell().value));
        prose_.paragraph("its share, " + of_cell(words_.of_keys(&ExplainedKey::weight)) + "·" + v);
        prose_.vector(words_.numbers(cell().weighted_value));
    }
    prose_.sum("context = ", weighted(names, "v", ""));
    prose_.vector(words_.numbers(e_.context));
    if (!e_.key && !e_.context.empty()) {
        std::vector<std::string> firsts = words_.of_keys([](const ExplainedKey& key) { return key.value.front(); });
        std::vector<std::string> terms = weighted(firsts, "", "");
        terms.back() += std::string(1, glue) + "=" + glue + words_.numbers(e_.context).front();
        prose_.paragraph("Its first number, from the first of each value:");
        prose_.sum("", terms);
    }
}

void Report::write_output()
{
    const Index d_v = std::ssize(e_.context);
    const std::string place =
        "this head's numbers are [" + std::to_string(e_.head * d_v) + "] to [" + std::to_string((e_.head + 1) * d_v - 1) + "]";
    if (e_.heads > 1) {
        step("Heads side by side: " + shape({std::ssize(e_.joined)}) + ", of which " + place);
        prose_.vector(words_.numbers(e_.joined));
    }
    if (!e_.output.empty()) {
        step("Output = " +
             projection(Target::W_o, e_.heads > 1 ? "heads" : "context", std::ssize(e_.output), std::ssize(e_.joined)));
        prose_.vector(words_.numbers(e_.output));
    }
}

} // namespace

void write_explanation(const Explanation& explanation, const ExplanationOptions& options, const Sink& sink)
{
    Buffer buffer(sink);
    Prose prose(buffer, std::min(options.width.value_or(widest), widest));
    Report(explanation, options, prose).write();
    buffer.flush();
}

} // namespace attn::report
