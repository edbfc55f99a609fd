#include "attn/model/layer/checkpoint.hpp"

#include "attn/model/layer/matrix_sides.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace attn::model {
namespace {

/// Heads up to which the possible ones are listed.
constexpr Index most_heads = 65536;

/// As far as a recipe, which the config of the result is, can name lengths.
constexpr Index largest_length = 1048576;

/// A projection read one way; its outputs are those of all heads together.
std::optional<MatrixSizes> sizes_of(const Source& source, Side side)
{
    const Shape& shape = source.shape;
    const bool stacked = shape.size() == 3 && source.parts == 1 && source.target != Target::W_o;
    if ((shape.size() != 2 && !stacked) || element_count(shape) == 0) {
        return std::nullopt;
    }
    MatrixSizes sizes = sizes_of(shape, side);
    const bool fits = source.parts == 1 || (sizes.out % source.parts == 0 && sizes.out / source.parts == sizes.in);
    if (!fits) { // a fused matrix makes queries as long as a word, and so reads one way
        return std::nullopt;
    }
    sizes.out = std::max<Index>(sizes.stack, 1) * sizes.out / source.parts;
    return sizes;
}

/// The sides of W_q, W_k, W_v, and of W_o.
struct Sides {
    Side inputs;
    Side output;
};

struct Reading {
    Sides sides;
    Dims dims;
    bool heads_assumed = false;
    std::optional<Error> problem; ///< why the shapes cannot be read this way
};

/// Reads the shapes of a layer one way.
class Reader {
public:
    Reader(const CheckpointLayer& layer, const Recipe& recipe, const Origin& origin, const std::string& file)
        : layer_(layer), said_(recipe.dims), layout_said_(recipe.parameters->layout.has_value()), origin_(origin), file_(file)
    {
    }

    Reading read(Sides sides) &&
    {
        reading_.sides = sides;
        (void)(read_projections() && read_heads() && read_output() && read_vectors() && read_tables());
        return std::move(reading_);
    }

private:
    [[nodiscard]] const Source* find(Target target) const { return layer_.find(target); }

    [[nodiscard]] std::string place(Target target) const
    {
        const Source& source = *find(target);
        const bool plain = source.name.ends_with(name_of(target));
        return fmt::format("{} of {}{}", in_quotes(source.name), file_, plain ? "" : fmt::format(" ({})", name_of(target)));
    }

    bool refuse(ErrorKind kind, const std::string& thing, const std::string& value, const std::string& allowed)
    {
        reading_.problem.emplace(kind, thing, value, allowed);
        return false;
    }

    bool refuse_shape(Target target, const std::string& allowed)
    {
        return refuse(ErrorKind::data, place(target), "the shape " + to_string(find(target)->shape), allowed);
    }

    /// An option or a recipe may say what the shapes say, and nothing else.
    bool agree(const FieldInfo& field, const std::optional<Index>& said, Index found, Target target)
    {
        return !said || *said == found ||
               refuse(origin_.fault({&field}), origin_.name_of(field), std::to_string(*said),
                      fmt::format("{}, which follows from {}", found, place(target)));
    }

    [[nodiscard]] std::string allowed_of(const Source& matrix) const
    {
        if (matrix.parts == 1) {
            return "(out, in), or with a matrix for each head three dimensions";
        }
        if (layout_said_) {
            return fmt::format("{} with that layout", reading_.sides.inputs == Side::left ? "(3·D, D)" : "(D, 3·D)");
        }
        return "(3·D, D), or (D, 3·D) in GPT-2";
    }

