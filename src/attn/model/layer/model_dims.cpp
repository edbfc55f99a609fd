#include "attn/model/layer/model_dims.hpp"

#include "attn/model/layer/batch.hpp"
#include "attn/model/layer/literal.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace attn::model {
namespace {

/// Products of two lengths stay far from overflow, and LAPACK-style 32-bit sizes hold them.
constexpr Index largest_width = std::numeric_limits<std::int32_t>::max();

/// The heads do not divide the embedding dimension, whose size d_k and d_v would have.
[[noreturn]] void refuse_heads(Index D, Index H, const Origin& origin)
{
    const ErrorKind fault = origin.fault({&field::heads, &field::embed_dim});
    const std::string instead =
        fault == ErrorKind::usage ? ", or any with --d-k and --d-v" : ", or any with dims.d_k and dims.d_v";
    if (origin.from_option(field::embed_dim) && !origin.from_option(field::heads)) {
        throw Error(fault, origin.name_of(field::embed_dim), std::to_string(D),
                    fmt::format("a multiple of the {} heads{}", H, instead));
    }
    throw Error(fault, origin.name_of(field::heads), std::to_string(H),
                fmt::format("a divisor of the embedding dimension {}{}", D, instead));
}

/// An identity that is not square would drop numbers of a word's vector or add zeros to it; nn.MultiheadAttention divides
/// them among its heads.
bool keeps_size(const Recipe& recipe, Target target)
{
    const std::optional<Draw> draw = find_draw(recipe, target);
    return draw && (draw->init == Initialisation::identity || draw->init == Initialisation::multihead_attention);
}

/// Of an array that `run` gives.
Index numbers_of_vector(Item item, const ModelDims& dims)
{
    switch (item) {
    case Item::key_embeddings: return dims.keys_read();
    case Item::queries: return dims.d_k;
    case Item::keys: return dims.of_a_key();
    case Item::values:
    case Item::head_context: return dims.d_v;
    case Item::context: return dims.H * dims.d_v;
    case Item::output: return dims.outputs();
    default: return dims.D;
    }
}

/// The size of one head by default.
Index head_size(Index with_one_head, Index D, Index H, const Origin& origin)
{
    if (H == 1) {
        return with_one_head;
    }
    if (D % H != 0) {
        refuse_heads(D, H, origin);
    }
    return D / H;
}

void require_kv_heads(Index H, Index H_kv, const Origin& origin)
{
    if (H % H_kv == 0) {
        return;
    }
    const ErrorKind fault = origin.fault({&field::heads, &field::kv_heads});
    if (origin.from_option(field::heads) && !origin.from_option(field::kv_heads)) {
        throw Error(fault, origin.name_of(field::heads), std::to_string(H),
                    fmt::format("a multiple of the {} key/value heads, or give --kv-heads", H_kv));
    }
    throw Error(fault, origin.name_of(field::kv_heads), std::to_string(H_kv),
                fmt::format("a divisor of the number of heads, {}", H));
}

void require_width(Index H, Index size, const FieldInfo& field, const Origin& origin)
{
    if (H > largest_width / size) {
        throw Error(origin.fault({&field::heads, &field}),
                    fmt::format("{} times {}", origin.name_of(field::heads), origin.name_of(field)),
                    fmt::format("{} times {}", H, size), fmt::format("a product up to {}", largest_width));
    }
}

/// nn.MultiheadAttention has no sizes of its own.
void require_layer(const Recipe& recipe, const ModelDims& dims, const Origin& origin)
{
    const std::optional<Draw> W_q = find_draw(recipe, Target::W_q);
    if (!W_q || W_q->init != Initialisation::multihead_attention) {
        return;
    }
    const auto require = [&](const FieldInfo& field, Index size, Index wanted, const std::string& rule) {
        if (size != wanted) {
            throw Error(origin.fault({&field, &draw_field::init}), origin.name_of(field), std::to_string(size),
                        fmt::format("{} with {} multihead_attention, {}", wanted, origin.name_of(draw_field::init), rule));
        }
    };
    require(field::kv_heads, dims.H_kv, dims.H, "as many as heads");
    const Index size = dims.D % dims.H == 0 ? dims.D / dims.H : 0;
    if (size == 0) {
        refuse_heads(dims.D, dims.H, origin);
    }
    require(field::d_k, dims.d_k, size, "embed_dim/heads");
    require(field::d_v, dims.d_v, size, "embed_dim/heads");
    require(field::output_dim, dims.outputs(), dims.D, "embed_dim");
}

/// What to change: the option that was given, or the key and the option that lies over it.
std::string changed_by(const FieldInfo& field, const Origin& origin)
{
    const std::string option = origin.option_of(field);
    return origin.from_option(field) || option.empty() ? origin.name_of(field) : origin.name_of(field) + " (" + option + ")";
}

/// Rope turns pairs of the numbers of a query or key.
void require_rope(const Recipe& recipe, Index d_k, const Origin& origin)
{
    if (!recipe.attention.placed_by(PositionKind::rope)) {
        return;
    }
    const std::optional<Index>& part = recipe.attention.positions->rope.dim;
    const Index turned = part.value_or(d_k);
    if (turned % 2 == 0 && turned <= d_k) {
        return;
    }
    const ErrorKind fault = recipe.dims.d_k ? origin.fault({&field::positions, &field::d_k})
                                            : origin.fault({&field::positions, &field::heads, &field::embed_dim});
    const std::string size = changed_by(field::d_k, origin);
    const std::string dim = changed_by(field::rope_dim, origin);
    if (part) {
        throw Error(fault, dim, std::to_string(turned), fmt::format("an even number up to {}, which is {}", d_k, size));
    }
    throw Error(fault, size, std::to_string(d_k),
                fmt::format("an even number, since rope of {} rotates pairs of components{}",
                            changed_by(field::positions, origin),
                            d_k < 2 ? "" : fmt::format(", or {} up to {}", dim, d_k - 1)));
}

/// Outputs of W_a: as many as are said, or d_k.
Index alignment_size(const Recipe& recipe, const Dims& said, Index d_k, const Origin& origin)
{
    const core::Score score = recipe.attention.score;
    if (recipe.dims.d_a && score != core::Score::additive) {
        throw Error(origin.fault({&field::d_a, &field::score}), origin.name_of(field::d_a), std::to_string(*recipe.dims.d_a),
                    fmt::format("only with additive scores (score additive); these are {}", name_of(score)));
    }
    return score == core::Score::additive ? said.d_a.value_or(d_k) : score == core::Score::general ? d_k : 0;
}

/// `given`: 0 where nothing says it.
Index rows_of_table(Index given, const Words& words, const Recipe& recipe, const Origin& origin)
{
    const auto called = [&] { return origin.with_sizes_of(stated_dims(recipe).places).name_of(field::vocab_size); };
    if (words.vocabulary) {
        const auto distinct = static_cast<Index>(words.vocabulary->size());
        if (given != 0 && given < distinct) {
            const std::string allowed = fmt::format("{} or more, the distinct words of the input", distinct);
            throw origin.table().empty() ? Error(ErrorKind::data, called(), std::to_string(given), allowed)
                                         : Error(ErrorKind::data, origin.table(), counted(given, "row"), allowed);
        }
        return given == 0 ? distinct : given;
    }
    if (words.ids.empty()) {
        return given == 0 ? words.T() : given;
    }
    if (given == 0) {
        const ErrorKind fault = origin.fault({&field::ids});
        const char* said_by =
            fault == ErrorKind::usage ? "--vocab-size" : R"(dims.vocab_size, or the embedding's "shape" in numbers)";
        throw Error(fault, fmt::format("{} requires {}; allowed: {} or more for these ids", origin.name_of(field::ids), said_by,
                                       *std::max_element(words.ids.begin(), words.ids.end()) + 1));
    }
    for (std::size_t i = 0; i < words.ids.size(); ++i) {
        if (words.ids[i] < 0 || words.ids[i] >= given) {
            throw Error(ErrorKind::data, fmt::format("id at position {}", i), std::to_string(words.ids[i]),
                        fmt::format("0 to {} ({})", given - 1,
                                    origin.table().empty() ? fmt::format("{} is {}", called(), given)
                                                           : fmt::format("{} has {}", origin.table(), counted(given, "row"))));
        }
    }
    return given;
}

Index value_of(const std::string& product, const ModelDims& dims)
{
    const auto letter = [&](std::string_view name) -> Index {
        const std::array<Index, length_letters.size()> values{dims.V, dims.T,    dims.S,   dims.D,
                                                              dims.H, dims.H_kv, dims.d_k, dims.d_v};
        const auto found = std::ranges::find(length_letters, name);
        if (found == length_letters.end()) {
            throw Error(ErrorKind::data, "a length of a shape", in_quotes(product),
                        "a number, or V, T, S, D, H, H_kv, d_k, d_v "
                        "and products of them such as H*d_k");
        }
        return values[static_cast<std::size_t>(found - length_letters.begin())];
    };
    Index value = 1;
    for (std::string_view rest = product;;) {
        const std::size_t star = rest.find('*');
        value = checked_product(value, letter(rest.substr(0, star)), "a length of a shape");
        if (star == std::string_view::npos) {
            return value;
        }
        rest.remove_prefix(star + 1);
    }
}

Shape natural_shape(const Draw& draw, const ModelDims& dims)
{
    const auto by_head = [&](Index heads, Shape matrix) {
        matrix.insert(matrix.begin(), dims.H > 1 ? 1 : 0, heads);
        return matrix;
    };
    switch (draw.target) {
    case Target::none: throw Error(ErrorKind::data, "a draw that is thrown away has no shape; allowed: \"shape\": [lengths]");
    case Target::embedding: return {dims.V, dims.D};
    case Target::key_embedding: return {dims.V, dims.keys_read()};
    case Target::value_embedding: return {dims.V, dims.values_read()};
    case Target::position_embedding: return {std::max(dims.T, dims.S), dims.D};
    case Target::embeddings: return {dims.T, dims.D};
    case Target::key_embeddings: return {dims.S, dims.keys_read()};
    case Target::queries: return by_head(dims.H, {dims.T, dims.d_k});
    case Target::keys: return by_head(dims.H_kv, {dims.S, dims.of_a_key()});
    case Target::values: return by_head(dims.H_kv, {dims.S, dims.d_v});
    case Target::v_a: return {dims.H * dims.d_a};
    default: break;
    }
    const auto [all, size, reads] = heads_part(draw.target, dims);
    const Index heads = draw.head ? 1 : all;
    if (draw.target >= Target::b_q) {
        return {heads * size};
    }
    const bool left = side_of(draw) == Side::left;
    const Shape matrix = left ? Shape{size, reads} : Shape{reads, size};
    return draw.head || draw.target == Target::W_o ? matrix : by_head(heads, matrix);
}

/// The length that the input decides: how many rows a table, or a tensor by position, has.
std::string rows_in_letters(Target target, const ModelDims& dims)
{
    switch (target) {
    case Target::embedding:
    case Target::key_embedding:
    case Target::value_embedding: return "V";
    case Target::position_embedding: return dims.S > dims.T ? "S" : "T";
    case Target::embeddings:
    case Target::queries: return "T";
    case Target::key_embeddings:
    case Target::keys:
    case Target::values: return "S";
    default: return {};
    }
}

/// The shape that says what a draw without one does. xavier and kaiming read the first two lengths of a shape, and without one
/// they count all heads: as one matrix has them, or, empty, as no shape does.
Shape form_of(const Draw& draw, const ModelDims& dims)
{
    Shape natural = shape_of(draw, dims);
    const bool reads_shape = draw.init >= Initialisation::xavier && draw.init <= Initialisation::kaiming_normal;
    if (!reads_shape || draw.target == Target::W_o) {
        return natural;
    }
    if (has_side(draw.target) && natural.size() == 3) {
        return side_of(draw) == Side::left ? Shape{natural[0] * natural[1], natural[2]} : Shape{};
    }
    return draw.target != Target::v_a ? natural : dims.H == 1 ? Shape{1, natural.front()} : Shape{};
}

} // namespace

