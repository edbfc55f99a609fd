#include "attn/model/layer/literal.hpp"

#include "attn/model/layer/batch.hpp"
#include "attn/model/layer/float32_range.hpp"
#include "attn/model/layer/matrix_sides.hpp"
#include "attn/model/layer/model_dims.hpp"
#include "attn/model/recipe/recipe_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace attn::model {
namespace {

/// A length, and the draw that says it.
struct Said {
    Index length;
    std::string place;
};

class Shapes {
public:
    explicit Shapes(const Recipe& recipe) : recipe_(recipe) {}

    /// The last length of the first of these tables that says it.
    [[nodiscard]] std::optional<Said> width(std::initializer_list<Target> tables) const
    {
        return first(tables, [](const Shape& table) { return table.size() > 1 ? table.back() : 0; });
    }

    [[nodiscard]] std::optional<Said> rows(std::initializer_list<Target> tables) const
    {
        return first(tables, [](const Shape& table) { return table.size() == 2 ? table.front() : 0; });
    }

    /// The numbers of a row of queries, keys or values, and the heads where each has a matrix of its own.
    [[nodiscard]] std::optional<Said> numbers(std::initializer_list<Target> given) const
    {
        return first(given, [](const Shape& shape) { return is_matrix(shape) ? shape.back() : 0; });
    }
    [[nodiscard]] std::optional<Said> heads(std::initializer_list<Target> given) const
    {
        return first(given, [](const Shape& shape) { return shape.size() == 3 ? shape.front() : 0; });
    }

    /// What W reads, and what it makes: of one head in a stack, otherwise of all.
    [[nodiscard]] std::optional<Said> in(Target W) const
    {
        return first({W}, [&](const Shape& shape) { return is_matrix(shape) ? sizes(W, shape).in : 0; });
    }
    [[nodiscard]] std::optional<Said> out(Target W) const
    {
        return first({W}, [&](const Shape& shape) { return is_matrix(shape) ? sizes(W, shape).out : 0; });
    }

    /// What W makes for one head, of which there are as many, or as the stack has.
    [[nodiscard]] std::optional<Said> head_size(Target W, Index heads) const
    {
        return first({W}, [&](const Shape& shape) -> Index {
            const Index made = is_matrix(shape) ? sizes(W, shape).out : 0;
            return shape.size() == 3 ? made : made % heads == 0 ? made / heads : 0;
        });
    }

    /// What each head has of a vector.
    [[nodiscard]] std::optional<Said> share(Target vector, Index heads) const
    {
        return first({vector}, [&](const Shape& shape) {
            const Index count = shape.empty() ? 0 : element_count(shape);
            return count % heads == 0 ? count / heads : 0;
        });
    }

private:
    /// Of one matrix, or of a stack of them.
    [[nodiscard]] static bool is_matrix(const Shape& shape) { return shape.size() == 2 || shape.size() == 3; }

    [[nodiscard]] MatrixSizes sizes(Target W, const Shape& shape) const { return sizes_of(shape, side_of(recipe_, W)); }

    /// What `read` finds in the first of these tensors where it is not 0, which stands for a length that is not said.
    template <typename Read>
    [[nodiscard]] std::optional<Said> first(std::initializer_list<Target> targets, Read read) const
    {
        for (const Target target : targets) {
            const Tensor tensor = find(target);
            if (const Index length = read(tensor.shape); length != 0) {
                const auto* draw = std::get_if<Draw>(&recipe_.draws[tensor.step]);
                const FieldInfo& field = draw->values ? draw_field::values : draw->shape ? draw_field::shape : draw_field::head;
                return Said{length, fmt::format("{}.{}", place_of_step(tensor.step), field.name())};
            }
        }
        return std::nullopt;
    }

    struct Tensor {
        Shape shape = {}; ///< 0 for a length that is letters; empty: none is said
        std::size_t step = 0;
    };

    /// Heads that are drawn one by one are a stack.
    [[nodiscard]] Tensor find(Target target) const
    {
        Tensor found;
        Index heads = 0;
        for (std::size_t step = 0; step < recipe_.draws.size(); ++step) {
            const auto* draw = std::get_if<Draw>(&recipe_.draws[step]);
            if (draw == nullptr || draw->target != target) {
                continue;
            }
            Shape shape = draw->values ? draw->values->shape : drawn_shape(*draw);
            if (!draw->head) {
                return {without_batch_of_one(std::move(shape), target), step};
            }
            if (heads == 0 || (found.shape.size() < 2 && shape.size() > 1)) {
                found = {std::move(shape), step};
            }
            heads = std::max(heads, *draw->head + 1);
        }
        if (heads != 0 && has_side(target)) {
            const bool said = found.shape.size() > 1;
            found.shape = {heads, said ? *(found.shape.end() - 2) : 0, said ? found.shape.back() : 0};
        }
        return found;
    }

    /// What `take` leaves of it.
    [[nodiscard]] static Shape drawn_shape(const Draw& draw)
    {
        Shape shape;
        for (const Length& length : draw.shape.value_or(std::vector<Length>())) {
            const auto* number = std::get_if<Index>(&length);
            shape.push_back(number == nullptr ? 0 : *number);
        }
        shape.erase(shape.begin(), shape.begin() + std::min(std::ssize(draw.take), std::ssize(shape)));
        return shape;
    }

