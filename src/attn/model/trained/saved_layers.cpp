#include "attn/model/trained/saved_layers.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/check/computed.hpp"
#include "attn/model/check/summary_members.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace attn::model {
namespace {

Show items_in(const SavedLayers& saved)
{
    Show show;
    for (const SavedResult& layer : saved.layers) {
        for (const std::string& name : names_in(layer)) {
            show.insert(item_called(name).value_or(Item::tokens));
        }
        if (layer.summary) {
            show.insert(Item::summary);
        }
    }
    if (saved.logits) {
        show.insert(Item::logits);
    }
    return show;
}

/// As `numbers` of a computed result that is called by its name alone.
Result result_with(const AnyTensor& logits)
{
    Result result;
    result.arrays.push_back({std::string(name_of(Item::logits)), logits});
    return result;
}

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

/// The numbers and words of a summary, those of one kind of all heads one after the other: "summary.heads.entropy".
void add_summary(ResultTensors& to, const StatedSummary& summary)
{
    for (const StatedArray& value : summary.values) {
        const std::string name = without_places(value.name);
        if (is_word_of_pair(name)) {
            auto words = std::ranges::find(to.words, name, &NamedWords::name);
            if (words == to.words.end()) {
                words = to.words.insert(words, {name, {}});
            }
            words->words.push_back(value.decimals.front());
            continue;
        }
        auto tensor = std::ranges::find(to.tensors, name, &StoredTensor::name);
        if (tensor == to.tensors.end()) {
            tensor = to.tensors.insert(tensor, StoredTensor{name, ElementType::float32, {0}});
        }
        const double number = number_of(value.decimals.front(), Dtype::float32);
        const std::vector<std::byte> bytes = to_bytes<double>(tensor->type, std::span(&number, 1));
        tensor->bytes.insert(tensor->bytes.end(), bytes.begin(), bytes.end());
        ++tensor->shape.front();
    }
}

/// The likeliest words as a file states them.
std::vector<StatedArray> stated(const std::vector<Guesses>& guesses)
{
    std::vector<StatedArray> list;
    const auto add = [&](const std::string& place, std::string_view member, std::string text) {
        list.push_back({place + std::string(member), {}, {std::move(text)}});
    };
    for (std::size_t g = 0; g < guesses.size(); ++g) {
        const std::string place = fmt::format("{}[{}].", key::likeliest, g);
        add(place, key::position, std::to_string(guesses[g].position));
        for (std::size_t w = 0; w < guesses[g].words.size(); ++w) {
            const Guess& word = guesses[g].words[w];
            const std::string at = fmt::format("{}{}[{}].", place, key::words, w);
            add(at, key::token, word.token);
            add(at, key::id, std::to_string(word.id));
            add(at, key::probability, math::shortest(word.probability));
        }
    }
    return list;
}

bool agrees(const StatedArray& given, const std::string& computed, const Tolerance& tolerance)
{
    const std::string& decimal = given.decimals.front();
    if (!given.name.ends_with(key::probability)) {
        return decimal == computed;
    }
    return tolerance.exact() ? math::canonical_decimal(decimal) == math::canonical_decimal(computed)
                             : within(number_of(computed, Dtype::float64), number_of(decimal, Dtype::float64), tolerance);
}

/// Positions, words, ids and probabilities.
Finding compare_guesses(const std::vector<StatedArray>& given, const std::vector<Guesses>& computed, const Tolerance& tolerance)
{
    const std::vector<StatedArray> wanted = stated(computed);
    Finding finding;
    finding.what = key::likeliest;
    finding.compared = static_cast<Index>(given.size());
    for (const StatedArray& one : given) {
        const auto found = std::ranges::find(wanted, one.name, &StatedArray::name);
        const std::string text = found == wanted.end() ? "nothing" : found->decimals.front();
        if (found == wanted.end() || !agrees(one, text, tolerance)) {
            ++finding.mismatched;
            finding.first = finding.first.empty()
                                ? fmt::format("{}: stated {}, computed {}", one.name, one.decimals.front(), text)
                                : finding.first;
        }
    }
    return finding;
}

/// With what the first layer alone has, and a config that leaves open what the model's own config says.
SavedResult with_words_of(const SavedLayers& saved, SavedResult layer)
{
    const SavedResult& first = saved.layers.front();
    if (!first.tokens) {
        throw Error(ErrorKind::data, name_of(Item::tokens), "none", "a result saved with tokens among --show");
    }
    layer.tokens = first.tokens;
    layer.config.input = PositionsInput{.count = std::ssize(*first.tokens), .labels = {}};
    const auto rows = std::ranges::find(first.arrays, name_of(Item::query_positions), &StatedArray::name);
    if (layer.layer != first.layer && rows != first.arrays.end()) {
        layer.arrays.push_back(*rows);
    }
    return layer;
}

} // namespace

