#include "cli/output/output.hpp"

#include <unistd.h>

namespace attn::cli {

Output::Output(const std::optional<std::string>& path)
{
    if (path && *path != "-" && descriptor_behind(*path) != STDOUT_FILENO) {
        file_.emplace(*path);
    }
}

void Output::write(std::string_view bytes)
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