ModelDims least_dims(const Recipe& recipe, const WordCounts& words, const Origin& origin)
{
    ModelDims made;
    const StatedDims stated = stated_dims(recipe);
    const Dims& dims = stated.dims;
    const Origin named = origin.with_sizes_of(stated.places);
    const bool given = find_draw(recipe, Target::queries).has_value();
    made.D = dims.embed_dim.value_or(16);
    made.H = dims.heads.value_or(1);
    made.H_kv = dims.kv_heads.value_or(made.H);
    require_kv_heads(made.H, made.H_kv, named);
    made.key_dim = dims.key_dim.value_or(0);
    made.value_dim = dims.value_dim.value_or(0);
    const auto size = [&](const std::optional<Index>& said, Index with_one_head, Target W, Index read) {
        return said    ? *said
               : given ? with_one_head
                       : head_size(keeps_size(recipe, W) ? read : with_one_head, made.D, made.H, named);
    };
    made.d_k = size(dims.d_k, 24, Target::W_q, made.D);
    const std::optional<Draw> W_v = find_draw(recipe, Target::W_v);
    made.d_v = size(dims.d_v, 28, Target::W_v, W_v && W_v->init == Initialisation::identity ? made.values_read() : made.D);
    require_rope(recipe, made.d_k, named);
    require_width(made.H, made.d_k, field::d_k, named);
    require_width(made.H, made.d_v, field::d_v, named);
    if (given) { // words have no embeddings: what W_o makes by default
        made.D = made.H * made.d_v;
    }
    made.d_a = alignment_size(recipe, dims, made.d_k, named);
    if (made.d_a != 0) {
        require_width(made.H, made.d_a, field::d_a, named);
    }
    if (given && recipe.attention.score == core::Score::additive) {
        made.key_size = stated_key_size(recipe).value_or(0);
    }
    made.T = words.T;
    made.S = words.S;
    made.V = dims.vocab_size.value_or(0);
    made.output_dim = dims.output_dim.value_or(0);
    require_layer(recipe, made, named);
    return made;
}

