#include "attn/report/text/explanation_steps.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace attn::report {

using model::Projected;
using model::Target;

namespace {

constexpr std::size_t most_products = 16; ///< of a sum on a few lines; a table has all
constexpr std::size_t longest_table = 64; ///< of a whole trained model

std::string at(const std::string& vector, Index number)
{
    return fmt::format("{}[{}]", vector, number);
}

} // namespace

// ---- the embedding ----------------------------------------------------------------------------------------------------

void ExplanationSteps::write_look_up()
{
    if (e_.id) {
        prose_.paragraph(fmt::format("look-up: {0} has id {1}{2}; id {1} is row {1}", in_quotes(words_.query_word()), *e_.id,
                                     e_.id_by_vocabulary ? ", its place in the vocabulary" : ""));
    }
}

/// One number of x.
void ExplanationSteps::write_sum_with_position()
{
    const auto i = static_cast<std::size_t>(e_.component);
    if (i >= e_.added.size()) {
        return;
    }
    const std::vector<std::string> numbers = words_.numbers({e_.embedding[i], e_.added[i], e_.x[i]});
    const std::string wave =
        glued(fmt::format("{}({} / 10000^({}/{}))", i % 2 == 0 ? "sin" : "cos", e_.position, i - i % 2, e_.added.size()));
    prose_.paragraph(fmt::format("{} = {}{} + {} = {}", at(vector_of("x", words_.query_word()), e_.component),
                                 e_.learned ? "" : fmt::format("{} + {} = ", numbers[0], wave), numbers[0],
                                 bracketed(numbers[1]), numbers[2]));
}

// ---- x·W + b ----------------------------------------------------------------------------------------------------------

void ExplanationSteps::write_projection(Target W, const std::string& vector, const std::string& x)
{
    const Projected* made = e_.projection(W);
    if (made == nullptr) {
        return;
    }
    const bool left = made->side == model::Side::left;
    const bool one_of_several = W != Target::W_o && (W == Target::W_q ? e_.heads : e_.kv_heads) > 1;
    const std::string line =
        fmt::format("{} {} of {}{}", left ? "row" : "column", e_.component, one_of_several ? "this head's " : "", name_of(W));
    const std::string number = at(vector, e_.component);
    const std::string before = made->norm ? ", before it is normalised," : made->turn ? ", before it is turned," : "";
    prose_.paragraph(fmt::format("{}{} is {} times {}{}:", number, before, left ? line : x, left ? x : line,
                                 made->bias ? ", plus " + bias_name(W) : ""));
    write_projected_terms(*made, before.empty() ? number : "before");
    if (made->norm) {
        write_norm(*made, made->turn ? "normalised" : number);
    }
    if (made->turn) {
        write_turn(*made, number);
    }
}

void ExplanationSteps::write_projected_terms(const Projected& made, const std::string& number)
{
    const bool left = made.side == model::Side::left;
    const std::vector<std::string> weights = words_.numbers(made.weights);
    const std::vector<std::string> x = words_.numbers(made.x);
    const std::string start = number + " = ";
    const std::string value = words_.number(made.value);
    const std::string bias =
        made.bias ? glued(fmt::format("{} ({})", bracketed(words_.number(*made.bias)), bias_name(made.W))) : "";
    if (e_.key && (!e_.place || made.products.size() <= longest_table)) {
        const std::string_view name = name_of(made.W);
        const Column of_W{left ? fmt::format("{}[{},i]", name, e_.component) : fmt::format("{}[i,{}]", name, e_.component),
                          weights};
        const Column of_x{"x[i]", x};
        write_terms({.left = left ? of_W : of_x, .right = left ? of_x : of_W}, made.products);
        const double sum = std::accumulate(made.products.begin(), made.products.end(), 0.0, [&](double total, double term) {
            return model::after_step(e_.config, total + term);
        });
        if (made.bias) {
            prose_.sum(start, {words_.number(sum), bias + glued(" = " + value)});
        } else {
            prose_.paragraph(start + value);
        }
        return;
    }
    std::vector<std::string> terms;
    std::vector<std::size_t> places(made.products.size());
    std::iota(places.begin(), places.end(), 0);
    keep_largest(places, most_products, [&](std::size_t i) { return std::abs(made.products[i]); });
    terms.reserve(places.size() + 2);
    for (const std::size_t i : places) {
        terms.push_back(bracketed(left ? weights[i] : x[i]) + "·" + bracketed(left ? x[i] : weights[i]));
    }
    if (terms.size() < made.products.size()) {
        terms.push_back(glued(fmt::format("… {} smaller products", made.products.size() - terms.size())));
    }
    if (made.bias) {
        terms.push_back(bias);
    }
    terms.back() += glued(" = " + value);
    prose_.sum(start, terms);
}

