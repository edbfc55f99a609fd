#include "attn/report/json/check_json.hpp"

#include "attn/report/json_writer.hpp"

namespace attn::report {
namespace {

void begin_report(JsonWriter& json, std::string_view name, bool passed)
{
    json.begin_object();
    json.member("schema", "attn-cli/check/1");
    json.member("name", name);
    json.member("passed", passed);
}

void write_finding(JsonWriter& json, const model::Finding& finding)
{
    json.begin_object();
    json.member("what", finding.what);
    json.member("compared", finding.compared);
    json.member("mismatched", finding.mismatched);
    json.member("largest_absolute", finding.largest_absolute);
    json.member("largest_relative", finding.largest_relative);
    for (const auto& [key, text] : {std::pair("first", &finding.first), std::pair("hint", &finding.hint)}) {
        if (!text->empty()) {
            json.member(key, *text);
        }
    }
    json.end_object();
}

} // namespace

void write_check_json(const model::CheckReport& report, std::string_view name, const Sink& sink)
{
    Buffer buffer(sink);
    JsonWriter json(buffer);
    begin_report(json, name, report.passed());
    json.begin_array("statements");
    for (const model::Finding& finding : report.findings) {
        write_finding(json, finding);
    }
    json.end_array();
    json.end_object();
    json.newline();
    buffer.flush();
}

void write_check_error_json(std::string_view name, int code, std::string_view message, const Sink& sink)
{
    Buffer buffer(sink);
    JsonWriter json(buffer);
    begin_report(json, name, false);
    json.error(code, message);
    json.end_object();
    json.newline();
    buffer.flush();
}

} // namespace attn::report
