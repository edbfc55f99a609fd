#include "attn/model/explain/plotted.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/check/saved_result.hpp"
#include "attn/model/layer/extra_key.hpp"
#include "attn/model/layer/words.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/run/taken.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace attn::model {
namespace {

constexpr std::string_view weights_name = name_of(Item::weights);

/// Whether float32 would round its numbers.
bool needs_double(ElementType type)
{
    return type == ElementType::float64 || type == ElementType::int32 || type == ElementType::int64;
}

AnyTensor load_any(const TensorView& view)
{
    return needs_double(view.type) ? AnyTensor(load<double>(view)) : AnyTensor(load<float>(view));
}

/// (H, T, S) with some of its rows; none named: all.
AnyTensor load_rows(const TensorView& view, const std::vector<Index>& rows)
{
    if (rows.empty()) {
        return load_any(view);
    }
    const auto gathered = [&]<typename Scalar>(Tensor<Scalar> some) {
        for (Index head = 0; head < some.shape[0]; ++head) {
            for (Index row = 0; row < some.shape[1]; ++row) {
                some.matrix(head).row(row) =
                    load_matrix<Scalar>(slice(view, std::array{head, rows[static_cast<std::size_t>(row)]}), {});
            }
        }
        return AnyTensor(std::move(some));
    };
    const Shape shape{view.shape[0], std::ssize(rows), view.shape[2]};
    return needs_double(view.type) ? gathered(Tensor<double>(shape)) : gathered(Tensor<float>(shape));
}

std::vector<std::string> positions(Index count)
{
    std::vector<std::string> names;
    for (Index i = 0; i < count; ++i) {
        names.push_back(std::to_string(i));
    }
    return names;
}

// ---- saved results -----------------------------------------------------------------------------------------------------

std::vector<Index>& place_of_integers(Result& result, std::optional<Item> item)
{
    return item == Item::query_positions ? result.query_positions
           : item == Item::heads         ? result.front().heads
           : item == Item::alignment     ? result.front().alignment
           : item == Item::token_ids     ? result.token_ids
           : item == Item::token_types   ? result.token_types
           : item == Item::offsets       ? result.offsets
                                         : result.key_token_ids;
}

/// Ids, positions, parameters and arrays, each to its place.
void take(Result& result, const StoredTensor& tensor)
{
    const std::optional<Item> item = item_called(tensor.name);
    if (is_integer(tensor.type)) {
        const std::vector<std::int64_t> integers = load<std::int64_t>(tensor.view()).values;
        place_of_integers(result, item).assign(integers.begin(), integers.end());
    } else {
        (item ? result.front().arrays : result.parameters).push_back({tensor.name, load_any(tensor.view())});
    }
    result.show.insert(item.value_or(Item::parameters));
}

std::vector<std::string> words_of(const Leaf& leaf)
{
    if (leaf.name != name_of(Item::vocabulary)) {
        return leaf.texts.strings();
    }
    std::vector<std::string> words;
    for (std::size_t i = 0; i < leaf.texts.size(); i += 2) { // each with its id
        words.emplace_back(leaf.texts[i]);
    }
    return words;
}

/// Words or numbers, to their place. A summary, differences and warnings have none.
void take(Result& result, const Leaf& leaf)
{
    if (whole_of(leaf.name) != leaf.name) {
        return;
    }
    if (leaf.name == key::warnings) {
        result.warnings = leaf.texts.strings();
    } else if (leaf.type) {
        const StoredTensor tensor = tensor_of(leaf);
        if (tensor.name == weights_name) {
            require_finite(tensor.view(), weights_name);
        }
        take(result, tensor);
    } else {
        const Item item = item_called(leaf.name).value_or(Item::tokens);
        result.cross = result.cross || item == Item::key_tokens;
        (item == Item::vocabulary   ? result.vocabulary.emplace()
         : item == Item::key_tokens ? result.key_tokens
                                    : result.tokens) = words_of(leaf);
        result.show.insert(item);
    }
}

void require_weights(Result& result)
{
    const AnyTensor* weights = result.find(weights_name);
    if (weights == nullptr) {
        throw Error(ErrorKind::data, "the result holds no weights; allowed: one saved with weights among --show");
    }
    const bool known =
        std::ranges::all_of(result.query_positions, [&](Index position) { return position < std::ssize(result.tokens); });
    if (!known) {
        throw Error(ErrorKind::data, name_of(Item::query_positions), "a position beyond the words",
                    fmt::format("0 to {}", std::ssize(result.tokens) - 1));
    }
    const Shape& shape = shape_of(*weights);
    const Index T = std::ssize(result.query_positions.empty() ? result.tokens : result.words_of_queries());
    const Index S = std::ssize(result.words_of_keys());
    if (shape.size() == 3 && shape[2] == S + 1) { // bias_k
        result.key_labels = result.words_of_keys();
        result.key_labels.emplace_back(extra_key_label);
    }
    const bool empty = std::ranges::find(shape, 0) != shape.end();
    if (shape.size() != 3 || empty || shape[1] != T || (shape[2] != S && result.key_labels.empty())) {
        throw Error(ErrorKind::data, weights_name, "the shape " + to_string(shape),
                    fmt::format("(H, {}, {}), as many rows and columns as words", T, S));
    }
}

/// That the heads which it names are those of its weights; and which key/value heads they read.
void require_heads(Layer& layer)
{
    if (layer.heads.empty()) {
        return;
    }
    const Index count = shape_of(*layer.find(weights_name))[0];
    const Index H = layer.config.dims.heads.value_or(1);
    const Index H_kv = layer.config.dims.kv_heads.value_or(H);
    const bool ascending = std::ranges::adjacent_find(layer.heads, std::greater_equal()) == layer.heads.end();
    if (std::ssize(layer.heads) != count || !ascending || layer.heads.back() >= H || H % H_kv != 0) {
        throw Error(ErrorKind::data, name_of(Item::heads), counted(std::ssize(layer.heads), "number"),
                    fmt::format("{} ascending ones below {}, as many as weights has heads", count, H));
    }
    layer.key_heads = key_heads_of(layer.heads, H, H_kv);
}

/// That every other array has the dimensions of the weights and words beside it. 0 stands for a length that nothing else says.
void require_shapes(const Result& result)
{
    const Shape& weights = shape_of(*result.find(weights_name));
    const Index H = weights[0];
    const Index T = weights[1];
    const Index S = weights[2];
    const Index H_kv = std::ssize(result.front().key_heads);
    const Index words = std::ssize(result.tokens);
    const Index key_words = std::ssize(result.key_words());
    const auto length = [&](Axis axis) {
        switch (axis) {
        case Axis::tokens: return words;
        case Axis::key_tokens: return key_words;
        case Axis::queries: return T;
        case Axis::keys: return S;
        default: return Index{0};
        }
    };
    for (const ItemInfo& info : items) {
        const AnyTensor* array = info.kind == ItemKind::numbers ? result.find(info.item) : nullptr;
        if (array == nullptr) {
            continue;
        }
        Shape wanted{length(info.axes.row)};
        if (info.axes.column != Axis::none) {
            wanted.push_back(length(info.axes.column));
        }
        if (info.heads != Heads::none) {
            wanted.insert(wanted.begin(), info.heads == Heads::queries ? H : H_kv);
        }
        const Shape& shape = shape_of(*array);
        const bool fits = shape.size() == wanted.size() && std::ranges::equal(shape, wanted, [](Index is, Index want) {
                              return want == 0 ? is > 0 : is == want;
                          });
        if (!fits ||
            (info.heads == Heads::keys && H_kv == 0 && H % shape[0] != 0)) { // heads of queries may share those of keys
            throw Error(ErrorKind::data, info.name, "the shape " + to_string(shape),
                        "one that goes with weights " + to_string(weights));
        }
    }
}

// ---- tensors -----------------------------------------------------------------------------------------------------------

/// What its dimensions are. Throws Error(data) for a shape that has no such, Error(usage) for letters that are not those.
std::string axes_of(const PlottedWeights& plotted, std::string_view what)
{
    const Shape& shape = plotted.weights.shape;
    const std::size_t rank = shape.size();
    if (rank < 2 || rank > plotted_axes.size() || std::ranges::find(shape, 0) != shape.end()) {
        throw Error(ErrorKind::data, what, "the shape " + to_string(shape),
                    "(T, S), (H, T, S), (B, H, T, S) or (L, B, H, T, S), without an empty dimension");
    }
    if (plotted.axes.empty()) {
        return std::string(plotted_axes.substr(plotted_axes.size() - rank));
    }
    if (plotted.axes.size() != rank) {
        throw Error(ErrorKind::usage, option::axes, in_quotes(plotted.axes),
                    fmt::format("{} letters, one per dimension of {}, {}", rank, what, to_string(shape)));
    }
    return plotted.axes;
}

/// (L, B, H, T, S): a dimension that is missing has the length 1.
TensorView five_dimensions(const TensorView& weights, const std::string& axes)
{
    TensorView view = weights;
    view.shape.clear();
    view.strides.clear();
    for (const char letter : plotted_axes) {
        const std::size_t at = axes.find(letter);
        view.shape.push_back(at == std::string::npos ? 1 : weights.shape[at]);
        view.strides.push_back(at == std::string::npos ? 0 : weights.strides[at]);
    }
    return view;
}

/// The place along a dimension that may be missing. Throws Error(usage) for one that is not there.
Index chosen(std::string_view option, std::optional<Index> place, Index count, bool there, const Shape& shape)
{
    if (place && !there) {
        throw Error(ErrorKind::usage, option, std::to_string(*place),
                    fmt::format("no {}, since the shape is {}", option, to_string(shape)));
    }
    if (place && *place >= count) {
        throw Error(ErrorKind::usage, option, std::to_string(*place), fmt::format("0 to {}", count - 1));
    }
    return place.value_or(0);
}

void require_count(const std::optional<std::vector<std::string>>& words, std::string_view option, Index count,
                   std::string_view what, const char* of)
{
    if (words && std::ssize(*words) != count) {
        throw Error(ErrorKind::data, option, counted(std::ssize(*words), "word"),
                    fmt::format("{}, as many as {} has {}", count, what, of));
    }
}

/// "row 1 'is'": its position and its word, or the position alone where words are nothing else.
std::string row_text(const Result& result, Index row)
{
    const Index position = result.position_of_row(row);
    const std::string number = std::to_string(position);
    const std::string& word = result.tokens[static_cast<std::size_t>(position)];
    return fmt::format("row {}{}", number, word == number ? "" : " " + in_quotes(word, 30));
}

/// The places of `wanted` in a list that holds them; mean_of_heads stays.
std::vector<Index> places_in(const std::vector<Index>& list, const std::vector<Index>& wanted)
{
    std::vector<Index> places;
    places.reserve(wanted.size());
    for (const Index head : wanted) {
        places.push_back(head == mean_of_heads ? head : std::ranges::find(list, head) - list.begin());
    }
    return places;
}

/// Throws Error(usage) for heads that are not among those of the file.
void require_heads_of_file(const std::vector<Index>& there, const std::vector<Index>& named, const std::string& option)
{
    for (const Index head : named) {
        if (std::ranges::find(there, head) == there.end()) {
            std::string list;
            for (const Index held : there) {
                list += (list.empty() ? "" : ", ") + number_of_head(held);
            }
            throw Error(ErrorKind::usage, option, number_of_head(head), list + ", which is what the file holds");
        }
    }
}

/// And the masked scores, which tell where the weights are masked; both are (H, T, S).
void keep_weights(Layer& layer)
{
    std::erase_if(layer.arrays,
                  [](const Array& array) { return array.name != weights_name && array.name != name_of(Item::masked_scores); });
}

void keep_heads(Layer& layer, const std::vector<Index>& named, const Origin& origin)
{
    const bool all = layer.heads.empty();
    const Index H = all ? shape_of(*layer.find(weights_name))[0] : layer.config.dims.heads.value_or(1);
    const AnyTensor* keys = layer.find(Item::keys) != nullptr ? layer.find(Item::keys) : layer.find(Item::values);
    const Index H_kv = !all ? layer.config.dims.kv_heads.value_or(H) : keys == nullptr ? H : shape_of(*keys)[0];
    const std::vector<Index> there = all ? indices(H) : layer.heads;
    const std::vector<Index> key_heads_there = all ? indices(H_kv) : layer.key_heads;
    if (!all) {
        require_heads_of_file(there, named, origin.option_of(field::head));
    }
    const std::vector<Index> heads = heads_of(named, H, origin);
    if (there.size() == 1) {
        return; // as it is
    }
    const std::vector<Index> key_heads = key_heads_of(heads, H, H_kv);
    keep_heads(layer.arrays, {places_in(there, heads), places_in(key_heads_there, key_heads), layer.config.rounding});
    layer.heads = heads;
    layer.key_heads = key_heads;
}

/// What is stated of the layer, and of all of them: in the first one.
Result drawable(Recipe config, const SavedResult& saved, std::optional<LayerPlace> layer)
{
    Result result;
    result.config() = std::move(config);
    result.front().number = layer ? std::optional(layer->number) : std::nullopt;
    result.front().part = layer ? layer->part : std::nullopt;
    const Words words = read_words(result.config());
    result.tokens = words.tokens;
    result.cross = words.cross;
    result.key_tokens = words.key_tokens;
    for (const Leaf& leaf : saved.leaves) {
        const std::optional<Item> item = item_called(leaf.name);
        const bool common = layer && leaf.layer == saved.layers.front().place() &&
                            (item == Item::tokens || item == Item::key_tokens || item == Item::query_positions);
        if (leaf.layer == layer || common) {
            take(result, leaf);
        }
    }
    require_weights(result);
    require_heads(result.front());
    require_shapes(result);
    return result;
}

} // namespace