CheckReport check(const SavedLayers& saved, const Tolerance& tolerance, const Trained& trained, const RunSettings& settings)
{
    RunSettings run_settings = settings;
    run_settings.show = items_in(saved);
    if (run_settings.show.empty()) {
        throw Error(ErrorKind::data, "the result states nothing to compare with but its config; run it with --show");
    }
    if (saved.layers.front().summary) {
        run_settings.top = saved.layers.front().summary->top;
    }
    LayeredResult result = run_trained(saved.config, trained, run_settings);
    // The first layer stands for all. An older file may have no warning where there is one now.
    const SavedResult& first = saved.layers.front();
    if (first.warnings && !first.warnings->empty()) {
        result.layers.front().warnings = result.warnings;
    }
    CheckReport report;
    report.portable_because = result.layers.front().portable_because;
    for (const SavedResult& stated_layer : saved.layers) {
        const std::string name = fmt::format("layer {}: ", stated_layer.layer.value_or(0));
        const auto found = std::ranges::find(result.layers, stated_layer.layer, &Result::layer);
        if (found == result.layers.end()) {
            report.findings.push_back(mismatch(name + "there", name + "stated, but no part of this run"));
            continue;
        }
        const Recipe& config = stated_layer.config; // older files do not state it
        if (config.dims.heads && (config.dims != found->config.dims || config.attention != found->config.attention)) {
            report.findings.push_back(mismatch(name + "dims and attention", name + "stated otherwise than the model has them"));
        }
        for (Finding& finding : findings_of(stated_layer, *found, tolerance)) {
            finding.what.insert(0, name);
            report.findings.push_back(std::move(finding));
        }
    }
    if (saved.logits && result.logits) {
        SavedResult one;
        one.arrays.push_back(*saved.logits);
        std::ranges::move(findings_of(one, result_with(*result.logits), tolerance), std::back_inserter(report.findings));
        report.findings.push_back(compare_guesses(saved.guesses, result.guesses, tolerance));
    }
    return report;
}

ResultTensors tensors_of(const SavedLayers& saved)
{
    ResultTensors all;
    for (const SavedResult& layer : saved.layers) {
        const std::string prefix = fmt::format("{}.{}.", key::layers, layer.layer.value_or(0));
        ResultTensors one = tensors_of(layer);
        if (layer.summary) {
            add_summary(one, *layer.summary);
        }
        for (StoredTensor& tensor : one.tensors) {
            const std::optional<Item> item = item_called(tensor.name);
            const bool common = item && standing_of(*item) == Standing::before_layers;
            tensor.name.insert(0, common ? "" : prefix);
            all.tensors.push_back(std::move(tensor));
        }
        for (NamedWords& words : one.words) {
            words.name.insert(0, item_called(words.name) ? "" : prefix);
            all.words.push_back(std::move(words));
        }
    }
    if (saved.logits) {
        SavedResult one;
        one.arrays.push_back(*saved.logits);
        all.tensors.push_back(std::move(tensors_of(one).tensors.front()));
    }
    return all;
}

SavedResult layer_of(const SavedLayers& saved, std::optional<Index> layer)
{
    std::string there;
    for (const SavedResult& each : saved.layers) {
        there += (there.empty() ? "" : ", ") + std::to_string(each.layer.value_or(0));
        if (each.layer == layer || (!layer && saved.layers.size() == 1)) {
            return with_words_of(saved, each);
        }
    }
    throw Error(ErrorKind::usage, option::layer, layer ? std::to_string(*layer) : "none", "one that the result has: " + there);
}

} // namespace attn::model
