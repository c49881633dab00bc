// SPDX-License-Identifier: BSD-3-Clause
// The common part of exact factorisations and solves on a CPU. Both compute a run of points at once, so that products
// vectorise along the run; precond/walks/wavefront.hpp orders the runs. In the natural layout the points of a run
// depend on each other through offsets along x. These are the last of the lower offsets, and their terms are computed
// point by point.
#pragma once

#include <algorithm>
#include <vector>

#include "core/vector/run_kernel.hpp"
#include "precond/factors/ilu_factors.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane::wavefront_cpu {

/// Largest number of entries along a run in one triangle: a stencil of radius 2 at fill level 3 has 2 x 4 of them.
inline constexpr int max_along = 8;

/// View of factors in double precision; each coefficient is contiguous along a run.
struct FactorsByRun {
    const StructMatrix& triangles;  ///< E and F
    const StructMatrix& pivots;     ///< has D^-1 as entry `pivot_entry`
    int pivot_entry;
    const Context& context;
    Layout layout;  ///< of the pattern, whose points may have no neighbours on other ranks
    const Stencil& stencil;
    int dof;

    /// The address of the coefficient of an entry for slot 0, with one unknown, whose neighbour is `ahead` slots ahead.
    const double* address(int entry, Index ahead) const {
        return triangles.along({{}, 0, 0}, {0, 0, ahead}, entry, 0, 0);
    }
    /// The equal lines of E and F, and of D^-1; null if they are not known, or too few to save time.
    const EqualLines* lines() const { return if_they_save(triangles.equal_lines()); }
    const EqualLines* pivot_lines() const { return if_they_save(pivots.equal_lines()); }
    /// Whether the coefficients of an entry are stored at its own point, not at the neighbour.
    bool stores(int entry) const { return triangles.stores(entry); }
    const double* inverse(int row, int col, Index slot) const { return pivots.values(pivot_entry, row, col) + slot; }
    bool along_run(int entry) const {
        const Int3 o = stencil[entry];
        return layout.kind() == LayoutKind::natural && o.y == 0 && o.z == 0;
    }
};

inline FactorsByRun read_by_runs(const IluFactors& factors) {
    const StructMatrix& a = factors.matrix();
    return {factors.triangles(), factors.pivots(), factors.pivot_entry(), a.context(), factors.pattern().layout,
            factors.stencil(),   a.dof()};
}

/// Scratch memory of a thread. It is kept from run to run, because an allocation takes longer than a short run.
struct Scratch {
    std::vector<RunNeighbours> near;
    std::vector<RunTerm> terms;
    std::vector<double> values;
};

inline Scratch& scratch() {
    thread_local Scratch mine;
    return mine;
}

/// Largest number of points in a piece of a run, chosen so that the scratch of a piece stays in the first-level cache.
inline int piece_length(int dof) {
    return dof == 1 ? 1024 : std::max(16, 2048 / (dof * dof));
}

/// The piece of `run` that begins at position `t`.
inline Run piece_of(const Layout& layout, const Run& run, int t, int count) {
    const Int3 step = layout.step();
    return {run.first + Int3{t * step.x, t * step.y, t * step.z}, count, run.slot + t};
}

/// What a solve computes in x and reads of x on other ranks.
inline Carried carried(Vector& x, const Stencil& stencil) {
    return {x.components(), stencil.planes()};
}

/// Calls body(piece) for the pieces of all runs, each after the pieces on which it depends, also those of other ranks,
/// of which it may read `carried`. Only the members context, layout, stencil and dof of `f` are used.
template <class AnyFactors, class Body>
void for_each_piece(const AnyFactors& f, Side side, const Carried& carried, const Body& body) {
    const int length = piece_length(f.dof);
    for_each_run_in_order(f.context, f.layout, f.dof, f.stencil.line_skew(), side, carried, [&](const Run& run) {
        const int pieces = (run.count + length - 1) / length;
        for (int at = 0; at < pieces; ++at) {
            const int t = (side == Side::lower ? at : pieces - 1 - at) * length;
            body(piece_of(f.layout, run, t, std::min(length, run.count - t)));
        }
    });
}

}  // namespace hyperplane::wavefront_cpu
