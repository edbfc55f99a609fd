#include "attn/report/text/diagnosis.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/text/display.hpp"
#include "attn/tensor/buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

namespace attn::report {
namespace {

using model::diagnose::Against;
using model::diagnose::Agreement;
using model::diagnose::Candidate;
using model::diagnose::Diagnosis;
using model::diagnose::MistakeInfo;
using model::diagnose::Told;
using model::diagnose::Verdict;
using model::diagnose::Where;

constexpr std::string_view strict = "--strict"; // what alone lets such a file differ

/// Two digits: "0.31", "7.1e-07", "2300".
std::string about(double value)
{
    constexpr double least_fixed = 1e-3, most_fixed = 1e6;
    if (value == 0 || !std::isfinite(value)) {
        return value == 0 ? "0" : math::fixed(value, 0);
    }
    if (value < least_fixed || value >= most_fixed) {
        return math::scientific(value, 1);
    }
    return math::fixed(value, value < 0.1 ? 4 : value < 10 ? 2 : value < 100 ? 1 : 0);
}

/// One digit, and thousands with commas: "3,000,000".
std::string roughly(double times)
{
    constexpr double least = 10;
    double unit = 1;
    while (times / unit >= least) {
        unit *= least;
    }
    const std::string plain = math::fixed(std::floor(times / unit) * unit, 0);
    std::string text;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        text += i > 0 && (plain.size() - i) % 3 == 0 ? "," : "";
        text += plain[i];
    }
    return text;
}

/// Of some candidates, each text once.
void write_advice(std::span<const Candidate> candidates, Buffer& buffer)
{
    std::vector<std::string_view> given;
    for (const Candidate& candidate : candidates) {
        for (const MistakeInfo* mistake : candidate.mistakes) {
            if (std::ranges::find(given, mistake->advice) == given.end()) {
                given.push_back(mistake->advice);
                buffer.append(fmt::format("try: {}\n", mistake->advice));
            }
        }
    }
}

/// One that fits, perhaps beside others that nearly do.
void write_named(const Diagnosis& diagnosis, const std::string& name, Buffer& buffer)
{
    const Candidate& best = diagnosis.candidates.front();
    const bool likely = diagnosis.verdict == Verdict::likely;
    const std::string next =
        likely ? fmt::format("; no other candidate fits, but one is only {} times farther", about(diagnosis.farther))
        : std::isfinite(diagnosis.farther) ? fmt::format("; the next candidate is {} times farther", roughly(diagnosis.farther))
                                           : "";
    buffer.append(fmt::format("{} {} what {} {}: largest difference {}{}\n", name, likely ? "may be" : "is", what_of(best),
                              best.mistakes.size() > 1 ? "give" : "gives", about(best.distance.largest), next));
    write_advice({&best, 1}, buffer);
}

/// A mistake in what a recipe draws and multiplies may give the same numbers on any input, as where a matrix is symmetric.
bool is_around_attention(const Candidate& candidate)
{
    using model::diagnose::Group;
    constexpr std::array around{Group::words, Group::draws, Group::seeds, Group::projections};
    return std::ranges::any_of(candidate.mistakes, [&](const MistakeInfo* mistake) {
        return std::ranges::find(around, mistake->group) != around.end();
    });
}

void write_tied(const Diagnosis& diagnosis, const std::string& name, Buffer& buffer)
{
    const std::span tied = std::span(diagnosis.candidates).first(diagnosis.named);
    const bool of_attention = std::ranges::none_of(tied, is_around_attention);
    buffer.append(fmt::format("{} does not decide{}: it is as near to each of\n", name, of_attention ? " on this input" : ""));
    for (const Candidate& peer : tied) {
        buffer.append(fmt::format("  {}: largest difference {}\n", what_of(peer), about(peer.distance.largest)));
    }
    write_advice(tied, buffer);
}

void write_suggested(const SuggestedFile& file, const Diagnosis& diagnosis, Buffer& buffer)
{
    const model::diagnose::Suggestion& found = file.suggestion;
    if (file.path.empty()) {
        return buffer.append(
            fmt::format("no input is written: they agree on all {} inputs tried, some of other sizes\n", found.tried));
    }
    buffer.append(
        fmt::format("{}{} is an input that tells {} apart; run your attention on it, and then, with its result:\n  {}\n",
                    visible(file.path), found.same_shapes ? "" : ", of other shapes,",
                    found.alike.empty() ? "them" : "some of them", visible(file.command)));
    for (const std::vector<std::size_t>& group : found.alike) {
        std::string names;
        for (const std::size_t at : group) {
            names += (names.empty() ? "" : ", ") + what_of(diagnosis.candidates[at]);
        }
        buffer.append(fmt::format("  still alike: {}\n", names));
    }
}

/// "0-15" of places `first` to `last`, which stand for `tile` of `count` each.
std::string range(std::size_t first, std::size_t last, Index tile, std::size_t count)
{
    const std::size_t begin = first * static_cast<std::size_t>(tile);
    const std::size_t end = std::min((last + 1) * static_cast<std::size_t>(tile), count) - 1;
    return end > begin ? fmt::format("{}-{}", begin, end) : fmt::format("{}", begin);
}

/// "; 0-15, 32 agree", where some do and others do not: where a mistake begins or ends.
std::string agreeing(const std::vector<double>& differences, Index tile, std::size_t count)
{
    constexpr std::size_t most = 3;
    std::string ranges;
    std::size_t found = 0;
    for (std::size_t at = 0; at < differences.size(); ++at) {
        const std::size_t first = at;
        while (at < differences.size() && differences[at] == 0) {
            ++at;
        }
        if (at > first) {
            ranges += (++found == 1 ? "" : ", ") + range(first, at - 1, tile, count);
        }
    }
    return found == 0 || found > most ? "" : fmt::format("; {} agree", ranges);
}

/// "  heads      3: 0.31, 0: 0.0021, …": the largest few, each `tile` of `count`, and those that agree. A dimension of one
/// place says nothing.
void write_largest(std::string_view title, const std::vector<double>& differences, Index tile, std::size_t count,
                   Buffer& buffer)
{
    constexpr std::size_t most = 4;
    std::vector<std::size_t> order(differences.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t at) { return differences[at]; });
    std::erase_if(order, [&](std::size_t at) { return differences[at] == 0; });
    if (differences.size() < 2) {
        return;
    }
    std::string text = fmt::format("  {:<10}", title);
    for (std::size_t n = 0; n < std::min(most, order.size()); ++n) {
        text +=
            fmt::format("{}{}: {}", n == 0 ? "" : ", ", range(order[n], order[n], tile, count), about(differences[order[n]]));
    }
    text += order.size() > most ? ", …" : "";
    buffer.append(text + (order.empty() ? "" : agreeing(differences, tile, count)) + "\n");
}