Result result_of(const SavedResult& saved)
{
    return drawable(std::get<Recipe>(saved.config), saved, {});
}

Result result_of_layer(const SavedResult& saved, std::optional<Index> layer)
{
    if (saved.layers.front().part != saved.layers.back().part) {
        throw Error(ErrorKind::data, trained_field::parts.key, "several", "a result of one part, such as that of --part cross");
    }
    std::string there;
    for (const SavedLayer& each : saved.layers) {
        there += (there.empty() ? "" : ", ") + std::to_string(each.number);
        if (each.number == layer || (!layer && saved.layers.size() == 1)) {
            const Leaf* tokens = saved.find(name_of(Item::tokens), saved.layers.front().place());
            if (tokens == nullptr) {
                throw Error(ErrorKind::data, name_of(Item::tokens), "none", "a result saved with tokens among --show");
            }
            Recipe config = each.config; // which leaves open what the model's own config says
            config.input = PositionsInput{.count = std::ssize(tokens->texts), .labels = {}};
            return drawable(std::move(config), saved, each.place());
        }
    }
    throw Error(ErrorKind::usage, option::layer, layer ? std::to_string(*layer) : "none", "one that the result has: " + there);
}

Result result_of(const PlottedWeights& plotted, std::string_view what)
{
    const std::string axes = axes_of(plotted, what);
    const Shape& shape = plotted.weights.shape;
    const TensorView all = five_dimensions(plotted.weights, axes);
    const bool has_layers = axes.find('l') != std::string::npos;
    const Index B = all.shape[1];
    const Index number = chosen(option::layer, plotted.layer, all.shape[0], has_layers, shape);
    const Index batch = chosen(option::batch, plotted.batch, B, axes.find('b') != std::string::npos, shape);
    if (!plotted.batch && B > 1) {
        throw Error(ErrorKind::data, what, "the shape " + to_string(shape),
                    fmt::format("one batch; --batch N takes one of the {}", B));
    }
    const Index T = all.shape[3];
    const Index S = all.shape[4];
    require_count(plotted.tokens, option::tokens, T, what, "rows");
    require_count(plotted.key_tokens, option::key_tokens, S, what, "columns");
    if (T > most_plotted || S > most_plotted) {
        throw Error(ErrorKind::data, what, "the shape " + to_string(shape),
                    fmt::format("up to {} rows and as many columns", most_plotted));
    }
    Result result;
    result.foreign = true;
    result.tokens = plotted.tokens.value_or(positions(T));
    result.cross = plotted.key_tokens || S != T;
    if (result.cross) {
        result.key_tokens = plotted.key_tokens.value_or(positions(S));
    }
    result.show = {Item::tokens, Item::weights};
    const Index H = all.shape[2];
    const Index heads = plotted.heads.empty() ? H : std::ssize(heads_of(plotted.heads, H, plotted.origin));
    if (!plotted.query.empty()) {
        const Lookup lookup{.name = std::string(option::query), .casefold = folds_case(result.config()), .allowed = ""};
        result.query_positions = places_of(plotted.query, result.tokens, lookup);
    }
    if (plotted.judge) {
        plotted.judge({heads, plotted.query.empty() ? T : std::ssize(result.query_positions), S});
    }
    const Index end = plotted.layer || !has_layers ? number + 1 : all.shape[0];
    if (plotted.read_numbers) {
        plotted.read_numbers([&](const Arriving& arriving) {
            for (Index place = number; place < end; ++place) {
                require_finite(slice(all, std::array{place, batch}), what, false, {}, &arriving);
            }
        });
    }
    result.layers.clear();
    for (Index place = number; place < end; ++place) {
        const TensorView view = slice(all, std::array{place, batch});
        require_finite(view, what);
        Layer& layer = result.layers.emplace_back();
        layer.number = has_layers ? std::optional(place) : std::nullopt;
        layer.config.input = PositionsInput{T, result.tokens};
        layer.arrays = {{std::string(weights_name), load_rows(view, result.query_positions)}};
        if (!plotted.heads.empty()) {
            keep_heads(layer, plotted.heads, plotted.origin);
        }
    }
    return result;
}

