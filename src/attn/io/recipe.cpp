#include "attn/io/recipe.hpp"

#include "attn/io/json_reader.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

namespace attn::io {
namespace {

using model::Draw;
using model::Initialisation;
using model::Recipe;
using model::Side;
using model::Target;

constexpr Index largest_length = 1048576;
constexpr Index largest_index = 2147483648; // 2^31
constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- input -----------------------------------------------------------------------------------------------------------

std::vector<std::string> labels_of(const JsonObject& input, Index count)
{
    const JsonValue* labels = input.find("labels");
    if (labels == nullptr) {
        return {};
    }
    std::vector<std::string> names = labels->strings();
    if (static_cast<Index>(names.size()) != count) {
        labels->refuse("a label for each of " + std::to_string(count));
    }
    return names;
}

model::SentenceInput sentence_of(const JsonValue& value)
{
    const JsonObject input(value, {"sentence", "cross", "tokenizer", "casefold"});
    model::SentenceInput sentence;
    sentence.sentence = input.at("sentence").string();
    if (const JsonValue* cross = input.find("cross")) {
        sentence.cross = cross->string();
    }
    if (const JsonValue* tokenizer = input.find("tokenizer")) {
        sentence.tokenizer =
            tokenizer->one_of({"document", "words"}) == 0 ? model::Tokenizer::document : model::Tokenizer::words;
    }
    if (const JsonValue* casefold = input.find("casefold")) {
        sentence.casefold = casefold->boolean();
    }
    return sentence;
}

model::IdsInput ids_of(const JsonValue& value)
{
    const JsonObject input(value, {"ids", "labels"});
    model::IdsInput ids;
    for (const JsonValue& id : input.at("ids").elements()) {
        ids.ids.push_back(id.integer(0, largest_index));
    }
    if (ids.ids.empty()) {
        input.at("ids").refuse("at least one id");
    }
    ids.labels = labels_of(input, static_cast<Index>(ids.ids.size()));
    return ids;
}

model::PositionsInput positions_of(const JsonValue& value)
{
    const JsonObject input(value, {"positions", "labels"});
    model::PositionsInput positions;
    positions.count = input.at("positions").integer(1, largest_length);
    positions.labels = labels_of(input, positions.count);
    return positions;
}

model::Input input_of(const JsonValue& value)
{
    const JsonObject input(value, {"sentence", "cross", "tokenizer", "casefold", "ids", "positions", "labels"});
    const bool sentence = input.has("sentence");
    const bool ids = input.has("ids");
    const bool positions = input.has("positions");
    if (int{sentence} + int{ids} + int{positions} != 1) {
        value.refuse("exactly one of sentence, ids, positions");
    }
    if (sentence) {
        return sentence_of(value);
    }
    if (ids) {
        return ids_of(value);
    }
    return positions_of(value);
}

// ---- parameters ------------------------------------------------------------------------------------------------------

model::Dims dims_of(const JsonValue& value)
{
    const JsonObject object(value, {"embed_dim", "heads", "kv_heads", "d_k", "d_v", "vocab_size", "key_dim", "value_dim"});
    const auto length = [&](std::string_view key, Index most = largest_length) {
        const JsonValue* given = object.find(key);
        return given == nullptr ? std::optional<Index>() : given->integer(1, most);
    };
    return {length("embed_dim"), length("heads"),    length("kv_heads"),
            length("d_k"),       length("d_v"),      length("vocab_size", largest_index - 1),
            length("key_dim"),   length("value_dim")};
}

Target target_of(const JsonValue& value)
{
    const auto drawn = std::span(model::target_names).subspan(1); // without what is thrown away
    return static_cast<Target>(value.one_of(drawn) + 1);
}

Initialisation initialisation_of(const JsonValue& value)
{
    static constexpr std::array all{Initialisation::uniform, Initialisation::normal, Initialisation::linear,
                                    Initialisation::xavier, Initialisation::identity};
    return all.at(value.one_of({"uniform", "normal", "linear", "xavier", "identity"}));
}

/// "H*d_k": letters of the glossary with * between them.
bool is_product(std::string_view text)
{
    static constexpr std::array<std::string_view, 8> letters{"V", "T", "S", "D", "H", "H_kv", "d_k", "d_v"};
    for (;;) {
        const std::size_t star = text.find('*');
        if (std::find(letters.begin(), letters.end(), text.substr(0, star)) == letters.end()) {
            return false;
        }
        if (star == std::string_view::npos) {
            return true;
        }
        text.remove_prefix(star + 1);
    }
}

model::Length length_of(const JsonValue& value)
{
    if (value.kind() == JsonKind::number) {
        return value.integer(1, largest_length);
    }
    if (value.kind() != JsonKind::string || !is_product(value.text())) {
        value.refuse("1 to " + std::to_string(largest_length) +
                     R"(, or a product of V, T, S, D, H, H_kv, d_k, d_v such as "H*d_k")");
    }
    return value.string();
}

std::vector<model::Length> shape_of(const JsonValue& value)
{
    std::vector<model::Length> shape;
    for (const JsonValue& length : value.elements()) {
        shape.push_back(length_of(length));
    }
    if (shape.empty() || shape.size() > 8) {
        value.refuse("1 to 8 lengths");
    }
    return shape;
}

std::vector<Index> take_of(const JsonValue& value, const std::vector<model::Length>& shape)
{
    std::vector<Index> take;
    for (const JsonValue& index : value.elements()) {
        if (take.size() == shape.size()) {
            value.refuse("at most one index for each of the " + std::to_string(shape.size()) + " dimensions of shape");
        }
        const Index* length = std::get_if<Index>(&shape[take.size()]);
        take.push_back(index.integer(0, length == nullptr ? largest_length - 1 : *length - 1));
    }
    return take;
}

/// The two numbers of a uniform or normal draw.
void read_distribution(const JsonObject& object, Draw& draw)
{
    const bool uniform = draw.init == Initialisation::uniform;
    const bool normal = draw.init == Initialisation::normal;
    const auto number = [&](std::string_view key, bool fits, double& out) {
        const JsonValue* given = object.find(key);
        if (given == nullptr) {
            return;
        }
        if (!fits) {
            given->refuse(key == "low" || key == "high" ? R"(only with "init": "uniform")" : R"(only with "init": "normal")");
        }
        out = given->number("a finite number");
    };
    number("low", uniform, draw.first);
    number("high", uniform, draw.second);
    number("mean", normal, draw.first);
    number("std", normal, draw.second);
    // high - low is computed in the tensor's type and must stay finite there.
    if (uniform && (draw.first > draw.second || draw.second - draw.first == infinity)) {
        const auto shown = [&](std::string_view key, const char* otherwise) {
            return object.has(key) ? std::string(object.at(key).text().substr(0, 40)) : otherwise;
        };
        throw Error(ErrorKind::data, object.value().place() + ": low and high",
                    shown("low", "0") + " and " + shown("high", "1"), "low ≤ high, and high - low finite");
    }
    if (normal && draw.second < 0) {
        object.at("std").refuse("0 or more");
    }
}

Draw draw_of(const JsonObject& object)
{
    Draw draw;
    const JsonValue* discard = object.find("discard");
    if ((discard != nullptr) == object.has("tensor")) {
        object.value().refuse("exactly one of seed, tensor, discard");
    }
    if (discard != nullptr && !discard->boolean()) {
        discard->refuse("true");
    }
    draw.target = discard != nullptr ? Target::none : target_of(object.at("tensor"));
    draw.init = initialisation_of(object.at("init"));
    read_distribution(object, draw);
    if (const JsonValue* side = object.find("side")) {
        if (draw.target != Target::W_q && draw.target != Target::W_k && draw.target != Target::W_v &&
            draw.target != Target::W_o) {
            side->refuse("only with W_q, W_k, W_v, W_o");
        }
        draw.side = side->one_of({"left", "right"}) == 0 ? Side::left : Side::right;
    }
    if (discard != nullptr || object.has("shape") || object.has("take")) {
        draw.shape = shape_of(object.at("shape"));
    }
    if (const JsonValue* take = object.find("take")) {
        if (discard != nullptr) {
            take->refuse("only with tensor");
        }
        draw.take = take_of(*take, *draw.shape);
    }
    return draw;
}

model::Step step_of(const JsonValue& value)
{
    const JsonObject object(value,
                            {"seed", "tensor", "discard", "init", "low", "high", "mean", "std", "side", "shape", "take"});
    if (object.has("seed")) {
        return model::Seed{JsonObject(value, {"seed"}).at("seed").unsigned_integer()};
    }
    return draw_of(object);
}

// ---- attention -------------------------------------------------------------------------------------------------------

core::Window window_of(const JsonValue& value)
{
    const std::vector<JsonValue> sides = value.elements();
    if (sides.size() != 2) {
        value.refuse("[left, right]");
    }
    return {sides[0].integer(-1, largest_index), sides[1].integer(-1, largest_index)};
}

double scale_of(const JsonValue& value)
{
    constexpr std::string_view allowed = R"(a finite number or "none")";
    if (value.kind() == JsonKind::string && value.text() == "none") {
        return 1;
    }
    return value.number(allowed);
}

double softcap_of(const JsonValue& value)
{
    constexpr std::string_view allowed = "a finite number above 0";
    const double cap = value.number(allowed);
    if (cap <= 0) {
        value.refuse(allowed);
    }
    return cap;
}

model::Attention attention_of(const JsonValue& value)
{
    const JsonObject object(value, {"causal", "window", "scale", "softcap", "scores", "mask", "positions"});
    model::Attention attention;
    if (const JsonValue* causal = object.find("causal")) {
        attention.causal = causal->boolean();
    }
    if (const JsonValue* window = object.find("window")) {
        attention.window = window_of(*window);
    }
    if (const JsonValue* scale = object.find("scale")) {
        attention.scale = scale_of(*scale);
    }
    if (const JsonValue* softcap = object.find("softcap")) {
        attention.softcap = softcap_of(*softcap);
    }
    if (const JsonValue* order = object.find("scores")) {
        attention.order = order->one_of({"QK", "KQ"}) == 0 ? model::ScoreOrder::query_key : model::ScoreOrder::key_query;
    }
    if (const JsonValue* mask = object.find("mask")) {
        attention.mask = file_tensor_of(*mask);
    }
    if (const JsonValue* positions = object.find("positions")) {
        attention.positions = positions_of_words(*positions);
    }
    return attention;
}

// ---- the whole -------------------------------------------------------------------------------------------------------

std::vector<std::string> query_of(const JsonValue& value)
{
    std::vector<std::string> query;
    for (const JsonValue& row : value.elements()) {
        query.push_back(row.kind() == JsonKind::number ? std::to_string(row.integer(0, largest_index)) : row.string());
    }
    return query;
}

void read_numbers(const JsonObject& object, Recipe& recipe)
{
    if (const JsonValue* generator = object.find("generator")) {
        static constexpr std::array all{model::Generator::torch, model::Generator::numpy, model::Generator::numpy_pcg64};
        recipe.generator = all.at(generator->one_of({"torch", "numpy", "numpy-pcg64"}));
    }
    if (const JsonValue* dtype = object.find("dtype")) {
        recipe.dtype = dtype_of_numbers(*dtype);
    }
    if (const JsonValue* rounding = object.find("rounding")) {
        recipe.rounding = rounding->one_of({"stage", "step"}) == 0 ? core::Rounding::stage : core::Rounding::step;
    }
    if (const JsonValue* dims = object.find("dims")) {
        recipe.dims = dims_of(*dims);
    }
    if (const JsonValue* parameters = object.find("parameters")) {
        recipe.parameters = file_parameters_of(*parameters);
    }
    if (const JsonValue* embeddings = object.find("embeddings")) {
        recipe.embeddings = embeddings_of(*embeddings);
    }
    for (const JsonValue& step : object.at("draws").elements()) {
        recipe.draws.push_back(step_of(step));
    }
    if (const JsonValue* attention = object.find("attention")) {
        recipe.attention = attention_of(*attention);
    }
}

} // namespace

Recipe recipe_of(const JsonValue& value)
{
    const JsonObject object(value,
                            {"schema", "name", "title", "source", "note", "input", "generator", "dtype", "rounding", "dims",
                             "parameters", "embeddings", "draws", "attention", "query", "verify", "published", "precision"});
    (void)object.at("schema").one_of({"attn-cli/recipe/1"});
    const auto text = [&](std::string_view key) {
        const JsonValue* given = object.find(key);
        return given == nullptr ? std::string() : given->string();
    };
    Recipe recipe;
    recipe.name = text("name");
    recipe.title = text("title");
    recipe.source = text("source");
    (void)text("note"); // for whoever reads the file
    recipe.input = input_of(object.at("input"));
    read_numbers(object, recipe);
    if (const JsonValue* query = object.find("query")) {
        recipe.query = query_of(*query);
    }
    if (const JsonValue* verify = object.find("verify")) {
        recipe.verify = verify->boolean();
    }
    if (const JsonValue* published = object.find("published")) {
        recipe.published = published_of(*published);
    }
    if (const JsonValue* precision = object.find("precision")) {
        recipe.precision = precision_of(*precision);
    }
    return recipe;
}

Recipe parse_recipe(std::string_view json)
{
    const JsonDocument document(json);
    return recipe_of(document.root());
}

} // namespace attn::io
