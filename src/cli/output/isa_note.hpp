// What an --isa has to say that did not compute.
#pragma once

#include "attn/model/run/run.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

namespace attn::cli {

/// May be asked by several threads at once.
class IsaNote {
public:
    /// What --isa says; nothing is said of what the program chose by itself.
    explicit IsaNote(std::optional<core::Isa> asked) : asked_(asked) {}

    /// `because` is what its tiles do not compute. Once: nothing the second time, and for an empty one.
    [[nodiscard]] std::optional<std::string> about(std::string_view because);

private:
    std::optional<core::Isa> asked_;
    std::atomic<bool> said_ = false;
};

} // namespace attn::cli
