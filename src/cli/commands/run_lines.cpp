#include "cli/commands/run_lines.hpp"

#include "attn/model/run/batch_runner.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/documents.hpp"
#include "cli/input/lines.hpp"
#include "cli/system/descriptor.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace attn::cli {
namespace {

/// Lines that are computed before any of them is written: enough that threads seldom wait for each other, few enough for the
/// second-level cache.
constexpr std::size_t most_lines_per_thread = 64;
constexpr std::size_t most_bytes_per_thread = std::size_t{1} << 15U;
/// Once their answers are so long they are written before more are computed.
constexpr std::size_t most_kept_per_thread = std::size_t{1} << 20U;
/// What a line takes beside others, its arrays as one part: their text is three, and three times that while it grows by moving.
constexpr Index beside_arrays = 10;

/// For people lines count from 1, as in editors and in `check`; "index", for programs, counts from 0.
std::string name_of_line(Index index)
{
    return fmt::format("line {}", index + 1);
}

/// How another command names the file of --lines.
std::string_view file_of(std::string_view lines)
{
    return lines == "-" ? lines : "FILE";
}

std::string heading(Index index)
{
    return name_of_line(index) + ": ";
}

/// What a line comes to.
struct Answer {
    std::vector<Note> notes; ///< which go first
    Buffer text;
    bool failed = false;        ///< of the line, which is told in its place
    std::exception_ptr failure; ///< of the whole run, once it is this line's turn
    bool alone = false;         ///< nothing of it is computed yet, and it is when it is written
    bool done = false;

    /// Keeps its memory for the next line, unless it was a long one.
    void clear()
    {
        constexpr std::size_t most = std::size_t{1} << 17U;
        text.text().clear();
        if (text.text().capacity() > most) {
            text.text().shrink_to_fit();
        }
        notes.clear();
        failure = {};
        failed = alone = done = false;
    }
};

/// Computes one line after the other.
class Worker {
public:
    explicit Worker(const LinesRun& run) : run_(run), source_(run.source.lines()) {}

    void expect(std::span<const Line> lines, Index memory)
    {
        std::vector<const std::string*> texts;
        for (const Line& line : lines) {
            texts.push_back(&line.text);
        }
        source_->expect(texts, memory);
    }

    /// Within so many bytes, and on so many threads; `begin(notes)` is called before anything is written to `text`.
    template <typename Begin>
    void answer(const Line& line, Index index, int threads, Index memory, Buffer& text, Begin begin)
    {
        if (line.too_long) {
            throw Error(ErrorKind::data, fmt::format("the line is longer than {} bytes; --max-input-bytes allows more",
                                                     run_.options.max_input_bytes));
        }
        refuse_document(line.text, "the line", file_of(*run_.options.lines));
        if (run_.report.log().verbose()) {
            run_.report.stages().set_prefix(heading(index));
        }
        const model::Result result = source_->result(line.text, threads, memory);
        if (run_.report.log().verbose()) {
            run_.report.stages().end_stage();
        }
        begin(notes_of_line(result, index));
        if (run_.options.stacks_lines()) {
            return append_numbers(result, text);
        }
        const SeriesPlace place{.index = index, .name = name_of_line(index), .config = source_->config()};
        write_result(result, run_.report.format(), place, text);
    }

private:
    std::vector<Note> notes_of_line(const model::Result& result, Index index)
    {
        const bool json = run_.options.format == Format::json;
        std::vector<Note> notes;
        if (const auto text = run_.report.isa_note().about(result.portable_because)) {
            notes.push_back({Note::Severity::warning, *text});
        }
        if (!json || !result.verify.empty()) {
            std::ranges::move(notes_of(result, json, run_.report.log().quiet(), heading(index)), std::back_inserter(notes));
        }
        return notes;
    }

    const LinesRun& run_;
    std::unique_ptr<LineSource> source_;
};

/// Reads what has come, computes it on several threads, and writes it in the order of the input.
class Lines {
public:
    Lines(const LinesRun& run, int input)
        : run_(run),
          threads_(run.report.log().verbose() ? 1 : run.source.settings().threads), // stages are told line by line in order
          memory_(std::min(small_memory, memory_limit() / (threads_ * beside_arrays))),
          at_once_(run.report.log().verbose() ? 0 : run.source.bytes_at_once()), size_(bytes_left(input)),
          reader_(input, name_of_input(*run.options.lines), run.options.max_input_bytes),
          workers_(static_cast<std::size_t>(threads_)), first_(run.options.first_index.value_or(0)), index_(first_)
    {
        if (run.options.stacks_lines()) {
            arrays_ = run.source.arrays_of_lines();
            require_arrays(std::ssize(arrays_), run.options.format);
        }
        const std::string& lines = *run.options.lines;
        OpenObject object;
        const std::string_view front = reader_.front([&](std::string_view piece) { return object.goes_on(piece); });
        refuse_document_of_lines(front, name_of_input(lines), file_of(lines));
        run_.source.require_first_line(front);
    }

