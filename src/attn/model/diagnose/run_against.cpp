#include "attn/model/diagnose/run_against.hpp"

#include "attn/core/parallel.hpp"
#include "attn/model/diagnose/call.hpp"
#include "attn/model/layer/hidden_words.hpp"
#include "attn/model/layer/literal.hpp"
#include "attn/model/run/resolved_run.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace attn::model::diagnose {
namespace {

using Numbers = std::vector<double>;

constexpr double work_on_seeds = 1 << 28; ///< numbers drawn and multiplied
constexpr double work_on_pairs = 1 << 29; ///< likewise

// ---- arrays ----------------------------------------------------------------------------------------------------------------

/// What of an array the mistakes of attention can be made in.
std::optional<Compared> compared_as(Item item)
{
    switch (item) {
    case Item::head_context: return Compared::context;
    case Item::weights: return Compared::weights;
    case Item::output: return Compared::output;
    default: return std::nullopt;
    }
}

/// A context is measured by heads.
Item measured_as(Item item)
{
    return item == Item::context ? Item::head_context : item;
}

Shape without_leading_ones(Shape shape)
{
    while (shape.size() > 1 && shape.front() == 1) {
        shape.erase(shape.begin());
    }
    return shape;
}

ComparedDims dims_of(const Shape& shape)
{
    const std::size_t rank = shape.size();
    return {1, rank > 2 ? shape[0] : 1, rank > 1 ? shape[rank - 2] : 1, shape.back()};
}

/// The part of (heads, T, width), or of (T, width), that a recipe asks for.
Numbers part_of(const Numbers& numbers, const Shape& shape, const RunAgainst::Part& part)
{
    if (part.all()) {
        return numbers;
    }
    const ComparedDims dims = part.single ? ComparedDims{1, shape[0], shape[1], 1} : dims_of(shape);
    const std::vector<Index> heads = part.heads.empty() || part.mean() ? indices(dims.H) : part.heads;
    Numbers chosen;
    for (const Index h : heads) {
        for (const Index i : part.rows.empty() ? indices(dims.T) : part.rows) {
            const auto row = numbers.begin() + (h * dims.T + i) * dims.width;
            chosen.insert(chosen.end(), row, row + dims.width);
        }
    }
    if (!part.mean()) {
        return chosen;
    }
    Numbers mean(chosen.size() / heads.size());
    for (std::size_t at = 0; at < chosen.size(); ++at) {
        mean[at % mean.size()] += chosen[at] / static_cast<double>(heads.size());
    }
    return mean;
}

/// The same of the shape.
Shape part_of(Shape shape, const RunAgainst::Part& part)
{
    if (!part.rows.empty()) {
        shape[shape.size() - (part.single ? 1 : 2)] = std::ssize(part.rows);
    }
    if (!part.heads.empty()) {
        shape[0] = std::ssize(part.heads);
    }
    return shape;
}

/// Keys after those of the words.
Index extra_keys(const Recipe& recipe, const RunSettings& settings)
{
    const bool of_file =
        std::ranges::find(settings.parameters, Target::bias_k, &StoredParameter::target) != settings.parameters.end();
    return of_file || find_draw(recipe, Target::bias_k) ? 1 : 0;
}

/// Numbers that one run draws and multiplies, about.
double work_of(const Result& result)
{
    double work = 0;
    for (const std::vector<Array>* arrays : {&result.parameters, &result.front().arrays}) {
        for (const Array& array : *arrays) {
            work += static_cast<double>(element_count(shape_of(array.tensor)));
        }
    }
    const Shape& queries = shape_of(*result.find(Item::queries));
    const Shape& keys = shape_of(*result.find(Item::keys));
    return work + static_cast<double>(2 * element_count(queries) * keys[1]);
}

} // namespace

// ---- the search ------------------------------------------------------------------------------------------------------------

