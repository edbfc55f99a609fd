#include "attn/model/diagnose/half_reference.hpp"

#include "attn/model/attend/attend_layout.hpp"
#include "attn/model/attend/attend_operands.hpp"
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

/// |number - exact|; 0 for what rounding to `type` makes of it, an infinity among that.
double difference(double number, double exact, ElementType type)
{
    if (number == exact || number == rounded(exact, precision_of(type)) || (std::isnan(number) && std::isnan(exact))) {
        return std::isfinite(number) ? std::abs(number - exact) : 0;
    }
    const double found = std::abs(number - exact);
    return std::isfinite(found) ? found : std::numeric_limits<double>::infinity();
}

/// Inputs rounded to a type, and then the queries times a factor. The copies live as long as this does.
class Rounded {
public:
    Rounded(const AttendInputs& inputs, ElementType type, double factor) : inputs_(inputs)
    {
        using namespace operand;
        for (const AttendOperand* operand : {&queries, &keys, &values, &past_key, &past_value}) {
            if (operand->in(inputs) != nullptr && operand->in(inputs)->type != type) {
                replace(*operand, type, 1);
            }
        }
        if (factor != 1) {
            replace(queries, ElementType::float32, factor);
        }
    }
    [[nodiscard]] const AttendInputs& inputs() const { return inputs_; }

private:
    void replace(const AttendOperand& operand, ElementType type, double factor)
    {
        const TensorView& view = *operand.in(inputs_);
        std::vector<double> numbers = load<double>(view).values;
        std::ranges::for_each(numbers, [factor](double& number) { number *= factor; });
        StoredTensor& copy = copies_.emplace_back(std::string(operand.name), type, view.shape);
        store<double>(copy, 0, numbers);
        operand.put(inputs_, copy.view());
    }

    AttendInputs inputs_;
    std::deque<StoredTensor> copies_;
};

/// How often the plain computation is made: until it has rounded as many numbers as a larger input has.
Index draws(const AttendInputs& inputs, std::size_t count)
{
    constexpr Index enough = 1 << 12, most = 16, read = 1 << 22;
    const Index elements = inputs.queries.count() + inputs.keys.count() + inputs.values.count();
    const auto made = std::max<Index>(static_cast<Index>(count), 1);
    return std::clamp<Index>(std::min((enough + made - 1) / made, read / std::max<Index>(elements, 1)), 1, most);
}

} // namespace

HalfReference::HalfReference(AttendInputs inputs, Attend options, RunSettings settings)
    : inputs_(std::move(inputs)), options_(std::move(options)), settings_(std::move(settings))
{
    settings_.isa = core::Isa::portable;
    settings_.observer = nullptr;
    settings_.read_numbers = nullptr;
}

double HalfReference::unfused(ElementType type) const
{
    const Index d_k = lay_out(inputs_, options_).sizes.d_k;
    const Index count =
        options_.show.contains(Item::scores) ? 1 : draws(inputs_, exact_.size()); // those of other queries differ
    double largest = 0;
    for (Index draw = 0; draw < count; ++draw) {
        const double factor = std::exp2(static_cast<double>(draw) / static_cast<double>(count));
        const Rounded rounded(inputs_, type, factor);
        Attend options = options_;
        options.scale = options_.scale.value_or(1 / std::sqrt(static_cast<double>(d_k))) / factor;
        options.score_type = type;
        options.softmax_type = options_.softmax_type.value_or(type);
        options.out_type = type;
        const std::vector<double> numbers =
            load<double>(attend(rounded.inputs(), options, settings_).tensors.front().view()).values;
        for (std::size_t at = 0; at < numbers.size(); ++at) {
            const double found = difference(numbers[at], exact_[at], type);
            largest = std::isfinite(found) ? std::max(largest, found) : largest;
        }
    }
    return largest;
}

std::optional<HalfAccuracy> HalfReference::accuracy(const NamedTensor& file, const StoredTensor& right, double atol)
{
    const std::optional<ElementType> type = half_of(file.view.type, right.type);
    if (!type) {
        return std::nullopt;
    }
    if (exact_.empty()) {
        Attend options = options_;
        options.out_type = ElementType::float64;
        exact_ = load<double>(attend(inputs_, options, settings_).tensors.front().view()).values;
    }
    if (!unfused_.contains(*type)) {
        unfused_[*type] = unfused(*type);
    }
    HalfAccuracy accuracy{.type = *type, .unfused = unfused_[*type]};
    const std::vector<double> numbers = load<double>(file.view).values;
    for (std::size_t at = 0; at < numbers.size(); ++at) {
        const double number =
            file.printed.empty() ? numbers[at] : math::nearest_printed(file.printed[at], exact_[at], right.type);
        accuracy.largest = std::max(accuracy.largest, difference(number, exact_[at], *type));
    }
    accuracy.allowed = 2 * accuracy.unfused + atol;
    return accuracy;
}

} // namespace attn::model::diagnose
