#include "attn/report/json/comparison_json.hpp"

#include "attn/model/recipe/documents.hpp"

#include <optional>
#include <string>

namespace attn::report {

// ---- compare ---------------------------------------------------------------------------------------------------------------

namespace {

using model::diagnose::Against;
using model::diagnose::BlindSpots;
using model::diagnose::Candidate;
using model::diagnose::Diagnosis;
using model::diagnose::MistakeInfo;
using model::diagnose::Where;
namespace key = model::key;

/// Numbers as JSON has them, infinities, NaN and words as strings.
void write_value(JsonWriter& json, const std::string& text)
{
    const bool number = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) && text != "-inf";
    number ? json.raw(text) : json.string(text);
}

void write_place(JsonWriter& json, const model::Place& place)
{
    json.member(key::index, place.index);
    json.key("a");
    write_value(json, place.a);
    json.key("b");
    write_value(json, place.b);
}

void write_largest(JsonWriter& json, std::string_view key, const model::LargestDifference* largest)
{
    if (!largest) {
        return;
    }
    json.begin_object(key);
    json.member("difference", largest->value);
    write_place(json, largest->place);
    json.end_object();
}

void write_tensor(JsonWriter& json, const model::TensorComparison& tensor)
{
    json.begin_object();
    json.member(key::name, tensor.name);
    json.member("equal", tensor.agrees());
    if (!tensor.why.empty()) {
        json.member("reason", tensor.why);
        json.end_object();
        return;
    }
    json.member(key::shape, tensor.shape);
    write_counts(json, tensor);
    json.member("percentage", tensor.percentage());
    if (tensor.first) {
        json.begin_object(first_difference);
        write_place(json, *tensor.first);
        json.end_object();
    }
    write_largest(json, largest_absolute, tensor.absolute.get());
    write_largest(json, largest_relative, tensor.relative.get());
    json.end_object();
}

} // namespace

void write_comparison_json(const model::Comparison& comparison, Buffer& buffer)
{
    JsonWriter json(buffer);
    json.begin_object();
    json.member("equal", comparison.agrees());
    json.begin_array("tensors");
    for (const model::TensorComparison& tensor : comparison.tensors) {
        write_tensor(json, tensor);
    }
    json.end_array();
    json.end_object();
    json.newline();
}

// ---- check -----------------------------------------------------------------------------------------------------------------

namespace {

void begin_report(JsonWriter& json, std::string_view name, bool passed)
{
    json.member(key::schema, "attn-cli/check/1");
    json.member(key::name, name);
    json.member("passed", passed);
}

void write_finding(JsonWriter& json, const model::Finding& finding)
{
    json.member("what", finding.what);
    write_counts(json, finding);
    json.member(largest_absolute, finding.largest_absolute);
    json.member(largest_relative, finding.largest_relative);
    for (const auto& [name, text] : {std::pair(first_difference, &finding.first), {"hint", &finding.hint}}) {
        if (!text->empty()) {
            json.member(name, *text);
        }
    }
}

} // namespace

void write_check_json(const model::CheckReport& report, std::string_view name, Buffer& buffer)
{
    write_json_line(buffer, [&](JsonWriter& json) {
        begin_report(json, name, report.passed());
        json.objects("statements", report.findings, [&](const model::Finding& finding) { write_finding(json, finding); });
    });
}

void write_check_error_json(std::string_view name, int code, std::string_view message, Buffer& buffer)
{
    write_json_line(buffer, [&](JsonWriter& json) {
        begin_report(json, name, false);
        json.error(code, message);
    });
}

// ---- --against -------------------------------------------------------------------------------------------------------------

