#include "attn/model/diagnose/half_reference.hpp"

#include "attn/core/stages.hpp"
#include "attn/model/attend/attend.hpp"
#include "attn/model/attend/attend_layout.hpp"
#include "attn/model/diagnose/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

namespace attn::model::diagnose {
namespace {

/// The narrower of two types, if that is one of these.
std::optional<ElementType> half_of(ElementType a, ElementType b)
{
    for (const ElementType type : {ElementType::bfloat16, ElementType::float16}) {
        if (a == type || b == type) {
            return type;
        }
    }
    return std::nullopt;
}

/// |number - exact|; 0 for an infinity that rounding to `type` makes.
double difference(double number, double exact, ElementType type)
{
    if (std::isfinite(number) && std::isfinite(exact)) {
        return std::abs(number - exact);
    }
    const bool same = number == rounded(exact, precision_of(type)) || (std::isnan(number) && std::isnan(exact));
    return same ? 0 : std::numeric_limits<double>::infinity();
}

/// Copies of inputs that have changed, and live as long as this does.
class Changed {
public:
    explicit Changed(AttendInputs inputs) : inputs_(std::move(inputs)) {}

    [[nodiscard]] const AttendInputs& inputs() const { return inputs_; }

    void multiply_queries(double factor)
    {
        change(operand::queries, [factor](const Matrix<double>& numbers) -> Matrix<double> { return numbers * factor; });
    }
    /// Rounds what was given in another type; queries that have been multiplied stay.
    void round(ElementType type)
    {
        using namespace operand;
        for (const AttendOperand* operand : {&queries, &keys, &values, &past_key, &past_value}) {
            const TensorView* view = operand->in(inputs_);
            if (view != nullptr && view->type != type && !(operand == &queries && !copies_.empty())) {
                change(*operand, [type](const Matrix<double>& numbers) { return core::with_digits_of<double>(numbers, type); });
            }
        }
    }

private:
    template <typename Change>
    void change(const AttendOperand& operand, Change make)
    {
        const TensorView& view = *operand.in(inputs_);
        const ElementType type = view.type == ElementType::float64 ? ElementType::float64 : ElementType::float32;
        StoredTensor& copy = copies_.emplace_back(std::string(operand.name), type, view.shape);
        const Index rows = view.shape[view.shape.size() - 2], size = view.shape.back();
        const Index at_once = std::max<Index>((Index{1} << 20) / std::max<Index>(size, 1), 1); // numbers of a few megabytes
        for (Index at = 0; at < view.count(); at += rows * size) {
            std::vector<Index> leading(view.shape.size() - 2);
            for (Index rest = at / (rows * size), n = std::ssize(leading) - 1; n >= 0; --n) {
                const Index extent = view.shape[static_cast<std::size_t>(n)];
                leading[static_cast<std::size_t>(n)] = rest % extent;
                rest /= extent;
            }
            const TensorView matrix = slice(view, leading);
            for (Index first = 0; first < rows; first += at_once) {
                const Matrix<double> made =
                    make(load_matrix<double>(row_block(matrix, first, std::min(at_once, rows - first)), {}));
                store<double>(copy, at + first * size, std::span(made.data(), static_cast<std::size_t>(made.size())));
            }
        }
        operand.put(inputs_, copy.view());
    }

