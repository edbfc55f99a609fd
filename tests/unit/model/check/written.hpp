// The document that a result is written as, read again: what `check` compares.
#pragma once

#include "attn/io/json/saved_result.hpp"
#include "attn/report/json/json.hpp"

#include <string>

inline attn::model::SavedResult written(const attn::model::Result& result)
{
    std::string json;
    const attn::report::Sink sink = [&](std::string_view bytes) { json += bytes; };
    attn::report::Buffer buffer(sink);
    attn::report::write_json(result, {}, buffer);
    buffer.flush();
    return attn::io::parse_saved_result(json);
}
