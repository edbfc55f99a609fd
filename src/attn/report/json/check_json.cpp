#include "attn/report/json/check_json.hpp"

#include "attn/model/recipe/documents.hpp"
#include "attn/report/comparison_json.hpp"

namespace attn::report {
namespace {

namespace key = model::key;

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

} // namespace attn::report