/// For the mistakes that give the array of one file.
class RunAgainst::Search {
public:
    Search(const RunAgainst& runs, const Held& held, const Yardstick& numbers, core::Work work)
        : runs_(runs), measured_(measured_as(held.item)), compared_(compared_as(measured_)), part_(held.part),
          numbers_(numbers), shape_(shape_of(*runs.right_.find(measured_))), right_(chosen(*runs.right_.find(measured_))),
          mask_(runs.recipe_, runs.recipe_.attention.mask ? runs.settings_.mask : std::nullopt,
                {model::dims_of(runs.recipe_).heads.value_or(1), std::ssize(runs.right_.tokens),
                 std::ssize(runs.right_.key_words())},
                runs.right_.key_words()),
          work_(std::move(work))
    {
    }

    [[nodiscard]] Diagnosis diagnosis()
    {
        Diagnosis found;
        std::vector<Candidate> around = alone();
        const std::optional<RunCall> call = compared_ ? call_of(runs_.recipe_, runs_.right_) : std::nullopt;
        if (call && part_.all()) {
            found = diagnose(
                {.call = call->call, .compared = *compared_, .numbers = numbers_, .right = right_, .free_scale = false}, work_,
                std::move(around));
        } else {
            found.attention_tried = call.has_value();
            found.candidates = call ? of_attention(*call) : std::vector{measured({}, right_)};
            std::ranges::move(around, std::back_inserter(found.candidates));
            found.tried = found.candidates.size() - 1;
        }
        const auto explains = [](const Candidate& each) { return each.mistakes.size() < 2 && each.fits(); };
        if (std::ranges::none_of(found.candidates, explains)) {
            add_pairs(found);
        }
        if (call && part_.all()) {
            add_free_scale(found, {call->call, *compared_, numbers_, right_}, work_);
        }
        judge(found);
        return found;
    }

private:
    struct Run {
        Recipe recipe;
        Result result;
    };

    [[nodiscard]] Numbers chosen(const AnyTensor& tensor) const { return part_of(numbers_of(tensor), shape_of(tensor), part_); }

    [[nodiscard]] Candidate measured(Candidate candidate, const Numbers& numbers) const
    {
        candidate.distance.add(numbers_, 0, numbers);
        candidate.complete = true;
        return candidate;
    }

    [[nodiscard]] std::optional<RunCall> call_of(const Recipe& recipe, const Result& result) const
    {
        return run_call(recipe, result, measured_, mask_.view());
    }

    [[nodiscard]] Numbers evaluated(const RunCall& call, const Variant& variant) const
    {
        return part_of(evaluate(call.call, variant, *compared_, {}), shape_, part_);
    }

    /// The right result of a call, and every mistake of attention in it.
    [[nodiscard]] std::vector<Candidate> of_attention(const RunCall& call) const
    {
        if (part_.all()) {
            return singles({call.call, *compared_, numbers_, right_}, {});
        }
        std::vector<Candidate> made = candidates_in(call.call, *compared_);
        for (Candidate& each : made) {
            each = measured(each, evaluated(call, each.variant));
        }
        return made;
    }

    /// A run with the mistake; nothing where it cannot be made, or the run cannot.
    [[nodiscard]] std::optional<Run> altered(const RunMistake& mistake, const Recipe& recipe, const Result& right) const
    {
        try {
            if (std::optional<Recipe> changed = mistake.in(recipe, right)) {
                Result result = runs_.made(*changed);
                for (const RunMistake::Alter alter : {mistake.alter, mistake.finish}) {
                    if (alter != nullptr) {
                        alter(result, recipe);
                    }
                }
                return Run{std::move(*changed), std::move(result)};
            }
        } catch (const Error&) { // it cannot be made here
        }
        return std::nullopt;
    }

    /// Whether a run has the array that is measured, of the same shape.
    [[nodiscard]] bool has_array(const Result& result) const
    {
        const AnyTensor* tensor = result.find(measured_);
        return tensor != nullptr && shape_of(*tensor) == shape_;
    }