    AttendInputs inputs_;
    std::deque<StoredTensor> copies_;
};

std::vector<std::vector<double>> numbers_shown(const AttendInputs& inputs, const Attend& options, const RunSettings& settings)
{
    std::vector<std::vector<double>> numbers;
    for (const StoredTensor& stage : attend(inputs, options, settings).tensors) {
        numbers.push_back(load<double>(stage.view()).values);
    }
    return numbers;
}

} // namespace

HalfReference::HalfReference(const ResolvedAttend& call)
    : inputs_(call.inputs), options_(call.options), settings_(call.settings), sizes_(call.views.sizes)
{
    settings_.isa = core::Isa::portable;
    settings_.observer = nullptr;
    settings_.read_numbers = nullptr;
}

std::size_t HalfReference::place_of(std::string_view stage) const
{
    return static_cast<std::size_t>(std::ranges::distance(
        options_.show.begin(), std::ranges::find_if(options_.show, [&](Item item) { return name_of(item) == stage; })));
}

std::optional<ElementType> HalfReference::type_of(ElementType file, ElementType right) const
{
    const std::optional<ElementType> half = half_of(file, right);
    if (half || !is_gradient(*options_.show.begin())) {
        return half;
    }
    const std::optional<ElementType> of_terms = half_of(inputs_.queries.type, inputs_.queries.type); // sums in float32
    return of_terms || right != ElementType::float32 ? of_terms : right;
}

bool HalfReference::is_cheap() const
{
    constexpr double most_products = 1e9, most_numbers = 4e6;
    const core::AttentionDims& l = sizes_;
    const double keys = static_cast<double>(l.B * l.total()) * static_cast<double>(l.d_k + l.d_v);
    return keys * static_cast<double>(l.H * l.T) <= most_products && keys * static_cast<double>(l.H_kv) <= most_numbers;
}

std::vector<double> HalfReference::unfused(ElementType type) const
{
    constexpr std::size_t many = 4096; // numbers, of which the largest difference is no matter of luck
    constexpr int computations = 9;
    std::vector<std::vector<double>> largest(exact_.size());
    const bool few = std::ranges::any_of(exact_, [](const std::vector<double>& stage) { return stage.size() < many; });
    for (int n = 0; n < (few ? computations : 1); ++n) {
        Changed changed(inputs_);
        if (n > 0) {
            changed.multiply_queries(1 + n * 0x1p-9);
        }
        Attend options = options_;
        options.out_type = ElementType::float64;
        const Stages exact = n == 0 ? exact_ : numbers_shown(changed.inputs(), options, settings_);
        changed.round(type);
        options.out_type = type;
        options.stage_type = type;
        const Stages numbers = numbers_shown(changed.inputs(), options, settings_);
        for (std::size_t stage = 0; stage < numbers.size(); ++stage) {
            if (n > 0 && numbers[stage].size() >= many) {
                continue;
            }
            double& found = largest[stage].emplace_back(0);
            for (std::size_t at = 0; at < numbers[stage].size(); ++at) {
                const double each = difference(numbers[stage][at], exact[stage][at], type);
                found = std::isfinite(each) ? std::max(found, each) : found; // at the end of a type one may be infinite alone
            }
        }
    }
    std::vector<double> found;
    for (std::size_t stage = 0; stage < largest.size(); ++stage) {
        std::vector<double>& each = largest[stage];
        const double first = each.front();
        std::ranges::sort(each);
        found.push_back(exact_[stage].size() == 1 ? each.back() : std::max(first, each[each.size() / 2]));
    }
    return found;
}

std::optional<HalfAccuracy> HalfReference::accuracy(const ComparedTensor& file, const StoredTensor& right, double atol,
                                                    const std::function<bool(Index)>& counts)
{
    const std::optional<ElementType> type = type_of(file.view.type, right.type);
    const std::size_t place = place_of(right.name);
    if (!type) {
        return std::nullopt;
    }
    if (exact_.empty()) {
        Attend options = options_;
        options.out_type = ElementType::float64;
        exact_ = numbers_shown(inputs_, options, settings_);
    }
    if (!unfused_.contains(*type)) {
        unfused_[*type] = unfused(*type);
    }
    HalfAccuracy accuracy{
        .type = *type, .unfused = unfused_[*type][place], .times = is_gradient(*options_.show.begin()) ? 3 : 2};
    const std::vector<double> numbers = load<double>(file.view).values;
    for (std::size_t at = 0; at < numbers.size(); ++at) {
        const double number =
            file.printed.empty() ? numbers[at] : math::nearest_printed(file.printed[at], exact_[place][at], right.type);
        if (!counts || counts(static_cast<Index>(at))) {
            accuracy.largest = std::max(accuracy.largest, difference(number, exact_[place][at], *type));
        }
    }
    accuracy.allowed = accuracy.rounding() + atol;
    return accuracy;
}

} // namespace attn::model::diagnose
