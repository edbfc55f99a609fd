#include "attn/model/check/compare.hpp"

#include "attn/model/check/saved_result.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace attn::model {
namespace {

// ---- walking through two tensors ---------------------------------------------------------------------------------------

/// Elements that are read at once.
constexpr Index piece = 32768;

struct Dimension {
    Index length, a, b; ///< and the strides in both
};

/// Both tensors' dimensions, neighbours joined where neither has a gap between them: at least two.
std::vector<Dimension> joined_dimensions(const TensorView& a, const TensorView& b)
{
    std::vector<Dimension> joined;
    for (std::size_t d = 0; d < a.shape.size(); ++d) {
        const Dimension next{a.shape[d], a.strides[d], b.strides[d]};
        if (next.length == 1) {
            continue;
        }
        if (!joined.empty() && joined.back().a == next.length * next.a && joined.back().b == next.length * next.b) {
            joined.back() = {joined.back().length * next.length, next.a, next.b};
        } else {
            joined.push_back(next);
        }
    }
    while (joined.size() < 2) {
        joined.insert(joined.begin(), {1, 0, 0});
    }
    return joined;
}

/// A matrix inside a view, from an offset in elements on.
TensorView matrix_at(const TensorView& view, Index offset, Shape shape, Shape strides)
{
    const auto skipped = static_cast<std::size_t>(offset * size_of(view.type));
    return {view.type, std::move(shape), std::move(strides), view.swapped, view.bytes.subspan(skipped)};
}

/// Calls `visit(matrix of a, matrix of b)` for one piece after the other, in row-major order. Both have the same shape.
template <typename Visit>
void for_each_piece(const TensorView& a, const TensorView& b, Visit visit)
{
    if (a.count() == 0) {
        return;
    }
    const std::vector<Dimension> dimensions = joined_dimensions(a, b);
    const Dimension& rows = dimensions[dimensions.size() - 2];
    const Dimension& columns = dimensions.back();
    const Index wide = std::min(columns.length, piece);
    const Index high = std::max<Index>(1, piece / columns.length); // 1 where a row is cut: that keeps the order
    Index matrices = 1;
    for (std::size_t d = 0; d + 2 < dimensions.size(); ++d) {
        matrices *= dimensions[d].length;
    }
    for (Index matrix = 0; matrix < matrices; ++matrix) {
        Index rest = matrix;
        Index offset_a = 0;
        Index offset_b = 0;
        for (std::size_t d = dimensions.size() - 2; d-- > 0;) {
            offset_a += rest % dimensions[d].length * dimensions[d].a;
            offset_b += rest % dimensions[d].length * dimensions[d].b;
            rest /= dimensions[d].length;
        }
        for (Index row = 0; row < rows.length; row += high) {
            for (Index column = 0; column < columns.length; column += wide) {
                const Shape shape{std::min(high, rows.length - row), std::min(wide, columns.length - column)};
                visit(matrix_at(a, offset_a + row * rows.a + column * columns.a, shape, {rows.a, columns.a}),
                      matrix_at(b, offset_b + row * rows.b + column * columns.b, shape, {rows.b, columns.b}));
            }
        }
    }
}

// ---- two tensors -------------------------------------------------------------------------------------------------------

bool is_exact(ElementType type)
{
    return is_integer(type) || type == ElementType::boolean;
}

/// The type with the fewer digits; an integer has as many as one can want.
ElementType narrower(ElementType a, ElementType b)
{
    constexpr std::array by_digits{ElementType::bfloat16, ElementType::float16, ElementType::float32};
    for (const ElementType type : by_digits) {
        if (a == type || b == type) {
            return type;
        }
    }
    return ElementType::float64;
}

std::string text_at(const TensorView& view, const Shape& index)
{
    if (is_exact(view.type)) {
        return std::to_string(load<std::int64_t>(slice(view, index)).values.front());
    }
    const double value = view.at(index);
    return view.type == ElementType::float64 ? math::shortest(value) : math::shortest(static_cast<float>(value));
}

/// Two numbers of which either may have been printed: then it is, of those that print so, one nearest to the other.
std::pair<double, double> facing(const ComparedTensor& a, const ComparedTensor& b, std::size_t at,
                                 std::pair<double, double> numbers)
{
    auto [x, y] = numbers;
    if (!a.printed.empty() && !b.printed.empty()) {
        const math::Printed of_a = a.printed[at];
        const math::Printed of_b = b.printed[at];
        if (math::agree(of_a, of_b)) {
            return {y, y};
        }
        x = math::nearest_printed(of_a, y);
        y = math::nearest_printed(of_b, numbers.first);
        return {x, x == y ? std::nextafter(y, numbers.second) : y}; // each stops short of where they meet
    }
    if (!a.printed.empty()) {
        x = math::nearest_printed(a.printed[at], y, b.view.type);
    } else if (!b.printed.empty()) {
        y = math::nearest_printed(b.printed[at], x, a.view.type);
    }
    return {x, y};
}

class ComparedPair {
public:
    ComparedPair(const ComparedTensor& a, const ComparedTensor& b, const CompareOptions& options, const Tolerance& tolerance)
        : named_a_(a), named_b_(b), a_(a.view), b_(b.view), options_(options), tolerance_(tolerance),
          type_(narrower(a_.type, b_.type))
    {
    }