/// Where nothing is named: where the error lies.
void write_where(const Against& against, Buffer& buffer)
{
    const Where& where = *against.where;
    const auto each = [&](std::string_view title, const std::vector<double>& differences) {
        write_largest(title, differences, 1, differences.size(), buffer);
    };
    buffer.append("the largest differences beyond the tolerance, by place:\n");
    each(against.of_layers ? "layer" : "batch", where.batches);
    each("head", where.heads);
    write_largest(against.of_keys ? "keys" : "queries", where.tiles, where.tile, where.rows.size(), buffer);
    each("row", where.rows);
    write_largest("keys", where.key_tiles, where.tile, where.columns.size(), buffer);
    each(against.of_weights ? "key" : "column", where.columns);
}

/// Whether the right result is as near as the tolerance demands of a mistake, if not number by number.
bool fits_right(const Diagnosis& diagnosis)
{
    return std::ranges::any_of(diagnosis.candidates, [](const Candidate& each) { return each.right() && each.fits(); });
}

/// float16 and bfloat16 have a measure of their own for that.
bool is_rounding(const Against& against)
{
    return fits_right(*against.diagnosis) && !against.whole && !against.half && against.comparison.unmeasured == 0;
}

/// Whether lost decimals may be all that sets it apart.
bool says_too_little(const Against& against)
{
    return fits_right(*against.diagnosis) && against.whole && against.comparison.unmeasured == 0;
}

