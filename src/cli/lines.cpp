#include "cli/lines.hpp"

#include "cli/descriptor.hpp"

#include <utility>

namespace attn::cli {
namespace {

constexpr std::size_t piece = std::size_t{1} << 16U;

} // namespace

LineReader::LineReader(int descriptor, std::string name, std::size_t most, std::function<void()> before_waiting)
    : descriptor_(descriptor), name_(std::move(name)), most_(most), before_waiting_(std::move(before_waiting)),
      buffer_(piece, '\0')
{
}

bool LineReader::fill()
{
    before_waiting_();
    unread_ = std::string_view(buffer_).substr(0, read_some(descriptor_, buffer_, name_));
    return !unread_.empty();
}

std::optional<Line> LineReader::next()
{
    if (unread_.empty() && !fill()) {
        return std::nullopt;
    }
    Line line;
    for (;;) {
        const std::size_t end = unread_.find('\n');
        const std::string_view part = unread_.substr(0, end);
        // One byte more than allowed may be the carriage return that is dropped.
        line.too_long = line.too_long || part.size() > most_ + 1 - line.text.size();
        if (line.too_long) {
            line.text = {};
        } else {
            line.text += part;
        }
        const bool ended = end != std::string_view::npos;
        unread_.remove_prefix(ended ? end + 1 : unread_.size());
        if (ended && line.text.ends_with('\r')) {
            line.text.pop_back();
        }
        if (ended || !fill()) {
            line.too_long = line.too_long || line.text.size() > most_;
            return line;
        }
    }
}

} // namespace attn::cli
