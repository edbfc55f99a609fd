#include "attn/model/check/summary_members.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/report/json/recipe_json.hpp"
#include "attn/report/json_writer.hpp"
#include "attn/report/text/explanation.hpp"

#include <cmath>

namespace attn::report {
namespace {

using model::ExplainedKey;
using model::Explanation;
namespace key = model::key;

// Of several objects.
constexpr std::string_view word = "word", x = "x", products = "products", bias = "bias", value = "value",
                           masked_score = "masked_score";

class ExplanationJson {
public:
    ExplanationJson(const Explanation& explanation, JsonWriter& json)
        : e_(explanation), json_(json), single_(explanation.config.dtype == Dtype::float32)
    {
    }

    void write()
    {
        json_.member(key::schema, "attn-cli/explanation/1");
        json_.key(key::config);
        e_.place ? write_config_object(json_, e_.place->config) : write_recipe_object(json_, e_.config, WithPublished::no);
        json_.member(name_of(model::Item::tokens), e_.tokens);
        write_place();
        write_query();
        json_.member("component", e_.component);
        json_.objects("projections", e_.projections, [&](const model::Projected& made) { write_projection(made); });
        if (!e_.v_a.empty()) {
            taken(name_of(model::Target::v_a), e_.v_a);
            taken(name_of(model::Target::b_va), e_.b_va);
        }
        json_.member("scale", e_.scale);
        Index position = 0;
        json_.objects(name_of(model::Item::keys), e_.keys, [&](const ExplainedKey& key) { write_key(position++, key); });
        taken("maximum", e_.maximum);
        json_.member("sum", e_.sum);
        taken(name_of(model::Item::head_context), e_.context);
        taken(name_of(model::Item::context), e_.joined);
        taken(name_of(model::Item::output), e_.output);
        json_.member(key::warnings, e_.warnings);
    }

private:
    void write_place()
    {
        if (e_.place) {
            json_.member(key::layer, e_.place->layer);
        }
        json_.member(model::field::head.name(), e_.head);
        json_.member(model::field::heads.name(), e_.heads);
        json_.member("kv_head", e_.kv_head);
        json_.member(model::field::kv_heads.name(), e_.kv_heads);
        json_.member("key_position", e_.key);
    }

    void write_query()
    {
        json_.begin_object(model::field::query.name());
        json_.member(key::position, e_.position);
        json_.member(word, e_.tokens[static_cast<std::size_t>(e_.position)]);
        json_.member("token_id", e_.id);
        if (!e_.added.empty()) {
            taken(name_of(model::Target::embedding), e_.embedding);
            if (e_.learned) {
                taken(name_of(model::Target::position_embedding), e_.added);
            } else {
                json_.member("sinusoid", e_.added);
            }
        }
        taken(x, e_.x);
        write_vector(e_.query, e_.aligned, {}, e_.length);
        json_.end_object();
    }

    /// Of a query or a key, with what scores make of it.
    void write_vector(const std::vector<double>& vector, const std::vector<double>& aligned,
                      const std::vector<double>& hidden_layer, double length)
    {
        taken("vector", vector);
        taken("aligned", aligned);
        if (!hidden_layer.empty()) {
            json_.member("hidden_layer", hidden_layer);
        }
        if (!core::function_of(e_.config.attention.score).of_product.empty()) {
            json_.member("length", length);
        }
    }

    void write_projection(const model::Projected& made)
    {
        json_.member("matrix", name_of(made.W));
        json_.member(model::draw_field::side.name(), model::side_names.at(static_cast<std::size_t>(made.side)));
        json_.member(key::position, made.position);
        taken(x, made.x);
        taken("weights", made.weights);
        json_.member(products, made.products);
        taken(bias, made.bias);
        taken(value, made.value);
        if (made.norm) {
            json_.begin_object("norm");
            json_.member("mean", made.norm->mean);
            json_.member("factor", made.norm->factor);
            json_.member(key::weight, made.norm->weight);
            json_.member(bias, made.norm->bias);
            taken(value, made.norm->value);
            json_.end_object();
        }
        if (made.turn) {
            json_.begin_object("turn");
            json_.member("partner", made.turn->partner);
            taken("other", made.turn->other);
            json_.member("own_factor", made.turn->own);
            json_.member("other_factor", made.turn->others);
            taken(value, made.turn->value);
            json_.end_object();
        }
    }

    void write_key(Index position, const ExplainedKey& key)
    {
        json_.member(key::position, position);
        json_.member(word, key.word);
        write_vector(key.key, key.aligned, key.hidden_layer, key.length);
        json_.member(products, key.products);
        taken("score", key.score);
        taken("scaled_score", key.scaled);
        taken("capped_score", key.capped);
        if (key.masked) {
            write_masked(key);
        }
        json_.member("exponential", key.exponential);
        taken(key::weight, key.weight);
        taken("dropped_weight", key.dropped);
        taken(value, key.value);
        json_.member("weighted_value", key.weighted_value);
    }

    void write_masked(const ExplainedKey& key)
    {
        json_.member("mask", key.mask);
        json_.member("distance", key.distance);
        if (key.hidden != model::Hidden::no) {
            json_.member("hidden_by", model::hidden_names.at(static_cast<std::size_t>(key.hidden)));
            json_.key(masked_score);
            json_.null();
        } else {
            taken(masked_score, *key.masked);
        }
    }

    // What the result holds, in the type of the arithmetic; nothing where it holds none. What was made of it is always double.
    void taken(std::string_view name, double number)
    {
        single_ ? json_.member(name, static_cast<float>(number)) : json_.member(name, number);
    }
    void taken(std::string_view name, const std::optional<double>& number)
    {
        if (number) {
            taken(name, *number);
        }
    }
    void taken(std::string_view name, const std::vector<double>& values)
    {
        if (!values.empty()) {
            single_ ? json_.member(name, std::vector<float>(values.begin(), values.end())) : json_.member(name, values);
        }
    }

    const Explanation& e_;
    JsonWriter& json_;
    bool single_;
};

} // namespace

void write_explanation_json(const model::Explanation& explanation, Buffer& buffer)
{
    write_json_line(buffer, [&](JsonWriter& json) { ExplanationJson(explanation, json).write(); });
}

} // namespace attn::report