    void compare(TensorComparison& result)
    {
        if (is_exact(a_.type) && is_exact(b_.type)) {
            for_each_piece(a_, b_, [&](const TensorView& a, const TensorView& b) {
                count(load<std::int64_t>(a).values, load<std::int64_t>(b).values);
            });
        } else {
            for_each_piece(a_, b_, [&](const TensorView& a, const TensorView& b) {
                count(load<double>(a).values, load<double>(b).values);
            });
        }
        result.compared = tally_.compared;
        result.mismatched = tally_.mismatched;
        result.unmeasured = tally_.unmeasured;
        if (tally_.mismatched > 0) {
            result.first = std::make_shared<const Place>(place(tally_.first));
        }
        if (tally_.unmeasured > 0) {
            result.first_unmeasured = std::make_shared<const Place>(place(tally_.first_unmeasured));
        }
        result.absolute = largest(tally_.largest_absolute, tally_.absolute_at);
        result.relative = largest(tally_.largest_relative, tally_.relative_at);
    }

private:
    template <typename Value>
    void count(const std::vector<Value>& a, const std::vector<Value>& b)
    {
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (a[i] == b[i]) {
                tally_.count(true);
            } else {
                tally_.count(agree(a[i], b[i]), difference(a[i], b[i]), static_cast<double>(b[i]));
            }
        }
    }

    static double difference(double a, double b) { return absolute_difference(a, b); }
    static double difference(std::int64_t a, std::int64_t b)
    {
        const auto x = static_cast<std::uint64_t>(a);
        const auto y = static_cast<std::uint64_t>(b);
        return static_cast<double>(a < b ? y - x : x - y);
    }

    [[nodiscard]] bool agree(double number_of_a, double number_of_b) const
    {
        const auto [a, b] = facing(named_a_, named_b_, static_cast<std::size_t>(tally_.compared), {number_of_a, number_of_b});
        if (!options_.ulps) {
            return within(a, b, tolerance_, options_.equal_nan);
        }
        const bool nan = a != a && b != b; // a number that does not equal itself
        return nan ? options_.equal_nan : ulps_between(a, b, type_) <= *options_.ulps;
    }
    [[nodiscard]] bool agree(std::int64_t a, std::int64_t b) const
    {
        return !options_.ulps && difference(a, b) <= tolerance_.atol + tolerance_.rtol * std::abs(static_cast<double>(b));
    }

    [[nodiscard]] Place place(Index at) const
    {
        const Shape index = index_of(a_.shape, at);
        return {index, text_at(a_, index), text_at(b_, index)};
    }
    [[nodiscard]] std::shared_ptr<const LargestDifference> largest(double value, Index at) const
    {
        return value > 0 ? std::make_shared<const LargestDifference>(LargestDifference{value, place(at)}) : nullptr;
    }

    const ComparedTensor& named_a_;
    const ComparedTensor& named_b_;
    const TensorView& a_;
    const TensorView& b_;
    const CompareOptions& options_;
    const Tolerance& tolerance_;
    ElementType type_;
    Tally tally_;
};

TensorComparison compare_tensors(const ComparedTensor& a, const ComparedTensor& b, const CompareOptions& options)
{
    TensorComparison result;
    result.name = a.name.empty() ? b.name : a.name;
    if (!b.name.empty() && b.name != result.name) {
        result.name += " and " + b.name;
    }
    result.shape = a.view.shape;
    if (a.view.shape != b.view.shape) {
        result.why = fmt::format("the shapes differ: {}, {}", to_string(a.view.shape), to_string(b.view.shape));
        return result;
    }
    read_numbers(std::array<const NamedTensor*, 2>{&a, &b});
    result.tolerance = options.tolerance.value_or(usual_tolerance(a.view.type, b.view.type));
    ComparedPair(a, b, options, result.tolerance).compare(result);
    return result;
}

TensorComparison compare_words(const NamedWords& a, const NamedWords& b)
{
    TensorComparison result;
    result.name = a.name;
    result.shape = {static_cast<Index>(a.words.size())};
    if (a.words.size() != b.words.size()) {
        result.why =
            fmt::format("the shapes differ: {}, {}", to_string(result.shape), to_string({static_cast<Index>(b.words.size())}));
        return result;
    }
    Tally tally;
    for (std::size_t i = 0; i < a.words.size(); ++i) {
        tally.count(a.words[i] == b.words[i]);
    }
    result.compared = tally.compared;
    result.mismatched = tally.mismatched;
    if (tally.mismatched > 0) {
        const auto first = static_cast<std::size_t>(tally.first);
        result.first =
            std::make_shared<const Place>(Place{{tally.first}, in_quotes(a.words[first]), in_quotes(b.words[first])});
    }
    return result;
}