    [[nodiscard]] std::optional<Candidate> candidate(const RunMistake& mistake, const Recipe& recipe, const Result& right) const
    {
        const std::optional<Run> run = altered(mistake, recipe, right);
        if (!run || !has_array(run->result)) {
            return std::nullopt;
        }
        if (mistake.alter == nullptr || !compared_) {
            return measured({.mistakes = {&mistake}}, chosen(*run->result.find(measured_)));
        }
        const std::optional<RunCall> call = call_of(run->recipe, run->result);
        return call ? std::optional(measured({.mistakes = {&mistake}}, evaluated(*call, {}))) : std::nullopt;
    }

    /// The mistakes around attention; as many seeds as there is time for.
    [[nodiscard]] std::vector<Candidate> alone() const
    {
        const auto in_time = static_cast<std::size_t>(std::max(work_on_seeds / work_of(runs_.right_), 4.0));
        std::vector<const RunMistake*> list;
        for (const std::span<const RunMistake> some :
             {seeds().first(std::min(in_time, seeds().size())), run_mistakes(), modules()}) {
            std::ranges::transform(some, std::back_inserter(list), [](const RunMistake& mistake) { return &mistake; });
        }
        std::vector<std::optional<Candidate>> made(list.size());
        core::for_each_block(std::ssize(made), work_, [&](Index block) {
            const auto at = static_cast<std::size_t>(block);
            made[at] = candidate(*list[at], runs_.recipe_, runs_.right_);
        });
        made.push_back(dropped());
        std::vector<Candidate> candidates;
        for (std::optional<Candidate>& each : made) {
            if (!each) {
                continue;
            }
            if (candidates.empty() || candidates.back().mistakes.front()->name != each->mistakes.front()->name) {
                candidates.push_back(std::move(*each));
            } else if (each->distance.typical() < candidates.back().distance.typical()) { // another way to make it
                candidates.back() = std::move(*each);
            }
        }
        return candidates;
    }

    /// What dropout leaves of the right numbers where the file has zeros, whatever its seed was. Nothing where it has too few.
    [[nodiscard]] std::optional<Candidate> dropped() const
    {
        constexpr double steps = 20; // p is usually such a part
        constexpr int enough = 4;
        const Numbers& mine = numbers_.numbers();
        const auto larger = [](double a, double b) { return std::abs(a) < std::abs(b); };
        const auto largest = static_cast<std::size_t>(std::ranges::max_element(mine, larger) - mine.begin());
        const double p = std::round(steps * (1 - right_[largest] / mine[largest])) / steps;
        Numbers made = right_;
        int kept = 0, left_out = 0;
        for (std::size_t at = 0; at < made.size(); ++at) {
            (mine[at] != 0 ? kept : left_out) += right_[at] != 0 ? 1 : 0;
            made[at] = mine[at] != 0 ? right_[at] / (1 - p) : 0;
        }
        if (runs_.recipe_.attention.dropout || !(p > 0 && p < 1) || left_out == 0 || kept < enough) {
            return std::nullopt;
        }
        return measured({.mistakes = {&*std::ranges::find(modules(), dropout_on, &RunMistake::name)}}, made);
    }

    /// Of a mistake around attention, which is made first, and one of `seconds`, or of attention.
    [[nodiscard]] std::vector<Candidate> pairs_with(const RunMistake& first, std::span<const RunMistake> seconds) const
    {
        std::vector<Candidate> made;
        const std::optional<Run> run = altered(first, runs_.recipe_, runs_.right_);
        if (!run) {
            return made;
        }
        const auto add = [&](Candidate second) {
            second.mistakes.insert(second.mistakes.begin(), &first);
            made.push_back(std::move(second));
        };
        for (const RunMistake& second : first.alter == nullptr ? seconds : std::span<const RunMistake>()) {
            if (std::optional<Candidate> pair = candidate(second, run->recipe, run->result)) {
                add(std::move(*pair));
            }
        }
        const bool comparable = compared_ && has_array(run->result);
        if (const std::optional<RunCall> call = comparable ? call_of(run->recipe, run->result) : std::nullopt) {
            for (Candidate& second : of_attention(*call)) {
                if (!second.right()) {
                    add(std::move(second));
                }
            }
        }
        return made;
    }

