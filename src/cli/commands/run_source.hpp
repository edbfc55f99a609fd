// Where the results of `run` come from: a recipe with its files, or a whole trained model in its folder. What becomes of them
// is the same for both.
#pragma once

#include "attn/model/run/run.hpp"
#include "attn/report/json/json.hpp"
#include "cli/output/result_output.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::cli {

/// Results of one sentence after the other, in one thread.
class LineSource {
public:
    LineSource() = default;
    virtual ~LineSource() = default;
    LineSource(const LineSource&) = delete;
    LineSource& operator=(const LineSource&) = delete;
    LineSource(LineSource&&) = delete;
    LineSource& operator=(LineSource&&) = delete;

    /// Throws Error.
    [[nodiscard]] virtual model::Result result(const std::string& line, int threads, Index memory) = 0;
    /// Says which lines result() will be asked for next, in this order and within so many bytes each: of some sources several
    /// at once take less time. What is wrong with one of them is left to result().
    virtual void expect(std::span<const std::string* const> /*lines*/, Index /*memory*/) {}
    /// The config of all of them, as text; nullptr: each has its own.
    [[nodiscard]] virtual const report::ConfigText* config() const { return nullptr; }
};

class RunSource {
public:
    RunSource() = default;
    virtual ~RunSource() = default;
    RunSource(const RunSource&) = delete;
    RunSource& operator=(const RunSource&) = delete;
    RunSource(RunSource&&) = delete;
    RunSource& operator=(RunSource&&) = delete;

    /// Those of every result. What is shown, the pairs of a summary, the instruction set and the observer are the command's.
    [[nodiscard]] virtual model::RunSettings& settings() = 0;
    /// What `all` means.
    [[nodiscard]] virtual model::Show everything() const = 0;
    /// What results have to hold where this is asked for: the usual of the format where it is nothing, and what goes with it.
    [[nodiscard]] virtual model::Show shown(model::Show asked) const = 0;

    /// Whether there is a result for each entry of a batch.
    [[nodiscard]] virtual bool gives_entries() const { return false; }
    /// Of the sentence, with standard input where that is read, or of each entry. Throws Error, also for a file that was
    /// written to in the meantime.
    [[nodiscard]] virtual std::vector<model::Result> results() = 0;
    /// Leaves in a result what its format writes.
    virtual void select(model::Result& result) const = 0;

    /// Once before the first line.
    virtual void prepare_lines() {}
    /// Throws Error(data) for a first line without what each line needs, of lines that begin with `front`.
    virtual void require_first_line(std::string_view /*front*/) const {}
    [[nodiscard]] virtual std::unique_ptr<LineSource> lines() = 0;
    /// Lines of about so many bytes are best expected at once; 0: one by one.
    [[nodiscard]] virtual std::size_t bytes_at_once() const { return 0; }
    /// What every line has in the same shape, where lines are rows of one array.
    [[nodiscard]] virtual std::vector<LineArray> arrays_of_lines() const { return {}; }
    /// Whether a line may lack a word that the options name.
    [[nodiscard]] virtual bool names_words() const = 0;
};

} // namespace attn::cli
