#include "attn/model/explain/projected.hpp"

#include "attn/core/positions.hpp"
#include "attn/model/explain/explanation.hpp"
#include "attn/model/layer/parameter_cache.hpp"
#include "attn/tensor/error.hpp"

#include <string>

namespace attn::model {
namespace {

using Row = std::vector<double>;

/// The tensors of a result, which are all of one type.
template <typename Scalar>
class Projection {
public:
    Projection(const Result& result, const Component& component)
        : result_(result), component_(component), layer_(make_layer<Scalar>(parameters(), component.W, heads())),
          d_(layer_.W.cols() / heads())
    {
    }

    [[nodiscard]] std::optional<Projected> projected(const Row& context) const
    {
        if (component_.number >= d_) {
            return std::nullopt;
        }
        Projected found = before_turn(component_.number, component_.W == Target::W_o ? context : word());
        found.turn = turn(found);
        return found;
    }

private:
    [[nodiscard]] const Tensor<Scalar>* find(std::string_view name) const
    {
        const AnyTensor* tensor = result_.find(name);
        return tensor == nullptr ? nullptr : &std::get<Tensor<Scalar>>(*tensor);
    }

    [[nodiscard]] PreparedParameters<Scalar> parameters() const
    {
        PreparedParameters<Scalar> found;
        for (const Target target : {component_.W, bias_of(component_.W)}) {
            for (const Array& array : result_.parameters) {
                if (array.name == name_of(target)) {
                    found.parameters.push_back({target, array.side, std::get<Tensor<Scalar>>(array.tensor)});
                }
            }
        }
        return found;
    }

    [[nodiscard]] Index heads() const
    {
        switch (component_.W) {
        case Target::W_q: return find(name_of(Item::queries))->shape.front();
        case Target::W_k:
        case Target::W_v: return find(name_of(Item::keys))->shape.front();
        default: return 1;
        }
    }

    /// The row of a table, at the word's position.
    [[nodiscard]] Row looked_up(const Tensor<Scalar>& table) const
    {
        const std::vector<Index>& ids = result_.cross ? result_.key_token_ids : result_.token_ids;
        Tensor<Scalar> X({component_.position + 1, table.columns()});
        X.matrix().row(component_.position) = table.matrix().row(ids[static_cast<std::size_t>(component_.position)]);
        if (const auto* learned = find(name_of(Target::position_embedding))) {
            X.matrix().row(component_.position) += learned->matrix().row(component_.position);
        }
        if (result_.config().attention.placed_by(PositionKind::sinusoidal)) {
            X = core::add_sinusoids(std::move(X));
        }
        return row(X);
    }

    [[nodiscard]] Row row(const Tensor<Scalar>& X) const
    {
        const auto numbers = X.matrix().row(component_.position);
        return {numbers.begin(), numbers.end()};
    }

    /// What W reads of the word.
    [[nodiscard]] Row word() const
    {
        if (component_.W == Target::W_v) {
            if (const auto* table = find(name_of(Target::value_embedding))) {
                return looked_up(*table);
            }
        }
        if (component_.W != Target::W_q) {
            if (const auto* X = find(name_of(Item::key_embeddings))) {
                return row(*X);
            }
            if (const auto* table = find(name_of(Target::key_embedding))) {
                return looked_up(*table);
            }
        }
        return row(*find(name_of(Item::embeddings)));
    }

    [[nodiscard]] static double rounded(double number) { return static_cast<double>(static_cast<Scalar>(number)); }

    [[nodiscard]] Projected before_turn(Index number, Row x) const
    {
        const Index column = component_.head * d_ + number;
        Projected made;
        made.W = component_.W;
        made.side = side();
        made.position = component_.position;
        made.x = std::move(x);
        double sum = 0;
        for (std::size_t i = 0; i < made.x.size(); ++i) {
            made.weights.push_back(layer_.W(static_cast<Index>(i), column));
            made.products.push_back(after_step(result_.config(), made.x[i] * made.weights[i]));
            sum = after_step(result_.config(), sum + made.products[i]);
        }
        made.value = rounded(sum);
        if (layer_.b.size() != 0) {
            made.bias = layer_.b(column);
            made.value = rounded(made.value + *made.bias);
        }
        return made;
    }

    [[nodiscard]] Side side() const
    {
        for (const Array& array : result_.parameters) {
            if (array.name == name_of(component_.W)) {
                return array.side;
            }
        }
        return Side::left;
    }

    [[nodiscard]] std::optional<Turn> turn(const Projected& made) const
    {
        const bool turned = component_.W == Target::W_q || component_.W == Target::W_k;
        if (!turned || !result_.config().attention.placed_by(PositionKind::rope)) {
            return std::nullopt;
        }
        const core::Rope& rope = result_.config().attention.positions->rope;
        const Index r = rope.dim.value_or(d_);
        const Index i = component_.number;
        if (i >= r) {
            return std::nullopt;
        }
        Turn turn;
        turn.partner = rope.style == core::RopeStyle::half ? (i + r / 2) % r : i % 2 == 0 ? i + 1 : i - 1;
        turn.other = before_turn(turn.partner, made.x).value;
        turn.own = share(i, rope);
        turn.others = share(turn.partner, rope);
        turn.value = rounded(made.value * turn.own + turn.other * turn.others);
        return turn;
    }

    /// How much of number `from` the turned one has.
    [[nodiscard]] double share(Index from, const core::Rope& rope) const
    {
        Tensor<double> unit({1, component_.position + 1, d_});
        unit.matrix()(component_.position, from) = 1;
        return core::apply_rope(std::move(unit), rope).matrix()(component_.position, component_.number);
    }

    const Result& result_;
    const Component& component_;
    PreparedLayer<Scalar> layer_;
    Index d_;
};

} // namespace

std::optional<Projected> projected(const Result& result, const Component& component, const std::vector<double>& context)
{
    return result.config().dtype == Dtype::float32 ? Projection<float>(result, component).projected(context)
                                                   : Projection<double>(result, component).projected(context);
}

} // namespace attn::model