    bool read_projections()
    {
        for (const auto& [target, sizes] : {std::pair{Target::W_q, &q_}, {Target::W_k, &k_}, {Target::W_v, &v_}}) {
            const std::optional<MatrixSizes> read = sizes_of(*find(target), reading_.sides.inputs);
            if (!read) {
                return refuse_shape(target, allowed_of(*find(target)));
            }
            *sizes = *read;
            if (read->in > largest_length || read->out > largest_length) {
                return refuse_shape(target, fmt::format("lengths up to {}", largest_length));
            }
        }
        reading_.dims.embed_dim = q_.in;
        return agree(field::embed_dim, said_.embed_dim, q_.in, Target::W_q) &&
               reads(Target::W_k, k_.in, width_read(said_.key_dim, Target::key_embedding, q_.in)) &&
               reads(Target::W_v, v_.in, width_read(said_.value_dim, Target::value_embedding, k_.in));
    }

    /// What W_k or W_v must read: as the recipe says, as wide as a table of its own is, or as much as the one before. Separate
    /// matrices of nn.MultiheadAttention are the ones that come with other widths (kdim, vdim) and no tables.
    [[nodiscard]] std::optional<Index> width_read(const std::optional<Index>& origin, Target table, Index before) const
    {
        const Source* own = find(table);
        if (origin || (own != nullptr && !own->shape.empty())) {
            return origin ? origin : own->shape.back();
        }
        return layer_.family == multihead_family ? std::nullopt : std::optional(before);
    }

    bool reads(Target target, Index found, const std::optional<Index>& expected)
    {
        return !expected || *expected == found ||
               refuse_shape(target, fmt::format("a matrix that reads {} components per word, not {}", *expected, found));
    }

    [[nodiscard]] bool possible(Index H) const
    {
        if (q_.out % H != 0 || k_.out % (q_.out / H) != 0) {
            return false;
        }
        const Index H_kv = k_.out / (q_.out / H);
        return H % H_kv == 0 && v_.out % H_kv == 0;
    }

    [[nodiscard]] std::string possible_heads() const
    {
        std::string list;
        for (Index H = 1; H <= std::min(q_.out, most_heads); ++H) {
            if (possible(H)) {
                list += (list.empty() ? "" : ", ") + std::to_string(H);
            }
        }
        return list;
    }

    bool read_heads()
    {
        const bool known = said_.heads || q_.stack != 0;
        const Index H = q_.stack != 0 ? q_.stack : said_.heads.value_or(1);
        if (!agree(field::heads, said_.heads, H, Target::W_q)) {
            return false;
        }
        if (!possible(H)) {
            const std::string list = possible_heads();
            return list.empty() ? refuse_shape(Target::W_k, fmt::format("heads as large as those of {}, {}", place(Target::W_q),
                                                                        to_string(find(Target::W_q)->shape)))
                                : refuse(origin_.fault({&field::heads}), origin_.name_of(field::heads),
                                         known ? std::to_string(H) : "1, the default",
                                         fmt::format("{}, into which the matrices of {} can be divided", list, file_));
        }
        Dims& dims = reading_.dims;
        dims.heads = H;
        dims.d_k = q_.out / H;
        dims.kv_heads = k_.out / *dims.d_k;
        dims.d_v = v_.out / *dims.kv_heads;
        reading_.heads_assumed = !known && layer_.family != plain_family;
        for (const auto& [target, stack] : {std::pair{Target::W_k, k_.stack}, {Target::W_v, v_.stack}}) {
            if (stack != 0 && stack != *dims.kv_heads) {
                return refuse_shape(target, fmt::format("{} heads, as the others have", *dims.kv_heads));
            }
        }
        return agree(field::kv_heads, said_.kv_heads, *dims.kv_heads, Target::W_k) &&
               agree(field::d_k, said_.d_k, *dims.d_k, Target::W_q) && agree(field::d_v, said_.d_v, *dims.d_v, Target::W_v);
    }

