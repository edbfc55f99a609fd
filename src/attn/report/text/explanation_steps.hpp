// The steps of an explanation as text, one function each, in the order of the computation.
#pragma once

#include "attn/report/text/explanation_words.hpp"

namespace attn::report {

class ExplanationSteps {
public:
    /// Explanation and prose must outlive it.
    ExplanationSteps(const model::Explanation& explanation, const ExplanationOptions& options, Prose& prose)
        : e_(explanation), words_(explanation, options, prose.width()), prose_(prose)
    {
    }

    void write();

private:
    void write_title();
    void write_embedding();
    void write_look_up();
    void write_sum_with_position();
    void write_query();
    void write_keys();
    void write_score();
    double write_products(); ///< returns their sum
    /// How one number of x·W + b comes about, if it is explained: `vector` is what it belongs to, `x` what W reads.
    void write_projection(model::Target W, const std::string& vector, const std::string& x);
    void write_projected_terms(const model::Projected& made, const std::string& number);
    void write_norm(const model::Projected& made, const std::string& number);
    void write_turn(const model::Projected& made, const std::string& number);
    /// Two factors, what they are made of, their products and the sum so far, line by line. Returns the sum.
    struct Terms {
        Column left, right;
        std::vector<Column> before = {};
        std::string product = {}; ///< empty: left·right
    };
    double write_terms(const Terms& terms, const std::vector<double>& products);
    void write_scaling();
    void write_softcap();
    void write_masks();
    void write_cell_masks(const std::string& before);
    void write_softmax();
    void write_softmax_table(const std::string& row_sum);
    void write_dropout();
    void write_context();
    void write_share();
    void write_output();
    void write_rounding();

    /// A numbered heading.
    void step(const std::string& text);
    /// Its numbers; of a whole trained model, whose vectors are long, the first ones.
    void write_vector(const std::vector<double>& vector);
    /// "0.0185·v(Life)", … of the keys with the largest weights, in their order, and what is left out.
    [[nodiscard]] std::vector<std::string> weighted(const std::vector<std::string>& values) const;

    [[nodiscard]] const model::Attention& attention() const { return e_.config.attention; }
    [[nodiscard]] bool positions_are(model::PositionKind kind) const
    {
        return attention().positions && attention().positions->kind == kind;
    }
    /// Whether a model adds a number for the distance of query and key.
    [[nodiscard]] bool is_biased() const { return e_.place && e_.place->biased; }
    /// The key that was asked for.
    [[nodiscard]] const model::ExplainedKey& cell() const { return e_.keys[static_cast<std::size_t>(*e_.key)]; }
    [[nodiscard]] std::string cell_word() const { return words_.key_word(static_cast<std::size_t>(*e_.key)); }
    [[nodiscard]] std::string cell_owner() const { return words_.key_owner(static_cast<std::size_t>(*e_.key)); }
    [[nodiscard]] bool cell_is_bias() const { return words_.is_bias(static_cast<std::size_t>(*e_.key)); }

    const model::Explanation& e_;
    Wording words_;
    Prose& prose_;
    int steps_ = 0;
};

} // namespace attn::report
