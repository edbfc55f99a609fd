#include "attn/model/layer/checkpoint.hpp"

#include "attn/model/layer/float32_range.hpp"
#include "attn/model/recipe/items.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace attn::model {
namespace {

// ---- names -----------------------------------------------------------------------------------------------------------

/// A tensor of a layer by the end of its name; where several rows give one target, the first that is there counts.
struct Row {
    std::string_view ending;
    Target target;
    Index part = 0;
    Index parts = 1;
};

struct Family {
    std::string_view name;
    std::span<const Row> rows;
    std::span<const std::string_view> modules; ///< below the prefix, that hold nothing but the projections; "": all below it
    std::span<const std::string_view> idle;    ///< tensors in them that change no number of the layer
};

/// Each under its own name.
constexpr auto plain_rows = [] {
    constexpr std::array targets{Target::W_q, Target::W_k,  Target::W_v,    Target::W_o,    Target::b_q, Target::b_k,
                                 Target::b_v, Target::b_o,  Target::bias_k, Target::bias_v, Target::W_a, Target::U_a,
                                 Target::v_a, Target::b_Wa, Target::b_Ua,   Target::b_va};
    std::array<Row, targets.size()> rows{};
    std::ranges::transform(targets, rows.begin(), [](Target target) { return Row{name_of(target), target}; });
    return rows;
}();
constexpr std::array multihead_rows{
    Row{"in_proj_weight", Target::W_q, 0, 3},
    Row{"in_proj_weight", Target::W_k, 1, 3},
    Row{"in_proj_weight", Target::W_v, 2, 3},
    Row{"q_proj_weight", Target::W_q},
    Row{"k_proj_weight", Target::W_k},
    Row{"v_proj_weight", Target::W_v},
    Row{"in_proj_bias", Target::b_q, 0, 3},
    Row{"in_proj_bias", Target::b_k, 1, 3},
    Row{"in_proj_bias", Target::b_v, 2, 3},
    Row{"out_proj.weight", Target::W_o},
    Row{"out_proj.bias", Target::b_o},
    Row{name_of(Target::bias_k), Target::bias_k},
    Row{name_of(Target::bias_v), Target::bias_v},
};
constexpr std::array bert_rows{
    Row{"self.query.weight", Target::W_q},   Row{"self.key.weight", Target::W_k},   Row{"self.value.weight", Target::W_v},
    Row{"self.query.bias", Target::b_q},     Row{"self.key.bias", Target::b_k},     Row{"self.value.bias", Target::b_v},
    Row{"output.dense.weight", Target::W_o}, Row{"output.dense.bias", Target::b_o},
};
constexpr std::array gpt2_rows{
    Row{"c_attn.weight", Target::W_q, 0, 3}, Row{"c_attn.weight", Target::W_k, 1, 3}, Row{"c_attn.weight", Target::W_v, 2, 3},
    Row{"c_attn.bias", Target::b_q, 0, 3},   Row{"c_attn.bias", Target::b_k, 1, 3},   Row{"c_attn.bias", Target::b_v, 2, 3},
    Row{"c_proj.weight", Target::W_o},       Row{"c_proj.bias", Target::b_o},
};
constexpr std::array llama_rows{
    Row{"q_proj.weight", Target::W_q}, Row{"k_proj.weight", Target::W_k},   Row{"v_proj.weight", Target::W_v},
    Row{"q_proj.bias", Target::b_q},   Row{"k_proj.bias", Target::b_k},     Row{"v_proj.bias", Target::b_v},
    Row{"o_proj.weight", Target::W_o}, Row{"out_proj.weight", Target::W_o}, Row{"o_proj.bias", Target::b_o},
    Row{"out_proj.bias", Target::b_o},
};
constexpr std::array<std::string_view, 1> all_below{""};
constexpr std::array<std::string_view, 2> bert_modules{"self.", "output.dense."};
/// What `run` saves beside the parameters.
constexpr auto saved_arrays = [] {
    std::array<std::string_view, items.size()> names{};
    std::ranges::transform(items, names.begin(), &ItemInfo::name);
    return names;
}();
/// The triangle of the causal mask and the score of what it hides, and the frequencies of rotary positions.
constexpr std::array<std::string_view, 3> buffers{"bias", "masked_bias", "rotary_emb.inv_freq"};
constexpr std::array families{
    Family{plain_family, plain_rows, all_below, saved_arrays},
    Family{multihead_family, multihead_rows, all_below, {}},
    Family{"BERT", bert_rows, bert_modules, {}},
    Family{"GPT-2", gpt2_rows, all_below, buffers},
    Family{"Llama", llama_rows, all_below, buffers},
};
/// Of words, not of a layer.
constexpr std::array embedding_rows{
    Row{name_of(Target::embedding), Target::embedding},
    Row{name_of(Target::key_embedding), Target::key_embedding},
    Row{name_of(Target::value_embedding), Target::value_embedding},
    Row{name_of(Target::embeddings), Target::embeddings},
    Row{name_of(Target::key_embeddings), Target::key_embeddings},
};
constexpr std::array necessary{Target::W_q, Target::W_k, Target::W_v};

constexpr std::string_view separators = "./";

bool is_separated(std::string_view prefix)
{
    return prefix.empty() || separators.find(prefix.back()) != std::string_view::npos;
}

std::string_view without_separator(std::string_view prefix)
{
    return prefix.substr(0, prefix.find_last_not_of(separators) + 1);
}

// ---- layers ----------------------------------------------------------------------------------------------------------

struct Candidate {
    const Family* family = nullptr;
    std::string prefix; ///< with the separator at its end
    std::map<Target, Source> sources = {};