    bool read_output()
    {
        output_ = q_.in;
        const Source* W_o = find(Target::W_o);
        if (W_o == nullptr) {
            return true;
        }
        const std::optional<MatrixSizes> sizes = sizes_of(*W_o, reading_.sides.output);
        const Index in = *reading_.dims.heads * *reading_.dims.d_v;
        if (!sizes || sizes->in != in || sizes->out > largest_length) {
            return refuse_shape(Target::W_o, reading_.sides.output == Side::left ? fmt::format("(out, {})", in)
                                                                                 : fmt::format("({}, out)", in));
        }
        output_ = sizes->out;
        if (output_ != q_.in) {
            reading_.dims.output_dim = output_;
        }
        return agree(field::output_dim, said_.output_dim, output_, Target::W_o);
    }

    bool read_vectors()
    {
        const std::array<std::pair<Target, Index>, 6> lengths{{{Target::b_q, q_.out},
                                                               {Target::b_k, k_.out},
                                                               {Target::b_v, v_.out},
                                                               {Target::b_o, output_},
                                                               {Target::bias_k, k_.out},
                                                               {Target::bias_v, v_.out}}};
        for (const auto& [target, length] : lengths) {
            const Source* source = find(target);
            if (source != nullptr && (source->shape.empty() || element_count(source->shape) != source->parts * length ||
                                      source->shape.back() != source->parts * length)) {
                return refuse_shape(target, to_string({source->parts * length}));
            }
        }
        if (find(Target::b_o) != nullptr && find(Target::W_o) == nullptr) {
            return refuse(ErrorKind::data, place(Target::b_o), "no W_o", "both, or --no-output-projection");
        }
        for (const auto& [one, other] : {std::pair{Target::bias_k, Target::bias_v}, {Target::bias_v, Target::bias_k}}) {
            if (find(one) != nullptr && find(other) == nullptr) {
                return refuse(ErrorKind::data, place(one), fmt::format("no {}", name_of(other)), "both, or neither");
            }
        }
        return true;
    }

    bool read_tables()
    {
        const std::array<std::pair<Target, Index>, 5> widths{{{Target::embedding, q_.in},
                                                              {Target::key_embedding, k_.in},
                                                              {Target::value_embedding, v_.in},
                                                              {Target::embeddings, q_.in},
                                                              {Target::key_embeddings, k_.in}}};
        Dims& dims = reading_.dims;
        for (const auto& [target, width] : widths) {
            const Source* source = find(target);
            if (source == nullptr) {
                continue;
            }
            if (source->shape.size() != 2 || source->shape[0] == 0 || source->shape[1] != width) {
                return refuse_shape(target, fmt::format("rows of {} numbers, as the matrices read", width));
            }
            const bool by_id = target != Target::embeddings && target != Target::key_embeddings;
            if (by_id) {
                if (dims.vocab_size && *dims.vocab_size != source->shape[0]) {
                    return refuse_shape(target, fmt::format("{} rows, as the table before", *dims.vocab_size));
                }
                if (!agree(field::vocab_size, said_.vocab_size, source->shape[0], target)) {
                    return false;
                }
                dims.vocab_size = source->shape[0];
            }
        }
        if (k_.in != q_.in) {
            dims.key_dim = k_.in;
        }
        if (v_.in != k_.in) {
            dims.value_dim = v_.in;
        }
        return true;
    }

