#include "cli/commands/run_lines.hpp"

#include "attn/model/run/batch_runner.hpp"
#include "attn/report/csv.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/documents.hpp"
#include "cli/input/lines.hpp"
#include "cli/output/ordered_output.hpp"
#include "cli/system/descriptor.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace attn::cli {
namespace {

/// Output of a batch that is not kept until its turn comes, but waits for it.
constexpr std::size_t most_kept = std::size_t{1} << 20U;
constexpr std::size_t most_waiting_per_thread = 4;

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

/// What one thread does.
class Worker {
public:
    Worker(const LinesRun& run, int workers, OrderedOutput& output)
        : run_(run), output_(output), memory_(std::min(small_memory, memory_limit() / workers)), buffer_(*this)
    {
        if (run.model == nullptr) { // whose items are others than those of a recipe
            series_.emplace(run.recipe, run.settings);
            config_ = report::config_text(run.recipe);
        }
    }

    /// Whether a line could not be computed.
    [[nodiscard]] bool failed() const { return failed_; }

    void work_off(Batch batch)
    {
        number_ = batch.number;
        Index index = batch.first;
        try {
            for (const Line& line : batch.lines) {
                compute(line, index++);
            }
        } catch (...) {
            batch.failure = std::current_exception();
        }
        output_.finish(number_, buffer_.text(), std::exchange(notes_, {}),
                       {.lines = index - run_.options.first_index, .share = batch.share}, batch.failure);
        buffer_.text().clear();
    }

private:
    class Kept : public Buffer {
    public:
        explicit Kept(Worker& worker) : Buffer(most_kept), worker_(worker) {}

    private:
        void send(std::string_view bytes) override { worker_.stream(bytes); }

        Worker& worker_;
    };

    /// More than can be kept: this batch waits for its turn and is written as it comes.
    void stream(std::string_view bytes)
    {
        if (output_.wait_for_turn(number_)) {
            output_.write(bytes, notes_);
        }
        notes_.clear();
    }

    void note(Note note) { notes_.push_back({buffer_.text().size(), std::move(note)}); }

    void compute(const Line& line, Index index)
    {
        try {
            if (line.too_long) {
                throw Error(ErrorKind::data, fmt::format("the line is longer than {} bytes; --max-input-bytes allows more",
                                                         run_.options.max_input_bytes));
            }
            refuse_document(line.text, "the line", file_of(*run_.options.lines));
            write(run_.model != nullptr ? result_of_model(line.text) : result_of(line.text, index), index);
        } catch (const Error& error) {
            // What is wrong with the line alone is reported in its place. A wrong option is wrong for every line, but for a
            // query or hidden word that this line does not have.
            const bool of_the_line = error.kind() == ErrorKind::data || error.kind() == ErrorKind::too_large ||
                                     (error.kind() == ErrorKind::usage && by_word());
            if (!of_the_line) {
                throw;
            }
            write(error, index);
        }
    }

    /// Whether rows are chosen by words, which a line may lack.
    [[nodiscard]] bool by_word() const
    {
        return !run_.recipe.query.empty() || !run_.recipe.attention.hide.empty() || !run_.options.trained.query.empty();
    }

    /// compute(threads, bytes) beside other lines or, where the memory for that is too little, alone.
    template <typename Compute>
    auto beside_others(Compute compute)
    {
        try {
            return compute(1, memory_);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::too_large || !output_.wait_for_turn(number_)) {
                throw;
            }
        }
        // Nobody else has this batch's turn, so there is one such line at a time.
        return compute(run_.settings.threads, memory_limit());
    }

    model::Result result_of(const std::string& sentence, Index index)
    {
        if (run_.report.log().verbose()) {
            run_.report.stages().set_prefix(heading(index));
        }
        return beside_others([&](int threads, Index memory) {
            series_->set_threads(threads);
            series_->set_memory_limit(memory);
            model::Result result = series_->run(sentence);
            if (run_.report.log().verbose()) {
                run_.report.stages().end_stage();
            }
            run_.files.require_unchanged();
            return result;
        });
    }

