// Where a command's data goes: standard output, or a file.
#pragma once

#include "attn/report/sink.hpp"
#include "cli/output/stdout.hpp"
#include "cli/system/files.hpp"
#include "cli/system/progress.hpp"

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
    [[nodiscard]] bool to_terminal() const { return to_terminal_; }
    /// From now on `progress`, which must outlive the writing, tells how much is written, unless whoever reads the output may
    /// be at the same terminal.
    void tell(StageReporter& progress);

private:
    StandardOutput standard_;
    std::optional<OutputFile> file_;
    bool to_terminal_ = false;
    StageReporter* progress_ = nullptr;
    std::size_t written_ = 0; ///< since tell()

    void put(std::string_view bytes);
};

} // namespace attn::cli
