// What comparing finds, as JSON: of `compare`, of `check`, of --against and of --blind-spots; and the names that they share.
#pragma once

#include "attn/model/check/check.hpp"
#include "attn/model/check/compare.hpp"
#include "attn/report/json_writer.hpp"
#include "attn/report/text/blind_spots.hpp"
#include "attn/report/text/diagnosis.hpp"
#include "attn/tensor/buffer.hpp"

#include <string_view>

namespace attn::report {

inline constexpr std::string_view first_difference = "first", largest_absolute = "largest_absolute",
                                  largest_relative = "largest_relative";

template <typename Compared>
void write_counts(JsonWriter& json, const Compared& what)
{
    json.member("compared", what.compared);
    json.member("mismatched", what.mismatched);
}

/// {"equal":false,"tensors":[{"name":"weights","equal":false,"shape":[2,2],"compared":4,"mismatched":1,"percentage":25.0,
/// "first":{"index":[0,1],"a":0.5,"b":0.25},"largest_absolute":{"difference":0.25,"index":[0,1],"a":0.5,"b":0.25},
/// "largest_relative":{…}}]} and a newline. What was not compared has "reason" instead of all from "shape" on.
void write_comparison_json(const model::Comparison& comparison, Buffer& buffer);

// The report of `check`: one object on one line, "schema": "attn-cli/check/1".

void write_check_json(const model::CheckReport& report, std::string_view name, Buffer& buffer);

/// What could not be checked, and the exit code that says why.
void write_check_error_json(std::string_view name, int code, std::string_view message, Buffer& buffer);

// What `attend --against` says of a file, as JSON: one object on one line, "schema": "attn-cli/diagnosis/1".

void write_diagnosis_json(const JudgedFile& file, Buffer& buffer);

// What `attend --blind-spots` says, as JSON: one object on one line, "schema": "attn-cli/blind-spots/1".

void write_blind_spots_json(const model::diagnose::BlindSpots& spots, const RevealingFile* suggested, Buffer& buffer);

} // namespace attn::report
