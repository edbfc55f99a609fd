#include "attn/report/json/recipe_json.hpp"
#include "attn/report/json_writer.hpp"
#include "attn/report/text/explanation.hpp"

#include <cmath>

namespace attn::report {
namespace {

using model::ExplainedKey;
using model::Explanation;

class ExplanationJson {
public:
    ExplanationJson(const Explanation& explanation, JsonWriter& json)
        : e_(explanation), json_(json), single_(explanation.config.dtype == Dtype::float32)
    {
    }

    void write()
    {
        json_.begin_object();
        json_.member("schema", "attn-cli/explanation/1");
        json_.key("config");
        e_.place ? write_config_object(json_, e_.place->config) : write_recipe_object(json_, e_.config, WithPublished::no);
        json_.member(name_of(model::Item::tokens), e_.tokens);
        write_place();
        write_query();
        json_.member("component", e_.component);
        json_.begin_array("projections");
        for (const model::Projected& made : e_.projections) {
            write_projection(made);
        }
        json_.end_array();
        if (!e_.v_a.empty()) {
            taken(name_of(model::Target::v_a), e_.v_a);
            taken(name_of(model::Target::b_va), e_.b_va);
        }
        json_.member("scale", e_.scale);
        json_.begin_array(name_of(model::Item::keys));
        for (std::size_t j = 0; j < e_.keys.size(); ++j) {
            write_key(static_cast<Index>(j), e_.keys[j]);
        }
        json_.end_array();
        taken("maximum", e_.maximum);
        json_.member("sum", e_.sum);
        taken(name_of(model::Item::head_context), e_.context);
        taken(name_of(model::Item::context), e_.joined);
        if (!e_.output.empty()) {
            taken(name_of(model::Item::output), e_.output);
        }
        json_.member("warnings", e_.warnings);
        json_.end_object();
        json_.newline();
    }

private:
    void write_place()
    {
        if (e_.place) {
            json_.member("layer", e_.place->layer);
        }
        json_.member("head", e_.head);
        json_.member("heads", e_.heads);
        json_.member("kv_head", e_.kv_head);
        json_.member("kv_heads", e_.kv_heads);
        json_.member("key_position", e_.key);
    }

    void write_query()
    {
        json_.begin_object("query");
        json_.member("position", e_.position);
        json_.member("word", e_.tokens[static_cast<std::size_t>(e_.position)]);
        json_.member("token_id", e_.id);
        if (!e_.sinusoid.empty()) {
            taken("embedding", e_.embedding);
            json_.member("sinusoid", e_.sinusoid);
        }
        taken("x", e_.x);
        taken("vector", e_.query);
        if (!e_.aligned.empty()) {
            taken("aligned", e_.aligned);
        }
        if (is_cosine()) {
            json_.member("length", e_.length);
        }
        json_.end_object();
    }

    void write_projection(const model::Projected& made)
    {
        json_.begin_object();
        json_.member("matrix", name_of(made.W));
        json_.member("side", model::side_names.at(static_cast<std::size_t>(made.side)));
        json_.member("position", made.position);
        taken("x", made.x);
        taken("weights", made.weights);
        json_.member("products", made.products);
        if (made.bias) {
            taken("bias", *made.bias);
        }
        taken("value", made.value);
        if (made.norm) {
            json_.begin_object("norm");
            json_.member("mean", made.norm->mean);
            json_.member("factor", made.norm->factor);
            json_.member("weight", made.norm->weight);
            if (made.norm->bias) {
                json_.member("bias", *made.norm->bias);
            }
            taken("value", made.norm->value);
            json_.end_object();
        }
        if (made.turn) {
            json_.begin_object("turn");
            json_.member("partner", made.turn->partner);
            taken("other", made.turn->other);
            json_.member("own_factor", made.turn->own);
            json_.member("other_factor", made.turn->others);
            taken("value", made.turn->value);
            json_.end_object();
        }
        json_.end_object();
    }

    void write_key(Index position, const ExplainedKey& key)
    {
        json_.begin_object();
        json_.member("position", position);
        json_.member("word", key.word);
        taken("vector", key.key);
        if (!key.aligned.empty()) {
            taken("aligned", key.aligned);
        }
        if (!key.hidden_layer.empty()) {
            json_.member("hidden_layer", key.hidden_layer);
        }
        if (is_cosine()) {
            json_.member("length", key.length);
        }
        json_.member("products", key.products);
        taken("score", key.score);
        taken("scaled_score", key.scaled);
        if (key.capped) {
            taken("capped_score", *key.capped);
        }
        if (key.masked) {
            write_masked(key);
        }
        json_.member("exponential", key.exponential);
        taken("weight", key.weight);
        if (key.dropped) {
            taken("dropped_weight", *key.dropped);
        }
        taken("value", key.value);
        json_.member("weighted_value", key.weighted_value);
        json_.end_object();
    }

    void write_masked(const ExplainedKey& key)
    {
        json_.member("mask", key.mask);
        json_.member("distance", key.distance);
        if (key.hidden != model::Hidden::no) {
            json_.member("hidden_by", model::hidden_names.at(static_cast<std::size_t>(key.hidden)));
            json_.key("masked_score");
            json_.null();
        } else {
            taken("masked_score", *key.masked);
        }
    }

    [[nodiscard]] bool is_cosine() const { return e_.config.attention.score == core::Score::cosine; }

    // What the result holds, in the type of the arithmetic. What was made of it is always double.
    void taken(std::string_view name, double value)
    {
        single_ ? json_.member(name, static_cast<float>(value)) : json_.member(name, value);
    }
    void taken(std::string_view name, const std::vector<double>& values)
    {
        single_ ? json_.member(name, std::vector<float>(values.begin(), values.end())) : json_.member(name, values);
    }

    const Explanation& e_;
    JsonWriter& json_;
    bool single_;
};

} // namespace

void write_explanation_json(const model::Explanation& explanation, const Sink& sink)
{
    Buffer buffer(sink);
    JsonWriter json(buffer);
    ExplanationJson(explanation, json).write();
    buffer.flush();
}

} // namespace attn::report