    void add_pairs(Diagnosis& found) const
    {
        const std::size_t firsts = usual_seeds + run_mistakes().size();
        const auto count = static_cast<double>(firsts * (run_mistakes().size() + mistakes().size()));
        if (count * work_of(runs_.right_) > work_on_pairs) {
            found.all_pairs = false;
            return;
        }
        std::vector<std::vector<Candidate>> made(firsts);
        core::for_each_block(std::ssize(made), work_, [&](Index block) {
            const auto at = static_cast<std::size_t>(block);
            made[at] = at < usual_seeds
                           ? pairs_with(seeds()[at], run_mistakes())
                           : pairs_with(run_mistakes()[at - usual_seeds], run_mistakes().subspan(at - usual_seeds + 1));
        });
        for (std::vector<Candidate>& pairs : made) {
            found.tried += pairs.size();
            std::erase_if(pairs, [](const Candidate& pair) { return pair.distance.typical() > hopeless; });
            std::ranges::move(pairs, std::back_inserter(found.candidates));
        }
    }

    const RunAgainst& runs_;
    Item measured_;
    std::optional<Compared> compared_;
    Part part_;
    const Yardstick& numbers_;
    Shape shape_; ///< of all rows
    Numbers right_;
    WholeMask mask_;
    core::Work work_;
};

// --------------------------------------------------------------------------------------------------------------------------

RunAgainst::RunAgainst(Recipe recipe, RunSettings settings, std::optional<Item> item, const std::optional<File>& only)
    : recipe_(std::move(recipe)), settings_(std::move(settings)), item_(item)
{
    recipe_.verify = false;
    settings_.top.reset();
    part_.heads = recipe_.head;
    recipe_.head.clear();
    const Show there = everything(recipe_);
    for (const Item needed : {Item::parameters, Item::embeddings, Item::queries, Item::keys, Item::values, Item::weights,
                              Item::context, Item::head_context, Item::output}) {
        if (there.contains(needed)) {
            settings_.show.insert(needed);
        }
    }
    if (item_) {
        settings_.show.insert(*item_);
    }
    given_ = what_to_show(recipe_, settings_);
    settings_.sized = [&](const ModelDims& dims, const std::vector<Index>& query_positions) {
        dims_ = dims;
        part_.rows = query_positions;
        part_.heads = heads_of(part_.heads, dims.H, settings_.origin, &field::heads);
        if (only) {
            (void)held(*only);
        }
    };
    right_ = run(recipe_, settings_);
    settings_.sized = nullptr;
    if (!recipe_.query.empty()) {
        recipe_.query.clear();
        right_ = run(recipe_, settings_);
    }
    settings_.observer = nullptr;
}

Result RunAgainst::made(const Recipe& recipe) const
{
    RunSettings settings = settings_;
    if (!recipe.parameters) {
        settings.parameters.clear();
    }
    const Show existing = everything(recipe);
    for (const Item item : {Item::output, Item::dropped_weights}) {
        if (existing.contains(item)) {
            settings.show.insert(item);
        } else {
            settings.show = settings.show.without({item});
        }
    }
    return run(recipe, settings);
}

