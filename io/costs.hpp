// SPDX-License-Identifier: BSD-3-Clause
// What all parts of a run together have cost. Every table that shows costs takes them from here.
//
// Times are those of /perf/timers, which continue when a run is continued. Records of programs before 0.2.0 hold the
// timers of the last part alone; if the rows of /solves, which were always of all parts, add up to more, these are
// used.
#pragma once

#include "io/record.hpp"

namespace hyperplane {

struct Costs {
    double assembly = 0.0, setup = 0.0, solve = 0.0;  ///< seconds
    double compile = 0.0;                             ///< seconds of the compiler of kernels, in none of the others
    Index iterations = 0;                             ///< of all solves
    Index memory = 0;                                 ///< bytes at the peak
    Index parts = 1;
    std::string places = {};  ///< "node1, cpu, 2 threads", then "; then node2, cuda, NVIDIA H200" if it moved

    double per_iteration() const { return iterations > 0 ? solve / double(iterations) : 0.0; }
    /// "assembly 0.02 s, set-up 0.004 s, solve 0.14 s: 1.8 ms an iteration", whose end is left out without iterations.
    std::string text() const;
    /// Whether the run was continued on another host or device.
    bool moved() const { return places.find("; then ") != places.npos; }
};

Costs costs_of(const std::vector<TimerRow>& timers, const std::vector<SolveRow>& solves, Index memory,
               const std::vector<PartRow>& parts);
Costs costs_of(const RecordData& record);

}  // namespace hyperplane
