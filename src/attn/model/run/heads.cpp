#include "attn/model/run/heads.hpp"

#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/model/run/taken.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::model {
namespace {

/// (H, T, S) → (1, T, S); Step is the type that every sum is rounded to.
template <typename Step, typename Scalar>
Tensor<Scalar> mean_of(const Tensor<Scalar>& tensor)
{
    Matrix<Step> sum = Matrix<Step>::Zero(tensor.rows(), tensor.columns());
    for (Index head = 0; head < tensor.shape.front(); ++head) {
        sum += tensor.matrix(head).template cast<Step>();
    }
    Tensor<Scalar> mean({1, tensor.rows(), tensor.columns()});
    mean.matrix() = (sum.array() / static_cast<Step>(tensor.shape.front())).template cast<Scalar>();
    return mean;
}

void keep(AnyTensor& any, const std::vector<Index>& places, core::Rounding rounding)
{
    std::visit(
        [&]<typename Scalar>(Tensor<Scalar>& tensor) {
            if (!is_mean(places)) {
                tensor = taken(tensor, 0, places);
            } else {
                tensor = rounding == core::Rounding::step ? mean_of<Scalar>(tensor) : mean_of<double>(tensor);
            }
        },
        any);
}

Heads heads_in(const Array& array)
{
    const std::optional<Item> item = item_called(array.name);
    return item ? info_of(*item).heads : Heads::none;
}

} // namespace

std::string number_of_head(Index head)
{
    return head == mean_of_heads ? std::string(field::head.allowed.instead) : std::to_string(head);
}

std::vector<Index> heads_of(const std::vector<Index>& named, Index count, const Origin& origin, const FieldInfo* more,
                            std::string_view where)
{
    if (named.empty() || is_mean(named)) {
        return named;
    }
    std::vector<Index> heads = named;
    std::ranges::sort(heads);
    heads.erase(std::unique(heads.begin(), heads.end()), heads.end()); // clang 14 has no ranges::unique
    if (heads.back() >= count) {
        const std::string option = more == nullptr ? "" : origin.option_of(*more);
        throw Error(origin.fault({&field::head}), origin.name_of(field::head), std::to_string(heads.back()),
                    count > 1        ? fmt::format("0 to {}{}", count - 1, where)
                    : option.empty() ? fmt::format("0, there is one head{}", where)
                                     : fmt::format("0, there is one head; {} computes more", option));
    }
    return heads;
}

std::vector<Index> key_heads_of(const std::vector<Index>& heads, Index H, Index H_kv)
{
    std::vector<Index> key_heads = heads;
    std::ranges::for_each(key_heads, [&](Index& head) { head /= H / H_kv; });
    key_heads.erase(std::unique(key_heads.begin(), key_heads.end()), key_heads.end());
    return key_heads;
}

void keep_heads(std::vector<Array>& arrays, const KeptHeads& kept)
{
    if (kept.queries.empty()) {
        return;
    }
    std::erase_if(arrays, [&](const Array& array) {
        return is_mean(kept.queries) && heads_in(array) != Heads::none && !has_mean(*item_called(array.name));
    });
    for (Array& array : arrays) {
        if (const Heads heads = heads_in(array); heads != Heads::none) {
            keep(array.tensor, heads == Heads::queries ? kept.queries : kept.keys, kept.rounding);
        }
    }
}

} // namespace attn::model
