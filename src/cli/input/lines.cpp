#include "cli/input/lines.hpp"

#include "attn/io/bytes.hpp"
#include "cli/system/descriptor.hpp"

#include <algorithm>
#include <utility>

namespace attn::cli {
namespace {

constexpr std::size_t piece = std::size_t{1} << 16U;

} // namespace

LineReader::LineReader(int descriptor, std::string name, std::size_t most)
    : descriptor_(descriptor), name_(std::move(name)), most_(most)
{
}

LineReader::Arrival LineReader::fill(Wait wait)
{
    if (ended_) {
        return Arrival::ended; // a terminal would ask for a second end
    }
    if (wait != Wait::yes) {
        pollfd input{descriptor_, POLLIN, 0};
        wait_for({&input, 1}, static_cast<int>(wait), name_);
        if (input.revents == 0) {
            return Arrival::none_yet;
        }
    }
    buffer_.resize(piece);
    unread_ = std::string_view(buffer_).substr(0, read_some(descriptor_, buffer_, name_));
    read_ += unread_.size();
    ended_ = unread_.empty();
    return ended_ ? Arrival::ended : Arrival::more;
}

std::string_view LineReader::front(const std::function<bool(std::string_view)>& goes_on)
{
    std::string front;
    Wait wait = Wait::yes; // a first line that is not whole cannot be answered, but who wrote a whole one may wait for that
    for (bool more = true; more && front.size() < most_ && fill(wait) == Arrival::more;) {
        front += unread_;
        more = goes_on(unread_);
        wait = unread_.find('\n') == std::string_view::npos ? wait : Wait::shortly;
    }
    buffer_ = std::move(front);
    unread_ = buffer_;
    return unread_;
}

void LineReader::take(std::string_view part)
{
    begun_ = true;
    // One byte more than allowed may be the carriage return that is dropped.
    line_.too_long = line_.too_long || part.size() > most_ + 1 - line_.text.size();
    if (line_.too_long) {
        line_.text = {};
    } else {
        line_.text += part;
    }
}

Line LineReader::finish(bool ended)
{
    if (ended && line_.text.ends_with('\r')) {
        line_.text.pop_back();
    }
    if (std::exchange(first_, false)) {
        line_.text.erase(0, line_.text.size() - io::without_byte_order_mark(line_.text).size());
    }
    line_.too_long = line_.too_long || line_.text.size() > most_;
    begun_ = false;
    return std::exchange(line_, {});
}

std::optional<Line> LineReader::next(Wait wait)
{
    for (;;) {
        const std::size_t end = unread_.find('\n');
        const bool ended = end != std::string_view::npos;
        const std::string_view part = unread_.substr(0, end);
        unread_.remove_prefix(ended ? end + 1 : unread_.size());
        if (passing_over_) {
            passing_over_ = !ended;
        } else if (ended || !part.empty()) {
            take(part);
            passing_over_ = line_.too_long && !ended;
            if (ended || line_.too_long) {
                return finish(ended);
            }
        }
        if (!unread_.empty()) {
            continue;
        }
        switch (fill(wait)) {
        case Arrival::more: break;
        case Arrival::none_yet: return std::nullopt;
        case Arrival::ended: return begun_ ? std::optional(finish(false)) : std::nullopt;
        }
    }
}

std::vector<Line> LineReader::some(std::size_t most_lines, std::size_t most_bytes)
{
    if (failure_) {
        std::rethrow_exception(std::exchange(failure_, {}));
    }
    std::vector<Line> lines;
    std::size_t bytes = 0;
    try {
        for (std::optional<Line> line = next(Wait::yes); line; line = next(Wait::no)) {
            bytes += line->text.size();
            const bool endless = line->too_long; // its rest may be
            lines.push_back(std::move(*line));
            if (endless || lines.size() >= most_lines || bytes >= most_bytes) {
                break;
            }
        }
    } catch (...) {
        if (lines.empty()) {
            throw;
        }
        failure_ = std::current_exception();
    }
    return lines;
}

} // namespace attn::cli