/// "; 0.0012 from float64; allowed 0.0042: 2 times that of unfused float16, plus atol"
std::string as_half(const Against& against)
{
    return !against.half ? ""
                         : fmt::format("; {} from float64; allowed {}: {} times that of unfused {}, plus atol",
                                       about(against.half->largest), about(against.half->allowed), against.half->times,
                                       name_of(against.half->type));
}

/// "mine.npz", or "mine.npz:lse" of one of several arrays.
std::string shown_name(const JudgedFile& file)
{
    return visible(file.name) + (file.together == nullptr ? "" : ":" + file.against.array);
}

/// How a file agrees.
std::string agreement(const Against& against)
{
    return against.agreement == Agreement::as_type_allows
               ? fmt::format("agrees as well as {} can", name_of(against.half->type))
               : "agrees" + (against.array.empty() ? "" : " with the " + against.array);
}

/// Of numbers that differ by NaN or an infinity.
void write_unmeasured(const model::TensorComparison& compared, Buffer& buffer)
{
    if (compared.unmeasured == 0) {
        return;
    }
    std::string place;
    for (const Index i : compared.first_unmeasured->index) {
        place += fmt::format("[{}]", i);
    }
    buffer.append(fmt::format("{} of them {} NaN or infinite; the first, {}, is {} in place of {}\n", compared.unmeasured,
                              compared.unmeasured == 1 ? "is" : "are", place, compared.first_unmeasured->a,
                              compared.first_unmeasured->b));
}

/// "agrees with --layout bshd"
std::string agreement_in_layout(const Against& against)
{
    return fmt::format("agrees with --layout {}", model::tensor_layout_names[static_cast<std::size_t>(*against.agrees_in)]);
}

/// Of a file that agrees: what it rounds.
void write_rounding(const Against& against, Buffer& buffer)
{
    std::string text;
    for (const Candidate& each : against.roundings()) {
        text += (text.empty() ? "" : ", or ") + what_of(each);
    }
    buffer.append(fmt::format("its numbers are those of {}, which is not a mistake\n", text));
}

void write_unknown(const Against& against, const std::string& name, Buffer& buffer)
{
    const Diagnosis& diagnosis = *against.diagnosis;
    if (is_rounding(against)) {
        return buffer.append(name + " differs from the right result by no more than rounding; no mistake is named\n");
    }
    if (says_too_little(against)) {
        return buffer.append(name + " holds only whole numbers, which say too little to name a mistake: print its decimals\n");
    }
    const Candidate* best = nearest(diagnosis);
    const std::string nearby = best == nullptr ? "none is at least twice as near as the right result"
                                               : fmt::format("the nearest is {}: largest difference {}", what_of(*best),
                                                             about(best->distance.largest));
    buffer.append(fmt::format("none of {} mistakes{} gives {}; {}\n", diagnosis.tried,
                              diagnosis.pairs_tried ? " and pairs" : "", name, nearby));
    if (!diagnosis.attention_tried) {
        buffer.append(
            "mistakes of the attention itself are tried in weights, context and output alone, of scores q·k without dropout\n");
    }
    if (!diagnosis.all_pairs) {
        buffer.append("some pairs were left out, as this input is large; a smaller one tries them all\n");
    }
}

} // namespace

std::string what_of(const Candidate& candidate)
{
    std::string text;
    for (const MistakeInfo* mistake : candidate.mistakes) {
        text += fmt::format(R"({}"{}")", text.empty() ? "" : " and ", mistake->what);
    }
    return text.empty() ? "the right result" : text;
}