    int work()
    {
        keep_freed_memory();
        (void)worker_at(0); // which may find the options wrong, also where no line comes
        const auto threads = static_cast<std::size_t>(threads_);
        const auto more = [&] { return reader_.some(threads * most_lines_per_thread, threads * most_bytes_per_thread); };
        for (std::vector<Line> lines = more(); !lines.empty(); lines = more()) {
            answer(lines);
            index_ += std::ssize(lines);
            require_room_for_rows();
            stages().show_lines(index_ - first_, share());
        }
        if (!arrays_.empty()) {
            write_line_arrays(arrays_, rows_.text(), run_.options.format, output());
        }
        output().finish();
        return failed_ ? bad_data : success;
    }

private:
    void answer(const std::vector<Line>& lines)
    {
        if (lines.size() > 1 && !std::exchange(prepared_, true)) {
            prepare_for_threads(threads_);
        }
        if (answers_.size() < lines.size()) {
            answers_ = std::vector<Answer>(lines.size());
        }
        for (std::size_t first = 0; first < lines.size();) {
            compute(std::span(lines).subspan(first), std::span(answers_).subspan(first), index_ + static_cast<Index>(first));
            for (; first < lines.size() && answers_[first].done; ++first) {
                write(lines[first], index_ + static_cast<Index>(first), answers_[first]);
                answers_[first].clear();
            }
            output().flush(); // there is no more without keeping a reader waiting
        }
    }

    /// The first of them at least, and the others as far as their answers can be kept.
    void compute(std::span<const Line> lines, std::span<Answer> answers, Index index)
    {
        if (threads_ == 1 && at_once_ == 0 &&
            !log().verbose()) { // which tells the stages of all lines that have come, then their errors
            for (Answer& answer : answers.first(lines.size())) {
                answer.alone = answer.done = true;
            }
            return;
        }
        const std::vector<std::size_t> begins = parts_of(lines);
        std::atomic<std::size_t> kept = 0;
        std::atomic<bool> stopped = false; // where memory has ended there is none for an exception a line
        model::for_each_sentence(std::ssize(begins) - 1, threads_, [&](Index part, int worker) {
            const std::size_t begin = begins[static_cast<std::size_t>(part)], end = begins[static_cast<std::size_t>(part) + 1];
            if (part > 0 && kept >= most_kept_per_thread * static_cast<std::size_t>(threads_)) {
                return;
            }
            if (at_once_ > 0 && !stopped) {
                expect(lines.subspan(begin, end - begin), worker);
            }
            for (std::size_t i = begin; i < end; ++i) {
                Answer& answer = answers[i];
                if (!answer.done && (i == 0 || !stopped)) {
                    compute(lines[i], index + static_cast<Index>(i), worker, answer);
                    kept += answer.text.text().size();
                    stopped = stopped || answer.failure;
                }
            }
        });
    }

    /// Where the parts begin that are computed at once, and where the last one ends.
    [[nodiscard]] std::vector<std::size_t> parts_of(std::span<const Line> lines) const
    {
        std::vector<std::size_t> begins;
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            bytes += lines[i].text.size();
            if (begins.empty() || bytes > at_once_) {
                begins.push_back(i);
                bytes = lines[i].text.size();
            }
        }
        begins.push_back(lines.size());
        return begins;
    }

    /// What this finds wrong each line says for itself.
    void expect(std::span<const Line> lines, int worker) noexcept
    {
        try {
            const Index together = memory_limit() / (threads_ * beside_arrays);
            worker_at(worker).expect(lines, std::min(memory_, together / std::ssize(lines)));
        } catch (...) { // NOLINT(bugprone-empty-catch)
        }
    }

    void compute(const Line& line, Index index, int worker, Answer& answer) noexcept
    {
        answer.done = true;
        try {
            compute_beside_others(line, index, worker, answer);
        } catch (...) {
            answer.failure = std::current_exception();
        }
    }

    void compute_beside_others(const Line& line, Index index, int number, Answer& answer)
    {
        Worker& worker = worker_at(number);
        try {
            worker.answer(line, index, 1, memory_, answer.text,
                          [&](std::vector<Note> notes) { answer.notes = std::move(notes); });
        } catch (const Error& error) {
            answer.alone = error.kind() == ErrorKind::too_large;
            if (!answer.alone) {
                refuse(error, index, answer);
            }
        }
    }

