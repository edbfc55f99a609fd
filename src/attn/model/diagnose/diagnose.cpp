#include "attn/model/diagnose/diagnose.hpp"

#include "attn/core/parallel.hpp"
#include "attn/model/diagnose/free_scale.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace attn::model::diagnose {
namespace {

constexpr double same = 0.01;         ///< of the tolerance: nearer is not told apart
constexpr std::size_t confirmed = 24; ///< candidates that are computed wholly at most
constexpr std::size_t completed = 4;  ///< likewise, where none fits
constexpr double nearer = 2;          ///< times than the right result: what it takes to be called the nearest

// ---- the rows that candidates are measured on ------------------------------------------------------------------------------

struct Problem : Evidence {
    explicit Problem(const Evidence& question);

    ComparedDims dims;
    std::vector<core::RowPlace> sample; ///< rows that candidates are measured on first

    [[nodiscard]] std::size_t start(core::RowPlace place) const
    {
        return static_cast<std::size_t>(((place.b * dims.H + place.h) * dims.T + place.i) * dims.width);
    }
    [[nodiscard]] Index rows() const { return dims.B * dims.H * dims.T; }
    [[nodiscard]] core::RowPlace place(Index row) const { return {row / dims.T / dims.H, row / dims.T % dims.H, row % dims.T}; }
};

/// `count` of the numbers below `end`, evenly, first and last among them.
std::vector<Index> spread_out(Index end, Index count)
{
    std::vector<Index> chosen;
    for (Index n = 0; n < std::min(count, end); ++n) {
        chosen.push_back(end <= count ? n : n * (end - 1) / std::max<Index>(count - 1, 1));
    }
    return chosen;
}

/// The rows that differ most from the right result, then some of every head; all of a small result.
std::vector<core::RowPlace> sampled_rows(const Problem& problem)
{
    const ComparedDims& l = problem.dims;
    constexpr Index numbers_kept = Index{1} << 18;
    constexpr Index worst_rows = 8;
    const Index most =
        std::clamp<Index>(numbers_kept / std::max<Index>(problem.call.views.sizes.total(), 1), 2 * worst_rows, 144);
    std::vector<Index> rows(static_cast<std::size_t>(problem.rows()));
    std::iota(rows.begin(), rows.end(), Index{0});
    std::vector<double> differences;
    for (const Index row : rows) {
        Distance distance;
        const std::size_t at = problem.start(problem.place(row));
        distance.add(problem.numbers, at, std::span(problem.right).subspan(at, static_cast<std::size_t>(problem.dims.width)));
        differences.push_back(distance.worst);
    }
    const auto is_worse = [&](Index a, Index b) {
        return differences[static_cast<std::size_t>(a)] > differences[static_cast<std::size_t>(b)];
    };
    std::ranges::stable_sort(rows, is_worse);
    std::vector<core::RowPlace> chosen;
    if (problem.rows() <= most) {
        for (const Index row : rows) {
            chosen.push_back(problem.place(row));
        }
        return chosen;
    }
    const auto add = [&](core::RowPlace place) {
        if (std::ranges::find(chosen, place) == chosen.end()) {
            chosen.push_back(place);
        }
    };
    for (Index n = 0; n < worst_rows; ++n) {
        add(problem.place(rows[static_cast<std::size_t>(n)]));
    }
    const std::vector<Index> heads = spread_out(l.B * l.H, std::max<Index>((most - worst_rows) / 16, 2));
    const Index per_head = (most - worst_rows) / static_cast<Index>(heads.size());
    for (const Index head : heads) {
        for (const Index i : spread_out(l.T, per_head)) {
            add({head / l.H, head % l.H, i});
        }
    }
    return chosen;
}

Problem::Problem(const Evidence& question) : Evidence(question), dims(dims_of(question.call, question.compared))
{
    sample = sampled_rows(*this);
}

// ---- measuring -------------------------------------------------------------------------------------------------------------

/// Whether a row of what is compared is one of the same head.
bool stays_in_head(const Variant& variant, Compared compared)
{
    return compared != Compared::output && variant.written == Reading::right && variant.along == Along::positions &&
           !variant.mean_of_heads && !variant.heads_reversed;
}

/// Those of the sampled rows that are worth their time: what mixes the rows of a head is measured on one head of many.
std::vector<core::RowPlace> worthwhile(const Variant& variant, const Problem& problem)
{
    const std::vector<core::RowPlace>& rows = problem.sample;
    std::vector<core::RowPlace> chosen = rows;
    if (mixes_rows(variant) && stays_in_head(variant, problem.compared) && problem.rows() > static_cast<Index>(rows.size())) {
        std::erase_if(chosen, [&](core::RowPlace place) { return place.b != rows.front().b || place.h != rows.front().h; });
    }
    return chosen;
}

/// Those of a piece that its rows among these need.
std::vector<Index> heads_of(const Variant& variant, Compared compared, const CallPiece& piece,
                            const std::vector<core::RowPlace>& rows)
{
    const core::AttentionDims l = sizes_of(piece.call, variant);
    std::vector<Index> heads;
    for (Index head = 0; head < l.B * l.H; ++head) {
        const auto here = [&](core::RowPlace place) { return piece.has(place.i) && place.b * l.H + place.h == head; };
        if (!stays_in_head(variant, compared) || std::ranges::any_of(rows, here)) {
            heads.push_back(head);
        }
    }
    return heads;
}

/// Rows of pieces, those of each made together. For one thread.
class SampledRows {
public:
    SampledRows(const Problem& problem, const Variant& variant, Pieces& usual, const std::vector<core::RowPlace>& chosen)
        : problem_(problem), variant_(variant), chosen_(chosen), pieces_(usual)
    {
        if (variant.packing != Packing::right) {
            own_.emplace(problem.call, variant.packing);
        }
    }

