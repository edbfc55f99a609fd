#include "attn/io/json/saved_result.hpp"

#include "attn/io/json/json_reader.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/model/check/summary_members.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace attn::io {
namespace {

using model::Item;
using model::ItemKind;
using model::Leaf;
using model::SavedResult;
namespace key = model::key;

constexpr Index largest = std::numeric_limits<Index>::max();

std::optional<std::string_view> decimal_or_null(JsonKind kind, std::string_view text)
{
    return kind == JsonKind::null ? std::optional<std::string_view>("null") : decimal(kind, text);
}

std::optional<std::string_view> natural(JsonKind kind, std::string_view text)
{
    const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    return kind == JsonKind::number && digits ? std::optional(text) : std::nullopt;
}

/// Of a result or a layer of one: the leaves that it states, in the order in which `check` tells of them.
class LeafReader {
public:
    LeafReader(ElementType type, std::optional<model::LayerPlace> layer) : type_(type), layer_(layer) {}

    /// The items that `object` has of those that `is_there` takes.
    template <typename IsThere>
    void read_items(const JsonObject& object, IsThere is_there)
    {
        for (const model::ItemInfo& info : model::items) {
            const JsonValue* value = is_there(info) ? object.find(info.name) : nullptr;
            if (value != nullptr) {
                read_item(*value, info);
            }
        }
    }
    void read_verify(const JsonValue& value);
    void read_warnings(const JsonObject& object)
    {
        if (const JsonValue* warnings = object.find(key::warnings)) {
            behind_.push_back(words(std::string(key::warnings), *warnings));
        }
    }
    void read_guesses(const JsonValue& value);
    void read_logits(const JsonValue& value) { arrays_.push_back(numbers(std::string(name_of(Item::logits)), value)); }

    void finish(std::vector<Leaf>& leaves)
    {
        for (std::vector<Leaf>* part : {&words_, &arrays_, &summary_, &behind_}) {
            std::ranges::move(*part, std::back_inserter(leaves));
        }
    }

private:
    [[nodiscard]] Leaf words(std::string name, const JsonValue& value) const
    {
        const std::vector<std::string> list = value.strings();
        const auto count = static_cast<Index>(list.size());
        return {std::move(name), {count}, TextList(list), {}, layer_};
    }
    [[nodiscard]] Leaf word(std::string name, const JsonValue& value) const
    {
        return {std::move(name), {}, {value.string()}, {}, layer_};
    }
    [[nodiscard]] Leaf numbers(std::string name, const JsonValue& value) const;
    [[nodiscard]] Leaf integers(std::string name, const JsonValue& value) const;
    /// A number that is computed in float64 whatever the arrays are.
    [[nodiscard]] Leaf mean(std::string name, const JsonValue& value) const
    {
        Leaf leaf = one(numbers(std::move(name), value), value);
        leaf.type = ElementType::float64;
        return leaf;
    }
    /// What was read of `value`, if it is no list.
    [[nodiscard]] static Leaf one(Leaf leaf, const JsonValue& value)
    {
        if (!leaf.shape.empty()) {
            value.refuse("one number");
        }
        return leaf;
    }
    void read_item(const JsonValue& value, const model::ItemInfo& info);
    void read_vocabulary(const JsonValue& value);
    void read_summary(const JsonValue& value);

