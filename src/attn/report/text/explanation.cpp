#include "attn/report/text/explanation.hpp"

#include "attn/report/text/display.hpp"
#include "attn/report/text/explanation_steps.hpp"
#include "attn/report/text/markdown_prose.hpp"
#include "attn/tensor/error.hpp"

#include <cmath>
#include <memory>

namespace attn::report {

using model::ExplainedKey;
using model::PositionKind;
using model::Target;

void write_explanation(const model::Explanation& explanation, const ExplanationOptions& options, const Sink& sink)
{
    constexpr Index widest = 80;
    Buffer buffer(sink);
    const auto prose = options.markdown
                           ? std::make_unique<MarkdownProse>(buffer, widest)
                           : std::make_unique<Prose>(buffer, std::min(options.width.value_or(widest), widest), options.shading);
    ExplanationSteps(explanation, options, *prose).write();
    prose->finish();
    buffer.flush();
}

void ExplanationSteps::write()
{
    write_title();
    write_embedding();
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
    const std::string number = std::to_string(++steps_) + ".";
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
        prose_.paragraph("… and " + std::to_string(rest) + " more numbers, which --json has");
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
    prose_.title("How \"" + words_.query_word() + "\" (position " + std::to_string(e_.position) + ")" +
                 (e_.cross ? " of" : " attends to each word of"));
    sentence(e_.tokens);
    if (e_.cross) {
        prose_.remark("attends to each word of");
        sentence(e_.key_tokens);
    }
    if (e_.heads > 1 || e_.place) {
        const std::string layer = e_.place ? "layer " + std::to_string(e_.place->layer) + ", " : "";
        const std::string head = layer + "head " + std::to_string(e_.head) + " of " + std::to_string(e_.heads);
        const std::string shared = e_.kv_heads == e_.heads ? ""
                                                           : ", which reads key/value head " + std::to_string(e_.kv_head) +
                                                                 " of " + std::to_string(e_.kv_heads);
        prose_.remark(head + shared + (e_.place ? "; --layer N and --head N show others" : "; --head N shows another"));
    }
}

void ExplanationSteps::write_embedding()
{
    const std::string x = "x(" + words_.query_word() + ")";
    const auto size = static_cast<Index>(e_.x.size());
    if (e_.place) {
        step("Word " + x + ": " + shape_text({size}) + ", what enters " + (e_.place->normed ? "" : "the attention of ") +
             "layer " + std::to_string(e_.place->layer) +
             (e_.place->normed ? ", behind the norm in front of its attention" : ""));
        write_vector(e_.x);
        return;
    }
    const std::string row =
        e_.id ? "row " + std::to_string(*e_.id) + " of the embedding table " + shape_text({e_.table_rows, size})
              : "row " + std::to_string(e_.position) + " of the embeddings";
    if (e_.sinusoid.empty()) {
        const std::string added = positions_are(PositionKind::sinusoidal) ? ", with the sinusoids of its position" : "";
        step("Embedding " + x + ": " + shape_text({size}) + ", " + row + added);
        write_look_up();
    } else {
        step("Embedding " + x + ": " + shape_text({size}) + ", the sum of two vectors");
        write_look_up();
        prose_.paragraph(row + ",");
        write_vector(e_.embedding);
        prose_.paragraph("and the sinusoids of position " + std::to_string(e_.position) + ",");
        write_vector(e_.sinusoid);
        prose_.paragraph("are");
    }
    write_vector(e_.x);
    write_sinusoid();
}

void ExplanationSteps::write_query()
{
    const Index d_k = std::ssize(e_.query);
    const Index read = e_.swapped ? e_.keys_read : std::ssize(e_.x);
    step((e_.swapped ? "Key " : "Query ") + words_.own_vector() + " = " +
         words_.projection(e_.swapped ? Target::W_k : Target::W_q, "x(" + words_.query_word() + ")", d_k, read));
    const model::Projected* made = e_.projection(e_.swapped ? Target::W_k : Target::W_q);
    if (made != nullptr && made->norm) {
        prose_.paragraph("normalised, as keys are");
    }
    if (positions_are(PositionKind::rope)) {
        prose_.paragraph("turned by RoPE: pair i by the angle " + std::to_string(e_.position) + " / " +
                         plain(attention().positions->rope.base) + "^(2i/" +
                         std::to_string(attention().positions->rope.dim.value_or(d_k)) + ")" +
                         (e_.place && !e_.place->frequencies.empty()
                              ? ", its frequencies scaled (" + std::string(e_.place->frequencies) + ")"
                              : ""));
    }
    write_vector(e_.query);
    write_projection(e_.swapped ? Target::W_k : Target::W_q, words_.own_vector(), "x(" + words_.query_word() + ")");
}

void ExplanationSteps::write_keys()
{
    const Index d_k = std::ssize(e_.query);
    const Index d_v = std::ssize(e_.context);
    const std::string word = e_.key ? cell_owner() : "word";
    const std::string x = "x(" + word + ")";
    const std::string key =
        words_.other_vector(word) + " = " +
        words_.projection(e_.swapped ? Target::W_q : Target::W_k, x, d_k, e_.swapped ? std::ssize(e_.x) : e_.keys_read);
    const std::string value = vector_of("v", word) + " = " + words_.projection(Target::W_v, x, d_v, e_.values_read);
    const bool extra = e_.key && cell_is_bias();
    if (!e_.key) {
        step(std::string(e_.swapped ? "Queries" : "Keys") + " and values, of every word in the same way");
        const Target W = e_.swapped ? Target::W_q : Target::W_k;
        const model::Projected* shown = e_.projection(Target::W_v) != nullptr ? e_.projection(Target::W_v) : e_.projection(W);
        const std::string one = shown == nullptr ? "" : words_.key_word(static_cast<std::size_t>(shown->position));
        prose_.paragraph(key);
        write_projection(W, words_.other_vector(one), "x(" + one + ")");
        prose_.paragraph(value);
        write_projection(Target::W_v, vector_of("v", one), "x(" + one + ")");
        return;
    }
    step(extra ? "Key " + words_.other_vector(word) + " = bias_k: " + shape_text({d_k}) + ", the same for every sentence"
               : (e_.swapped ? "Query " : "Key ") + key);
    write_vector(cell().key);
    write_projection(e_.swapped ? Target::W_q : Target::W_k, words_.other_vector(word), x);
}

// ---- scores -----------------------------------------------------------------------------------------------------------

void ExplanationSteps::write_score()
{
    const std::string sum = attention().score == core::Score::cosine || e_.b_va != 0 ? "with the sum of " : "the sum of ";
    const std::string terms = ", " + sum + counted(std::ssize(e_.factors()), "product");
    if (!e_.key) {
        step("Scores: score = " + words_.score_formula("word") + terms);
        const ExplainedKey& first = e_.keys.front();
        const int of_softmax = steps_ + 2 + (first.capped ? 1 : 0) + (first.masked ? 1 : 0);
        prose_.paragraph("The scores of all keys are in the table of step " + std::to_string(of_softmax) + ".");
        return;
    }
    step("Score: " + words_.score_formula(cell_owner()) + terms);
    const std::string total = words_.number(write_products());
    if (attention().score == core::Score::cosine) {
        const std::vector<std::string> lengths = words_.numbers({e_.length, cell().length});
        prose_.paragraph("score = " + glued(total + " / (" + lengths[0] + "·" + lengths[1] + ")") + " = " +
                         words_.number(cell().score));
    } else if (std::ranges::find(e_.biases, Target::b_va) != e_.biases.end()) {
        prose_.paragraph("score = " + total + " + " + bracketed(words_.number(e_.b_va)) + " = " + words_.number(cell().score));
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
        prose_.paragraph("a = W_a·" + words_.own_vector() + " and u = U_a·" + k + ", with their biases if they have some:");
    } else if (attention().score == core::Score::general) {
        terms.right.title = "a[i]";
        prose_.paragraph("a = W_a·" + k + ", with its bias if it has one:");
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
        step("Scaling: none, scaled = " + name + ", since " + std::string(name_of(attention().score)) +
             " scores have no scale of their own");
        return;
    }
    if (attention().scale) {
        const std::string factor = bracketed(plain(e_.scale));
        step("Scaling: scaled = " + name + "·" + factor);
        if (e_.key) {
            prose_.paragraph(score + "·" + factor + result);
        }
        return;
    }
    const std::string size = std::to_string(e_.query.size());
    const std::string root = words_.number(std::sqrt(static_cast<double>(e_.query.size())));
    step("Scaling: scaled = " + glued(name + " / √d_k"));
    prose_.paragraph(glued(score + " / √" + size) + " = " + glued(score + " / " + root) + " = " + score + "·" +
                     words_.number(e_.scale) + result);
}

void ExplanationSteps::write_softcap()
{
    if (!attention().softcap) {
        return;
    }
    const std::string cap = plain(*attention().softcap);
    step("Softcap: capped = " + cap + glued("·tanh(scaled / " + cap + ")"));
    if (e_.key) {
        prose_.paragraph(cap + glued("·tanh(" + words_.number(cell().scaled) + " / " + cap + ")") + " = " +
                         words_.number(*cell().capped));
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
    step((is_biased() ? "Bias: masked = " : "Mask: masked = ") + before + name + (alibi ? " + distance" : "") +
         (is_biased() && !attention().causal ? "" : ", -inf where a key is hidden"));
    if (attention().causal) {
        prose_.paragraph("causal: hides the keys after position " + std::to_string(e_.position));
    }
    if (attention().window) {
        const auto side = [](Index count) { return count < 0 ? std::string("all") : std::to_string(count); };
        prose_.paragraph("window: hides all but " + side(attention().window->left) + " keys back and " +
                         side(attention().window->right) + " ahead of position " + std::to_string(e_.position));
    }
    if (!attention().hide.empty()) {
        std::string words;
        for (const std::string& word : attention().hide) {
            words += (words.empty() ? "" : ", ") + in_quotes(word);
        }
        prose_.paragraph("hide: no query sees " + words);
    }
    if (attention().mask || attention().mask_values) {
        prose_.paragraph("mask: what " + (attention().mask ? in_quotes(attention().mask->file) : "the recipe") +
                         " holds for this row");
    }
    if (is_biased()) {
        prose_.paragraph("bias: a number of the model, by head and by how far the key is from position " +
                         std::to_string(e_.position));
    }
    if (alibi) {
        prose_.paragraph("distance: ALiBi, minus the head's slope times |" + std::to_string(e_.position) +
                         " - position of the key|");
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
        prose_.paragraph(in_quotes(cell_word()) + " is seen: masked = " + before + " = " + of_cell(words_.masked()));
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