namespace {

// Of the whole, and of its parts.
constexpr std::string_view mistakes = "mistakes", largest_difference = "largest_difference", tried = "tried", file_key = "file";

/// A text of each mistake: its name, what it is, or what to do.
template <class Text>
std::vector<std::string> of_each(const Candidate& candidate, Text MistakeInfo::*text)
{
    std::vector<std::string> texts;
    for (const MistakeInfo* mistake : candidate.mistakes) {
        texts.emplace_back(mistake->*text);
    }
    return texts;
}

std::vector<std::string> names_of(const Candidate& candidate)
{
    return of_each(candidate, &MistakeInfo::name);
}

void write(JsonWriter& json, const Diagnosis& diagnosis)
{
    json.member("verdict", model::diagnose::verdict_names[static_cast<std::size_t>(diagnosis.verdict)]);
    json.objects("named", std::span(diagnosis.candidates).first(diagnosis.named), [&](const Candidate& candidate) {
        json.member(mistakes, names_of(candidate));
        json.member("what", of_each(candidate, &MistakeInfo::what));
        json.member("advice", of_each(candidate, &MistakeInfo::advice));
        if (candidate.variant.scale == model::diagnose::Scale::other) {
            json.member("scale", candidate.variant.other_scale);
        }
    });
    if (diagnosis.named == 1) {
        json.member("times_farther", diagnosis.farther);
    }
    const Candidate* best = diagnosis.named == 0 ? nearest(diagnosis) : nullptr;
    if (best != nullptr) {
        json.member("nearest", names_of(*best));
    }
    json.member(tried, static_cast<Index>(diagnosis.tried));
    json.member("all_pairs", diagnosis.all_pairs);
    json.objects("candidates", diagnosis.candidates, [&](const Candidate& candidate) {
        json.member(mistakes, names_of(candidate));
        if (!candidate.broken_off) {
            json.member(largest_difference, candidate.distance.largest);
            json.member("largest_in_tolerances", candidate.distance.worst);
            json.member("typical_in_tolerances", candidate.distance.typical());
        }
        json.member("complete", candidate.complete);
    });
}

void write(JsonWriter& json, const Where& where)
{
    json.begin_object("where");
    json.member("batches", where.batches);
    json.member("heads", where.heads);
    json.member("rows", where.rows);
    json.member("columns", where.columns);
    json.end_object();
}

void write(JsonWriter& json, const SuggestedFile& file, const Diagnosis& diagnosis)
{
    json.begin_object("suggested_input");
    json.member(tried, static_cast<Index>(file.suggestion.tried));
    if (!file.path.empty()) {
        json.member(file_key, file.path);
        json.member("command", file.command);
        json.member("same_shapes", file.suggestion.same_shapes);
        json.array("alike", file.suggestion.alike, [&](const std::vector<std::size_t>& group) {
            json.begin_array();
            for (const std::size_t at : group) {
                json.strings(names_of(diagnosis.candidates[at]));
            }
            json.end_array();
        });
    }
    json.end_object();
}

std::vector<std::string> names_of(const std::vector<model::diagnose::BlindSpot>& spots)
{
    std::vector<std::string> names;
    std::ranges::transform(spots, std::back_inserter(names), [](const auto& spot) { return spot.mistake->name; });
    return names;
}

void write(JsonWriter& json, const BlindSpots& spots)
{
    json.member("seen", static_cast<Index>(spots.seen()));
    json.member("possible", static_cast<Index>(spots.possible));
    json.member("rtol", spots.tolerance.rtol);
    json.member("atol", spots.tolerance.atol);
    json.member("half_allowed", spots.half_allowed);
    json.member("noise", spots.noise);
    json.objects("unseen", spots.unseen, [&](const model::diagnose::BlindSpot& spot) {
        json.member("mistake", spot.mistake->name);
        json.member("what", spot.mistake->what);
        json.member("advice", spot.mistake->advice);
        json.member("threads", spot.mistake->threads);
        json.member("why", model::diagnose::blind_names[static_cast<std::size_t>(spot.why)]);
        if (spot.change) {
            json.member("change", model::diagnose::change_names.at(static_cast<std::size_t>(*spot.change)));
        }
        if (const std::optional<std::string> sizes = sizes_that_show(spot, spots)) {
            json.member("sizes", *sizes);
        }
        if (spot.why != model::diagnose::Blind::no_room) {
            json.member("largest_difference", spot.largest);
        }
    });
}

} // namespace

void write_diagnosis_json(const JudgedFile& file, Buffer& buffer)
{
    const Against& against = file.against;
    const model::TensorComparison& compared = against.comparison;
    write_json_line(buffer, [&](JsonWriter& json) {
        json.member(key::schema, "attn-cli/diagnosis/1");
        json.member(file_key, file.name);
        if (!against.array.empty()) {
            json.member(key::array, against.array);
        }
        json.member("agrees", against.agrees());
        json.member("agreement", model::diagnose::agreement_names[static_cast<std::size_t>(against.agreement)]);
        write_counts(json, compared);
        json.member("not_finite", compared.unmeasured);
        json.member(largest_difference, compared.largest_difference());
        if (against.half) {
            json.begin_object("half");
            json.member("type", name_of(against.half->type));
            json.member(largest_difference, against.half->largest);
            json.member("unfused", against.half->unfused);
            json.member("allowed", against.half->allowed);
            json.end_object();
        }
        if (against.beyond_lengths) {
            json.member("beyond_lengths", true);
        }
        if (against.agrees_in) {
            json.member("agrees_in_layout", model::tensor_layout_names[static_cast<std::size_t>(*against.agrees_in)]);
        }
        if (against.diagnosis) {
            write(json, *against.diagnosis);
            write(json, *against.where);
        } else if (against.of_layers) {
            write(json, *against.where);
        }
        if (file.suggested != nullptr) {
            write(json, *file.suggested, *against.diagnosis);
        }
        if (file.together != nullptr) {
            json.begin_object("together");
            json.member("pattern", info_of(file.together->pattern).name);
            json.array("named", file.together->named, [&](const Candidate& each) { json.strings(names_of(each)); });
            json.end_object();
        }
    });
}

void write_blind_spots_json(const BlindSpots& spots, const RevealingFile* suggested, Buffer& buffer)
{
    write_json_line(buffer, [&](JsonWriter& json) {
        json.member(key::schema, "attn-cli/blind-spots/1");
        write(json, spots);
        if (suggested != nullptr) {
            json.begin_object("suggested_input");
            if (!suggested->path.empty()) {
                json.member(file_key, suggested->path);
                json.member("command", suggested->command);
                json.member("not_shown", names_of(unseen_here_alone(suggested->spots, spots)));
                write(json, suggested->spots);
            }
            json.end_object();
        }
    });
}

} // namespace attn::report
