#include "attn/model/diagnose/suggest.hpp"

#include "attn/model/attend/attend.hpp"
#include "attn/model/diagnose/backward/mistakes.hpp"
#include "attn/model/diagnose/backward/pass.hpp"
#include "attn/model/diagnose/distance.hpp"
#include "attn/model/diagnose/rounding.hpp"
#include "attn/random/numpy.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

namespace attn::model::diagnose {
namespace {

using core::AttentionDims;

constexpr std::size_t most_candidates = 16;
/// Sizes, and the deviations of the numbers.
struct Plan {
    AttentionDims sizes;
    double scores = 1.5; ///< of queries and keys
    double values = 1;
    bool same_shapes = true;
    bool uneven = false;     ///< queries from small to large, and lengths that hide few keys
    bool empty_rows = false; ///< of a mask or lengths: some queries see no key
};
/// What the queries of an uneven plan are multiplied by, one row after the other. Five: no number of heads is a multiple of it.
constexpr std::array uneven_factors{0.07, 1.0, 2.0, 1.0, 4.0};

// ---- tensors ---------------------------------------------------------------------------------------------------------------

/// Tensors as a plan has them, in the layout of an input.
class Drawn {
public:
    Drawn(const ResolvedAttend& call, const Plan& plan)
        : inputs_(call.inputs), views_(call.views), plan_(plan), stream_(static_cast<std::uint64_t>(plan.sizes.total()))
    {
        const AttentionDims& l = plan.sizes;
        const bool by_heads = !views_.merged;
        add(operand::queries, by_heads ? heads_of(inputs_.queries, l.H, l.T, l.d_k) : wide(l.T, l.H * l.d_k), plan.scores);
        if (plan.uneven) {
            make_uneven(tensors_.back());
        }
        add(operand::keys, by_heads ? heads_of(inputs_.keys, l.H_kv, l.S, l.d_k) : wide(l.S, l.H_kv * l.d_k), plan.scores);
        add(operand::values, by_heads ? heads_of(inputs_.values, l.H_kv, l.S, l.d_v) : wide(l.S, l.H_kv * l.d_v), plan.values);
        if (l.P > 0) {
            add(operand::past_key, heads_of(inputs_.past_key.value_or(inputs_.keys), l.H_kv, l.P, l.d_k), plan.scores);
            add(operand::past_value, heads_of(inputs_.past_value.value_or(inputs_.values), l.H_kv, l.P, l.d_v), plan.values);
        }
        if (inputs_.mask) {
            add_mask(*inputs_.mask);
        }
        if (inputs_.lengths) {
            const bool few_hidden = plan.uneven && l.total() > 2;
            std::vector<double> lengths =
                few_hidden ? stream_.integers(l.B, l.total() / 2 + 1, l.total()) : stream_.integers(l.B, 1, l.S + 1);
            lengths.back() = plan.empty_rows ? 0 : lengths.back();
            store_numbers(operand::lengths, {l.B}, lengths);
        }
        if (inputs_.sinks) {
            add(operand::sinks, {l.H}, 1);
        }
        if (inputs_.segments) {
            add_segments(*inputs_.segments);
        }
        if (inputs_.alibi_slopes) {
            add_slopes(*inputs_.alibi_slopes);
        }
        if (inputs_.grad) {
            const Shape shape = by_heads ? heads_of(inputs_.queries, l.H, l.T, l.d_v) : wide(l.T, l.H * l.d_v);
            add(operand::grad, shape, 1);
        }
        if (inputs_.grad_lse) {
            add(operand::grad_lse, shape_of_lse(), 1);
        }
        if (inputs_.kept) {
            add_kept(*inputs_.kept, call.options.dropout->p);
        }
    }

    [[nodiscard]] std::vector<StoredTensor> take() && { return std::move(tensors_); }

private:
    /// (B, H, n, d), (H, n, d) or (n, d), as the given one, or with what has become more than one.
    [[nodiscard]] Shape heads_of(const TensorView& given, Index heads, Index rows, Index size) const
    {
        Shape shape{plan_.sizes.B, heads, rows, size};
        const std::size_t least = plan_.sizes.B > 1 ? 4 : heads > 1 ? 3 : 2;
        shape.erase(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(std::max(given.shape.size(), least)));
        return views_.side_by_side && !views_.merged ? swapped_heads(std::move(shape)) : shape;
    }

    /// (B, n, H·d) or (n, H·d)
    [[nodiscard]] Shape wide(Index rows, Index size) const
    {
        return !views_.batched && plan_.sizes.B == 1 ? Shape{rows, size} : Shape{plan_.sizes.B, rows, size};
    }

