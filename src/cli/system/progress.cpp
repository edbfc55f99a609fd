#include "cli/system/progress.hpp"

#include "attn/math/decimal.hpp"
#include "cli/system/signals.hpp"

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

void to_terminal(const std::string& text)
{
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

} // namespace

StageReporter::StageReporter(Log& log)
    : log_(log), terminal_(error_terminal() && !log.quiet()), output_terminal_(terminal_ && ::isatty(STDOUT_FILENO) != 0),
      work_began_(Clock::now()), stage_began_(work_began_), shown_(work_began_)
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
    show(progress.share);
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

void StageReporter::show(double share)
{
    if (terminal_) {
        show_text(prefix_ + stage_ + " " + std::to_string(static_cast<int>(share * 100)) + " %");
    }
}

void StageReporter::show_line(Index done)
{
    if (terminal_) {
        show_text(std::to_string(done) + " lines");
    }
}

void StageReporter::show_text(const std::string& text)
{
    const auto now = Clock::now();
    if (now - work_began_ < patience || now - shown_ < interval) {
        return;
    }
    shown_ = now;
    if (!std::exchange(line_shown_, true)) {
        erase_line_on_signal(true);
    }
    to_terminal("\r\x1b[K" + text);
}

void StageReporter::make_way()
{
    if (output_terminal_) {
        erase();
    }
}

void StageReporter::erase()
{
    if (std::exchange(line_shown_, false)) {
        to_terminal("\r\x1b[K");
        erase_line_on_signal(false);
    }
}

} // namespace attn::cli