    [[nodiscard]] std::vector<double> row(core::RowPlace place)
    {
        Made& made = of(place);
        return compared_row(made.rows, problem_.compared, {place.b, place.h, place.i - made.of.piece.first});
    }
    /// How many scores take part in the softmax of a row.
    [[nodiscard]] Index seen(core::RowPlace place)
    {
        const Made& made = of(place);
        const ScoreRow row =
            score_row(made.of.masking, made.of.piece.shared, {place.b, place.h, place.i - made.of.piece.first});
        return std::ranges::count(row.counted, char{1});
    }

private:
    struct Made {
        Made(CallPiece& piece, const Variant& variant) : of(piece, variant), rows(of.masking, piece.shared, of.known) {}

        PieceRows of;
        Rows rows;
    };

    [[nodiscard]] Made& of(core::RowPlace place)
    {
        CallPiece& piece = (own_ ? *own_ : pieces_).with(place.i);
        auto found = made_.find(&piece);
        if (found == made_.end()) {
            found = made_.try_emplace(&piece, piece, variant_).first;
            Made& made = found->second;
            made.of.known = across(made.of.masking, piece.shared, heads_of(variant_, problem_.compared, piece, chosen_), {});
        }
        return found->second;
    }

    const Problem& problem_;
    const Variant& variant_;
    const std::vector<core::RowPlace>& chosen_;
    Pieces& pieces_;
    std::optional<Pieces> own_;
    std::map<const CallPiece*, Made> made_;
};

/// On some rows; stops at one that is farther than `limit`. `pieces`: those of the right packing.
void measure(Candidate& candidate, const Problem& problem, Pieces& pieces, double limit)
{
    const Variant& variant = candidate.variant;
    const std::vector<core::RowPlace> chosen = worthwhile(variant, problem);
    SampledRows made(problem, variant, pieces, chosen);
    for (const core::RowPlace place : chosen) {
        candidate.distance.add(problem.numbers, problem.start(place), made.row(place));
        if ((rounds(variant) ? candidate.distance.typical() : candidate.distance.worst) > limit &&
            !candidate.fits_but_for_few()) {
            candidate.broken_off = true;
            return;
        }
    }
    candidate.complete = static_cast<Index>(candidate.distance.count) == problem.rows() * problem.dims.width;
}

void measure_all(std::vector<Candidate>& candidates, const Problem& problem, double limit, const core::Work& work)
{
    Pieces pieces(problem.call, Packing::right);
    core::for_each_block(static_cast<Index>(candidates.size()), work,
                         [&](Index block) { measure(candidates[static_cast<std::size_t>(block)], problem, pieces, limit); });
}

/// On everything.
void confirm(Candidate& candidate, const Problem& problem, const core::Work& work)
{
    if (candidate.complete) {
        return;
    }
    const std::vector<double> values = evaluate(problem.call, candidate.variant, problem.compared, work);
    candidate.distance = {};
    candidate.distance.add(problem.numbers, 0, values);
    candidate.complete = true;
    candidate.broken_off = false;
}

double order_of(const Candidate& candidate)
{
    return candidate.distance.typical();
}

void sort(std::vector<Candidate>& candidates)
{
    std::ranges::stable_sort(candidates, {}, order_of);
}

Confirm confirming(const Problem& problem, const core::Work& work)
{
    return [&](Candidate& candidate) { confirm(candidate, problem, work); };
}

// ---- candidates ------------------------------------------------------------------------------------------------------------

/// Whether two mistakes can be made together: neither undoes what the other changes.
bool combine(const Mistake& a, const Mistake& b)
{
    const Variant both = b.on(a.on({}));
    const bool sums_by_tile = both.numerator != Maximum::row || both.denominator != Maximum::row;
    const bool by_query = both.over == Over::key_rows || both.over == Over::key_sums; // as many keys as queries
    return both == a.on(b.on({})) && both != a.on({}) && both != b.on({}) && !(sums_by_tile && both.over != Over::keys) &&
           !(by_query && both.last_tile != LastTile::right);
}

std::vector<Candidate> pairs(const Problem& problem, const std::vector<const Mistake*>& list, bool& all)
{
    constexpr Index quick = Index{1} << 16;
    const bool mixing = Pieces(problem.call, Packing::right).scores() <= quick;
    std::vector<Candidate> candidates;
    for (std::size_t a = 0; a < list.size(); ++a) {
        for (std::size_t b = a + 1; b < list.size(); ++b) {
            if (!combine(*list[a], *list[b])) {
                continue;
            }
            const Variant variant = as_compared(list[b]->on(list[a]->on({})), problem.compared);
            const auto is_all = [&](const Mistake* one) { return as_compared(one->on({}), problem.compared) == variant; };
            if (is_all(list[a]) || is_all(list[b])) {
                continue; // the other one does not show
            }
            if (mixes_rows(variant) && !mixing) {
                all = false;
            } else if (can_compare(variant, problem.compared)) {
                candidates.push_back({.mistakes = {list[a], list[b]}, .variant = variant});
            }
        }
    }
    return candidates;
}

std::vector<Candidate> measured_singles(const Problem& problem, double limit, const core::Work& work)
{
    std::vector<Candidate> candidates = candidates_in(problem.call, problem.compared);
    measure_all(candidates, problem, limit, work);
    confirm_nearest(candidates, confirming(problem, work));
    return candidates;
}

/// Those that come near.
void add_pairs(Diagnosis& diagnosis, const Problem& problem, const core::Work& work)
{
    std::vector<Candidate> two = pairs(problem, mistakes_in(problem.call), diagnosis.all_pairs);
    diagnosis.tried += two.size();
    measure_all(two, problem, hopeless, work);
    std::erase_if(two, [](const Candidate& pair) { return pair.distance.typical() > hopeless; });
    std::ranges::move(two, std::back_inserter(diagnosis.candidates));
    confirm_nearest(diagnosis.candidates, confirming(problem, work));
}

// ---- a scale of no list ----------------------------------------------------------------------------------------------------

/// Whether it changes nothing but what the scores are multiplied by.
bool is_scale(Variant variant)
{
    variant.scale = Scale::right;
    variant.exponent = 1;
    return variant == Variant{};
}

Variant with_scale(double scale)
{
    Variant variant;
    variant.scale = Scale::other;
    variant.other_scale = scale;
    return variant;
}

/// Some rows, computed with one scale after the other.
class ScaledRows {
public:
    explicit ScaledRows(const Problem& problem) : problem_(problem), pieces_(problem.call, Packing::right)
    {
        constexpr std::size_t most = 32;
        for (const Index at : spread_out(std::ssize(problem.sample), most)) {
            rows_.push_back(problem.sample[static_cast<std::size_t>(at)]);
        }
    }

