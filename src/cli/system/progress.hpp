// What the observer of a run tells the user: the stages with --verbose, and on a terminal how far long work is.
#pragma once

#include "attn/model/run/run.hpp"
#include "cli/system/log.hpp"

#include <chrono>
#include <string>

namespace attn::cli {

class StageReporter {
public:
    explicit StageReporter(Log& log);
    ~StageReporter();
    StageReporter(const StageReporter&) = delete;
    StageReporter(StageReporter&&) = delete;
    StageReporter& operator=(const StageReporter&) = delete;
    StageReporter& operator=(StageReporter&&) = delete;

    /// Calls this object, which must outlive it. Empty when there is nobody to tell.
    [[nodiscard]] model::Observer observer();

    /// Tells of the stage under way, if there is one: the run that it belongs to has ended.
    void end_stage();

    /// Of the stages that come, "line 3: ".
    void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }

    /// Work that is told by the line instead: how many are done.
    void show_line(Index done);
    /// Before something else goes to the terminal.
    void erase();
    /// The same, when standard output is a terminal too.
    void make_way();

private:
    using Clock = std::chrono::steady_clock;

    void observe(const model::Progress& progress);
    void show(double share);
    void show_text(const std::string& text);

    Log& log_;
    bool terminal_;        ///< standard error is one
    bool output_terminal_; ///< standard output is one
    std::string prefix_;
    std::string stage_; ///< under way; empty: none
    Shape shape_;
    Clock::time_point work_began_, stage_began_, shown_;
    bool line_shown_ = false;
};

} // namespace attn::cli
