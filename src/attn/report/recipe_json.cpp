#include "attn/report/recipe_json.hpp"

#include "attn/report/embeddings_json.hpp"

#include <array>
#include <optional>

namespace attn::report {
namespace {

using namespace std::string_view_literals;
using model::Draw;
using model::Initialisation;
using model::Recipe;
using model::Target;

/// The name of an enumerator; `names` are in the order of the enum.
template <typename Enum, std::size_t Count>
std::string_view name_in(const std::array<std::string_view, Count>& names, Enum value)
{
    return names.at(static_cast<std::size_t>(value));
}

constexpr std::array generator_names{"torch"sv, "numpy"sv, "numpy-pcg64"sv};
constexpr std::array dtype_names{"float32"sv, "float64"sv};
constexpr std::array tokenizer_names{"document"sv, "words"sv};
constexpr std::array init_names{"uniform"sv, "normal"sv, "linear"sv, "xavier"sv, "identity"sv};
constexpr std::array side_names{"left"sv, "right"sv};
constexpr std::array rope_style_names{"half"sv, "interleaved"sv};

void member(JsonWriter& json, std::string_view key, std::string_view text)
{
    json.key(key);
    json.string(text);
}

void member_unless(JsonWriter& json, std::string_view key, double value, double usual)
{
    if (value != usual) {
        json.key(key);
        json.number(value);
    }
}

// ---- input -----------------------------------------------------------------------------------------------------------

void write_labels(JsonWriter& json, const std::vector<std::string>& labels)
{
    if (!labels.empty()) {
        json.key("labels");
        json.strings(labels);
    }
}

void write_input(JsonWriter& json, const model::SentenceInput& input)
{
    member(json, "sentence", input.sentence);
    if (input.cross) {
        member(json, "cross", *input.cross);
    }
    member(json, "tokenizer", name_in(tokenizer_names, input.tokenizer));
    json.key("casefold");
    json.boolean(input.casefold);
}

void write_input(JsonWriter& json, const model::IdsInput& input)
{
    json.key("ids");
    json.integers(input.ids);
    write_labels(json, input.labels);
}

void write_input(JsonWriter& json, const model::PositionsInput& input)
{
    json.key("positions");
    json.integer(input.count);
    write_labels(json, input.labels);
}

// ---- parameters ------------------------------------------------------------------------------------------------------

void write_dims(JsonWriter& json, const model::Dims& dims)
{
    if (dims == model::Dims{}) {
        return;
    }
    json.key("dims");
    json.begin_object();
    const auto length = [&](std::string_view key, const std::optional<Index>& value) {
        if (value) {
            json.key(key);
            json.integer(*value);
        }
    };
    length("embed_dim", dims.embed_dim);
    length("heads", dims.heads);
    length("kv_heads", dims.kv_heads);
    length("d_k", dims.d_k);
    length("d_v", dims.d_v);
    length("vocab_size", dims.vocab_size);
    length("key_dim", dims.key_dim);
    length("value_dim", dims.value_dim);
    json.end_object();
}

void write_parameters(JsonWriter& json, const model::FileParameters& parameters)
{
    json.key("parameters");
    json.begin_object();
    member(json, "file", parameters.file);
    if (!parameters.prefix.empty()) {
        member(json, "prefix", parameters.prefix);
    }
    if (parameters.layout) {
        member(json, "layout", name_in(model::layout_names, *parameters.layout));
    }
    if (parameters.output_projection) {
        json.key("output_projection");
        json.boolean(*parameters.output_projection);
    }
    if (parameters.allow_nonfinite) {
        json.key("allow_nonfinite");
        json.boolean(true);
    }
    if (!parameters.sha256.empty()) {
        member(json, "sha256", parameters.sha256);
    }
    json.end_object();
}

void write_shape(JsonWriter& json, const std::vector<model::Length>& shape)
{
    json.key("shape");
    json.begin_array();
    for (const model::Length& length : shape) {
        if (const Index* number = std::get_if<Index>(&length)) {
            json.integer(*number);
        } else {
            json.string(std::get<std::string>(length));
        }
    }
    json.end_array();
}

void write_step(JsonWriter& json, const model::Seed& seed)
{
    json.key("seed");
    json.unsigned_integer(seed.value);
}

void write_step(JsonWriter& json, const Draw& draw)
{
    if (draw.target == Target::none) {
        json.key("discard");
        json.boolean(true);
    } else {
        member(json, "tensor", name_of(draw.target));
    }
    member(json, "init", name_in(init_names, draw.init));
    if (draw.init == Initialisation::uniform) {
        member_unless(json, "low", draw.first, 0);
        member_unless(json, "high", draw.second, 1);
    } else if (draw.init == Initialisation::normal) {
        member_unless(json, "mean", draw.first, 0);
        member_unless(json, "std", draw.second, 1);
    }
    if (draw.side) {
        member(json, "side", name_in(side_names, *draw.side));
    }
    if (draw.shape) {
        write_shape(json, *draw.shape);
    }
    if (!draw.take.empty()) {
        json.key("take");
        json.integers(draw.take);
    }
}

// ---- attention -------------------------------------------------------------------------------------------------------

void write_file_tensor(JsonWriter& json, const model::FileTensor& tensor)
{
    json.begin_object();
    member(json, "file", tensor.file);
    if (!tensor.name.empty()) {
        member(json, "name", tensor.name);
    }
    if (!tensor.sha256.empty()) {
        member(json, "sha256", tensor.sha256);
    }
    json.end_object();
}

void write_positions(JsonWriter& json, const model::Positions& positions)
{
    json.key("positions");
    json.begin_object();
    member(json, "kind", name_in(model::position_names, positions.kind));
    if (positions.kind == model::PositionKind::rope) {
        member_unless(json, "base", positions.rope.base, core::Rope{}.base);
        if (positions.rope.dim) {
            json.key("dim");
            json.integer(*positions.rope.dim);
        }
        if (positions.rope.style != core::RopeStyle::half) {
            member(json, "style", name_in(rope_style_names, positions.rope.style));
        }
    }
    json.end_object();
}

void write_attention(JsonWriter& json, const model::Attention& attention)
{
    if (attention == model::Attention{}) {
        return;
    }
    json.key("attention");
    json.begin_object();
    if (attention.causal) {
        json.key("causal");
        json.boolean(true);
    }
    if (attention.window) {
        json.key("window");
        json.integers({attention.window->left, attention.window->right});
    }
    if (attention.scale && *attention.scale == 1) {
        member(json, "scale", "none");
    } else if (attention.scale) {
        json.key("scale");
        json.number(*attention.scale);
    }
    if (attention.softcap) {
        json.key("softcap");
        json.number(*attention.softcap);
    }
    if (attention.order == model::ScoreOrder::key_query) {
        member(json, "scores", "KQ");
    }
    if (attention.mask) {
        json.key("mask");
        write_file_tensor(json, *attention.mask);
    }
    if (attention.positions) {
        write_positions(json, *attention.positions);
    }
    json.end_object();
}

// ---- published numbers -----------------------------------------------------------------------------------------------

/// Rows of a word and its id, as an object.
void write_stated_vocabulary(JsonWriter& json, const std::vector<std::string>& values)
{
    json.begin_object();
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
        json.key(values[i]);
        json.raw(values[i + 1]);
    }
    json.end_object();
}

/// The values below one place of the first `level` dimensions; `next` walks through them.
void write_stated_nested(JsonWriter& json, const model::Published& published, bool quote, std::size_t level, std::size_t& next)
{
    if (level == published.shape.size()) {
        const std::string& value = published.values.at(next++);
        if (quote && !(published.printed && value == "null")) { // a word may be "null"
            json.string(value);
        } else {
            json.raw(value);
        }
        return;
    }
    json.begin_array();
    for (Index i = 0; i < published.shape[level]; ++i) {
        write_stated_nested(json, published, quote, level + 1, next);
    }
    json.end_array();
}

void write_stated_values(JsonWriter& json, const model::Published& published)
{
    if (published.values.empty()) {
        json.key("shape");
        json.integers(published.shape);
        return;
    }
    json.key("values");
    if (published.array == "vocabulary") {
        write_stated_vocabulary(json, published.values);
        return;
    }
    const bool words = published.array == "tokens" || published.array == "key_tokens";
    std::size_t next = 0;
    write_stated_nested(json, published, words || published.printed, 0, next);
}

void write_statement(JsonWriter& json, const model::Published& published)
{
    json.begin_object();
    member(json, "array", published.array);
    if (!published.at.empty()) {
        json.key("at");
        json.begin_array();
        for (const std::optional<Index>& index : published.at) {
            if (index) {
                json.integer(*index);
            } else {
                json.null();
            }
        }
        json.end_array();
    }
    write_stated_values(json, published);
    member_unless(json, "units", published.units, 0);
    member_unless(json, "rtol", published.rtol, 0);
    member_unless(json, "atol", published.atol, 0);
    if (published.dtype) {
        member(json, "dtype", name_in(dtype_names, *published.dtype));
    }
    json.end_object();
}

void write_statements(JsonWriter& json, const Recipe& recipe)
{
    if (!recipe.published.empty()) {
        json.key("published");
        json.begin_array();
        for (const model::Published& published : recipe.published) {
            write_statement(json, published);
        }
        json.end_array();
    }
    if (!recipe.precision.empty()) {
        json.key("precision");
        json.begin_array();
        for (const model::PrecisionClaim& claim : recipe.precision) {
            json.begin_object();
            member(json, "array", claim.array);
            json.key("rtol");
            json.number(claim.rtol);
            json.key("atol");
            json.number(claim.atol);
            json.end_object();
        }
        json.end_array();
    }
}

} // namespace

