#include "cli/input/lines.hpp"

#include "attn/io/bytes.hpp"
#include "cli/system/descriptor.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace attn::cli {
namespace {

constexpr std::size_t piece = std::size_t{1} << 16U;

/// Large enough that handing out and writing costs nothing beside the work, small enough for the second-level cache.
constexpr std::size_t most_lines = 64;
constexpr std::size_t most_bytes = std::size_t{1} << 15U;

} // namespace

// ---- lines -----------------------------------------------------------------------------------------------------------

LineReader::LineReader(int descriptor, std::string name, std::size_t most, int wake)
    : descriptor_(descriptor), wake_(wake), name_(std::move(name)), most_(most)
{
}

LineReader::Input LineReader::fill(Wait wait)
{
    if (wait == Wait::no || wake_ != -1) {
        std::array<pollfd, 2> inputs{pollfd{descriptor_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
        wait_for(inputs, wait == Wait::yes ? -1 : 0, name_);
        if (inputs[1].revents != 0) {
            return Input::ended;
        }
        if (inputs[0].revents == 0) {
            return Input::none_yet;
        }
    }
    buffer_.resize(piece);
    unread_ = std::string_view(buffer_).substr(0, read_some(descriptor_, buffer_, name_));
    read_ += unread_.size();
    return unread_.empty() ? Input::ended : Input::more;
}

std::string_view LineReader::front()
{
    (void)fill(Wait::yes);
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
        case Input::more: break;
        case Input::none_yet: return std::nullopt;
        case Input::ended: return begun_ ? std::optional(finish(false)) : std::nullopt;
        }
    }
}

// ---- batches ---------------------------------------------------------------------------------------------------------

std::string_view Batches::front()
{
    const std::string_view front = reader_.front();
    ended_ = front.empty();
    return front;
}

Batch Batches::next()
{
    const std::scoped_lock lock(mutex_);
    Batch batch{.number = next_number_++, .first = next_line_, .lines = {}, .share = {}, .failure = {}};
    if (ended_) {
        return batch;
    }
    std::size_t bytes = 0;
    try {
        for (std::optional<Line> line = reader_.next(Wait::yes); line; line = reader_.next(Wait::no)) {
            bytes += line->text.size();
            batch.full =
                line->too_long || batch.lines.size() + 1 >= most_lines || bytes >= most_bytes; // its rest may be endless
            batch.lines.push_back(std::move(*line));
            if (batch.full) {
                break;
            }
        }
    } catch (...) {
        batch.failure = std::current_exception();
    }
    if (size_ && *size_ > 0) { // which may have grown since
        batch.share = std::min(1.0, static_cast<double>(reader_.consumed()) / static_cast<double>(*size_));
    }
    ended_ = batch.failure != nullptr || batch.lines.empty();
    next_line_ += static_cast<Index>(batch.lines.size());
    return batch;
}

} // namespace attn::cli