    /// (B, H, T), (H, T) or (T), as the queries that are drawn have it.
    [[nodiscard]] Shape shape_of_lse() const
    {
        Shape shape{plan_.sizes.B, plan_.sizes.H, plan_.sizes.T};
        const std::size_t whole = views_.merged ? 3 : 4;
        shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(whole - tensors_.front().shape.size()));
        return shape;
    }

    void add(const AttendOperand& operand, Shape shape, double deviation)
    {
        const Index count = element_count(shape);
        store_numbers(operand, std::move(shape), stream_.normal(count, 0, deviation));
    }

    static void make_uneven(StoredTensor& queries)
    {
        std::vector<double> numbers = load<double>(queries.view()).values;
        const auto width = static_cast<std::size_t>(queries.shape.back());
        for (std::size_t at = 0; at < numbers.size(); ++at) {
            numbers[at] *= uneven_factors[at / width % uneven_factors.size()];
        }
        queries.bytes = to_bytes<double>(queries.type, numbers);
    }

    void store_numbers(const AttendOperand& operand, Shape shape, const std::vector<double>& numbers)
    {
        const TensorView* given = operand.in(inputs_);
        const ElementType type = given != nullptr ? given->type : inputs_.keys.type; // of a cache that the call has not
        StoredTensor& tensor = tensors_.emplace_back(std::string(operand.name), type, std::move(shape));
        tensor.bytes = to_bytes<double>(type, numbers);
    }

    /// Of what broadcasts to scores: the dimensions that went along with sizes still do.
    [[nodiscard]] Shape broadcasting(Shape shape) const
    {
        const AttentionDims& from = views_.sizes;
        const AttentionDims& to = plan_.sizes;
        const std::array before{from.B, from.H, from.T, from.total()};
        const std::array now{to.B, to.H, to.T, to.total()};
        for (std::size_t back = 1; back <= std::min(shape.size(), before.size()); ++back) {
            Index& length = shape[shape.size() - back];
            const Index whole = now.at(now.size() - back);
            length = length > 1 && length == before.at(before.size() - back) ? whole : std::min(length, whole);
        }
        return shape;
    }

    /// A part of the keys is hidden where a part was.
    void add_mask(const TensorView& given)
    {
        Shape shape = broadcasting(given.shape);
        constexpr double seen = 0.75;
        const bool boolean = given.type == ElementType::boolean;
        const std::vector<double> kept = load<double>(given).values;
        const bool hides = boolean || std::ranges::find(kept, -infinity) != kept.end();
        const Index count = element_count(shape);
        const std::vector<double> chance = stream_.uniform(count, 0, 1);
        constexpr double whole = 3; // of integers, which are cut: most of those near 1 would be 0
        std::vector<double> numbers = stream_.normal(count, 0, is_integer(given.type) ? whole : 1);
        for (std::size_t at = 0; at < numbers.size(); ++at) {
            numbers[at] = boolean ? (chance[at] < seen ? 1 : 0) : hides && chance[at] >= seen ? -infinity : numbers[at];
        }
        if (plan_.empty_rows && hides) {
            double hidden = 0;
            if (!boolean) {
                hidden = -infinity;
            }
            std::fill_n(numbers.begin(), shape.back(), hidden);
        }
        store_numbers(operand::mask, std::move(shape), numbers);
    }

    /// What dropout keeps of the weights; `p` is left out.
    void add_kept(const TensorView& given, double p)
    {
        Shape shape = broadcasting(given.shape);
        std::vector<double> numbers = stream_.uniform(element_count(shape), 0, 1);
        std::ranges::transform(numbers, numbers.begin(), [p](double chance) { return chance >= p ? 1 : 0; });
        store_numbers(operand::kept, std::move(shape), numbers);
    }

    /// A few, one behind the other.
    void add_segments(const TensorView& given)
    {
        constexpr int most = 3;
        const Index keys = plan_.sizes.total();
        const Shape shape = given.shape.size() == 1 && plan_.sizes.B == 1 ? Shape{keys} : Shape{plan_.sizes.B, keys};
        const Index count = element_count(shape);
        std::vector<double> numbers = stream_.integers(count, 0, most);
        for (auto row = numbers.begin(); row != numbers.end(); row += keys) {
            std::sort(row, row + keys);
        }
        store_numbers(operand::segments, shape, numbers);
    }