void keep_heads(Result& result, const std::vector<Index>& named, const Origin& origin)
{
    for (Layer& layer : result.layers) {
        keep_heads(layer, named, origin);
    }
}

void keep_rows(Result& result, const std::vector<std::string>& query)
{
    const bool all = result.query_positions.empty();
    const std::vector<Index> there = all ? indices(std::ssize(result.tokens)) : result.query_positions;
    const Lookup lookup{.name = std::string(option::query),
                        .casefold = folds_case(result.config()),
                        .allowed = all ? "" : "the rows that the file holds: " + numbered_words(there, result.tokens)};
    const std::vector<Index> chosen = places_of(query, result.tokens, lookup);
    std::vector<Index> rows;
    for (const Index position : chosen) {
        const auto found = std::ranges::find(there, position);
        if (found == there.end()) {
            throw Error(ErrorKind::usage, lookup.name, fmt::format("position {}", position), lookup.allowed);
        }
        rows.push_back(found - there.begin());
    }
    for (Layer& layer : result.layers) {
        keep_weights(layer);
        for (Array& array : layer.arrays) {
            std::visit([&](auto& tensor) { tensor = taken(tensor, 1, rows); }, array.tensor);
        }
    }
    result.show = {Item::tokens, Item::weights};
    result.query_positions = chosen;
}

