#include "attn/report/recipe_json.hpp"

#include "attn/report/embeddings_json.hpp"
#include "attn/report/published_json.hpp"

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
constexpr std::array tokenizer_names{"document"sv, "words"sv};
constexpr std::array init_names{"uniform"sv, "normal"sv, "linear"sv, "xavier"sv, "identity"sv};
constexpr std::array side_names{"left"sv, "right"sv};
constexpr std::array rope_style_names{"half"sv, "interleaved"sv};

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
    json.member("sentence", input.sentence);
    if (input.cross) {
        json.member("cross", *input.cross);
    }
    json.member("tokenizer", name_in(tokenizer_names, input.tokenizer));
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
    json.member("file", parameters.file);
    if (!parameters.prefix.empty()) {
        json.member("prefix", parameters.prefix);
    }
    if (parameters.layout) {
        json.member("layout", name_in(model::layout_names, *parameters.layout));
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
        json.member("sha256", parameters.sha256);
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
        json.member("tensor", name_of(draw.target));
    }
    json.member("init", name_in(init_names, draw.init));
    if (draw.init == Initialisation::uniform) {
        json.member_unless("low", draw.first, 0);
        json.member_unless("high", draw.second, 1);
    } else if (draw.init == Initialisation::normal) {
        json.member_unless("mean", draw.first, 0);
        json.member_unless("std", draw.second, 1);
    }
    if (draw.side) {
        json.member("side", name_in(side_names, *draw.side));
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
    json.member("file", tensor.file);
    if (!tensor.name.empty()) {
        json.member("name", tensor.name);
    }
    if (!tensor.sha256.empty()) {
        json.member("sha256", tensor.sha256);
    }
    json.end_object();
}

void write_positions(JsonWriter& json, const model::Positions& positions)
{
    json.key("positions");
    json.begin_object();
    json.member("kind", name_in(model::position_names, positions.kind));
    if (positions.kind == model::PositionKind::rope) {
        json.member_unless("base", positions.rope.base, core::Rope{}.base);
        if (positions.rope.dim) {
            json.key("dim");
            json.integer(*positions.rope.dim);
        }
        if (positions.rope.style != core::RopeStyle::half) {
            json.member("style", name_in(rope_style_names, positions.rope.style));
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
        json.member("scale", "none");
    } else if (attention.scale) {
        json.member("scale", *attention.scale);
    }
    if (attention.softcap) {
        json.member("softcap", *attention.softcap);
    }
    if (attention.order == model::ScoreOrder::key_query) {
        json.member("scores", "KQ");
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

} // namespace

void write_recipe_object(JsonWriter& json, const Recipe& recipe, WithPublished published)
{
    json.begin_object();
    json.member("schema", "attn-cli/recipe/1");
    for (const auto& [key, text] :
         {std::pair("name"sv, &recipe.name), {"title"sv, &recipe.title}, {"source"sv, &recipe.source}}) {
        if (!text->empty()) {
            json.member(key, *text);
        }
    }
    json.key("input");
    json.begin_object();
    std::visit([&](const auto& input) { write_input(json, input); }, recipe.input);
    json.end_object();
    json.member("generator", name_in(generator_names, recipe.generator));
    json.member("dtype", name_of(recipe.dtype));
    if (recipe.rounding == core::Rounding::step) {
        json.member("rounding", "step");
    }
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
        write_published(json, recipe);
    }
    json.end_object();
}

} // namespace attn::report