void require_whole_identity(const Recipe& recipe)
{
    const std::optional<Draw> W_v = find_draw(recipe, Target::W_v);
    const bool of_file = recipe.parameters || recipe.embeddings; // which say how wide a word is
    if (of_file || !W_v || W_v->head || W_v->values || W_v->init != Initialisation::identity) {
        return;
    }
    const ModelDims least = least_dims(recipe, {});
    const Index made = least.H_kv * least.d_v;
    if (made != least.values_read()) {
        throw Error(ErrorKind::data, "draws: W_v",
                    fmt::format("an identity that makes {} of {}", counted(made, "number"), least.values_read()),
                    fmt::format("as many, with dims.d_v {}, or a W_v of other numbers", least.values_read() / least.H_kv));
    }
}

ModelDims resolve(const Recipe& recipe, const Words& words, const Origin& origin)
{
    return with_words(least_dims(recipe, {words.T(), words.S()}, origin), words, recipe, origin);
}

ModelDims with_words(ModelDims least, const Words& words, const Recipe& recipe, const Origin& origin)
{
    least.T = words.T();
    least.S = words.S();
    least.V = rows_of_table(least.V, words, recipe, origin);
    return least;
}

HeadsPart heads_part(Target target, const ModelDims& dims)
{
    switch (target) {
    case Target::W_q:
    case Target::b_q: return {dims.H, dims.d_k, dims.D};
    case Target::W_k:
    case Target::b_k:
    case Target::bias_k: return {dims.H_kv, dims.d_k, dims.keys_read()};
    case Target::W_v:
    case Target::b_v:
    case Target::bias_v: return {dims.H_kv, dims.d_v, dims.values_read()};
    case Target::W_o:
    case Target::b_o: return {1, dims.outputs(), dims.H * dims.d_v};
    case Target::W_a:
    case Target::b_Wa: return {dims.H, dims.d_a, dims.d_k};
    case Target::U_a:
    case Target::b_Ua: return {dims.H, dims.d_a, dims.of_a_key()};
    case Target::v_a:
    case Target::b_va: return {dims.H, 1, dims.d_a};
    default: return {1, 0, 0};
    }
}