    ElementType type_; ///< of the arrays
    std::optional<model::LayerPlace> layer_;
    std::vector<Leaf> words_, arrays_, summary_, behind_;
};

Leaf LeafReader::numbers(std::string name, const JsonValue& value) const
{
    const bool masked = model::is_masked(model::item_called(name));
    auto [shape, decimals] = masked ? value.nested(decimal_or_null, R"(a number, "inf", "-inf", "nan", or null where masked)")
                                    : value.nested(decimal, R"(a number, "inf", "-inf" or "nan")");
    return {std::move(name), std::move(shape), std::move(decimals), type_, layer_};
}

Leaf LeafReader::integers(std::string name, const JsonValue& value) const
{
    const bool mean = name == name_of(Item::heads) && value.kind() == JsonKind::string;
    if (mean && value.text() == model::field::head.allowed.instead) {
        return {std::move(name), {1}, {std::to_string(model::mean_of_heads)}, ElementType::int64, layer_};
    }
    auto [shape, decimals] = value.nested(natural, "integers of 0 and more");
    return {std::move(name), std::move(shape), std::move(decimals), ElementType::int64, layer_};
}

void LeafReader::read_vocabulary(const JsonValue& value)
{
    Leaf leaf{std::string(name_of(Item::vocabulary)), {0, 2}, {}, {}, layer_};
    for (const auto& [word, id] : value.members()) {
        leaf.texts.push_back(word);
        leaf.texts.push_back(std::to_string(id.integer(0, largest)));
        ++leaf.shape.front();
    }
    words_.push_back(std::move(leaf));
}

void LeafReader::read_summary(const JsonValue& value)
{
    const std::size_t before = value.place().rfind(name_of(Item::summary)); // "layers[0]."
    const auto name = [&](const JsonValue& leaf) { return leaf.place().substr(before); };
    const auto add_mean = [&](const JsonValue* leaf) {
        if (leaf != nullptr) {
            summary_.push_back(mean(name(*leaf), *leaf));
        }
    };
    const JsonObject summary(value, {key::largest_entropy, key::heads});
    add_mean(summary.find(key::largest_entropy));
    std::vector<std::string_view> of_head{key::pairs};
    std::ranges::transform(model::head_mean::all, std::inserter(of_head, of_head.begin()), &model::HeadMean::name);
    for (const JsonValue& member : summary.at(key::heads).elements()) {
        const JsonObject head(member, of_head);
        for (const model::HeadMean& each : model::head_mean::all) {
            add_mean(head.find(each.name));
        }
        const std::vector<JsonValue> pairs = head.at(key::pairs).elements();
        if (std::ssize(pairs) > model::largest_top) {
            head.at(key::pairs).refuse(fmt::format("up to {} pairs", model::largest_top));
        }
        for (const JsonValue& element : pairs) {
            constexpr auto& ends = model::pair_ends;
            const JsonObject pair(element, {ends[0].position, ends[0].token, ends[1].position, ends[1].token, key::weight});
            for (const model::PairEnd& end : ends) {
                const JsonValue& position = pair.at(end.position);
                summary_.push_back(one(integers(name(position), position), position));
            }
            for (const model::PairEnd& end : ends) {
                summary_.push_back(word(name(pair.at(end.token)), pair.at(end.token)));
            }
            const JsonValue& weight = pair.at(key::weight);
            summary_.push_back(one(numbers(name(weight), weight), weight));
        }
    }
}

void LeafReader::read_verify(const JsonValue& value)
{
    for (const auto& [array, difference] : value.members()) {
        const JsonObject object(difference, key::of_difference);
        for (const std::string_view each : key::of_difference) {
            behind_.push_back(mean(fmt::format("{}.{}.{}", key::verify, array, each), object.at(each)));
        }
    }
}

void LeafReader::read_guesses(const JsonValue& value)
{
    const std::size_t before = value.place().rfind(key::likeliest); // "layers[0]."
    const auto name = [&](const JsonValue& leaf) { return leaf.place().substr(before); };
    const auto integer = [&](const JsonValue& given) { behind_.push_back(one(integers(name(given), given), given)); };
    if (value.elements().empty()) {
        behind_.push_back({name(value), {0}, {}, {}, layer_});
    }
    for (const JsonValue& member : value.elements()) {
        const JsonObject place(member, key::of_place);
        integer(place.at(key::position));
        for (const JsonValue& element : place.at(key::words).elements()) {
            const JsonObject guess(element, key::of_word);
            behind_.push_back(word(name(guess.at(key::token)), guess.at(key::token)));
            integer(guess.at(key::id));
            behind_.push_back(mean(name(guess.at(key::probability)), guess.at(key::probability)));
        }
    }
}

void LeafReader::read_item(const JsonValue& value, const model::ItemInfo& info)
{
    switch (info.kind) {
    case ItemKind::words: return words_.push_back(words(std::string(info.name), value));
    case ItemKind::vocabulary: return read_vocabulary(value);
    case ItemKind::integers: return arrays_.push_back(integers(std::string(info.name), value));
    case ItemKind::numbers: return arrays_.push_back(numbers(std::string(info.name), value));
    case ItemKind::summary: return read_summary(value);
    case ItemKind::parameters:
        const JsonObject object(value, parameter_names());
        for (const auto& [name, parameter] : value.members()) {
            arrays_.push_back(numbers(name, parameter));
        }
    }
}

/// These keys, and the items that are there.
template <typename IsThere>
std::vector<std::string_view> keys_with(std::span<const std::string_view> keys, IsThere is_there)
{
    std::vector<std::string_view> all(keys.begin(), keys.end());
    for (const model::ItemInfo& info : model::items) {
        if (is_there(info)) {
            all.push_back(info.name);
        }
    }
    return all;
}

/// The line's number, which says nothing more.
void require_index(const JsonObject& object)
{
    if (const JsonValue* index = object.find(key::index)) {
        (void)index->integer(0, largest);
    }
}

SavedResult result_of(const JsonValue& value)
{
    const auto may_state = [](const model::ItemInfo& info) {
        return info.shown_by != model::ShownBy::attend && !is_of_models(info);
    };
    const JsonObject object(value, keys_with(key::of_result, may_state));
    (void)object.at(key::schema).one_of({name_of(Document::result)});
    const model::Recipe config = recipe_of(object.at(key::config));
    require_index(object);
    LeafReader reader(config.dtype == Dtype::float32 ? ElementType::float32 : ElementType::float64, {});
    reader.read_items(object, [](const model::ItemInfo&) { return true; });
    if (const JsonValue* verify = object.find(key::verify)) {
        reader.read_verify(*verify);
    }
    reader.read_warnings(object);
    SavedResult saved{.config = config, .layers = {}, .leaves = {}};
    reader.finish(saved.leaves);
    return saved;
}

// ---- whole trained models --------------------------------------------------------------------------------------------

model::SavedLayer layer_of(const JsonObject& layer)
{
    model::SavedLayer saved;
    saved.number = layer.at(key::layer).integer(0, model::trained_field::most_layers - 1);
    if (const JsonValue* part = layer.find(key::part)) {
        saved.part = static_cast<model::Part>(part->one_of(model::part_names));
    }
    for (const std::string_view section : key::sections_of_layer) {
        if (const JsonValue* stated = layer.find(section)) {
            read_section(*stated, section, saved.config);
        }
    }
    return saved;
}

SavedResult layers_of(const JsonValue& value)
{
    const auto stands = [](model::Standing standing) {
        return [standing](const model::ItemInfo& info) { return model::standing_of(info.item) == standing; };
    };
    const JsonObject object(value, keys_with(key::of_layers, stands(model::Standing::before_layers)));
    (void)object.at(key::schema).one_of({name_of(Document::layers)});
    SavedResult saved{.config = trained_config_of(object.at(key::config)), .layers = {}, .leaves = {}};
    require_index(object);
    std::vector<LeafReader> readers;
    for (const JsonValue& element : object.at(key::layers).elements()) {
        const JsonObject layer(element, keys_with(key::of_layer, stands(model::Standing::in_layer)));
        saved.layers.push_back(layer_of(layer));
        if (saved.layers.size() > 1 && saved.layers[saved.layers.size() - 2].place() >= saved.layers.back().place()) {
            layer.at(key::layer).refuse("ascending layers");
        }
        readers.emplace_back(ElementType::float32, saved.layers.back().place());
        readers.back().read_items(layer, stands(model::Standing::in_layer));
        if (const JsonValue* guesses = layer.find(key::likeliest)) {
            readers.back().read_guesses(*guesses);
        }
    }
    if (saved.layers.empty()) {
        object.at(key::layers).refuse("at least one layer");
    }
    readers.front().read_items(object, stands(model::Standing::before_layers));
    LeafReader behind(ElementType::float32, {});
    if (const JsonValue* logits = object.find(name_of(Item::logits))) {
        behind.read_logits(*logits);
    }
    if (const JsonValue* guesses = object.find(key::likeliest)) {
        behind.read_guesses(*guesses);
    }
    readers.front().read_warnings(object);
    for (LeafReader& reader : readers) {
        reader.finish(saved.leaves);
    }
    behind.finish(saved.leaves);
    return saved;
}

/// Whether these are the two members of what --lines writes in the place of a line that failed.
bool is_failed_line(std::string_view json)
{
    const JsonDocument document(json);
    const std::vector<JsonValue::Member> members = document.root().members();
    return members.size() == 2 && members[0].first == key::index && members[1].first == key::error;
}

} // namespace

