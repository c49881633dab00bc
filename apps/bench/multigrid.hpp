// SPDX-License-Identifier: BSD-3-Clause
// Times of the parts of a multigrid cycle, and of its set-up, on each grid.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/setup.hpp"
#include "apps/run/case.hpp"

namespace hyperplane {

/// One operation on one grid.
struct GridPart {
    std::string name;
    double seconds = 0.0;  ///< median
    double bytes = 0.0;    ///< fewest that it must move; 0 where that is not known
};

struct GridTimes {
    Grid grid;
    std::string stencil;
    /// In a cycle: smoother, residual, restriction, prolongation; coarsest on the last grid.
    std::vector<GridPart> cycle;
    std::vector<GridPart>
        setup;  ///< couplings, interpolation, Galerkin product; that of the smoother is not among them
};

struct MultigridBench {
    std::vector<GridTimes> grids;
    Timing apply;      ///< seconds of a cycle, as in iterations
    SetupTimes setup;  ///< of all grids
    Index bytes = 0;   ///< held after a set-up: matrices, vectors and smoothers of all grids, and the coarsest solve
};

/// Assembles the deck's first linear system, sets its preconditioner up, which must be multigrid, and times it. Throws
/// UsageError for another preconditioner, and SetupError.
MultigridBench bench_multigrid(const Case& a_case, int repeats);

/// The verb `bench multigrid DECK...`: prints a table, and writes it as JSON if asked to. Returns the exit status.
int bench_multigrids(const Invocation& invocation, int repeats);

}  // namespace hyperplane
