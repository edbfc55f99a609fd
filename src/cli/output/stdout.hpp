// Standard output: buffered, and every failure noticed (a full disk, a closed descriptor), which std::cout does not do.
#pragma once

#include "cli/system/descriptor.hpp"

#include <optional>
#include <string_view>

namespace attn::cli {

class StandardOutput {
public:
    StandardOutput();
    void write(std::string_view bytes) { writer_.write(bytes); }
    void flush() { writer_.flush(); }
    /// Flushes, and closes a duplicate: some file systems report a full disk only when a descriptor is closed.
    void finish();

private:
    BufferedWriter writer_;
};

/// `text`, and nothing else, to standard output.
void print(std::string_view text);

/// Columns of the terminal that standard output is; nothing when it is none.
[[nodiscard]] std::optional<int> terminal_columns();

} // namespace attn::cli