/// One side, to be looked up in.
template <typename Named>
class ByName {
public:
    explicit ByName(const std::vector<Named>& side)
    {
        sorted_.reserve(side.size());
        for (const Named& named : side) {
            sorted_.push_back(&named);
        }
        std::ranges::stable_sort(sorted_, {}, &Named::name);
    }
    /// nullptr: there is none of this name.
    [[nodiscard]] const Named* first(const std::string& name) const
    {
        const auto found = std::ranges::lower_bound(sorted_, name, {}, &Named::name);
        return found != sorted_.end() && (*found)->name == name ? *found : nullptr;
    }

private:
    std::vector<const Named*> sorted_;
};

/// What A has, each with its partner in B; then what is left in B.
template <typename Named, typename Compare>
void compare_by_name(const std::vector<Named>& a, const std::vector<Named>& b, std::vector<TensorComparison>& results,
                     Compare compare_pair)
{
    const ByName of_a(a);
    const ByName of_b(b);
    const auto only_in_b = std::ranges::count_if(b, [&](const Named& named) { return !of_a.first(named.name); });
    results.reserve(results.size() + a.size() + static_cast<std::size_t>(only_in_b));
    const auto alone = [&](const std::string& name, const char* why) {
        results.emplace_back().name = name;
        results.back().why = why;
    };
    for (const Named& named : a) {
        if (const Named* const other = of_b.first(named.name)) {
            results.push_back(compare_pair(named, *other));
        } else {
            alone(named.name, "only in A");
        }
    }
    for (const Named& named : b) {
        if (!of_a.first(named.name)) {
            alone(named.name, "only in B");
        }
    }
}

} // namespace

double TensorComparison::percentage() const
{
    return compared == 0 ? 0 : 100 * static_cast<double>(mismatched) / static_cast<double>(compared);
}

bool Comparison::agrees() const
{
    return differing() == 0;
}

Index Comparison::differing() const
{
    return std::count_if(tensors.begin(), tensors.end(), [](const TensorComparison& tensor) { return !tensor.agrees(); });
}

Comparison compare(const Contents& a, const Contents& b, const CompareOptions& options)
{
    if (a.tensors.empty() && b.tensors.empty() && (a.words.empty() || b.words.empty())) {
        throw Error(ErrorKind::data, "neither side holds a tensor; allowed: at least one");
    }
    Comparison comparison;
    if (!a.words.empty() && !b.words.empty()) {
        compare_by_name(a.words, b.words, comparison.tensors, compare_words);
    }
    const auto compare_pairs = [&](std::vector<TensorComparison>& found, const auto& pair) {
        if (a.tensors.size() == 1 && b.tensors.size() == 1) {
            found.push_back(pair(a.tensors.front(), b.tensors.front()));
        } else {
            compare_by_name(a.tensors, b.tensors, found, pair);
        }
    };
    const auto inflates = [](const ComparedTensor& tensor) { return tensor.inflated() > 0; };
    if (std::ranges::any_of(a.tensors, inflates) || std::ranges::any_of(b.tensors, inflates)) {
        std::vector<const NamedTensor*> needed; // together, so that the last may be refused before the first takes memory
        Index bytes = 0;
        std::vector<TensorComparison> nothing;
        compare_pairs(nothing, [&](const ComparedTensor& x, const ComparedTensor& y) {
            if (x.view.shape == y.view.shape) {
                needed.insert(needed.end(), {&x, &y});
                bytes += x.inflated() + y.inflated();
            }
            return TensorComparison();
        });
        if (bytes > options.memory_limit) {
            throw Error(ErrorKind::too_large,
                        fmt::format("the numbers of the two files, inflated, need {} bytes and {} are free", bytes,
                                    options.memory_limit));
        }
        read_numbers(needed);
    }
    compare_pairs(comparison.tensors,
                  [&](const ComparedTensor& x, const ComparedTensor& y) { return compare_tensors(x, y, options); });
    return comparison;
}

std::vector<double> numbers_beside(const ComparedTensor& a, const ComparedTensor& b, const Tolerance& tolerance)
{
    std::vector<double> numbers = load<double>(a.view).values;
    if (a.printed.empty()) {
        return numbers;
    }
    const std::vector<double> others = load<double>(b.view).values;
    for (std::size_t at = 0; at < numbers.size(); ++at) {
        const auto [x, y] = facing(a, b, at, {numbers[at], others[at]});
        numbers[at] = within(x, y, tolerance) ? others[at] : numbers[at];
    }
    return numbers;
}

} // namespace attn::model
