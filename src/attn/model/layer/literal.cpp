#include "attn/model/layer/literal.hpp"

#include "attn/model/layer/batch.hpp"
#include "attn/model/layer/float32_range.hpp"
#include "attn/model/layer/matrix_sides.hpp"
#include "attn/model/layer/model_dims.hpp"

#include <algorithm>
#include <initializer_list>

namespace attn::model {
namespace {

class Shapes {
public:
    explicit Shapes(const Recipe& recipe) : recipe_(recipe) {}

    /// The last length of the first of these tables that is stated.
    [[nodiscard]] std::optional<Index> width(std::initializer_list<Target> tables) const
    {
        const Shape table = first(tables);
        return table.empty() ? std::nullopt : std::optional(table.back());
    }

    [[nodiscard]] std::optional<Index> rows(std::initializer_list<Target> tables) const
    {
        const Shape table = first(tables);
        return table.empty() ? std::nullopt : std::optional(table.front());
    }

    [[nodiscard]] std::optional<MatrixSizes> sizes(Target W) const
    {
        const Shape shape = find(W);
        return is_matrix(shape) ? std::optional(sizes_of(shape, side_of(recipe_, W))) : std::nullopt;
    }

    /// The numbers of a row of queries, keys or values, and the heads where each has a matrix of its own.
    [[nodiscard]] std::optional<Index> numbers(std::initializer_list<Target> given) const
    {
        for (const Target target : given) {
            if (const Shape shape = find(target); is_matrix(shape)) {
                return shape.back();
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] std::optional<Index> heads(std::initializer_list<Target> given) const
    {
        for (const Target target : given) {
            if (const Shape shape = find(target); shape.size() == 3) {
                return shape.front();
            }
        }
        return std::nullopt;
    }

    /// Of one head, of which there are as many, or as the stack has.
    [[nodiscard]] std::optional<Index> head_size(Target W, Index heads) const
    {
        const std::optional<MatrixSizes> read = sizes(W);
        if (!read || (read->stack == 0 && read->out % heads != 0)) {
            return std::nullopt;
        }
        return read->stack != 0 ? read->out : read->out / heads;
    }

    /// What each head has of a vector.
    [[nodiscard]] std::optional<Index> share(Target vector, Index heads) const
    {
        const Shape shape = find(vector);
        const Index count = shape.empty() ? 0 : element_count(shape);
        return count == 0 || count % heads != 0 ? std::nullopt : std::optional(count / heads);
    }

    [[nodiscard]] std::optional<Index> stack(Target W) const
    {
        const std::optional<MatrixSizes> read = sizes(W);
        return read && read->stack != 0 ? std::optional(read->stack) : std::nullopt;
    }

private:
    /// Of one matrix, or of a stack of them.
    [[nodiscard]] static bool is_matrix(const Shape& shape) { return shape.size() == 2 || shape.size() == 3; }

    [[nodiscard]] Shape first(std::initializer_list<Target> tables) const
    {
        for (const Target target : tables) {
            if (Shape shape = find(target); shape.size() == 2) {
                return shape;
            }
        }
        return {};
    }

    /// Empty where nothing is said, or letters are.
    [[nodiscard]] Shape find(Target target) const
    {
        for (const Step& step : recipe_.draws) {
            const auto* draw = std::get_if<Draw>(&step);
            if (draw != nullptr && draw->target == target && !draw->head) {
                return draw->values ? draw->values->shape : drawn_shape(*draw);
            }
        }
        return {};
    }

    /// What `take` leaves of it.
    [[nodiscard]] static Shape drawn_shape(const Draw& draw)
    {
        Shape shape;
        for (const Length& length : draw.shape.value_or(std::vector<Length>())) {
            const auto* number = std::get_if<Index>(&length);
            if (number == nullptr) {
                return {};
            }
            shape.push_back(*number);
        }
        shape.erase(shape.begin(), shape.begin() + std::min(std::ssize(draw.take), std::ssize(shape)));
        return shape;
    }

    const Recipe& recipe_;
};

} // namespace

Dims dims_of(const Recipe& recipe)
{
    const Shapes stated(recipe);
    Dims dims = recipe.dims;
    const auto fill = [](std::optional<Index>& length, std::optional<Index> said) {
        length = length ? length : said;
        return length;
    };
    const std::optional<MatrixSizes> W_q = stated.sizes(Target::W_q);
    fill(dims.vocab_size, stated.rows({Target::embedding, Target::key_embedding, Target::value_embedding}));
    fill(dims.embed_dim, stated.width({Target::embedding, Target::embeddings, Target::position_embedding}));
    fill(dims.embed_dim, W_q ? std::optional(W_q->in) : std::nullopt);
    const std::optional<Index> key_dim = stated.width({Target::key_embedding, Target::key_embeddings});
    const std::optional<Index> value_dim = stated.width({Target::value_embedding});
    const auto read_by = [&](Target W, std::initializer_list<Target> tables) { // which the recipe has
        const bool any = std::ranges::any_of(tables, [&](Target table) { return find_draw(recipe, table).has_value(); });
        const std::optional<MatrixSizes> sizes = any ? stated.sizes(W) : std::nullopt;
        return sizes ? std::optional(sizes->in) : std::nullopt;
    };
    const auto fill_if_other = [](std::optional<Index>& length, std::optional<Index> said, std::optional<Index> usual) {
        length = length || said == usual ? length : said;
    };
    fill_if_other(dims.key_dim, key_dim ? key_dim : read_by(Target::W_k, {Target::key_embedding, Target::key_embeddings}),
                  dims.embed_dim);
    fill_if_other(dims.value_dim, value_dim ? value_dim : read_by(Target::W_v, {Target::value_embedding}),
                  dims.key_dim ? dims.key_dim : dims.embed_dim);

    fill(dims.heads, stated.heads({Target::queries}));
    fill(dims.kv_heads, stated.heads({Target::keys, Target::values}));
    fill(dims.d_k, stated.numbers({Target::queries, Target::keys}));
    fill(dims.d_v, stated.numbers({Target::values}));

    fill(dims.heads, stated.stack(Target::W_q));
    const Index H = dims.heads.value_or(1);
    fill(dims.d_k, stated.head_size(Target::W_q, H));
    fill(dims.kv_heads, stated.stack(Target::W_k));
    fill(dims.kv_heads, stated.stack(Target::W_v));
    if (const std::optional<MatrixSizes> W_k = stated.sizes(Target::W_k); W_k && dims.d_k && W_k->out % *dims.d_k == 0) {
        const Index H_kv = W_k->out / *dims.d_k;
        fill(dims.kv_heads, H_kv == H ? std::nullopt : std::optional(H_kv));
    }
    const Index H_kv = dims.kv_heads.value_or(H);
    fill(dims.d_k, stated.head_size(Target::W_k, H_kv));
    fill(dims.d_v, stated.head_size(Target::W_v, H_kv));
    if (const std::optional<MatrixSizes> W_o = stated.sizes(Target::W_o); W_o && W_o->in % H == 0) {
        fill(dims.d_v, W_o->in / H);
        fill(dims.output_dim, W_o->out == dims.embed_dim ? std::nullopt : std::optional(W_o->out));
    }
    if (recipe.attention.score == core::Score::additive) {
        for (const Target W : {Target::W_a, Target::U_a}) {
            fill(dims.d_a, stated.head_size(W, H));
        }
        for (const Target vector : {Target::v_a, Target::b_Wa, Target::b_Ua}) {
            fill(dims.d_a, stated.share(vector, H));
        }
    }
    return dims;
}

std::optional<Index> stated_key_size(const Recipe& recipe)
{
    return Shapes(recipe).numbers({Target::keys});
}

TensorView checked_view(const Literal& literal, Dtype dtype, const std::string& what)
{
    TensorView view = row_major_view(ElementType::float64, literal.shape, std::as_bytes(std::span(literal.values)));
    if (dtype == Dtype::float32) {
        require_float32_range(view, what);
    }
    require_exact_integers(view, literal.integers, dtype, what);
    return view;
}

std::optional<StoredTensor> stated_mask(const Recipe& recipe)
{
    std::optional<Literal> literal = recipe.attention.mask_values;
    if (!literal) {
        return std::nullopt;
    }
    if (recipe.entry && literal->shape.size() == 4 && literal->shape.front() == batch_size(recipe)) {
        literal = part_of(*literal, entry_of(recipe));
    }
    StoredTensor mask("mask", literal->truths ? ElementType::boolean : ElementType::float64, literal->shape);
    mask.bytes = to_bytes(mask.type, std::span<const double>(literal->values));
    return mask;
}

} // namespace attn::model
