#include "attn/report/text/explanation.hpp"

#include "attn/report/text/display.hpp"
#include "attn/report/text/explanation_steps.hpp"
#include "attn/report/text/markdown_prose.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

namespace attn::report {

using model::ExplainedKey;
using model::PositionKind;
using model::Target;

void write_explanation(const model::Explanation& explanation, const ExplanationOptions& options, Buffer& buffer)
{
    constexpr Index widest = 80;
    const auto prose = options.markdown
                           ? std::make_unique<MarkdownProse>(buffer, widest)
                           : std::make_unique<Prose>(buffer, std::min(options.width.value_or(widest), widest), options.shading);
    ExplanationSteps(explanation, options, *prose).write();
    prose->finish();
}

void ExplanationSteps::write()
{
    write_title();
    if (!e_.given()) {
        write_embedding();
    }
    write_query();
    write_keys();
    write_score();
    if (attention().mask_at == core::MaskAt::scores) {
        write_masks();
        write_scaling();
    } else {
        write_scaling();
        write_softcap();
        write_masks();
    }
    write_softmax();
    write_dropout();
    write_context();
    write_output();
    write_rounding();
}

void ExplanationSteps::step(const std::string& text)
{
    prose_.blank();
    const std::string number = fmt::format("{}.", ++steps_);
    prose_.heading(number + " " + text, std::ssize(number) + 1);
}

void ExplanationSteps::write_vector(const std::vector<double>& vector)
{
    constexpr std::size_t most = 64;
    std::vector<std::string> numbers = words_.numbers(vector);
    const std::size_t rest = e_.place && numbers.size() > most ? numbers.size() - most : 0;
    numbers.resize(numbers.size() - rest);
    prose_.vector(numbers);
    if (rest != 0) {
        prose_.paragraph(fmt::format("… and {} more numbers, which --json has", rest));
    }
}

// ---- from the word to its query ---------------------------------------------------------------------------------------

void ExplanationSteps::write_title()
{
    const auto sentence = [&](const std::vector<std::string>& words) {
        std::string text;
        for (const std::string& word : words) {
            text += (text.empty() ? "" : " ") + visible(word);
        }
        prose_.paragraph(shortened(text, prose_.width()));
    };
    prose_.title(fmt::format(R"(How "{}" (position {}) {})", words_.query_word(), e_.position,
                             e_.cross ? "of" : "attends to each word of"));
    sentence(e_.tokens);
    if (e_.cross) {
        prose_.remark("attends to each word of");
        sentence(e_.key_tokens);
    }
    if (e_.heads > 1 || e_.place) {
        const std::string layer = e_.place ? fmt::format("layer {}, ", e_.place->layer) : "";
        const std::string shared =
            e_.kv_heads == e_.heads ? "" : fmt::format(", which reads key/value head {} of {}", e_.kv_head, e_.kv_heads);
        prose_.remark(fmt::format("{}head {} of {}{}; {}", layer, e_.head, e_.heads, shared,
                                  e_.place ? "--layer N and --head N show others" : "--head N shows another"));
    }
}

void ExplanationSteps::write_embedding()
{
    const std::string x = vector_of("x", words_.query_word());
    const auto size = static_cast<Index>(e_.x.size());
    if (e_.place) {
        step(fmt::format("Word {}: {}, what enters {}layer {}{}", x, shape_text({size}),
                         e_.place->normed ? "" : "the attention of ", e_.place->layer,
                         e_.place->normed ? ", after the norm before its attention" : ""));
        write_vector(e_.x);
        return;
    }
    const std::string row = e_.id ? fmt::format("row {} of the embedding table {}", *e_.id, shape_text({e_.table_rows, size}))
                                  : fmt::format("row {} of the embeddings", e_.position);
    if (e_.added.empty()) {
        const std::string added = positions_are(PositionKind::sinusoidal) ? ", with the sinusoids of its position"
                                  : find_draw(e_.config, Target::position_embedding)
                                      ? ", with the row of its position in position_embedding"
                                      : "";
        step(fmt::format("Embedding {}: {}, {}{}", x, shape_text({size}), row, added));
        write_look_up();
    } else {
        step(fmt::format("Embedding {}: {}, the sum of two vectors", x, shape_text({size})));
        write_look_up();
        prose_.paragraph(row + ",");
        write_vector(e_.embedding);
        prose_.paragraph(e_.learned ? fmt::format("and row {} of position_embedding,", e_.position)
                                    : fmt::format("and the sinusoids of position {},", e_.position));
        write_vector(e_.added);
        prose_.paragraph("are");
    }
    write_vector(e_.x);
    write_sum_with_position();
}

void ExplanationSteps::write_query()
{
    const Target W = words_.own_matrix();
    const std::string x = vector_of("x", words_.query_word());
    step(fmt::format("{} {}{}", e_.swapped ? "Key" : "Query", words_.own_vector(), words_.made_by(W, x)));
    const model::Projected* made = e_.projection(W);
    if (made != nullptr && made->norm) {
        prose_.paragraph("normalised, as keys are");
    }
    if (positions_are(PositionKind::rope)) {
        const std::string scaled = e_.place && !e_.place->frequencies.empty()
                                       ? fmt::format(", its frequencies scaled ({})", e_.place->frequencies)
                                       : "";
        prose_.paragraph(fmt::format("rotated by RoPE: pair i by the angle {} / {}^(2i/{}){}", e_.position,
                                     plain(attention().positions->rope.base),
                                     attention().positions->rope.dim.value_or(std::ssize(e_.query)), scaled));
    }
    write_vector(e_.query);
    write_projection(W, words_.own_vector(), x);
}

void ExplanationSteps::write_keys()
{
    const Target W = words_.other_matrix();
    const std::string word = e_.key ? cell_owner() : "word";
    const std::string x = vector_of("x", word);
    const std::string key = words_.other_vector(word) + words_.made_by(W, x);
    if (!e_.key) {
        step(fmt::format("{} and values, of every word in the same way", e_.swapped ? "Queries" : "Keys"));
        const model::Projected* shown = e_.projection(Target::W_v) != nullptr ? e_.projection(Target::W_v) : e_.projection(W);
        const std::string one = shown == nullptr ? "" : words_.key_word(static_cast<std::size_t>(shown->position));
        prose_.paragraph(key);
        write_projection(W, words_.other_vector(one), vector_of("x", one));
        prose_.paragraph(vector_of("v", word) + words_.made_by(Target::W_v, x));
        write_projection(Target::W_v, vector_of("v", one), vector_of("x", one));
        return;
    }
    step(cell_is_bias() ? fmt::format("Key {} = bias_k: {}, the same for every sentence", words_.other_vector(word),
                                      shape_text({std::ssize(e_.query)}))
                        : (e_.swapped ? "Query " : "Key ") + key);
    write_vector(cell().key);
    write_projection(W, words_.other_vector(word), x);
}

// ---- scores -----------------------------------------------------------------------------------------------------------

void ExplanationSteps::write_score()
{
    const std::string_view of_product = core::function_of(attention().score).of_product;
    const bool more = !of_product.empty() || e_.b_va != 0;
    const std::string sum = fmt::format("{}the sum of {}", more ? "with " : "", counted(std::ssize(e_.factors()), "product"));
    if (!e_.key) {
        step(fmt::format("Scores: score = {}, {}", words_.score_formula("word"), sum));
        const ExplainedKey& first = e_.keys.front();
        const int of_softmax = steps_ + 2 + (first.capped ? 1 : 0) + (first.masked ? 1 : 0);
        prose_.paragraph(fmt::format("The scores of all keys are in the table of step {}.", of_softmax));
        return;
    }
    step(fmt::format("Score: {}, {}", words_.score_formula(cell_owner()), sum));
    const std::string total = words_.number(write_products());
    if (!of_product.empty()) {
        const std::vector<std::string> lengths = words_.numbers({e_.length, cell().length});
        const std::string made = fmt::format(fmt::runtime(of_product), fmt::arg("product", total), fmt::arg("q", lengths[0]),
                                             fmt::arg("k", lengths[1]));
        prose_.paragraph(fmt::format("score = {} = {}", glued(made), words_.number(cell().score)));
    } else if (std::ranges::find(e_.biases, Target::b_va) != e_.biases.end()) {
        prose_.paragraph(
            fmt::format("score = {} + {} = {}", total, bracketed(words_.number(e_.b_va)), words_.number(cell().score)));
    } else {
        prose_.paragraph("score = " + words_.number(cell().score));
    }
}

double ExplanationSteps::write_products()
{
    const std::string k = words_.other_vector(cell_owner());
    Terms terms{.left = {e_.swapped ? "k[i]" : "q[i]", words_.numbers(e_.factors())},
                .right = {e_.swapped ? "q[i]" : "k[i]", words_.numbers(cell().factors())}};
    if (attention().score == core::Score::additive) {
        terms.left.title = "v_a[i]";
        terms.right.title = "tanh(a+u)";
        terms.before = {{"a[i]", words_.numbers(e_.aligned)}, {"u[i]", words_.numbers(cell().aligned)}};
        terms.product = "product";
        prose_.paragraph(
            fmt::format("a = W_a·{} and u = U_a·{}, with their biases if they have some:", words_.own_vector(), k));
    } else if (attention().score == core::Score::general) {
        terms.right.title = "a[i]";
        prose_.paragraph(fmt::format("a = W_a·{}, with its bias if it has one:", k));
    }
    return write_terms(terms, cell().products);
}

void ExplanationSteps::write_scaling()
{
    const bool after_mask = attention().mask_at == core::MaskAt::scores && e_.keys.front().masked;
    const std::string name = after_mask ? "masked" : "score";
    const std::string score = !e_.key ? name : words_.number(after_mask ? *cell().masked : cell().score);
    const std::string result = e_.key ? " = " + words_.number(cell().scaled) : "";
    if (!attention().scale && attention().score != core::Score::scaled_dot) {
        step(fmt::format("Scaling: none, scaled = {}, since {} scores have no scale of their own", name,
                         name_of(attention().score)));
        return;
    }
    if (attention().scale) {
        const std::string factor = bracketed(plain(e_.scale));
        step(fmt::format("Scaling: scaled = {}·{}", name, factor));
        if (e_.key) {
            prose_.paragraph(fmt::format("{}·{}{}", score, factor, result));
        }
        return;
    }
    const std::string root = words_.number(std::sqrt(static_cast<double>(e_.query.size())));
    step("Scaling: scaled = " + glued(name + " / √d_k"));
    prose_.paragraph(fmt::format("{} = {} = {}·{}{}", glued(fmt::format("{} / √{}", score, e_.query.size())),
                                 glued(score + " / " + root), score, words_.number(e_.scale), result));
}

void ExplanationSteps::write_softcap()
{
    if (!attention().softcap) {
        return;
    }
    const std::string cap = plain(*attention().softcap);
    step("Softcap: capped = " + glued(fmt::format("{0}·tanh(scaled / {0})", cap)));
    if (e_.key) {
        prose_.paragraph(fmt::format("{} = {}", glued(fmt::format("{0}·tanh({1} / {0})", cap, words_.number(cell().scaled))),
                                     words_.number(*cell().capped)));
    }
}

// ---- masks ------------------------------------------------------------------------------------------------------------

void ExplanationSteps::write_masks()
{
    if (!e_.keys.front().masked) {
        return;
    }
    const std::string before = attention().mask_at == core::MaskAt::scores ? "score"
                               : e_.keys.front().capped                    ? "capped"
                                                                           : "scaled";
    const bool alibi = positions_are(PositionKind::alibi);
    const std::string name = attention().has_mask() ? " + mask" : is_biased() ? " + bias" : "";
    step(fmt::format("{}: masked = {}{}{}{}", is_biased() ? "Bias" : "Mask", before, name, alibi ? " + distance" : "",
                     is_biased() && !attention().causal ? "" : ", -inf where a key is hidden"));
    if (attention().causal) {
        prose_.paragraph(fmt::format("causal: hides the keys after position {}", e_.position));
    }
    if (attention().window) {
        const auto side = [](Index count) { return count < 0 ? std::string("all") : std::to_string(count); };
        prose_.paragraph(fmt::format("window: hides all but {} keys back and {} ahead of position {}",
                                     side(attention().window->left), side(attention().window->right), e_.position));
    }
    if (!attention().hide.empty()) {
        std::string words;
        for (const std::string& word : attention().hide) {
            words += (words.empty() ? "" : ", ") + in_quotes(word);
        }
        prose_.paragraph("hide: no query sees " + words);
    }
    if (attention().mask || attention().mask_values) {
        prose_.paragraph(fmt::format("mask: what {} holds for this row",
                                     attention().mask ? in_quotes(attention().mask->file) : "the recipe"));
    }
    if (is_biased()) {
        prose_.paragraph(
            fmt::format("bias: a number of the model, by head and by how far the key is from position {}", e_.position));
    }
    if (alibi) {
        prose_.paragraph(fmt::format("distance: ALiBi, minus the head's slope times |{} - position of the key|", e_.position));
    }
    if (e_.key) {
        write_cell_masks(before);
    }
}

void ExplanationSteps::write_cell_masks(const std::string& before)
{
    const ExplainedKey& key = cell();
    const bool alibi = positions_are(PositionKind::alibi);
    if (key.hidden != model::Hidden::no) {
        prose_.paragraph(in_quotes(cell_word()) + " is hidden: -inf");
        return;
    }
    if (!attention().has_mask() && !is_biased() && !alibi) {
        const std::string masked = words_.masked()[static_cast<std::size_t>(*e_.key)];
        prose_.paragraph(fmt::format("{} is seen: masked = {} = {}", in_quotes(cell_word()), before, masked));
        return;
    }
    const double score = before == "capped" ? *key.capped : before == "score" ? key.score : key.scaled;
    const std::vector<std::string> numbers = words_.numbers({score, key.mask, key.distance, *key.masked});
    std::vector<std::string> terms{numbers[0]};
    if (attention().has_mask() || is_biased()) {
        terms.push_back(glued(bracketed(numbers[1]) + (is_biased() ? " (bias)" : " (mask)")));
    }
    if (alibi) {
        terms.push_back(glued(bracketed(numbers[2]) + " (distance)"));
    }
    terms.back() += glued(" = " + numbers[3]);
    prose_.sum("", terms);
}

} // namespace attn::report
