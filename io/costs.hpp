// SPDX-License-Identifier: BSD-3-Clause
// What a run cost, all its parts together: the one source of every table that shows costs.
//
// Times are those of /perf/timers, which go on where a run goes on. Records of programs before 0.2.0 hold the timers of
// the last part alone; where the rows of /solves, which were always of all parts, tell of more, they count.
#pragma once

#include "io/record.hpp"

namespace hyperplane {

struct Costs {
    double assembly = 0.0, setup = 0.0, solve = 0.0;  ///< seconds
    Index iterations = 0;                             ///< of all solves
    Index memory = 0;                                 ///< bytes at the peak
    Index parts = 1;
    std::string places;  ///< "node1, cpu, 2 threads", and where it ran after that, "; then node2, cuda, NVIDIA H200"

    double per_iteration() const { return iterations > 0 ? solve / double(iterations) : 0.0; }
    /// Another host or device took over.
    bool moved() const { return places.find("; then ") != places.npos; }
};

Costs costs_of(const std::vector<TimerRow>& timers, const std::vector<SolveRow>& solves, Index memory,
               const std::vector<PartRow>& parts);
Costs costs_of(const RecordData& record);

}  // namespace hyperplane
