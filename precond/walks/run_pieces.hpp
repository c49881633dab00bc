// SPDX-License-Identifier: BSD-3-Clause
// What exact factorisations and solves on a CPU share. Both work on a run of points at once, so that the products of a
// run vectorise; precond/walks/wavefront.hpp orders the runs. In the natural layout a run's points depend on each other
// through offsets along x: those come last in the lower triangle's order and are done point by point.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/vector/run_kernel.hpp"
#include "precond/factors/ilu_factors.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane::wavefront_cpu {

/// Entries along a run: at most radius 2 x 4 of them at fill level 3.
inline constexpr int max_along = 8;

/// Factors in double precision, coefficient by coefficient along runs.
struct FactorsByRun {
    const StructMatrix& triangles;  ///< E and F
    const StructMatrix& pivots;     ///< holds D^-1 ...
    int pivot_entry;                ///< ... as this entry
    const Layout& layout;
    const Stencil& stencil;
    int dof;

    const double* inverse(int row, int col, Index slot) const { return pivots.values(pivot_entry, row, col) + slot; }
    bool along_run(int entry) const {
        const Int3 o = stencil[entry];
        return layout.kind() == LayoutKind::natural && o.y == 0 && o.z == 0;
    }
};

inline FactorsByRun read_by_runs(const IluFactors& factors) {
    const StructMatrix& a = factors.matrix();
    return {factors.triangles(), factors.pivots(), factors.pivot_entry(), a.layout(), factors.stencil(), a.dof()};
}

/// Scratch of a thread, kept from run to run since an allocation costs more than a short run.
struct Scratch {
    std::vector<RunNeighbours> near;
    std::vector<RunTerm> terms;
    std::vector<double> values;
};

inline Scratch& scratch() {
    thread_local Scratch mine;
    return mine;
}

/// Longest piece of a run done at once, so that a block of scratch stays in the first-level cache.
inline int piece_length(int dof) {
    return dof == 1 ? 1024 : std::max(16, 2048 / (dof * dof));
}

/// The piece of `run` that begins at position `t`.
inline Run piece_of(const Layout& layout, const Run& run, int t, int count) {
    const Int3 step = layout.step();
    return {run.first + Int3{t * step.x, t * step.y, t * step.z}, count, run.slot + t};
}

/// Calls body(piece) for the pieces of all runs, each after the pieces it depends on. Of the factors layout, stencil
/// and dof count.
template <class AnyFactors, class Body>
void sweep_pieces(const AnyFactors& f, Direction direction, const Body& body) {
    const int length = piece_length(f.dof);
    sweep(f.layout, f.dof, f.stencil.line_skew(), direction, [&](const Run& run) {
        const int pieces = (run.count + length - 1) / length;
        for (int at = 0; at < pieces; ++at) {
            const int t = (direction == Direction::lower ? at : pieces - 1 - at) * length;
            body(piece_of(f.layout, run, t, std::min(length, run.count - t)));
        }
    });
}

}  // namespace hyperplane::wavefront_cpu