    [[nodiscard]] bool complete() const
    {
        return std::ranges::all_of(necessary, [&](Target target) { return sources.contains(target); });
    }
};

void add_source(std::map<Target, Source>& sources, const Row& row, const StoredShape& tensor)
{
    sources.try_emplace(row.target, Source{row.target, tensor.name, tensor.shape, row.part, row.parts});
}

/// Every layer of which at least one tensor is there.
std::vector<Candidate> candidates_in(const std::vector<StoredShape>& tensors)
{
    std::vector<Candidate> candidates;
    for (const Family& family : families) {
        std::map<std::string, Candidate> by_prefix;
        for (const Row& row : family.rows) {
            for (const StoredShape& tensor : tensors) {
                if (!tensor.name.ends_with(row.ending)) {
                    continue;
                }
                const std::string prefix = tensor.name.substr(0, tensor.name.size() - row.ending.size());
                if (is_separated(prefix)) {
                    Candidate& candidate = by_prefix.try_emplace(prefix, Candidate{&family, prefix}).first->second;
                    add_source(candidate.sources, row, tensor);
                }
            }
        }
        for (auto& [prefix, candidate] : by_prefix) {
            candidates.push_back(std::move(candidate));
        }
    }
    return candidates;
}

std::vector<std::string> names_of(const std::vector<StoredShape>& tensors)
{
    std::vector<std::string> names;
    std::ranges::transform(tensors, std::back_inserter(names), [](const StoredShape& tensor) { return tensor.name; });
    return names;
}

std::vector<std::string> prefixes_of(const std::vector<Candidate>& layers)
{
    std::vector<std::string> prefixes;
    std::ranges::transform(layers, std::back_inserter(prefixes),
                           [](const Candidate& layer) { return std::string(without_separator(layer.prefix)); });
    return prefixes;
}

/// Whether the user means the layer, or something that it belongs to.
bool is_at_or_below(const Candidate& layer, const std::string& wanted)
{
    return wanted.empty() ||
           (layer.prefix.starts_with(wanted) && separators.find(layer.prefix[wanted.size()]) != std::string_view::npos);
}

/// An .npy holds one array, and says no name of it.
std::string listed(const std::vector<std::string>& names)
{
    return names.empty() ? "none" : names.front().empty() ? "one array without a name" : quoted_list(names);
}

/// No layer that the user may mean is complete: the one that comes nearest tells what it lacks.
[[noreturn]] void refuse_incomplete(const std::vector<Candidate>& candidates, const std::vector<StoredShape>& tensors,
                                    const std::string& wanted, const std::string& file)
{
    const auto fewer = [&](const Candidate& a, const Candidate& b) {
        return std::pair(is_at_or_below(a, wanted), a.sources.size()) < std::pair(is_at_or_below(b, wanted), b.sources.size());
    };
    const Candidate none{families.data(), wanted.empty() ? "" : wanted + "."};
    const auto best = std::ranges::max_element(candidates, fewer);
    const Candidate& nearest = best == candidates.end() ? none : *best;
    const auto missing = std::ranges::find_if(necessary, [&](Target target) { return !nearest.sources.contains(target); });
    const auto row = std::ranges::find(nearest.family->rows, *missing, &Row::target);
    const std::string name = nearest.prefix + std::string(row->ending);
    const std::vector<std::string> names = names_of(tensors);
    std::vector<std::string_view> others(names.begin(), names.end()); // than those that have their place
    std::erase_if(others, [&](std::string_view other) {
        return std::ranges::any_of(nearest.sources, [&](const auto& source) { return source.second.name == other; });
    });
    const std::string meaning = row->ending == name_of(*missing) ? "" : fmt::format(" ({})", name_of(*missing));
    const std::string known = best == candidates.end() ? ", and no layer of nn.MultiheadAttention, BERT, GPT-2 or Llama" : "";
    throw Error(ErrorKind::data, fmt::format("{}: no tensor {}{}{}; the file holds {}{}", file, in_quotes(name), meaning, known,
                                             listed(names), did_you_mean(name, others)));
}

/// Of the complete layers the one that the user means.
Candidate chosen(std::vector<Candidate> layers, const std::string& wanted, const std::string& file)
{
    const auto is = [&](const Candidate& layer) { return without_separator(layer.prefix) == wanted; };
    const std::vector<std::string> all = prefixes_of(layers);
    const bool exactly = std::ranges::any_of(layers, is);
    std::erase_if(layers, [&](const Candidate& layer) { return !(exactly ? is(layer) : is_at_or_below(layer, wanted)); });
    if (layers.size() == 1) {
        return layers.front();
    }
    if (layers.empty()) {
        const std::vector<std::string_view> views(all.begin(), all.end());
        throw Error(ErrorKind::data, "--prefix", in_quotes(wanted),
                    all == std::vector<std::string>{""}
                        ? fmt::format("no --prefix: {} holds one layer, whose names have none", file)
                        : fmt::format("the layers of {}: {}{}", file, quoted_list(all), did_you_mean(wanted, views)));
    }
    const std::vector<std::string> left = prefixes_of(layers);
    std::vector<std::string> alone; // those that can be told apart by their prefix
    std::ranges::copy_if(left, std::back_inserter(alone),
                         [&](const std::string& prefix) { return std::ranges::count(left, prefix) == 1; });
    if (!alone.empty()) {
        throw Error(ErrorKind::data, file, "several layers", "--prefix with one of " + quoted_list(alone));
    }
    const auto other = std::find(left.begin() + 1, left.end(), left.front()) - left.begin();
    throw Error(ErrorKind::data, file,
                fmt::format("names of two kinds{}, {} and {}", left.front().empty() ? "" : " below " + in_quotes(left.front()),
                            layers[0].family->name, layers[static_cast<std::size_t>(other)].family->name),
                "those of one");
}

/// Whether the tensor is of the modules that hold the layer's projections, and of no layer further below.
bool is_beside_projections(const StoredShape& tensor, const Candidate& layer, const std::vector<Candidate>& layers)
{
    const auto below = [&](std::string_view module) { return tensor.name.starts_with(layer.prefix + std::string(module)); };
    const auto nearer = [&](const Candidate& other) {
        return other.prefix.size() > layer.prefix.size() && tensor.name.starts_with(other.prefix);
    };
    return std::ranges::any_of(layer.family->modules, below) && std::ranges::none_of(layers, nearer);
}

/// What is not applied would make the numbers wrong: norms of queries and keys, sinks, biases of relative positions.
void refuse_unapplied(const Candidate& layer, const std::vector<Candidate>& layers, const std::vector<StoredShape>& tensors,
                      const std::string& file)
{
    for (const StoredShape& tensor : tensors) {
        const auto is_it = [&](const auto& source) { return source.second.name == tensor.name; };
        if (!is_beside_projections(tensor, layer, layers) || std::ranges::any_of(layer.sources, is_it)) {
            continue;
        }
        const std::string_view ending = std::string_view(tensor.name).substr(layer.prefix.size());
        const bool table = std::ranges::find(embedding_rows, ending, &Row::ending) != embedding_rows.end();
        if (!table && std::ranges::find(layer.family->idle, ending) == layer.family->idle.end()) {
            std::vector<std::string> endings;
            std::ranges::transform(layer.family->rows, std::back_inserter(endings),
                                   [](const Row& row) { return std::string(row.ending); });
            endings.erase(std::unique(endings.begin(), endings.end()), endings.end());
            throw Error(ErrorKind::data, fmt::format("{} of {}", in_quotes(tensor.name), file),
                        "a tensor that is not supported; the numbers would be wrong without it",
                        fmt::format("for {} {}", layer.family->name, quoted_list(endings, endings.size())));
        }
    }
}

/// Tables of the words, beside the layer or at the top. By position only where there is no table that could serve.
void add_embeddings(Candidate& layer, const std::vector<StoredShape>& tensors, bool by_position)
{
    for (const std::string& prefix : {layer.prefix, std::string()}) {
        for (const Row& row : embedding_rows) {
            const auto tensor = std::ranges::find(tensors, prefix + std::string(row.ending), &StoredShape::name);
            if (tensor != tensors.end()) {
                add_source(layer.sources, row, *tensor);
            }
        }
    }
    const bool rows = layer.sources.contains(Target::embeddings) && (by_position || !layer.sources.contains(Target::embedding));
    const auto drop = [&](std::initializer_list<Target> targets) {
        for (const Target target : targets) {
            layer.sources.erase(target);
        }
    };
    if (rows) {
        drop({Target::embedding});
    } else {
        drop({Target::embeddings, Target::key_embeddings});
    }
}

} // namespace

