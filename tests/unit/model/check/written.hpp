// The document that a result is written as, read again: what `check` compares.
#pragma once

#include "attn/io/json/saved_result.hpp"
#include "attn/report/json/json.hpp"

inline attn::model::SavedResult written(const attn::model::Result& result)
{
    attn::Buffer json;
    attn::report::write_json(result, {}, json);
    return attn::io::parse_saved_result(json.text());
}