    const Recipe& recipe_;
};

/// Fills in what the recipe leaves out.
class Filling {
public:
    explicit Filling(const Recipe& recipe) : recipe_(recipe), shapes_(recipe), stated_{.dims = recipe.dims} {}

    [[nodiscard]] StatedDims stated() &&
    {
        widths();
        given();
        projections();
        if (recipe_.attention.score == core::Score::additive) {
            hidden();
        }
        return std::move(stated_);
    }

private:
    using Length = std::optional<Index> Dims::*;

    void fill(const FieldInfo& field, Length length, std::optional<Said> said)
    {
        if (said && !(dims_.*length)) {
            dims_.*length = said->length;
            stated_.places.emplace(&field, std::move(said->place));
        }
    }
    void fill_if_other(const FieldInfo& field, Length length, std::optional<Said> said, std::optional<Index> usual)
    {
        if (said && said->length != usual) {
            fill(field, length, std::move(said));
        }
    }

    void widths()
    {
        fill(field::vocab_size, &Dims::vocab_size,
             shapes_.rows({Target::embedding, Target::key_embedding, Target::value_embedding}));
        fill(field::embed_dim, &Dims::embed_dim,
             shapes_.width({Target::embedding, Target::embeddings, Target::position_embedding}));
        fill(field::embed_dim, &Dims::embed_dim, shapes_.in(Target::W_q));
        fill_if_other(field::key_dim, &Dims::key_dim, read_from({Target::key_embedding, Target::key_embeddings}, Target::W_k),
                      dims_.embed_dim);
        fill_if_other(field::value_dim, &Dims::value_dim, read_from({Target::value_embedding}, Target::W_v),
                      dims_.key_dim ? dims_.key_dim : dims_.embed_dim);
    }

    /// The width of tables, or what W reads of one that the recipe has.
    [[nodiscard]] std::optional<Said> read_from(std::initializer_list<Target> tables, Target W) const
    {
        std::optional<Said> width = shapes_.width(tables);
        const bool any = std::ranges::any_of(tables, [&](Target table) { return find_draw(recipe_, table).has_value(); });
        return width || !any ? width : shapes_.in(W);
    }

    void given()
    {
        fill(field::heads, &Dims::heads, shapes_.heads({Target::queries}));
        fill(field::kv_heads, &Dims::kv_heads, shapes_.heads({Target::keys, Target::values}));
        fill(field::d_k, &Dims::d_k, shapes_.numbers({Target::queries, Target::keys}));
        fill(field::d_v, &Dims::d_v, shapes_.numbers({Target::values}));
    }

    void projections()
    {
        fill(field::heads, &Dims::heads, shapes_.heads({Target::W_q}));
        const Index H = dims_.heads.value_or(1);
        fill(field::d_k, &Dims::d_k, shapes_.head_size(Target::W_q, H));
        fill(field::kv_heads, &Dims::kv_heads, shapes_.heads({Target::W_k, Target::W_v}));
        if (std::optional<Said> W_k = shapes_.out(Target::W_k); W_k && dims_.d_k && W_k->length % *dims_.d_k == 0) {
            W_k->length /= *dims_.d_k;
            fill_if_other(field::kv_heads, &Dims::kv_heads, std::move(W_k), H);
        }
        const Index H_kv = dims_.kv_heads.value_or(H);
        fill(field::d_k, &Dims::d_k, shapes_.head_size(Target::W_k, H_kv));
        fill(field::d_v, &Dims::d_v, shapes_.head_size(Target::W_v, H_kv));
        std::optional<Said> read = shapes_.in(Target::W_o);
        if (read && read->length % H == 0) {
            read->length /= H;
            fill(field::d_v, &Dims::d_v, std::move(read));
            fill_if_other(field::output_dim, &Dims::output_dim, shapes_.out(Target::W_o), dims_.embed_dim);
        }
    }

    /// Numbers of additive scores.
    void hidden()
    {
        const Index H = dims_.heads.value_or(1);
        for (const Target W : {Target::W_a, Target::U_a}) {
            fill(field::d_a, &Dims::d_a, shapes_.head_size(W, H));
        }
        for (const Target vector : {Target::v_a, Target::b_Wa, Target::b_Ua}) {
            fill(field::d_a, &Dims::d_a, shapes_.share(vector, H));
        }
    }

    const Recipe& recipe_;
    Shapes shapes_;
    StatedDims stated_;
    Dims& dims_ = stated_.dims;
};

} // namespace

StatedDims stated_dims(const Recipe& recipe)
{
    return Filling(recipe).stated();
}

Dims dims_of(const Recipe& recipe)
{
    return stated_dims(recipe).dims;
}

std::optional<Index> stated_key_size(const Recipe& recipe)
{
    const std::optional<Said> size = Shapes(recipe).numbers({Target::keys});
    return size ? std::optional(size->length) : std::nullopt;
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