    /// What is wrong with the line alone is reported in its place. A wrong option is wrong for every line, but for a query or
    /// hidden word that this line does not have. Where lines are rows of one array, one that is missing would shift the others.
    void refuse(const Error& error, Index index, Answer& answer) const
    {
        const bool of_the_line = error.kind() == ErrorKind::data || error.kind() == ErrorKind::too_large ||
                                 (error.kind() == ErrorKind::usage && run_.source.names_words());
        answer.failed = true;
        if (!of_the_line) {
            answer.failure = std::make_exception_ptr(error);
        } else if (!arrays_.empty()) {
            answer.failure = std::make_exception_ptr(Error(error.kind(), heading(index) + error.what()));
        } else if (run_.options.format == Format::json) {
            report::write_json_error(index, exit_code(error.kind()), error.what(), answer.text);
        } else {
            answer.notes.push_back({Note::Severity::error, heading(index) + error.what()});
        }
    }

    void write(const Line& line, Index index, Answer& answer)
    {
        if (answer.alone && stream(line, index, answer)) {
            return;
        }
        say_all(answer.notes);
        if (answer.failure) {
            output().flush();
            std::rethrow_exception(answer.failure);
        }
        failed_ = failed_ || answer.failed;
        if (!answer.text.text().empty()) {
            begin();
            sink().append(answer.text.text());
        }
    }

    /// Writes what a line gives as it comes; false where that is a refusal, which is left in `answer`.
    bool stream(const Line& line, Index index, Answer& answer)
    {
        bool begun = false;
        Worker& worker = worker_at(0);
        const auto compute = [&](int threads, Index memory) {
            worker.answer(line, index, threads, memory, sink(), [&](const std::vector<Note>& notes) {
                begun = true;
                say_all(notes);
                begin();
            });
        };
        try {
            try {
                compute(1, memory_);
            } catch (const Error& error) {
                if (begun || error.kind() != ErrorKind::too_large) {
                    throw;
                }
                compute(run_.source.settings().threads, memory_limit()); // which takes longer to find out than a short sentence
            }
        } catch (const Error& error) {
            if (begun) { // writing failed
                throw;
            }
            refuse(error, index, answer);
        }
        return begun;
    }

    /// What stands before a result, which is not known before its turn.
    void begin()
    {
        if (!arrays_.empty()) {
            return;
        }
        const bool first = !std::exchange(begun_, true);
        begin_result(run_.report.format(), first, run_.options.runs_model, output());
        if (output().to_terminal()) {
            stages().erase();
        }
    }

    void say_all(const std::vector<Note>& notes)
    {
        for (const Note& note : notes) {
            output().flush(); // so that a terminal shows both in order
            stages().erase();
            say(log(), note);
        }
    }

    Worker& worker_at(int number)
    {
        std::unique_ptr<Worker>& worker = workers_[static_cast<std::size_t>(number)];
        if (!worker) {
            worker = std::make_unique<Worker>(run_);
        }
        return *worker;
    }

    /// Of the input, where that has a known size, which may have grown since.
    [[nodiscard]] std::optional<double> share() const
    {
        return size_ && *size_ > 0
                   ? std::optional(std::min(1.0, static_cast<double>(reader_.consumed()) / static_cast<double>(*size_)))
                   : std::nullopt;
    }

    /// Throws Error(too_large) where the rows so far, and what they are copied to, take all memory.
    void require_room_for_rows()
    {
        constexpr std::size_t times = 3; // while a text grows, it is there twice or three times
        if (!arrays_.empty() && rows_.text().size() > static_cast<std::size_t>(memory_limit()) / times) {
            throw Error(ErrorKind::too_large,
                        fmt::format("the vectors of {} need more memory than is free; give fewer lines at once",
                                    counted(index_ - first_, "line")));
        }
    }

    /// Where the answers go.
    [[nodiscard]] Buffer& sink() { return arrays_.empty() ? output() : rows_; }
    [[nodiscard]] Log& log() const { return run_.report.log(); }
    [[nodiscard]] Output& output() const { return run_.report.output(); }
    [[nodiscard]] StageReporter& stages() const { return run_.report.stages(); }

    const LinesRun& run_;
    int threads_;
    Index memory_;        ///< bytes that a line may need beside others; one that needs more is computed alone
    std::size_t at_once_; ///< about how many bytes of lines are computed at once; 0: each line for itself
    std::optional<std::size_t> size_;
    LineReader reader_;
    std::vector<std::unique_ptr<Worker>> workers_; ///< of each thread, made when it has its first line
    std::vector<Answer> answers_;                  ///< of the lines that have come
    Index first_;                                  ///< that of the first line of all
    Index index_;                                  ///< of the first of them
    std::vector<LineArray> arrays_;                ///< of which lines are rows; none: each line is written as it comes
    Buffer rows_;                                  ///< of the lines so far
    bool prepared_ = false, begun_ = false, failed_ = false;
};

} // namespace

int run_lines(const LinesRun& run)
{
    run.source.prepare_lines();
    const Descriptor input = open_input(*run.options.lines);
    return Lines(run, input.number()).work();
}

} // namespace attn::cli
