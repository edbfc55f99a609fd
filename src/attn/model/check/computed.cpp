#include "attn/model/check/computed.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/check/summary_members.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace attn::model {
namespace {

Computed integers(Item item, const std::vector<Index>& list)
{
    return {Result::shape_of_integers(item, list), [&list](std::size_t i) { return std::to_string(list[i]); }, {}};
}

/// Rows of a word and its id.
Computed vocabulary(const std::vector<std::string>& list)
{
    const auto text = [&list](std::size_t i) { return i % 2 == 0 ? list[i / 2] : std::to_string(i / 2); };
    return {{static_cast<Index>(list.size()), 2}, text, {}};
}

template <typename Scalar>
Computed numbers(const Tensor<Scalar>& tensor)
{
    return {tensor.shape, [&tensor](std::size_t i) { return math::shortest(tensor.values[i]); },
            [&tensor](std::size_t i) { return static_cast<double>(tensor.values[i]); }, dtype_of<Scalar>};
}

void append_index(std::string& name, const std::string& index)
{
    name += '[';
    name += index;
    name += ']';
}

/// "weights[0][2][3]"
std::string name_of(std::string array, const Shape& whole, std::size_t place)
{
    std::vector<std::size_t> indices(whole.size());
    for (std::size_t d = whole.size(); d-- > 0;) {
        const auto length = static_cast<std::size_t>(whole[d]);
        indices[d] = place % length;
        place /= length;
    }
    for (const std::size_t index : indices) {
        append_index(array, std::to_string(index));
    }
    return array;
}

/// Whether the element of a list is compared and shown as a word.
bool is_word(const std::string& array, std::size_t place)
{
    const ItemKind kind = kind_of(array);
    return kind == ItemKind::words || (kind == ItemKind::vocabulary && place % 2 == 0) || array == key::warnings ||
           is_word_of_pair(array);
}

/// A value for a message: words between quotes, overlong decimals cut.
std::string display(const std::string& array, std::size_t place, const std::string& text)
{
    if (is_word(array, place)) {
        return in_quotes(text);
    }
    if (array == name_of(Item::heads) && text == std::to_string(mean_of_heads)) {
        return "the mean";
    }
    return text.size() <= 40 ? text : text.substr(0, 40) + "…";
}

} // namespace

// ---- what was computed -----------------------------------------------------------------------------------------------

Computed computed_words(const std::vector<std::string>& list)
{
    return {{static_cast<Index>(list.size())}, [&list](std::size_t i) { return list[i]; }, {}};
}

Computed computed_number(double number)
{
    return {{}, [number](std::size_t) { return math::shortest(number); }, [number](std::size_t) { return number; }};
}

std::optional<Computed> find_computed(const Result& result, const std::string& name)
{
    if (const std::optional<Item> item = item_called(name)) {
        if (const std::vector<std::string>* words = result.words(*item)) {
            return *item == Item::vocabulary ? vocabulary(*words) : computed_words(*words);
        }
        if (const std::vector<Index>* list = result.integers(*item)) {
            return integers(*item, *list);
        }
    }
    const AnyTensor* tensor = result.find(name);
    return tensor == nullptr ? std::nullopt : std::optional(std::visit([](const auto& t) { return numbers(t); }, *tensor));
}

std::optional<Computed> find_computed(const std::vector<Result>& entries, const std::string& name, const At& at)
{
    std::vector<Computed> all;
    for (const Result& entry : entries) {
        std::optional<Computed> one = find_computed(entry, name);
        const std::optional<Item> item = item_called(name);
        if (!one || !item || item == Item::vocabulary) {
            return one;
        }
        all.push_back(std::move(*one));
    }
    const bool chosen = !at.empty() && at.front() && *at.front() < std::ssize(all);
    Computed batch = all.at(chosen ? static_cast<std::size_t>(*at.front()) : 0);
    const auto fits = [&](const Computed& one) { return one.shape == batch.shape; };
    if (!chosen && !std::ranges::all_of(all, fits)) {
        throw Error(ErrorKind::data, "published: " + name, "all entries of a batch, whose shapes differ",
                    "a statement for each entry, \"at\": [0] and so on");
    }
    const auto size = static_cast<std::size_t>(element_count(batch.shape));
    batch.shape.insert(batch.shape.begin(), std::ssize(all));
    batch.text = [all, size](std::size_t i) { return all[i / size].text(i % size); };
    if (batch.value) {
        batch.value = [all, size](std::size_t i) { return all[i / size].value(i % size); };
    }
    return batch;
}

