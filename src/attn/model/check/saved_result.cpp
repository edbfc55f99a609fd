#include "attn/model/check/saved_result.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/check/summary_members.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::model {
namespace {

/// "summary.heads[0].pairs[1].weight" → "summary.heads.pairs.weight"
std::string without_places(std::string_view name)
{
    std::string plain;
    bool inside = false;
    for (const char c : name) {
        inside = c == '[' || (inside && c != ']');
        if (!inside && c != ']') {
            plain += c;
        }
    }
    return plain;
}

/// The element of that name, which is made where there is none.
template <typename Named>
Named& called(std::vector<Named>& list, const std::string& name)
{
    const auto found = std::ranges::find(list, name, &Named::name);
    if (found != list.end()) {
        return *found;
    }
    list.emplace_back().name = name;
    return list.back();
}

/// "cat = 0"
std::vector<std::string> rows_of_vocabulary(const TextList& texts)
{
    std::vector<std::string> rows;
    for (std::size_t i = 0; i + 1 < texts.size(); i += 2) {
        rows.push_back(fmt::format("{} = {}", texts[i], texts[i + 1]));
    }
    return rows;
}

/// A number or a word of a summary, behind those of the same kind.
void add_of_summary(ResultTensors& to, const Leaf& leaf, const std::string& name)
{
    if (!leaf.type) {
        called(to.words, name).words.emplace_back(leaf.texts.front());
        return;
    }
    StoredTensor& tensor = called(to.tensors, name);
    tensor.shape.resize(1);
    ++tensor.shape.front();
    const double number = number_of(leaf.texts.front(), tensor.type);
    const std::vector<std::byte> bytes = to_bytes<double>(tensor.type, std::span(&number, 1));
    tensor.bytes.insert(tensor.bytes.end(), bytes.begin(), bytes.end());
}

} // namespace

const Leaf* SavedResult::find(std::string_view name, std::optional<LayerPlace> layer) const
{
    const auto found = std::ranges::find_if(leaves, [&](const Leaf& leaf) { return leaf.name == name && leaf.layer == layer; });
    return found == leaves.end() ? nullptr : &*found;
}

Index SavedResult::top() const
{
    Index most = 1;
    const std::string pairs = fmt::format(".{}[", key::pairs);
    for (const Leaf& leaf : leaves) {
        const std::size_t at = whole_of(leaf.name) == name_of(Item::summary) ? leaf.name.find(pairs) : std::string::npos;
        if (at != std::string::npos) {
            most = std::max(most, static_cast<Index>(std::stoll(leaf.name.substr(at + pairs.size()))) + 1);
        }
    }
    return most;
}

std::string_view whole_of(std::string_view name)
{
    const bool verify = name.starts_with(key::verify) && name.substr(key::verify.size()).starts_with('.');
    return name.substr(0, name.find_first_of(".[", verify ? key::verify.size() + 1 : 0));
}

double number_of(std::string_view text, ElementType type)
{
    if (text == "null") {
        return -std::numeric_limits<double>::infinity();
    }
    return type == ElementType::float32 ? static_cast<double>(math::nearest<float>(text)) : math::nearest<double>(text);
}

StoredTensor tensor_of(const Leaf& leaf)
{
    const ElementType type = leaf.type.value_or(ElementType::float64);
    std::vector<double> values;
    values.reserve(leaf.texts.size());
    for (std::size_t i = 0; i < leaf.texts.size(); ++i) {
        const std::string_view decimal = leaf.texts[i];
        values.push_back(number_of(decimal, type));
        if (std::isinf(values.back()) && decimal.find('n') == std::string::npos) { // neither "inf" nor null
            const Shape place = index_of(leaf.shape, std::ssize(values) - 1);
            throw Error(ErrorKind::data, fmt::format("{} at {}", leaf.name, to_string(place)),
                        fmt::format("{}, which is beyond {}", decimal.substr(0, 40), name_of(type)),
                        fmt::format("up to {} in a result of that type", type == ElementType::float32 ? "3.4e38" : "1.8e308"));
        }
    }
    StoredTensor tensor;
    tensor.name = leaf.name;
    tensor.type = type;
    tensor.shape = leaf.shape;
    tensor.bytes = to_bytes<double>(type, values);
    return tensor;
}

ResultTensors tensors_of(const SavedResult& saved)
{
    ResultTensors all;
    for (const Leaf& leaf : saved.leaves) {
        const std::optional<Item> item = item_called(leaf.name);
        const bool common = item && standing_of(*item) == Standing::before_layers;
        const std::string name = (leaf.layer && !common ? prefix_of(*leaf.layer) : "") + leaf.name;
        if (leaf.type && whole_of(leaf.name) == leaf.name) {
            all.tensors.push_back(tensor_of(leaf));
            all.tensors.back().name = name;
        } else if (leaf.layer && whole_of(leaf.name) == name_of(Item::summary)) {
            add_of_summary(all, leaf, without_places(name));
        } else if (item == Item::vocabulary) {
            all.words.push_back({name, rows_of_vocabulary(leaf.texts)});
        } else if (item) {
            all.words.push_back({name, leaf.texts.strings()});
        }
    }
    return all;
}

} // namespace attn::model