    [[nodiscard]] double far(double scale)
    {
        Distance distance;
        const Variant variant = with_scale(scale);
        SampledRows made(problem_, variant, pieces_, rows_);
        for (const core::RowPlace place : rows_) {
            distance.add(problem_.numbers, problem_.start(place), made.row(place));
        }
        return distance.typical();
    }
    /// How many numbers a scale decides: of a row that it changes as many as its keys have weights of their own, or as it has
    /// numbers, where these are fewer. One number can be given by some scale whatever the mistake is.
    [[nodiscard]] Index decided_by(double scale)
    {
        Index count = 0;
        const Variant variant = with_scale(scale);
        SampledRows made(problem_, variant, pieces_, rows_);
        for (const core::RowPlace place : rows_) {
            Distance change;
            const std::size_t at = problem_.start(place);
            change.add(problem_.numbers, at,
                       std::span(problem_.right).subspan(at, static_cast<std::size_t>(problem_.dims.width)));
            count += change.worst > 1 ? std::min(made.seen(place) - 1, problem_.dims.width) : 0;
        }
        return count;
    }

private:
    const Problem& problem_;
    Pieces pieces_;
    std::vector<core::RowPlace> rows_;
};

std::optional<Candidate> free_scale_candidate(const Problem& problem, const core::Work& work)
{
    constexpr Index enough = 8; // numbers
    ScaledRows rows(problem);
    const std::optional<FreeScale> found = free_scale(problem.call, [&](double scale) { return rows.far(scale); });
    if (!found || rows.decided_by(found->scale) < enough) {
        return std::nullopt;
    }
    auto own = std::make_shared<const MistakeInfo>(MistakeInfo{std::string(scale_other), Group::scores, found->what,
                                                               "multiply Q·Kᵀ by the scale, 1/√d_k unless another is given"});
    Candidate candidate{.mistakes = {own.get()}, .variant = with_scale(found->scale), .own = own};
    confirm(candidate, problem, work);
    return candidate;
}

} // namespace