    /// As steep as most heads of the paper, and no two alike.
    void add_slopes(const TensorView& given)
    {
        const Shape shape = given.shape.size() == 1 ? Shape{plan_.sizes.H} : Shape{plan_.sizes.B, plan_.sizes.H};
        store_numbers(operand::alibi_slopes, shape, stream_.uniform(element_count(shape), 0.02, 0.5));
    }

    const AttendInputs& inputs_;
    const AttendViews& views_;
    const Plan& plan_;
    random::Pcg64Stream stream_;
    std::vector<StoredTensor> tensors_;
};

// ---- plans -----------------------------------------------------------------------------------------------------------------

Index largest_tile(std::span<const Candidate> candidates)
{
    Index largest = 0;
    for (const Candidate& candidate : candidates) {
        largest = std::max({largest, candidate.variant.tile, candidate.variant.row_tile, candidate.variant.page});
    }
    return largest;
}

struct OtherSizes {
    InputChange change;
    AttentionDims sizes;
};

/// Other sizes one by one, then together. Where the heads are said, they stay as many.
std::vector<OtherSizes> other_sizes(const AttentionDims& given, Index tile, bool heads_are_said)
{
    const bool square = given.T == given.total() && given.P == 0;
    const bool equal = given.d_k == given.d_v;
    const auto with = [&](auto change) {
        AttentionDims sizes = given;
        change(sizes);
        return sizes;
    };
    // Of the tiles from 16 to 256 each leaves another rest, or pads to another length.
    const auto longer = [&](AttentionDims& l) {
        l.S = tile > 0 ? 2 * tile - 11 : given.S + 5;
        l.T = square || tile > 0 ? l.S : given.T + 3;
    };
    const auto shorter = [&](AttentionDims& l) {
        l.S = 5;
        l.T = square ? l.S : given.T;
    };
    const auto wider = [&](AttentionDims& l) {
        l.d_k = given.d_k + 3;
        l.d_v = equal ? l.d_k : given.d_v + 2;
    };
    const auto more = [&](AttentionDims& l) {
        l.B = given.P > 0 ? given.B : given.B + 1;
        const Index times = heads_are_said || given.H_kv > 1 ? 1 : 2;
        l.H = times * given.H;
        l.H_kv = times * given.H_kv;
    };
    const auto grouped = [&](AttentionDims& l) {
        l.H_kv = heads_are_said ? given.H_kv : std::max<Index>(given.H_kv, 2);
        l.H = heads_are_said ? given.H : 3 * l.H_kv; // tiles of rows, powers of two, begin within a group
    };
    return {{InputChange::value_width, with([&](AttentionDims& l) {
                 l.T = square ? given.T : given.T + 3;
                 l.d_v = given.d_v + 1;
             })},
            {InputChange::wider_heads, with(wider)},
            {InputChange::more_heads, with(more)},
            {InputChange::few_keys, with(shorter)},
            {InputChange::more_keys, with(longer)},
            {InputChange::all, with([&](AttentionDims& l) {
                 longer(l);
                 wider(l);
                 more(l);
                 l.T += square ? 0 : 2;
                 l.d_v += 1;
             })},
            {InputChange::grouped_heads, with(grouped)}};
}

/// Small ones that have what these have: a square or none, a cache, grouped heads, and more than two of a batch.
AttentionDims reduced(AttentionDims l)
{
    constexpr Index most_keys = 67, most_heads = 4, most_entries = 3;
    const Index group = l.H / l.H_kv;
    l.B = std::min(l.B, most_entries);
    l.H_kv = std::min(l.H_kv, most_heads);
    l.H = l.H_kv * std::min(group, most_heads);
    const bool square = l.T == l.S;
    Index& fewer = l.T < l.S ? l.T : l.S;
    l.T = std::min(l.T, most_keys);
    l.S = std::min(l.S, most_keys);
    fewer -= l.T == l.S && !square ? 2 : 0;
    l.P = std::min(l.P, most_keys);
    return l;
}

/// For what fills tiles, and takes the most time: one head shows as much as many.
AttentionDims of_one_head(AttentionDims l)
{
    l.B = l.H = l.H_kv = 1;
    return l;
}

bool is_large(const AttentionDims& l)
{
    constexpr Index large = Index{1} << 21; // scores
    return l.B * l.H * l.T * l.total() > large;
}

/// Of the same shapes.
std::vector<Plan> plans(const AttendViews& views)
{
    const AttentionDims& l = views.sizes;
    std::vector<Plan> all{{l}, {l, 5, 1}};
    if (!is_large(l)) {
        const double huge = std::min(largest_finite(views.queries.type) / 64, 1e6); // more than float16 holds
        for (const Plan& plan : {Plan{l, 0.4, 1}, Plan{l, 14, 1}, Plan{l, 1.5, huge}}) {
            all.push_back(plan);
        }
    }
    return all;
}

std::vector<Plan> plans(const AttendViews& views, std::span<const Candidate> tied)
{
    std::vector<Plan> all = plans(views);
    for (const OtherSizes& other : other_sizes(views.sizes, largest_tile(tied), views.merged || views.sizes.P > 0)) {
        for (const double scores : {1.5, 5.0}) {
            all.push_back({other.sizes, scores, 1, false});
        }
    }
    return all;
}

// ---- telling apart ---------------------------------------------------------------------------------------------------------

bool can_be_made(const Candidate& candidate, const std::vector<const Mistake*>& list)
{
    return std::ranges::all_of(candidate.mistakes, [&](const MistakeInfo* mistake) {
        return std::ranges::any_of(list, [&](const Mistake* other) { return other == mistake; });
    });
}

/// What is compared in a call: a stage, or gradients.
class Comparing {
public:
    explicit Comparing(const ResolvedAttend& resolved) : call_(call_of(resolved)), stages_(resolved.stages)
    {
        for (const AskedStage& stage : stages_) {
            wanted_.insert(stage.item);
        }
        if (is_gradient(stages_.front().item)) {
            call_.options.nan_for_empty_rows = false; // as in the diagnosis
            backward_ = std::make_unique<BackwardPass>(call_, wanted_);
        }
    }

