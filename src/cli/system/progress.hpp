// What the user is told of the work: the stages with --verbose, and on a terminal how far long work is, in a line of standard
// error that stays until the work is done or something else goes to the terminal.
#pragma once

#include "attn/model/run/run.hpp"
#include "cli/system/log.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
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

    /// Work that is told by the line instead: how many are done and, where it is known, the share of all, with the time left.
    void show_lines(Index done, std::optional<double> share);
    /// How much of an output is written.
    void show_bytes(std::size_t written);
    /// Anything else: "seq 512: 40 %".
    void show(const std::string& text);
    /// Before something else goes to the terminal.
    void erase();

private:
    using Clock = std::chrono::steady_clock;

    void observe(const model::Progress& progress);

    Log& log_;
    bool terminal_; ///< standard error is one, and somebody wants to know
    std::string prefix_;
    std::string stage_; ///< under way; empty: none
    Shape shape_;
    Clock::time_point work_began_, stage_began_, shown_;
    bool line_shown_ = false;
};

} // namespace attn::cli
