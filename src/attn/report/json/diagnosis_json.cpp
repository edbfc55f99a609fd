#include "attn/report/json/diagnosis_json.hpp"

#include "attn/report/json_writer.hpp"

namespace attn::report {
namespace {

using model::diagnose::Against;
using model::diagnose::Candidate;
using model::diagnose::Diagnosis;
using model::diagnose::MistakeInfo;
using model::diagnose::Where;

/// A text of each mistake: its name, what it is, or what to do.
template <class Text>
void write_each(JsonWriter& json, std::string_view key, const Candidate& candidate, Text MistakeInfo::*text)
{
    json.begin_array(key);
    for (const MistakeInfo* mistake : candidate.mistakes) {
        json.string(mistake->*text);
    }
    json.end_array();
}

std::vector<std::string> names_of(const Candidate& candidate)
{
    std::vector<std::string> names;
    for (const MistakeInfo* mistake : candidate.mistakes) {
        names.push_back(mistake->name);
    }
    return names;
}

void write_candidate(JsonWriter& json, const Candidate& candidate)
{
    json.begin_object();
    write_each(json, "mistakes", candidate, &MistakeInfo::name);
    json.member("largest_difference", candidate.distance.largest);
    json.member("largest_in_tolerances", candidate.distance.worst);
    json.member("typical_in_tolerances", candidate.distance.typical());
    json.member("complete", candidate.complete);
    json.end_object();
}

void write(JsonWriter& json, const Diagnosis& diagnosis)
{
    json.member("verdict", model::diagnose::verdict_names[static_cast<std::size_t>(diagnosis.verdict)]);
    json.begin_array("named");
    for (std::size_t n = 0; n < diagnosis.named; ++n) {
        json.begin_object();
        write_each(json, "mistakes", diagnosis.candidates[n], &MistakeInfo::name);
        write_each(json, "what", diagnosis.candidates[n], &MistakeInfo::what);
        write_each(json, "advice", diagnosis.candidates[n], &MistakeInfo::advice);
        json.end_object();
    }
    json.end_array();
    if (diagnosis.named == 1) {
        json.member("times_farther", diagnosis.farther);
    }
    const Candidate* best = diagnosis.named == 0 ? nearest(diagnosis) : nullptr;
    if (best != nullptr) {
        write_each(json, "nearest", *best, &MistakeInfo::name);
    }
    json.member("tried", static_cast<Index>(diagnosis.tried));
    json.member("all_pairs", diagnosis.all_pairs);
    json.begin_array("candidates");
    for (const Candidate& candidate : diagnosis.candidates) {
        write_candidate(json, candidate);
    }
    json.end_array();
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
    json.member("tried", static_cast<Index>(file.suggestion.tried));
    if (!file.path.empty()) {
        json.member("file", file.path);
        json.member("command", file.command);
        json.member("same_shapes", file.suggestion.same_shapes);
        json.begin_array("alike");
        for (const std::vector<std::size_t>& group : file.suggestion.alike) {
            json.begin_array();
            for (const std::size_t at : group) {
                json.strings(names_of(diagnosis.candidates[at]));
            }
            json.end_array();
        }
        json.end_array();
    }
    json.end_object();
}

} // namespace

void write_diagnosis_json(const JudgedFile& file, const Sink& sink)
{
    Buffer buffer(sink);
    JsonWriter json(buffer);
    const Against& against = file.against;
    const model::TensorComparison& compared = against.comparison;
    json.begin_object();
    json.member("schema", "attn-cli/diagnosis/1");
    json.member("file", file.name);
    if (!against.array.empty()) {
        json.member("array", against.array);
    }
    json.member("agrees", compared.agrees());
    json.member("compared", compared.compared);
    json.member("mismatched", compared.mismatched);
    json.member("largest_difference", compared.largest_difference());
    if (against.beyond_lengths) {
        json.member("beyond_lengths", true);
    }
    if (against.diagnosis) {
        write(json, *against.diagnosis);
        write(json, *against.where);
    }
    if (file.suggested != nullptr) {
        write(json, *file.suggested, *against.diagnosis);
    }
    json.end_object();
    json.newline();
    buffer.flush();
}

} // namespace attn::report
