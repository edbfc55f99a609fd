// Where a command's data goes: standard output, or a file.
#pragma once

#include "attn/report/sink.hpp"
#include "cli/output/stdout.hpp"
#include "cli/system/files.hpp"

#include <optional>
#include <string>

namespace attn::cli {

class Output {
public:
    /// No path, "-" and names of standard output such as /dev/stdout mean standard output. Throws Error(cannot_create).
    explicit Output(const std::optional<std::string>& path);

    void write(std::string_view bytes);
    void flush();  ///< what a reader waits for; a file is nobody's to read yet
    void finish(); ///< only now is a file in its place
    [[nodiscard]] report::Sink sink();
    /// Columns of the terminal that it goes to, if it goes to one.
    [[nodiscard]] std::optional<int> columns() const;

private:
    StandardOutput standard_;
    std::optional<OutputFile> file_;
};

} // namespace attn::cli