    [[nodiscard]] bool can_make(std::span<const Candidate> candidates) const
    {
        const std::vector<const Mistake*> list = backward_ ? backward_mistakes_in(call_, wanted_) : mistakes_in(call_);
        return !(backward_ && backward_->is_too_large()) &&
               std::ranges::all_of(candidates, [&](const Candidate& each) { return can_be_made(each, list); });
    }

    /// What a variant makes of each stage.
    [[nodiscard]] std::vector<std::vector<double>> numbers(const Variant& variant, const core::Work& work)
    {
        std::vector<std::vector<double>> made;
        if (backward_) {
            Gradients gradients = backward_->differentiate(variant, work);
            for (const AskedStage& stage : stages_) {
                made.push_back(std::move(gradients.at(stage.item)));
            }
        } else {
            made.push_back(evaluate(call_, variant, compared_stage(name_of(stages_.front().item)).value(), work));
        }
        return made;
    }

    [[nodiscard]] const std::vector<AskedStage>& stages() const { return stages_; }

private:
    Call call_;
    std::vector<AskedStage> stages_;
    Show wanted_;
    std::unique_ptr<BackwardPass> backward_;
};

/// What each candidate gives, and how it would be told from the others.
class Trial {
public:
    Trial(Comparing& comparing, std::span<const Candidate> candidates, const core::Work& work) : candidates_(candidates)
    {
        for (const Candidate& candidate : candidates) {
            const auto& made = made_.emplace_back(comparing.numbers(candidate.variant, work));
            std::vector<Yardstick>& file = files_.emplace_back();
            for (std::size_t n = 0; n < made.size(); ++n) {
                const ElementType type = comparing.stages()[n].type;
                StoredTensor stored("", type, {std::ssize(made[n])});
                store<double>(stored, 0, made[n]);
                file.emplace_back(load<double>(stored.view()).values, usual_tolerance(type));
            }
        }
    }

    [[nodiscard]] bool tells(std::size_t a, std::size_t b) const { return explains(a, b) && explains(b, a); }

private:
    /// Whether a file of `a` is explained by it, and not by `b`.
    [[nodiscard]] bool explains(std::size_t a, std::size_t b) const
    {
        const Candidate own = beside(a, a), other = beside(a, b);
        return own.fits() && !other.fits() && times_farther(own, other) >= clearly;
    }

    [[nodiscard]] Candidate beside(std::size_t file, std::size_t at) const
    {
        Candidate candidate = candidates_[at];
        candidate.distance = {};
        for (std::size_t n = 0; n < files_[file].size(); ++n) {
            candidate.distance.add(files_[file][n], 0, made_[at][n]);
        }
        return candidate;
    }

