// Output that several threads make, written in the order of the input.
#pragma once

#include "cli/output/notes.hpp"
#include "cli/output/output.hpp"
#include "cli/system/files.hpp"
#include "cli/system/progress.hpp"

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::cli {

/// A note, and the number of bytes that go before it.
struct PlacedNote {
    std::size_t at;
    Note note;
};

/// How far the input is when a batch is done: lines, and the share of it where its size is known.
struct Reached {
    Index lines = 0;
    std::optional<double> share = {};
};

/// How the output begins: what stands before the first bytes of all, and how many of those are left out.
struct Beginning {
    std::string text;
    std::size_t dropped = 0;
};

/// Batches may be finished in any order; their bytes are written, and their notes said, by number. Whoever finishes a batch out
/// of turn leaves it here for others to write, unless too many lie here already; so memory stays bounded.
///
/// The first failure, from a batch or from writing, comes to its turn like everything else; what comes after it is dropped.
class OrderedOutput {
public:
    /// `most_waiting` batches are kept. All three must outlive this object.
    OrderedOutput(Output& output, Log& log, StageReporter& progress, Beginning beginning, std::size_t most_waiting);

    /// Blocks until every batch before this one is written. False when a failure came first.
    [[nodiscard]] bool wait_for_turn(Index batch);

    /// Writes part of a batch whose turn it is.
    void write(std::string_view bytes, const std::vector<PlacedNote>& notes);

    /// The rest of a batch; takes `bytes` away when they have to wait.
    void finish(Index batch, std::string& bytes, std::vector<PlacedNote> notes, Reached reached, std::exception_ptr failure);

    /// A failure of no batch, such as the end of the memory between two: it waits for no turn, and nobody waits any more.
    void fail(std::exception_ptr failure);

    [[nodiscard]] bool stopped();
    /// The descriptor that can be read from when a failure came.
    [[nodiscard]] int wake() const { return wake_.number(); }
    void rethrow();

private:
    struct Finished {
        std::string bytes;
        std::vector<PlacedNote> notes;
        Reached reached = {};
        std::exception_ptr failure;
    };
    void write_waiting(std::unique_lock<std::mutex>& lock);
    void stop(std::exception_ptr failure);

    Output& output_;
    Log& log_;
    StageReporter& progress_;
    Beginning beginning_;
    std::size_t most_waiting_;
    Descriptor wake_;
    bool begun_ = false; ///< some bytes are written; of whoever's turn it is

    std::mutex mutex_; ///< of everything below
    std::condition_variable turn_;
    Index next_ = 0;
    std::map<Index, Finished> waiting_;
    std::vector<std::string> spare_; ///< memory of batches that were written
    std::exception_ptr failure_;
    bool stopped_ = false;
};

} // namespace attn::cli