std::optional<std::string> doubt_about(const Result& result, const Layer& layer)
{
    constexpr double slack = 0.02; // what rounding to bfloat16 leaves of 1
    const AnyTensor* tensor = layer.find(weights_name);
    const auto look = [&](const auto& weights) -> std::optional<std::string> {
        const auto [least, largest] = std::ranges::minmax_element(weights.values);
        const std::string range =
            fmt::format("the numbers from {} to {} are drawn as they are", math::shortest(*least), math::shortest(*largest));
        if (*least < 0) {
            return "these are not weights: some are negative; " + range;
        }
        for (Index head = 0; head < weights.shape[0]; ++head) {
            for (Index row = 0; row < weights.shape[1]; ++row) {
                const double sum = weights.matrix(head).row(row).template cast<double>().sum();
                if (sum != 0 && std::abs(sum - 1) > slack) {
                    const auto single = static_cast<float>(sum); // short, where it holds the sum
                    return fmt::format("these are not weights: {} of {} sums to {}, not 1; {}", row_text(result, row),
                                       layer.name_of_head(head),
                                       std::isnormal(single) ? math::shortest(single) : math::shortest(sum), range);
                }
            }
        }
        return std::nullopt;
    };
    return tensor == nullptr ? std::nullopt : std::visit(look, *tensor);
}

} // namespace attn::model