std::map<std::string, Computed> computed_summary(const Result& result)
{
    std::map<std::string, Computed> values;
    if (!result.summary) {
        return values;
    }
    const Dtype dtype = result.summary->dtype;
    const auto add_position = [&](const std::string& pair_name, const PairEnd& end, const Pair& pair) {
        const auto position = [place = pair.*end.place](std::size_t) { return std::to_string(place); };
        values[pair_name + std::string(end.position)] = {{}, position, {}};
        values[pair_name + std::string(end.token)] = {{}, [&word = end.word(result, pair)](std::size_t) { return word; }, {}};
    };
    const std::string summary = std::string(name_of(Item::summary)) + '.';
    values[summary + std::string(key::largest_entropy)] = computed_number(result.summary->largest_entropy);
    for (std::size_t h = 0; h < result.summary->heads.size(); ++h) {
        const HeadSummary& head = result.summary->heads[h];
        const std::string place = fmt::format("{}{}[{}].", summary, key::heads, h);
        for (const HeadMean& each : head_mean::all) {
            if (const std::optional<double> mean = each.value(head)) {
                values[place + std::string(each.name)] = computed_number(*mean);
            }
        }
        for (std::size_t p = 0; p < head.pairs.size(); ++p) {
            const Pair& pair = head.pairs[p];
            const std::string at = fmt::format("{}{}[{}].", place, key::pairs, p);
            for (const PairEnd& end : pair_ends) {
                add_position(at, end, pair);
            }
            const auto text = [&pair, dtype](std::size_t) {
                return dtype == Dtype::float32 ? math::shortest(static_cast<float>(pair.weight)) : math::shortest(pair.weight);
            };
            values[at + std::string(key::weight)] = {{}, text, [&pair](std::size_t) { return pair.weight; }, dtype};
        }
    }
    return values;
}

Show items_of(const Recipe& recipe, const std::vector<std::string>& arrays)
{
    const Show existing = everything(recipe);
    Show show;
    for (const std::string& name : arrays) {
        const Item item = item_called(name).value_or(Item::parameters); // which go together
        if (existing.contains(item)) {
            show.insert(item);
        }
    }
    return show.empty() ? Show{Item::tokens} : show; // an empty one would mean the default
}

// ---- parts of arrays -------------------------------------------------------------------------------------------------

std::optional<Part> part_of(const Shape& whole, const At& at)
{
    if (at.size() > whole.size()) {
        return std::nullopt;
    }
    Part part;
    part.places = {0};
    for (std::size_t d = 0; d < whole.size(); ++d) {
        Index begin = 0;
        Index end = whole[d];
        if (d < at.size() && at[d]) {
            begin = *at[d];
            end = begin + 1;
        } else {
            part.shape.push_back(whole[d]);
        }
        if (end > whole[d]) {
            return std::nullopt;
        }
        std::vector<std::size_t> finer;
        finer.reserve(part.places.size() * static_cast<std::size_t>(end - begin));
        for (const std::size_t place : part.places) {
            for (Index i = begin; i < end; ++i) {
                finer.push_back(place * static_cast<std::size_t>(whole[d]) + static_cast<std::size_t>(i));
            }
        }
        part.places = std::move(finer);
    }
    return part;
}

std::string name_of(std::string array, const At& at)
{
    for (const std::optional<Index>& index : at) {
        append_index(array, index ? std::to_string(*index) : ":");
    }
    return array;
}

// ---- comparing -------------------------------------------------------------------------------------------------------

double number_of(std::string_view text, Dtype dtype)
{
    if (text == "null") {
        return -std::numeric_limits<double>::infinity();
    }
    return dtype == Dtype::float32 ? static_cast<double>(math::nearest<float>(text)) : math::nearest<double>(text);
}

Finding finding_of(std::string what, const Tally& tally, const std::string& array, const Computed& computed,
                   const std::function<std::size_t(std::size_t)>& place, const std::function<std::string(std::size_t)>& stated)
{
    Finding finding{std::move(what), tally.compared, tally.mismatched, "", tally.largest_absolute, tally.largest_relative};
    finding.unmeasured = tally.unmeasured > 0;
    if (tally.mismatched > 0) {
        const auto first = static_cast<std::size_t>(tally.first);
        const std::size_t at = place(first);
        finding.first = fmt::format("{}: stated {}, computed {}", name_of(array, computed.shape, at),
                                    display(array, at, stated(first)), display(array, at, computed.text(at)));
    }
    return finding;
}

Finding mismatch(std::string what, std::string why)
{
    Finding finding;
    finding.what = std::move(what);
    finding.compared = finding.mismatched = 1;
    finding.first = std::move(why);
    return finding;
}

} // namespace attn::model
