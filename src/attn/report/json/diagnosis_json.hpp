// What `attend --against` says of a file, as JSON: one object on one line, "schema": "attn-cli/diagnosis/1".
#pragma once

#include "attn/model/diagnose/against.hpp"
#include "attn/report/sink.hpp"

namespace attn::report {

void write_diagnosis_json(const model::diagnose::Against& against, std::string_view name, const Sink& sink);

} // namespace attn::report