void write_recipe_object(JsonWriter& json, const Recipe& recipe, WithPublished published)
{
    json.begin_object();
    member(json, "schema", "attn-cli/recipe/1");
    for (const auto& [key, text] :
         {std::pair("name"sv, &recipe.name), {"title"sv, &recipe.title}, {"source"sv, &recipe.source}}) {
        if (!text->empty()) {
            member(json, key, *text);
        }
    }
    json.key("input");
    json.begin_object();
    std::visit([&](const auto& input) { write_input(json, input); }, recipe.input);
    json.end_object();
    member(json, "generator", name_in(generator_names, recipe.generator));
    member(json, "dtype", name_in(dtype_names, recipe.dtype));
    write_dims(json, recipe.dims);
    if (recipe.parameters) {
        write_parameters(json, *recipe.parameters);
    }
    if (recipe.embeddings) {
        write_embeddings(json, *recipe.embeddings);
    }
    json.key("draws");
    json.begin_array();
    for (const model::Step& step : recipe.draws) {
        json.begin_object();
        std::visit([&](const auto& s) { write_step(json, s); }, step);
        json.end_object();
    }
    json.end_array();
    write_attention(json, recipe.attention);
    if (!recipe.query.empty()) {
        json.key("query");
        json.strings(recipe.query);
    }
    if (recipe.verify) {
        json.key("verify");
        json.boolean(true);
    }
    if (published == WithPublished::yes) {
        write_statements(json, recipe);
    }
    json.end_object();
}

} // namespace attn::report
