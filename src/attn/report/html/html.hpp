// Result → one HTML file that shows attention: the page of data/page with the result's JSON in it. It needs nothing else, and
// its Content-Security-Policy lets it ask for nothing else.
#pragma once

#include "attn/model/run/result.hpp"
#include "attn/report/colour_map.hpp"
#include "attn/tensor/buffer.hpp"

#include <string>
#include <string_view>

namespace attn::report {

/// What every page has in common. `frame` is HTML with one {{name}} each for style, script, style_hash, script_hash, declared,
/// asked and result; the hashes name style and script in the policy.
struct PageParts {
    std::string_view frame = {}, style = {}, script = {};
    std::string_view style_hash = {}, script_hash = {}; ///< "sha256-…", as a Content-Security-Policy has them
};

/// What a user asked for, apart from the result.
struct PageOptions {
    ShadeOptions shade = {};
    std::string remark = {}; ///< above the picture; empty: none
    /// "attn-cli run …", which computes the result except for causal, scale and hidden words, which the page adds; empty: none.
    std::string command = {};
};

/// What a page still shows smoothly, of so many layers. Throws Error(too_large) naming the count and what to do instead.
void require_page_size(const Shape& weights, Index layers = 1);

/// The result is shown as write_json writes it, "weights" (H, T, S) of each layer among it, except each "<", which is \u003c
/// there so that no word ends the script that holds it; beside it stands what each head does. Throws Error(too_large) before it
/// writes anything, Error(internal) for a layer without weights or a frame with another name.
void write_html(const model::Result& result, const PageParts& parts, const PageOptions& options, Buffer& out);

} // namespace attn::report