Shape shape_of(Item item, const ModelDims& dims, Index extra_keys)
{
    const ItemInfo& info = info_of(item);
    const auto length = [&](Axis axis) {
        switch (axis) {
        case Axis::tokens:
        case Axis::queries: return dims.T;
        case Axis::key_tokens: return dims.S;
        case Axis::keys: return dims.S + extra_keys;
        case Axis::vocabulary: return dims.V;
        default: return numbers_of_vector(item, dims);
        }
    };
    Shape shape;
    if (info.heads != Heads::none) {
        shape.push_back(info.heads == Heads::queries ? dims.H : dims.H_kv);
    }
    for (const Axis axis : {info.axes.row, info.axes.column}) {
        if (axis != Axis::none) {
            shape.push_back(length(axis));
        }
    }
    return shape;
}

Side side_of(const Draw& draw)
{
    return draw.side.value_or(draw.target == Target::W_o ? Side::right : Side::left);
}

Index heads_of(Target target, const ModelDims& dims)
{
    const bool of_keys = target == Target::W_k || target == Target::W_v || target == Target::b_k || target == Target::b_v ||
                         target == Target::keys || target == Target::values;
    return of_keys ? dims.H_kv : dims.H;
}

Shape shape_of(const Draw& draw, const ModelDims& dims)
{
    if (draw.values) {
        return draw.values->shape;
    }
    if (!draw.shape) {
        Shape natural = natural_shape(draw, dims);
        natural.insert(natural.begin(), draw.entries ? 1 : 0, draw.entries.value_or(0));
        return natural;
    }
    Shape shape;
    for (const Length& length : *draw.shape) {
        const auto* number = std::get_if<Index>(&length);
        shape.push_back(number != nullptr ? *number : value_of(std::get<std::string>(length), dims));
    }
    return shape;
}

