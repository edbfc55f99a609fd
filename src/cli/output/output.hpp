// Where a command's data goes: standard output, or a file that is written whole or not at all.
#pragma once

#include "attn/tensor/buffer.hpp"
#include "cli/system/files.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace attn::cli {

class StageReporter;

/// Every failure is noticed (a full disk, a closed descriptor). What is not flushed is not written: a command that fails stays
/// silent.
///
/// A regular file is written beside its place and renamed into it by finish(); without it, or when a signal comes, the old file
/// stays and the new one goes. Devices and FIFOs are written directly. A link's target is replaced, not the link, and an
/// existing file keeps its permission bits.
class Output : public Buffer {
public:
    /// No path, "-" and names of standard output such as /dev/stdout mean standard output. Throws Error(cannot_create): a
    /// missing or read-only directory is noticed here, before anything is computed; and Error(usage) for the file that is
    /// standard input.
    explicit Output(const std::optional<std::string>& path = std::nullopt);
    Output(const Output&) = delete;
    Output(Output&&) = delete;
    Output& operator=(const Output&) = delete;
    Output& operator=(Output&&) = delete;
    ~Output() override;

    /// Writes the rest and closes the output; only now is a file in its place.
    void finish();
    /// Columns of the terminal that it goes to, if it goes to one.
    [[nodiscard]] std::optional<int> columns() const;
    [[nodiscard]] bool to_terminal() const { return to_terminal_; }
    /// From now on `progress`, which must outlive the writing, tells how much is written, unless whoever reads the output may
    /// be at the same terminal.
    void show_progress(StageReporter& progress);

private:
    void send(std::string_view bytes) override;
    void open_file(const std::string& path);

    std::string name_;      ///< for messages
    std::string target_;    ///< where links lead
    std::string temporary_; ///< empty: written directly
    Descriptor descriptor_;
    bool to_terminal_ = false;
    StageReporter* progress_ = nullptr;
    std::size_t written_ = 0; ///< since tell()
};

/// `text`, and nothing else, to standard output.
void print(std::string_view text);

/// Columns of the terminal that standard output is; nothing when it is none.
[[nodiscard]] std::optional<int> terminal_columns();

} // namespace attn::cli
