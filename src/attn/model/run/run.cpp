#include "attn/model/run/run.hpp"

#include "attn/model/layer/batch.hpp"
#include "attn/model/layer/extra_key.hpp"
#include "attn/model/run/compute.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::model {
namespace {

Difference difference(const std::string& name, const AnyTensor& tensor, const Tensor<double>& exact)
{
    constexpr double beyond = std::numeric_limits<double>::infinity();
    Difference worst{name, 0, 0};
    std::visit(
        [&](const auto& computed) {
            for (std::size_t i = 0; i < exact.values.size(); ++i) {
                const auto x = static_cast<double>(computed.values[i]);
                const double y = exact.values[i];
                const bool same = x == y || (std::isnan(x) && std::isnan(y)); // also infinities
                // No number says how far NaN and infinity are off.
                if (!same && !std::isfinite(x - y)) {
                    worst = {name, beyond, beyond};
                    return;
                }
                const double absolute = same ? 0 : std::abs(x - y);
                worst.absolute = std::max(worst.absolute, absolute);
                worst.relative = std::max(worst.relative, same || y == 0 ? 0 : absolute / std::abs(y));
            }
        },
        tensor);
    return worst;
}

std::vector<Difference> verify(const ResolvedRun& run, const ComputedArrays& computed)
{
    if (run.settings.observer) {
        run.settings.observer({field::verify.name(), {static_cast<Index>(computed.arrays.size())}, 0});
    }
    run.tell_of_parameters();
    const ComputedArrays exact = compute<double>(run);
    std::vector<Difference> differences;
    for (std::size_t i = 0; i < computed.arrays.size(); ++i) {
        differences.push_back(
            difference(computed.arrays[i].name, computed.arrays[i].tensor, std::get<Tensor<double>>(exact.arrays[i].tensor)));
    }
    return differences;
}

void take_words(Result& result, Words words)
{
    result.cross = words.cross;
    result.tokens = std::move(words.tokens);
    result.key_tokens = std::move(words.key_tokens);
    result.vocabulary = std::move(words.vocabulary);
    result.token_ids = std::move(words.ids);
    result.key_token_ids = std::move(words.key_ids);
}

/// After the words.
void take_computed(Result& result, ComputedArrays computed)
{
    result.parameters = std::move(computed.parameters);
    result.front().arrays = std::move(computed.arrays);
    result.warnings = std::move(computed.warnings);
    result.portable_because = computed.portable_because;
    if (computed.extra_key) {
        result.key_labels = result.words_of_keys();
        result.key_labels.emplace_back(extra_key_label);
    }
}

} // namespace

Result run_resolved(ResolvedRun&& resolved)
{
    const bool single = resolved.recipe.dtype == Dtype::float32;
    ComputedArrays computed = single ? compute<float>(resolved) : compute<double>(resolved);
    Result result;
    result.show = resolved.show;
    if (resolved.recipe.verify) {
        result.verify = verify(resolved, computed);
    }
    result.query_positions = std::move(resolved.query_positions);
    Layer& layer = result.front();
    layer.heads = std::move(resolved.heads.queries);
    layer.key_heads = std::move(resolved.heads.keys);
    take_words(result, std::move(resolved.words));
    take_computed(result, std::move(computed));
    if (resolved.table && !resolved.table->warning.empty()) {
        result.warnings.insert(result.warnings.begin(), resolved.table->warning);
    }
    layer.config = resolved.config;
    layer.config.published.clear();
    layer.config.precision.clear();
    if (result.show.contains(Item::summary)) {
        layer.summary = summarize(result, layer, resolved.settings.top.value_or(usual_top));
    }
    return result;
}

Result run(const Recipe& recipe, const RunSettings& settings)
{
    return run_resolved(ResolvedRun(recipe, what_to_show(recipe, settings), settings, nullptr));
}

std::vector<Result> run_entries(const Recipe& recipe, const RunSettings& settings)
{
    std::vector<Result> results;
    if (!is_whole_batch(recipe)) {
        results.push_back(run(recipe, settings));
        return results;
    }
    const Index entries = *batch_size(recipe);
    RunSettings each = settings;
    each.memory_limit /= entries; // all results are kept
    Recipe one = recipe;
    for (one.entry = 0; one.entry < entries; ++*one.entry) {
        results.push_back(run(one, each));
    }
    return results;
}

} // namespace attn::model