const Source* CheckpointLayer::find(Target target) const
{
    const auto found = std::ranges::find(sources, target, &Source::target);
    return found == sources.end() ? nullptr : &*found;
}

CheckpointLayer find_layer(const std::vector<StoredShape>& tensors, const Recipe& recipe, const std::string& file)
{
    const std::string wanted(without_separator(recipe.parameters->prefix));
    std::vector<Candidate> candidates = candidates_in(tensors);
    const auto meant = [&](const Candidate& candidate) { return is_at_or_below(candidate, wanted); };
    const auto whole = [](const Candidate& candidate) { return candidate.complete(); };
    const auto served = [&](const Candidate& candidate) { return meant(candidate) && whole(candidate); };
    const bool any_meant = std::ranges::any_of(candidates, meant);
    if (std::ranges::none_of(candidates, whole) || (any_meant && std::ranges::none_of(candidates, served))) {
        refuse_incomplete(candidates, tensors, wanted, file);
    }
    std::erase_if(candidates, std::not_fn(whole));
    Candidate layer = chosen(candidates, wanted, file);
    refuse_unapplied(layer, candidates, tensors, file);
    add_embeddings(layer, tensors, std::holds_alternative<PositionsInput>(recipe.input));
    if (!is_cross(recipe)) {
        layer.sources.erase(Target::key_embeddings);
    }
    CheckpointLayer found{layer.family->name, std::string(without_separator(layer.prefix)), {}};
    const std::optional<bool>& output = recipe.parameters->output_projection;
    if (output == true && !layer.sources.contains(Target::W_o)) {
        throw Error(ErrorKind::data,
                    fmt::format("{}: no tensor for W_o, the output projection that was asked for; the file holds {}", file,
                                listed(names_of(tensors))));
    }
    if (output == false) {
        if (const auto unapplied = layer.sources.extract(Target::W_o)) {
            found.unapplied = unapplied.mapped();
        }
        layer.sources.erase(Target::b_o);
    }
    for (auto& [target, source] : layer.sources) {
        found.sources.push_back(std::move(source));
    }
    return found;
}