bool Candidate::fits_but_for_few() const
{
    constexpr double few = 0.05;
    constexpr double most = 0.25; // of a number: what a score of 64, rounded the other way, makes of a weight in bfloat16
    return rounds(variant) && distance.share_beyond() <= few && distance.gross <= most;
}

double times_farther(const Candidate& best, const Candidate& other)
{
    const auto ratio = [](double near, double far) { return std::max(far, same) / std::max(near, same); };
    const double typical = ratio(best.distance.typical(), other.distance.typical());
    return std::max(typical, rounds(best.variant) ? ratio(best.distance.share_beyond(), other.distance.share_beyond())
                                                  : ratio(best.distance.worst, other.distance.worst));
}

void confirm_nearest(std::vector<Candidate>& candidates, const Confirm& compute)
{
    for (std::size_t n = 0; n < confirmed; ++n) {
        sort(candidates);
        const Candidate& best = candidates.front();
        const auto next = std::ranges::find_if(candidates, [&](const Candidate& other) {
            return !other.complete && (other.fits() || best.fits()) && (!best.complete || times_farther(best, other) < clearly);
        });
        if (next == candidates.end()) {
            return;
        }
        compute(*next);
    }
}

void complete_nearest(std::vector<Candidate>& candidates, const Confirm& compute)
{
    if (std::ranges::any_of(candidates, &Candidate::fits)) {
        return;
    }
    sort(candidates);
    const auto right = std::ranges::find_if(candidates, &Candidate::right);
    const double reach = right->distance.typical() / nearer;
    compute(*right);
    for (std::size_t n = 0; n < std::min(completed, candidates.size()) && candidates[n].distance.typical() < reach; ++n) {
        compute(candidates[n]);
    }
}

