// --show of `run` and `attend`: which items of a result to write.
#pragma once

#include "attn/model/attend/attend.hpp"
#include "cli/options/options.hpp"

namespace attn::cli {

struct ShowOption {
    model::Show items;
    bool all = false;

    [[nodiscard]] bool given() const { return all || !items.empty(); }
};

/// The meaning and what is usual, as OptionInfo has them.
struct ShowTexts {
    std::string_view meaning, usual;
};

/// "all" stands for every item of the command.
void declare_show(Options& options, model::ShownBy command, const ShowTexts& texts, ShowOption& show);

/// Whether a word is what --show of `run` could have meant.
[[nodiscard]] bool is_shown_name(std::string_view word);

} // namespace attn::cli
