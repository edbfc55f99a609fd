// What `attend --against` says of a file, as JSON: one object on one line, "schema": "attn-cli/diagnosis/1".
#pragma once

#include "attn/report/text/diagnosis.hpp"

namespace attn::report {

void write_diagnosis_json(const JudgedFile& file, Buffer& buffer);

} // namespace attn::report
