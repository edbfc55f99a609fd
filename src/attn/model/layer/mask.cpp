#include "attn/model/layer/mask.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

namespace attn::model {

TensorView broadcast_mask(TensorView mask, const Shape& target, ShortMask last, std::string_view what)
{
    const Shape given = mask.shape;
    const bool hides = last == ShortMask::hides;
    const auto refuse = [&] {
        throw Error(ErrorKind::data, what, "the shape " + to_string(given),
                    fmt::format("a shape{} that broadcasts to {}{}", given.empty() ? " of one dimension or more" : "",
                                to_string(target), hides ? fmt::format(", the last dimension up to {}", target.back()) : ""));
    };
    if (given.empty() || given.size() > target.size() || (hides && given.back() > target.back())) {
        refuse();
    }
    const std::size_t missing = target.size() - given.size();
    mask.shape.insert(mask.shape.begin(), missing, 1);
    mask.strides.insert(mask.strides.begin(), missing, 0);
    for (std::size_t d = 0; d + (hides ? 1 : 0) < target.size(); ++d) {
        if (mask.shape[d] != target[d]) {
            if (mask.shape[d] != 1) {
                refuse();
            }
            mask.shape[d] = target[d];
            mask.strides[d] = 0;
        }
    }
    return mask;
}

void require_zeros_and_ones(const TensorView& view, std::string_view what, const Arriving* arriving)
{
    if (const std::optional<Breach> breach = first_breach(view, NumberRule::zero_or_one, arriving)) {
        throw Error(ErrorKind::data, what, fmt::format("{}", breach->value), "0 and 1, or booleans");
    }
}

std::optional<std::string> doubt_about(const TensorView& mask)
{
    if (mask.type == ElementType::boolean || mask.shape.empty()) {
        return std::nullopt;
    }
    bool any = false; // a 1: zeros alone hide nothing, and are often meant
    const Shape leading(mask.shape.begin(), mask.shape.end() - 1);
    for (Index row = 0; row < element_count(leading); ++row) {
        const Matrix<double> numbers = load_matrix<double>(slice(mask, index_of(leading, row)), {});
        if (!(numbers.array() == 0 || numbers.array() == 1).all()) {
            return std::nullopt;
        }
        any = any || (numbers.array() == 1).any();
    }
    if (!any) {
        return std::nullopt;
    }
    return "the mask holds only the numbers 0 and 1, which are added to the scores; to hide keys it must hold booleans, false "
           "where a key is hidden: mask.astype(bool) in NumPy, mask.bool() in PyTorch, True and False in text";
}

} // namespace attn::model
