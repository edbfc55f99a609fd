// What this process may use of the machine.
#pragma once

#include "attn/tensor/shape.hpp"

#include <string_view>

namespace attn::cli {

inline constexpr int most_threads = 1024;

/// Processors that this process may run on, 1 … most_threads.
[[nodiscard]] int available_processors();

/// As many threads as processors, but fewer where `ulimit -v` leaves no room for their stacks and heaps.
[[nodiscard]] int default_threads();

/// Before threads start: where there is no room for a heap of each they share one. A thread that gets none would ask the system
/// again at every allocation.
void prepare_for_threads(int threads);

/// Before work that is the same again and again: what one round frees the next one needs, and is not given back to the system.
void keep_freed_memory();

/// Bytes that the program may still allocate: the least of the machine's available memory, the limits of its control groups and
/// RLIMIT_AS (`ulimit -v`), each less what is in use, with an eighth held back for what nobody counts.
[[nodiscard]] Index memory_limit();

/// Bytes that may be used without a look at memory_limit(), which takes longer than a short sentence.
inline constexpr Index small_memory = Index{16} << 20U;

/// The value of a variable of the environment; empty when it is not set.
[[nodiscard]] std::string_view environment(const char* variable);

/// The number after `key` in text such as that of /proc/meminfo ("MemAvailable:   123 kB"), or -1.
[[nodiscard]] Index number_after(std::string_view text, std::string_view key);

} // namespace attn::cli