Recipe with_layer(Recipe recipe, const FittedLayer& fitted)
{
    const auto stored = [&](Target target) { return fitted.layer.find(target) != nullptr; };
    const bool words = stored(Target::embedding) || stored(Target::embeddings);
    std::erase_if(recipe.draws, [&](const Step& step) {
        const auto* draw = std::get_if<Draw>(&step);
        return draw != nullptr && !draw->values && draw->target != Target::none &&
               (draw->target < Target::W_q || is_of_score(draw->target)) &&
               (stored(draw->target) || (words && (draw->target == Target::embedding || draw->target == Target::embeddings)));
    });
    const auto draw_unless_there = [&](bool needed, Target target) {
        if (needed && !stored(target) && !find_draw(recipe, target)) {
            recipe.draws.emplace_back(Draw{.target = target, .init = Initialisation::normal});
        }
    };
    draw_unless_there(fitted.dims.key_dim.has_value(), Target::key_embedding);
    draw_unless_there(fitted.dims.value_dim.has_value(), Target::value_embedding);

    const std::optional<Index> rows = fitted.dims.vocab_size ? fitted.dims.vocab_size : recipe.dims.vocab_size;
    const Source* v_a = fitted.layer.find(Target::v_a);
    const std::optional<Index> d_a = v_a == nullptr || recipe.attention.score != core::Score::additive
                                         ? recipe.dims.d_a
                                         : element_count(v_a->shape) / fitted.dims.heads.value_or(1);
    recipe.dims = fitted.dims;
    recipe.dims.vocab_size = rows;
    recipe.dims.d_a = d_a;
    recipe.parameters->prefix = fitted.layer.prefix;
    recipe.parameters->layout = fitted.layout;
    recipe.parameters->output_projection = stored(Target::W_o);
    return recipe;
}

StoredParameter stored_parameter(const Source& source, const TensorView& whole)
{
    require_numbers(whole, "type of " + in_quotes(source.name));
    StoredParameter parameter{source.target, source.side, whole};
    if (source.parts > 1) {
        TensorView& view = parameter.tensor;
        const bool rows = view.shape.size() == 2 && source.side == Side::left;
        const std::size_t d = rows ? 0 : view.shape.size() - 1;
        view.shape[d] /= source.parts;
        const Index offset = source.part * view.shape[d] * view.strides[d] * size_of(view.type);
        view.bytes = view.bytes.subspan(static_cast<std::size_t>(offset));
    }
    return parameter;
}

std::string describe(const CheckpointLayer& layer)
{
    std::string text;
    std::string_view last;
    for (const Source& source : layer.sources) {
        const bool again = source.name == last;
        text += (again ? ", " : (text.empty() ? "" : "; ") + source.name + " → ") + std::string(name_of(source.target));
        last = source.name;
    }
    return text;
}

} // namespace attn::model