void judge(Diagnosis& diagnosis)
{
    std::vector<Candidate>& candidates = diagnosis.candidates;
    const auto order = [](const Candidate& each) { return std::pair(!each.complete, order_of(each)); };
    std::ranges::stable_sort(candidates, {}, order);
    const Candidate best = candidates.front();
    std::vector<Candidate> alone; // copies, as the others are about to move
    std::ranges::copy_if(candidates, std::back_inserter(alone),
                         [](const Candidate& each) { return each.mistakes.size() == 1; });
    // One of two is needless where the other one alone is nearly as near.
    const auto is_needless = [&](const Candidate& pair) {
        return pair.mistakes.size() == 2 && std::ranges::any_of(alone, [&](const Candidate& single) {
                   return times_farther(pair, single) < clearly &&
                          std::ranges::find(pair.mistakes, single.mistakes.front()) != pair.mistakes.end();
               });
    };
    const auto is_peer = [&](const Candidate& other) {
        return other.fits() && times_farther(best, other) < clearly && !is_needless(other);
    };
    const auto others = std::stable_partition(candidates.begin(), candidates.end(), is_peer);
    diagnosis.named = static_cast<std::size_t>(others - candidates.begin());
    diagnosis.farther = std::numeric_limits<double>::infinity();
    for (auto other = others; other != candidates.end(); ++other) {
        diagnosis.farther = std::min(diagnosis.farther, times_farther(best, *other));
    }
    const auto is_right = [&](const Candidate& each) { return each.right() && times_farther(best, each) < clearly; };
    const bool right_is_near = std::ranges::any_of(candidates, is_right);
    // Of a number or two any rounding may happen to give the same, but not NaN.
    const auto right = std::ranges::find_if(candidates, &Candidate::right);
    const bool is_broken = right != candidates.end() && right->distance.broken > 0;
    const bool too_few = rounds(best.variant) && best.distance.count < 4 && !is_broken;
    diagnosis.verdict = diagnosis.named == 0 || right_is_near || too_few ? Verdict::unknown
                        : diagnosis.named > 1                            ? Verdict::tied
                        : diagnosis.farther < clearly                    ? Verdict::likely
                                                                         : Verdict::named;
    diagnosis.named = diagnosis.verdict == Verdict::unknown ? 0 : diagnosis.named;
}

const Candidate* nearest(const Diagnosis& diagnosis)
{
    const auto may_be_near = [](const Candidate& each) {
        const auto is_seed = [](const MistakeInfo* mistake) { return mistake->group == Group::seeds; };
        return each.complete && std::ranges::none_of(each.mistakes, is_seed);
    };
    const auto found = std::ranges::find_if(diagnosis.candidates, may_be_near);
    const Candidate& best = *found;
    const auto right = std::ranges::find_if(diagnosis.candidates, &Candidate::right);
    return nearer * best.distance.typical() < right->distance.typical() ? &best : nullptr;
}

std::vector<Candidate> candidates_in(const Call& call, Compared compared)
{
    std::vector<Candidate> candidates(1);
    for (const Mistake* mistake : mistakes_in(call)) {
        const Variant variant = mistake->on({});
        if (can_compare(variant, compared)) {
            candidates.push_back({.mistakes = {mistake}, .variant = as_compared(variant, compared)});
        }
    }
    return candidates;
}

std::vector<Candidate> singles(const Evidence& question, const core::Work& work)
{
    const Problem problem(question);
    std::vector<Candidate> candidates = measured_singles(problem, hopeless, work);
    complete_nearest(candidates, confirming(problem, work));
    return candidates;
}

void add_free_scale(Diagnosis& diagnosis, const Evidence& question, const core::Work& work)
{
    constexpr double precise = 0.1; // tolerances: a scale that is as near is it
    const Candidate* best = nullptr;
    for (const Candidate& each : diagnosis.candidates) {
        best = each.fits() && (best == nullptr || order_of(each) < order_of(*best)) ? &each : best;
    }
    if (best != nullptr && (best->right() || !is_scale(best->variant) || order_of(*best) < precise)) {
        return;
    }
    std::optional<Candidate> found = free_scale_candidate(Problem(question), work);
    if (found && found->fits() && (best == nullptr || times_farther(*found, *best) >= clearly)) {
        diagnosis.candidates.push_back(std::move(*found));
        ++diagnosis.tried;
    }
}

Diagnosis diagnose(const Evidence& question, const core::Work& work, std::vector<Candidate> others)
{
    const Problem problem(question);
    Diagnosis diagnosis;
    constexpr double unlimited = std::numeric_limits<double>::infinity();
    diagnosis.candidates = measured_singles(problem, unlimited, work);
    std::ranges::move(others, std::back_inserter(diagnosis.candidates));
    diagnosis.tried = diagnosis.candidates.size() - 1;
    if (question.pairs && !std::ranges::any_of(diagnosis.candidates, &Candidate::fits)) {
        add_pairs(diagnosis, problem, work);
    }
    if (question.free_scale) {
        add_free_scale(diagnosis, question, work);
    }
    complete_nearest(diagnosis.candidates, confirming(problem, work));
    judge(diagnosis);
    return diagnosis;
}

} // namespace attn::model::diagnose