SavedResult parse_saved_result(std::string_view json)
{
    const JsonDocument document(json);
    return kind_of(json) == Document::layers ? layers_of(document.root()) : result_of(document.root());
}

Document kind_of(std::string_view json)
{
    const std::optional<std::string> schema = schema_of(json);
    if (!schema) {
        return is_failed_line(json) ? Document::failed_line : Document::unknown;
    }
    const auto* const known = std::ranges::find(model::document_names, *schema);
    return known == model::document_names.end() ? Document::unknown
                                                : static_cast<Document>(known - model::document_names.begin());
}

void refuse_schema(std::string_view json, std::initializer_list<Document> allowed)
{
    const std::optional<std::string> schema = schema_of(json);
    std::vector<std::string_view> names;
    std::ranges::transform(allowed, std::back_inserter(names), [](Document document) { return name_of(document); });
    throw Error(ErrorKind::data, fmt::format(R"("{}")", key::schema), schema ? in_quotes(*schema) : "no name", joined(names));
}

std::string parse_failed_line(std::string_view json)
{
    const JsonDocument document(json);
    const JsonObject object(document.root(), key::of_failed_line);
    [[maybe_unused]] const Index index = object.at(key::index).integer(0, largest);
    const JsonObject error(object.at(key::error), key::of_error);
    [[maybe_unused]] const Index code = error.at(key::code).integer(0, 255);
    return error.at(key::message).string();
}

} // namespace attn::io
