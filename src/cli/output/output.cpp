#include "cli/output/output.hpp"

#include <unistd.h>

namespace attn::cli {

Output::Output(const std::optional<std::string>& path)
{
    if (path && *path != "-" && descriptor_behind(*path) != STDOUT_FILENO) {
        file_.emplace(*path);
    } else {
        to_terminal_ = ::isatty(STDOUT_FILENO) != 0;
    }
}

void Output::tell(StageReporter& progress)
{
    progress_ = file_ || bytes_left(STDOUT_FILENO) ? &progress : nullptr; // a regular file
}

void Output::write(std::string_view bytes)
{
    constexpr std::size_t piece = std::size_t{1} << 20U;
    while (progress_ != nullptr && !bytes.empty()) {
        const std::string_view part = bytes.substr(0, piece);
        put(part);
        written_ += part.size();
        bytes.remove_prefix(part.size());
        progress_->show_bytes(written_);
    }
    put(bytes);
}

void Output::put(std::string_view bytes)
{
    if (file_) {
        file_->write(bytes);
    } else {
        standard_.write(bytes);
    }
}

void Output::flush()
{
    if (!file_) {
        standard_.flush();
    } else if (file_->is_read_at_once()) {
        file_->flush();
    }
}

void Output::finish()
{
    if (progress_ != nullptr) {
        progress_->erase();
    }
    if (file_) {
        file_->commit();
    } else {
        standard_.finish();
    }
}

report::Sink Output::sink()
{
    return [this](std::string_view bytes) { write(bytes); };
}

std::optional<int> Output::columns() const
{
    return file_ ? std::nullopt : terminal_columns();
}

} // namespace attn::cli