    model::Result result_of_model(const std::string& sentence)
    {
        model::TrainedConfig config = run_.options.trained;
        config.sentence = sentence;
        model::RunSettings settings = run_.settings;
        model::Result result = beside_others([&](int threads, Index memory) {
            settings.threads = threads;
            settings.memory_limit = memory;
            return model::run_trained(config, run_.model->trained(), settings);
        });
        run_.model->require_unchanged();
        return result;
    }

    void write(const model::Result& result, Index index)
    {
        if (const auto text = run_.report.isa_note().about(result.portable_because)) {
            note({Note::Kind::warning, *text});
        }
        const bool json = run_.options.format == Format::json;
        if (!json || !result.verify.empty()) {
            for (Note& said : notes_of(result, json, run_.report.log().quiet(), heading(index))) {
                note(std::move(said));
            }
        }
        const SeriesPlace place{.index = index, .name = name_of_line(index), .config = config_ ? &*config_ : nullptr};
        write_result(result, run_.report.format(), place, buffer_);
    }

    void write(const Error& error, Index index)
    {
        failed_ = true;
        if (run_.options.format == Format::json) {
            report::write_json_error(index, exit_code(error.kind()), error.what(), buffer_);
        } else {
            note({Note::Kind::error, heading(index) + error.what()});
        }
    }

    const LinesRun& run_;
    OrderedOutput& output_;
    std::optional<model::BatchRunner> series_; ///< of the recipe, like the next
    std::optional<report::ConfigText> config_;
    Index memory_; ///< bytes that a line may need beside others; one that needs more is computed alone
    Kept buffer_;
    std::vector<PlacedNote> notes_;
    Index number_ = 0; ///< of the batch under way
    bool failed_ = false;
};

Beginning beginning_of(const RunOptions& options)
{
    switch (options.format) {
    case Format::csv: return {.text = !options.no_header ? report::csv_header(true, options.runs_model) : ""};
    case Format::table: return {.text = {}, .dropped = 1}; // the empty line that parts a table from the one before
    default: return {};
    }
}

class Pool {
public:
    Pool(const LinesRun& run, int workers, int input)
        : run_(run), workers_(workers),
          output_(run.report.output(), run.report.log(), run.report.stages(), beginning_of(run.options),
                  most_waiting_per_thread * static_cast<std::size_t>(workers)),
          batches_(LineReader(input, name_of_input(*run.options.lines), run.options.max_input_bytes,
                              workers > 1 ? output_.wake() : -1),
                   run.options.first_index, bytes_left(input))
    {
        const std::string& lines = *run.options.lines;
        refuse_document_of_lines(batches_.front(), name_of_input(lines), file_of(lines));
    }

    int work()
    {
        {
            std::vector<std::jthread> helpers;
            work_off([&, asked = false](const Batch& batch) mutable {
                // A stream that brings one line now and then needs no help.
                if (batch.full && !std::exchange(asked, true)) {
                    start(helpers);
                }
            });
        }
        output_.rethrow();
        run_.report.output().finish();
        return failed_ ? bad_data : success;
    }

private:
    void start(std::vector<std::jthread>& helpers)
    {
        prepare_for_threads(workers_);
        try {
            for (int i = 1; i < workers_; ++i) {
                helpers.emplace_back([this] { work_off([](const Batch&) {}); });
            }
        } catch (const std::system_error&) { // the system gives no more threads: those that there are do all of it
        }
    }

    /// What one thread does from beginning to end. Nothing may escape, for others wait for the turn of the batch that it has.
    template <typename Look>
    void work_off(Look look) noexcept
    {
        try {
            Worker worker(run_, workers_, output_);
            for (Batch batch = batches_.next(); !batch.lines.empty() || batch.failure; batch = batches_.next()) {
                look(batch);
                worker.work_off(std::move(batch));
                if (output_.stopped()) {
                    break;
                }
            }
            if (worker.failed()) {
                failed_ = true;
            }
        } catch (...) {
            output_.fail(std::current_exception());
        }
    }

    const LinesRun& run_;
    int workers_;
    OrderedOutput output_;
    Batches batches_;
    std::atomic<bool> failed_ = false;
};

} // namespace

int run_lines(const LinesRun& run)
{
    const Descriptor input = open_input(*run.options.lines);
    // The stages are told line by line in order.
    const int workers = run.report.log().verbose() ? 1 : run.settings.threads;
    return Pool(run, workers, input.number()).work();
}

} // namespace attn::cli