Recipe spelled_out(Recipe recipe, const ModelDims& dims)
{
    if (!find_draw(recipe, Target::queries)) { // whose numbers say every size
        Dims& said = recipe.dims;
        said.embed_dim = dims.D;
        said.heads = dims.H;
        said.kv_heads = dims.H_kv == dims.H ? said.kv_heads : dims.H_kv;
        said.d_k = dims.d_k;
        said.d_v = dims.d_v;
        said.d_a = recipe.attention.score == core::Score::additive ? std::optional(dims.d_a) : said.d_a;
    }
    for (Step& step : recipe.draws) {
        auto* draw = std::get_if<Draw>(&step);
        if (draw == nullptr || draw->target == Target::none) {
            continue;
        }
        if (has_side(draw->target)) {
            draw->side = side_of(*draw);
        }
        const bool of_entries = is_by_position(draw->target) && batch_size(recipe); // of which each has a part
        if (const Shape shape = form_of(*draw, dims); !draw->shape && !draw->values && !of_entries && !shape.empty()) {
            draw->shape.emplace(shape.begin(), shape.end());
            if (std::string rows = rows_in_letters(draw->target, dims); !rows.empty()) {
                *(draw->shape->end() - 2) = std::move(rows);
            }
        }
    }
    return recipe;
}

std::vector<Shape> allowed_shapes(const Draw& draw, const ModelDims& dims)
{
    const Shape natural = natural_shape(draw, dims);
    std::vector<Shape> shapes{natural};
    const bool of_keys = draw.target == Target::W_k || draw.target == Target::W_v;
    const bool of_queries = draw.target == Target::W_q || draw.target == Target::W_a || draw.target == Target::U_a;
    if (of_keys || of_queries) {
        const Index heads = heads_of(draw.target, dims);
        const Index rows = natural[natural.size() - 2];
        const Index columns = natural.back();
        if (natural.size() == 2) {
            shapes.push_back({1, rows, columns});
        } else if (draw.side.value_or(Side::left) == Side::left) {
            shapes.push_back({heads * rows, columns});
        } else {
            shapes.push_back({rows, heads * columns});
        }
    } else if (draw.target == Target::position_embedding) {
        Shape table = shape_of(draw, dims);
        table.erase(table.begin(), table.begin() + std::min(std::ssize(draw.take), std::ssize(table)));
        table = without_batch_of_one(std::move(table), draw.target);
        const Index rows = table.size() == 2 ? table.front() : 0; // for longer texts, too
        shapes.front().front() = std::max(rows, natural.front());
    } else if (is_given(draw.target) && natural.size() == 2) {
        shapes.push_back({1, natural.front(), natural.back()});
    } else if (natural.size() == 1) {
        shapes.push_back({1, natural.front()}); // as a layer of one output prints its weight
    }
    return shapes;
}

} // namespace attn::model
