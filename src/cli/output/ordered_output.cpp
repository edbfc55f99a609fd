#include "cli/output/ordered_output.hpp"

#include "attn/tensor/error.hpp"
#include "cli/system/descriptor.hpp"

#include <cerrno>
#include <cstdint>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace attn::cli {

OrderedOutput::OrderedOutput(Output& output, Log& log, StageReporter& progress, Beginning beginning, std::size_t most_waiting)
    : output_(output), log_(log), progress_(progress), beginning_(std::move(beginning)), most_waiting_(most_waiting),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (wake_.number() == -1) {
        throw Error(ErrorKind::too_large, "cannot make an event descriptor: " + reason(errno));
    }
}

bool OrderedOutput::wait_for_turn(Index batch)
{
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return stopped_ || next_ == batch; });
    return !stopped_;
}

void OrderedOutput::write(std::string_view bytes, const std::vector<PlacedNote>& notes)
{
    std::size_t done = 0;
    const auto put = [&](std::size_t end) {
        std::string_view part = bytes.substr(done, end - done);
        done = end;
        if (!part.empty() && !std::exchange(begun_, true)) {
            output_.append(beginning_.text);
            part.remove_prefix(beginning_.dropped);
        }
        if (!part.empty()) {
            if (output_.to_terminal()) {
                progress_.erase();
            }
            output_.append(part);
        }
    };
    for (const PlacedNote& placed : notes) {
        put(placed.at);
        output_.flush(); // so that a terminal shows both in order
        progress_.erase();
        say(log_, placed.note);
    }
    put(bytes.size());
}

void OrderedOutput::finish(Index batch, std::string& bytes, std::vector<PlacedNote> notes, Reached reached,
                           std::exception_ptr failure)
{
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return stopped_ || next_ == batch || waiting_.size() < most_waiting_; });
    if (stopped_) {
        return;
    }
    std::string empty;
    if (!spare_.empty()) {
        empty = std::move(spare_.back());
        spare_.pop_back();
    }
    waiting_.emplace(batch, Finished{std::exchange(bytes, std::move(empty)), std::move(notes), reached, std::move(failure)});
    if (next_ == batch) {
        write_waiting(lock);
        turn_.notify_all();
    }
}

void OrderedOutput::write_waiting(std::unique_lock<std::mutex>& lock)
{
    for (auto first = waiting_.find(next_); !stopped_ && first != waiting_.end(); first = waiting_.find(next_)) {
        Finished finished = std::move(first->second);
        waiting_.erase(first);
        lock.unlock(); // it stays this batch's turn
        try {
            write(finished.bytes, finished.notes);
            output_.flush(); // a batch is as long as it can be without keeping a reader waiting
            progress_.show_lines(finished.reached.lines, finished.reached.share);
        } catch (...) {
            finished.failure = std::current_exception();
        }
        lock.lock();
        if (finished.failure) {
            stop(finished.failure);
            return;
        }
        finished.bytes.clear();
        spare_.push_back(std::move(finished.bytes));
        ++next_;
    }
}

void OrderedOutput::fail(std::exception_ptr failure)
{
    const std::scoped_lock lock(mutex_);
    stop(std::move(failure));
}

void OrderedOutput::stop(std::exception_ptr failure)
{
    if (std::exchange(stopped_, true)) {
        return; // the first failure is told
    }
    failure_ = std::move(failure);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_.number(), &one, sizeof one);
    turn_.notify_all();
}

bool OrderedOutput::stopped()
{
    const std::scoped_lock lock(mutex_);
    return stopped_;
}

void OrderedOutput::rethrow()
{
    if (failure_) {
        std::rethrow_exception(failure_);
    }
}

} // namespace attn::cli
