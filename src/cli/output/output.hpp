// Where a command's data goes: standard output, or a file that is written whole or not at all.
#pragma once

#include "attn/tensor/buffer.hpp"
#include "cli/system/files.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/stat.h>

namespace attn::cli {

class StageReporter;

/// Every failure is noticed (a full disk, a closed descriptor). What is not flushed is not written: a command that fails stays
/// silent.
///
/// A regular file is written beside its place and renamed into it by finish(); without it, or when a signal comes, the old file
/// stays and the new one goes. Devices and FIFOs are written directly. A link's target is replaced, not the link, and an
/// existing file keeps its permission bits. A second file, the header of a format that has one, comes with the first, or
/// neither does.
class Output : public Buffer {
public:
    /// No path, "-" and names of standard output such as /dev/stdout mean standard output. Throws Error(cannot_create): a
    /// missing or read-only directory is noticed here, before anything is computed; and Error(usage) for the file that is
    /// standard input. `beside`, when not empty, is what the name of a second file has behind that of the first, which then has
    /// to be a regular file.
    explicit Output(const std::optional<std::string>& path = std::nullopt, std::string_view beside = {});
    Output(const Output&) = delete;
    Output(Output&&) = delete;
    Output& operator=(const Output&) = delete;
    Output& operator=(Output&&) = delete;
    ~Output() override;

    /// All of the second file, before finish().
    void set_beside(std::string text) { text_beside_ = std::move(text); }
    /// Writes the rest and closes the output; only now is a file in its place.
    void finish();
    /// Columns of the terminal that it goes to, if it goes to one.
    [[nodiscard]] std::optional<int> columns() const;
    [[nodiscard]] bool to_terminal() const { return to_terminal_; }
    /// From now on `progress`, which must outlive the writing, tells how much is written, unless whoever reads the output may
    /// be at the same terminal.
    void show_progress(StageReporter& progress);

    /// A regular file that is to be.
    struct Place {
        std::string name;        ///< for messages
        std::string target = {}; ///< where links lead
        std::optional<struct stat> old = {};
    };

private:
    void send(std::string_view bytes) override;
    void open_file(const std::string& path);
    void replace_both();

    std::string name_; ///< for messages
    Place place_;
    std::string temporary_;             ///< empty: written directly
    std::optional<Place> place_beside_; ///< of a second file
    std::string text_beside_;
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