    std::span<const Candidate> candidates_;
    std::vector<std::vector<std::vector<double>>> made_; ///< by candidates and stages
    std::vector<std::vector<Yardstick>> files_;          ///< likewise
};

/// Of each candidate the first one that a trial does not tell it from, directly or through others.
std::vector<std::size_t> groups_of(const Trial& trial, std::size_t count)
{
    std::vector<std::size_t> group;
    for (std::size_t a = 0; a < count; ++a) {
        group.push_back(a);
        for (std::size_t b = 0; b < a; ++b) {
            if (group[b] != group[a] && !trial.tells(a, b)) {
                std::ranges::replace(group, group[a], group[b]);
            }
        }
    }
    return group;
}

/// Of the groups, whose last member is the right result, those of more than one.
std::vector<std::vector<std::size_t>> alike_in(const std::vector<std::size_t>& group)
{
    std::vector<std::vector<std::size_t>> alike;
    for (std::size_t first = 0; first < group.size(); ++first) {
        std::vector<std::size_t> members;
        for (std::size_t at = 0; at < group.size(); ++at) {
            if (group[at] == first) {
                members.push_back(at);
            }
        }
        if (members.size() > 1) {
            std::erase(members, group.size() - 1); // the right result needs no name
            alike.push_back(std::move(members));
        }
    }
    return alike;
}

} // namespace

std::vector<ChangedInput> changed_inputs(const ResolvedAttend& call)
{
    if (call.sequences) {
        return {};
    }
    const AttentionDims few = reduced(call.views.sizes);
    std::vector<std::pair<InputChange, Plan>> plans;
    const auto add = [&](InputChange change, const AttentionDims& sizes) -> Plan& {
        return plans.emplace_back(change, Plan{.sizes = sizes, .uneven = true}).second;
    };
    for (const bool tiled : {false, true}) {
        for (const OtherSizes& other : other_sizes(tiled ? of_one_head(few) : few, tile_sizes.back(), false)) {
            const bool fills_tiles = other.change == InputChange::more_keys || other.change == InputChange::all;
            if (fills_tiles == tiled) {
                add(other.change, other.sizes);
            }
            if (other.change == InputChange::more_keys && tiled && few.P == 0) {
                add(InputChange::cached, other.sizes).sizes.P = 3;
            }
        }
    }
    if (!is_large(call.views.sizes)) {
        add(InputChange::numbers, call.views.sizes);
    }
    add(InputChange::larger_scores, few).scores = 14;
    add(InputChange::empty_rows, few).empty_rows = true;
    add(InputChange::fewer_queries, few).sizes.S = few.T + 3;
    add(InputChange::more_queries, few).sizes.T = few.S + 3;
    std::ranges::sort(plans, {}, &std::pair<InputChange, Plan>::first);
    std::vector<ChangedInput> inputs;
    for (const auto& [change, plan] : plans) {
        Attend options = call.options;
        if (options.heads) {
            options.heads = plan.sizes.H;
            options.kv_heads = plan.sizes.H_kv;
        }
        inputs.push_back({change, plan.sizes, std::move(options), Drawn(call, plan).take()});
    }
    return inputs;
}

std::size_t ways_to_draw(const ResolvedAttend& call)
{
    return plans(call.views).size() + 1;
}

std::vector<StoredTensor> drawn_anew(const ResolvedAttend& call, std::size_t way)
{
    const Plan uneven{.sizes = call.views.sizes, .uneven = true};
    return Drawn(call, way == 0 ? uneven : plans(call.views)[way - 1]).take();
}

Suggestion suggest_input(const ResolvedAttend& tied_call, std::span<const Candidate> tied, const core::Work& work)
{
    std::vector<Candidate> candidates(tied.begin(),
                                      tied.begin() + static_cast<std::ptrdiff_t>(std::min(tied.size(), most_candidates)));
    std::size_t least = candidates.size(); // groups fewer than candidates, and one more where the right result is in one
    candidates.emplace_back();             // the right result
    Suggestion best;
    for (const Plan& plan : plans(tied_call.views, tied)) {
        std::vector<StoredTensor> tensors = Drawn(tied_call, plan).take();
        const AttendInputs inputs = inputs_of(tensors);
        Comparing comparing(ResolvedAttend(inputs, tied_call.options, RunSettings()));
        if (!comparing.can_make(candidates)) {
            continue;
        }
        ++best.tried;
        const std::vector<std::size_t> group = groups_of(Trial(comparing, candidates, work), candidates.size());
        const std::size_t groups = std::set(group.begin(), group.end()).size();
        const std::size_t missing = candidates.size() - groups;
        if (missing + 1 < least) {
            least = missing + 1;
            best.tensors = std::move(tensors);
            best.alike = alike_in(group);
            best.same_shapes = plan.same_shapes;
        }
        if (missing == 0) {
            break;
        }
    }
    return best;
}

} // namespace attn::model::diagnose