void ExplanationSteps::write_norm(const Projected& made, const std::string& number)
{
    const model::Normed& norm = *made.norm;
    const std::vector<std::string> numbers = words_.numbers({made.value, norm.mean, norm.value});
    const std::vector<std::string> factors = words_.numbers({norm.factor, norm.weight});
    const std::string of_mean =
        norm.mean == 0 ? bracketed(numbers[0]) : fmt::format("({} - {})", numbers[0], bracketed(numbers[1]));
    std::vector<std::string> terms{fmt::format("{}·{}·{}", of_mean, factors[0], bracketed(factors[1]))};
    if (norm.bias) {
        terms.push_back(bracketed(words_.number(*norm.bias)));
    }
    terms.back() += glued(" = " + numbers[2]);
    prose_.paragraph(
        fmt::format("normalised: times {}, 1 over the root of the mean square, and its weight {}:", factors[0], factors[1]));
    prose_.sum(number + " = ", terms);
}

void ExplanationSteps::write_turn(const Projected& made, const std::string& number)
{
    const model::Turn& turn = *made.turn;
    const std::vector<std::string> numbers = words_.numbers({made.before_turn(), turn.other, turn.value});
    const std::vector<std::string> shares = words_.numbers({turn.own, turn.others});
    prose_.paragraph(fmt::format("turned with its partner [{}], which is {} before:", turn.partner, numbers[1]));
    prose_.sum(number + " = ", {bracketed(numbers[0]) + "·" + bracketed(shares[0]),
                                bracketed(numbers[1]) + "·" + bracketed(shares[1]) + glued(" = " + numbers[2])});
}

double ExplanationSteps::write_terms(const Terms& terms, const std::vector<double>& products)
{
    std::vector<double> sums(products.size());
    std::partial_sum(products.begin(), products.end(), sums.begin(),
                     [&](double sum, double term) { return model::after_step(e_.config, sum + term); });
    Column places{"i", {}};
    const std::string last = std::to_string(sums.size() - 1);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::string place = std::to_string(i);
        places.cells.push_back(std::string(last.size() - place.size(), ' ') + place);
    }
    std::vector<Column> columns = terms.before;
    const std::string product = terms.product.empty() ? terms.left.title + "·" + terms.right.title : terms.product;
    columns.insert(columns.end(),
                   {terms.left, terms.right, {product, words_.numbers(products)}, {"sum so far", words_.numbers(sums)}});
    prose_.table(places, columns);
    return sums.empty() ? 0 : sums.back();
}

// ---- what print leaves of the numbers ---------------------------------------------------------------------------------

void ExplanationSteps::write_rounding()
{
    const bool single = e_.config.dtype == Dtype::float32;
    const std::string of_model = e_.place ? "; only the products with the model’s own matrices are summed in float32" : "";
    const std::string steps = e_.config.rounding == core::Rounding::step ? "after each operation" : "once it is done";
    prose_.blank();
    prose_.remark(fmt::format("Printed numbers are rounded, so that sums and products of them may differ in the last digits; "
                              "--digits and --json show more. The arithmetic is in float64{}{}.",
                              single ? ", and each number is rounded to float32 " + steps : "", of_model));
}

} // namespace attn::report