    const CheckpointLayer& layer_;
    const Dims& said_; ///< by options or the recipe
    bool layout_said_; ///< so that there is no other way to read
    const Origin& origin_;
    const std::string& file_;
    Reading reading_{};
    MatrixSizes q_{}, k_{}, v_{};
    Index output_ = 0;
};

// ---- layouts ---------------------------------------------------------------------------------------------------------

/// In the order in which they are to be tried.
std::vector<Sides> sides_of(const CheckpointLayer& layer)
{
    constexpr Sides out_in{Side::left, Side::left};
    constexpr Sides in_out{Side::right, Side::right};
    if (layer.family == "GPT-2") {
        return {in_out, out_in};
    }
    if (layer.family != plain_family) {
        return {out_in};
    }
    return layer.find(Target::W_o) != nullptr
               ? std::vector{Sides{Side::left, Side::right}, out_in, in_out, Sides{Side::right, Side::left}}
               : std::vector{out_in, in_out};
}

std::optional<MatrixLayout> layout_of(Sides sides)
{
    if (sides.inputs == sides.output) {
        return sides.inputs == Side::left ? MatrixLayout::out_in : MatrixLayout::in_out;
    }
    return sides.inputs == Side::left ? std::optional(MatrixLayout::run) : std::nullopt;
}

/// Without W_o, `run` says the same as (out, in).
bool is(MatrixLayout layout, Sides sides, bool output)
{
    return layout_of(sides) == layout || (!output && layout == MatrixLayout::run && sides.inputs == Side::left);
}

[[noreturn]] void ask_for_layout(const CheckpointLayer& layer, const std::vector<Reading>& readings, const std::string& file)
{
    const bool inputs = readings.front().sides.inputs != readings.back().sides.inputs;
    const Source& source = *layer.find(inputs ? Target::W_q : Target::W_o);
    throw Error(ErrorKind::data, fmt::format("{} of {}", in_quotes(source.name), file),
                fmt::format("the shape {}, which fits both layouts", to_string(source.shape)),
                fmt::format("{} {}=in-out, =out-in, or =run (what `run` saves: W_q, W_k, W_v out-in and W_o in-out)",
                            option::set, field::layout.key));
}

/// A W_o that is not applied may tell which way round the others lie; one that fits no reading tells nothing.
void heed_unapplied(std::vector<Reading>& readings, const CheckpointLayer& layer,
                    const std::function<Reading(const CheckpointLayer&, Sides)>& read)
{
    CheckpointLayer whole = layer;
    whole.sources.push_back(*layer.unapplied);
    const auto fits = [&](const Reading& reading) {
        return std::ranges::any_of(std::array{Side::left, Side::right}, [&](Side output) {
            return !read(whole, {reading.sides.inputs, output}).problem;
        });
    };
    if (std::ranges::any_of(readings, fits)) {
        std::erase_if(readings, std::not_fn(fits));
    }
}

} // namespace

FittedLayer fit(CheckpointLayer layer, const Recipe& recipe, const std::string& file, const Origin& origin)
{
    const std::optional<MatrixLayout>& layout = recipe.parameters->layout;
    const auto read = [&](const CheckpointLayer& shapes, Sides sides) {
        return Reader(shapes, recipe, origin, file).read(sides);
    };
    std::vector<Reading> readings;
    std::optional<Error> problem;
    for (const Sides& sides : sides_of(layer)) {
        if (layout && !is(*layout, sides, layer.find(Target::W_o) != nullptr)) {
            continue;
        }
        Reading reading = read(layer, sides);
        if (!reading.problem) {
            readings.push_back(std::move(reading));
        } else if (!problem) {
            problem = std::move(reading.problem);
        }
    }
    if (readings.empty()) {
        throw problem ? *problem
                      : Error(ErrorKind::data, origin.name_of(field::layout),
                              std::string(layout_names.at(static_cast<std::size_t>(*layout))),
                              fmt::format("out-in, the order of {}", layer.family));
    }
    const auto as_wide = [](const Reading& reading) { return !reading.dims.output_dim; };
    if (std::ranges::any_of(readings, as_wide)) { // an output of another width is the rarer reading
        std::erase_if(readings, std::not_fn(as_wide));
    }
    if (readings.size() > 1 && layer.unapplied) {
        heed_unapplied(readings, layer, read);
    }
    if (readings.size() > 1) {
        ask_for_layout(layer, readings, file);
    }
    const Reading& reading = readings.front();
    for (Source& source : layer.sources) {
        source.side = source.target == Target::W_o ? reading.sides.output : reading.sides.inputs;
    }
    return {std::move(layer), reading.dims, layout_of(reading.sides), reading.heads_assumed};
}

} // namespace attn::model