std::vector<RunAgainst::Held> RunAgainst::held(const File& file) const
{
    const auto is_given = [&](Item item) { return given_.contains(item) && info_of(item).kind == ItemKind::numbers; };
    const std::optional<Item> named = item_ ? item_ : item_called(file.tensor.name);
    std::vector<Item> items{Item::output, Item::context, Item::head_context, Item::weights};
    if (named && is_given(*named)) {
        items = *named == Item::context ? std::vector{Item::context, Item::head_context} : std::vector{*named};
    }
    const Shape given = without_leading_ones(file.tensor.view.shape);
    std::vector<Held> found;
    std::string allowed;
    for (const Item item : items) {
        if (!is_given(item)) {
            continue;
        }
        const Shape all = model::shape_of(item, dims_, extra_keys(recipe_, settings_));
        const ItemInfo& info = info_of(item);
        const bool by_head = info.heads == Heads::queries && (has_mean(item) || !part_.mean());
        const Part part{.rows = info.axes.row == Axis::queries ? part_.rows : std::vector<Index>(),
                        .heads = by_head ? part_.heads : std::vector<Index>(),
                        .single = info.axes.column == Axis::none};
        if (given == without_leading_ones(all)) {
            found.push_back({item, {}});
        } else if (given == without_leading_ones(part_of(all, part))) {
            found.push_back({item, part});
        }
        if (item != Item::head_context || items.size() == 1) {
            allowed +=
                fmt::format("{}{} of {}", allowed.empty() ? "" : ", ", to_string(without_leading_ones(all)), name_of(item));
        }
    }
    if (found.empty()) {
        throw Error(ErrorKind::data, file.name, "the shape " + to_string(file.tensor.view.shape), allowed);
    }
    return found;
}

Numbers RunAgainst::ordered(const Numbers& numbers, const Held& held) const
{
    const Shape& right = shape_of(*right_.find(measured_as(held.item)));
    return held.item == Item::context ? split_into_heads(numbers, dims_of(part_of(right, held.part))) : numbers;
}

Against RunAgainst::compared(const ComparedTensor& file, const Held& held, const Criterion& criterion) const
{
    const AnyTensor& all = *right_.find(held.item);
    StoredTensor expected(std::string(name_of(held.item)), type_of(all), file.view.shape);
    store<double>(expected, 0, part_of(numbers_of(all), shape_of(all), held.part));
    Against result;
    result.array = expected.name;
    const ComparedTensor right_numbers{{expected.name, expected.view()}};
    result.comparison = compare({{file}, {}}, {{right_numbers}, {}}, {.tolerance = criterion.tolerance}).tensors.front();
    result.agreement = result.comparison.agrees() ? Agreement::within_tolerance : Agreement::differs;
    result.whole = is_whole(file);
    const Tolerance& tolerance = result.comparison.tolerance;
    const AnyTensor& right = *right_.find(measured_as(held.item));
    result.of_weights = held.item == Item::weights;
    result.where = where(dims_of(part_of(shape_of(right), held.part)), result.of_weights,
                         ordered(numbers_beside(file, right_numbers, tolerance), held),
                         part_of(numbers_of(right), shape_of(right), held.part), tolerance);
    return result;
}

void RunAgainst::explain(Against& result, const ComparedTensor& file, const Held& held, const core::Work& work) const
{
    const Yardstick measure = yardstick(ordered(load<double>(file.view).values, held), ordered(reach_of(file), held), file,
                                        type_of(*right_.find(held.item)));
    result.diagnosis = Search(*this, held, measure, work).diagnosis();
}

Against RunAgainst::against(const File& file, const Criterion& criterion, const core::Work& work) const
{
    const std::vector<Held> arrays = held(file);
    std::vector<Against> results;
    for (const Held& array : arrays) {
        results.push_back(compared(file.tensor, array, criterion));
        if (results.back().comparison.agrees()) {
            return results.back();
        }
    }
    for (std::size_t at = 0; at < arrays.size(); ++at) {
        explain(results[at], file.tensor, arrays[at], work);
    }
    // What takes one mistake in one array may take two in another.
    const auto order = [](const Against& each) {
        const bool unknown = each.diagnosis->verdict == Verdict::unknown;
        return std::tuple(unknown, unknown ? 0 : each.diagnosis->candidates.front().mistakes.size(),
                          each.comparison.largest_difference());
    };
    return *std::ranges::min_element(results, {}, order);
}

} // namespace attn::model::diagnose
