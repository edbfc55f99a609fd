#include "cli/system/progress.hpp"

#include "attn/math/decimal.hpp"
#include "cli/system/signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <unistd.h>

namespace attn::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 500ms; ///< work that is done sooner shows no progress
constexpr auto interval = 100ms; ///< between two looks of the line

std::string milliseconds(std::chrono::steady_clock::duration time)
{
    return math::fixed(std::chrono::duration<double, std::milli>(time).count(), 3) + " ms";
}

std::string percent(double share)
{
    return fmt::format("{} %", static_cast<int>(share * 100));
}

/// "7 s", "3 min 20 s", "2 h 5 min"
std::string duration_text(double seconds)
{
    constexpr Index minute = 60;
    constexpr Index hour = 60 * minute;
    const auto whole = static_cast<Index>(std::min(std::ceil(seconds), 1e9));
    return whole < minute ? fmt::format("{} s", whole)
           : whole < hour ? fmt::format("{} min {} s", whole / minute, whole % minute)
                          : fmt::format("{} h {} min", whole / hour, whole % hour / minute);
}

void to_terminal(const std::string& text)
{
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

} // namespace

StageReporter::StageReporter(Log& log)
    : log_(log), terminal_(error_terminal() && !log.quiet()), work_began_(Clock::now()), stage_began_(work_began_),
      shown_(work_began_)
{
}

StageReporter::~StageReporter()
{
    erase();
}

model::Observer StageReporter::observer()
{
    if (!log_.verbose() && !terminal_) {
        return {};
    }
    return [this](const model::Progress& progress) { observe(progress); };
}

void StageReporter::observe(const model::Progress& progress)
{
    if (progress.stage != stage_) {
        end_stage();
        stage_ = progress.stage;
        shape_ = progress.shape;
        stage_began_ = Clock::now();
    }
    show(prefix_ + stage_ + " " + percent(progress.share));
    if (progress.share >= 1) {
        end_stage();
    }
}

void StageReporter::end_stage()
{
    if (stage_.empty()) {
        return;
    }
    erase();
    std::string message = prefix_ + stage_;
    if (!shape_.empty()) {
        message += ' ';
        message += to_string(shape_);
    }
    log_.detail(message + " " + milliseconds(Clock::now() - stage_began_));
    stage_.clear();
}

void StageReporter::show_lines(Index done, std::optional<double> share)
{
    std::string text = fmt::format("{} lines", done);
    if (share) {
        text += ", " + percent(*share);
    }
    if (share && *share > 0) {
        const std::chrono::duration<double> taken = Clock::now() - work_began_;
        text += fmt::format(", {} left", duration_text(taken.count() * (1 - *share) / *share));
    }
    show(text);
}

void StageReporter::show_bytes(std::size_t written)
{
    show(fmt::format("writing {} MB", written / 1'000'000));
}

void StageReporter::show(const std::string& text)
{
    const auto now = Clock::now();
    if (!terminal_ || now - work_began_ < patience || now - shown_ < interval) {
        return;
    }
    shown_ = now;
    if (!std::exchange(line_shown_, true)) {
        erase_line_on_signal(true);
    }
    to_terminal("\r\x1b[K" + text);
}

void StageReporter::erase()
{
    if (std::exchange(line_shown_, false)) {
        to_terminal("\r\x1b[K");
        erase_line_on_signal(false);
    }
}

} // namespace attn::cli
