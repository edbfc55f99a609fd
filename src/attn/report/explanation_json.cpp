#include "attn/report/explanation.hpp"
#include "attn/report/json_writer.hpp"
#include "attn/report/recipe_json.hpp"

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
        json_.key("schema");
        json_.string("attn-cli/explanation/1");
        json_.key("config");
        write_recipe_object(json_, e_.config, WithPublished::no);
        json_.key("tokens");
        json_.strings(e_.tokens);
        write_place();
        write_query();
        term("scale", e_.scale);
        json_.key("keys");
        json_.begin_array();
        for (std::size_t j = 0; j < e_.keys.size(); ++j) {
            write_key(static_cast<Index>(j), e_.keys[j]);
        }
        json_.end_array();
        taken("maximum", e_.maximum);
        term("sum", e_.sum);
        taken("head_context", e_.context);
        taken("context", e_.joined);
        if (!e_.output.empty()) {
            taken("output", e_.output);
        }
        json_.key("warnings");
        json_.strings(e_.warnings);
        json_.end_object();
        json_.newline();
    }

private:
    void write_place()
    {
        const auto integer = [&](std::string_view name, Index value) {
            json_.key(name);
            json_.integer(value);
        };
        integer("head", e_.head);
        integer("heads", e_.heads);
        integer("kv_head", e_.kv_head);
        integer("kv_heads", e_.kv_heads);
        if (e_.key) {
            integer("key_position", *e_.key);
        }
    }

    void write_query()
    {
        json_.key("query");
        json_.begin_object();
        json_.key("position");
        json_.integer(e_.position);
        json_.key("word");
        json_.string(e_.tokens[static_cast<std::size_t>(e_.position)]);
        if (e_.id) {
            json_.key("token_id");
            json_.integer(*e_.id);
        }
        if (!e_.sinusoid.empty()) {
            taken("embedding", e_.embedding);
            terms("sinusoid", e_.sinusoid);
        }
        taken("x", e_.x);
        taken("vector", e_.query);
        json_.end_object();
    }

    void write_key(Index position, const ExplainedKey& key)
    {
        json_.begin_object();
        json_.key("position");
        json_.integer(position);
        json_.key("word");
        json_.string(key.word);
        taken("vector", key.key);
        terms("products", key.products);
        taken("score", key.score);
        taken("scaled_score", key.scaled);
        if (key.capped) {
            taken("capped_score", *key.capped);
        }
        if (key.masked) {
            write_masked(key);
        }
        term("exponential", key.exponential);
        taken("weight", key.weight);
        taken("value", key.value);
        terms("weighted_value", key.weighted_value);
        json_.end_object();
    }

    void write_masked(const ExplainedKey& key)
    {
        term("mask", key.mask);
        term("distance", key.distance);
        if (key.hidden != model::Hidden::no) {
            json_.key("hidden_by");
            json_.string(model::hidden_names.at(static_cast<std::size_t>(key.hidden)));
            json_.key("masked_score");
            json_.null();
        } else {
            taken("masked_score", *key.masked);
        }
    }

    // What the result holds, in the type of the arithmetic.
    void taken(std::string_view name, double value)
    {
        json_.key(name);
        if (single_) {
            json_.number(static_cast<float>(value));
        } else {
            json_.number(value);
        }
    }
    void taken(std::string_view name, const std::vector<double>& values)
    {
        if (single_) {
            const std::vector<float> singles(values.begin(), values.end());
            json_.key(name);
            json_.numbers(std::span<const float>(singles));
        } else {
            terms(name, values);
        }
    }

    // What was made of it, always in double.
    void term(std::string_view name, double value)
    {
        json_.key(name);
        json_.number(value);
    }
    void terms(std::string_view name, const std::vector<double>& values)
    {
        json_.key(name);
        json_.numbers(std::span<const double>(values));
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