void write_together(const model::diagnose::Together& together, std::string_view name, Buffer& buffer)
{
    if (together.pattern == model::diagnose::AgreementPattern::all_agree) {
        return;
    }
    std::string named;
    for (const Candidate& each : together.named) {
        named += (named.empty() ? "" : ", or ") + what_of(each);
    }
    buffer.append(fmt::format("{}: {}; {}\n", visible(name), info_of(together.pattern).sentence,
                              named.empty() ? "none of the mistakes that are named gives all arrays"
                                            : "all arrays are given by " + named));
}

void write_diagnosis_line(const JudgedFile& file, Buffer& buffer)
{
    const Against& against = file.against;
    const model::TensorComparison& compared = against.comparison;
    std::string text = shown_name(file) + ": ";
    if (against.agrees()) {
        text += agreement(against);
    }
    if (against.told() == Told::mistake) {
        text += against.agrees() ? ", but is also what this gives: " : "";
        text += against.diagnosis->verdict == Verdict::likely ? "perhaps " : "";
        for (std::size_t n = 0; n < against.diagnosis->named; ++n) {
            text += (n == 0 ? "" : ", or ") + what_of(against.diagnosis->candidates[n]);
        }
    } else if (!against.agrees() && against.beyond_lengths) {
        text += "differs only in queries at or beyond the lengths";
    } else if (against.agrees_in) {
        text += "differs, but " + agreement_in_layout(against);
    } else if (!against.agrees()) {
        text += fmt::format("differs in {} of {}, by up to {}", compared.mismatched, compared.compared,
                            about(compared.largest_difference()));
        text += !against.diagnosis         ? ""
                : is_rounding(against)     ? ", by no more than rounding"
                : says_too_little(against) ? ", as whole numbers may"
                                           : "; no listed mistake gives it";
    }
    buffer.append(text + "\n");
}

void write_diagnosis(const JudgedFile& file, Buffer& buffer)
{
    const Against& against = file.against;
    const model::TensorComparison& compared = against.comparison;
    const std::string shown = shown_name(file);
    const std::string largest = ", largest difference " + about(compared.largest_difference()) + as_half(against);
    switch (against.agreement) {
    case Agreement::within_tolerance:
        buffer.append(fmt::format("{} {}: {} numbers{}\n", shown, agreement(against), compared.compared, largest));
        break;
    case Agreement::as_type_allows:
        buffer.append(fmt::format("{} {}: {} of {} beyond the tolerance{}\n", shown, agreement(against), compared.mismatched,
                                  compared.compared, largest));
        break;
    case Agreement::differs:
        buffer.append(fmt::format("differs{}: {} of {}{}\n", against.array.empty() ? "" : " from the " + against.array,
                                  compared.mismatched, compared.compared, largest));
        if (against.half && against.half->suffices()) {
            buffer.append(fmt::format("without {} it agrees as well as {} can\n", strict, name_of(against.half->type)));
        }
        if (against.beyond_lengths) {
            buffer.append(shown + " differs only in queries at or beyond the lengths\n");
        } else {
            write_unmeasured(compared, buffer);
        }
        break;
    }
    switch (against.told()) {
    case Told::note: write_rounding(against, buffer); break;
    case Told::mistake:
        against.diagnosis->verdict == Verdict::tied ? write_tied(*against.diagnosis, shown, buffer)
                                                    : write_named(*against.diagnosis, shown, buffer);
        if (file.suggested != nullptr) {
            write_suggested(*file.suggested, *against.diagnosis, buffer);
        }
        break;
    case Told::nothing:
        if (against.agrees_in) {
            buffer.append(
                fmt::format("{} {}: heads and positions lie in the other order\n", shown, agreement_in_layout(against)));
        } else if (against.diagnosis && !against.agrees() && !against.beyond_lengths) {
            write_unknown(against, shown, buffer);
            write_where(against, buffer);
        }
        if (against.of_layers && !against.agrees()) {
            write_where(against, buffer);
        }
        if (against.too_large) {
            buffer.append("no mistake is named in a head of more than 2048 queries and keys: a smaller input says more\n");
        }
        break;
    }
}

} // namespace attn::report
