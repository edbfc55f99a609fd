// What `bench` measured, as a table or as JSON.
#pragma once

#include "attn/model/attend/workload.hpp"
#include "attn/tensor/buffer.hpp"

#include <optional>
#include <span>

namespace attn::report {

struct Timing {
    model::Workload workload;
    int threads = 1;
    core::Isa isa = core::Isa::portable;
    double least_seconds = 0, median_seconds = 0; ///< of one computation of the context
    Index repeats = 0;                            ///< computations timed
    double peak_gflops = 0;                       ///< fused multiply-adds in registers, the median of the same minutes
    Index peak_rss_bytes = 0;                     ///< of the process, up to the end of this measurement

    [[nodiscard]] double gflops() const { return workload.operations() / median_seconds * 1e-9; }
};

/// One line per timing under a line of column names. Where these do not fit the `width` of a terminal, sizes, threads and isa,
/// which all timings have in common, except seq, stand in a line above instead.
void write_timings(std::span<const Timing> timings, std::optional<Index> width, Buffer& buffer);

/// One object when there is one timing, otherwise an array of them; on one line.
void write_timings_json(std::span<const Timing> timings, Buffer& buffer);

} // namespace attn::report
