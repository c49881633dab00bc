// SPDX-License-Identifier: BSD-3-Clause
// The order of runs in a triangular solve or a factorisation on a CPU. It is described for the lower solve; the upper
// solve has the reverse order.
//
// hyperplane layout: runs of one level are independent. Levels follow each other (StructILU paper, section 4.1, steps 1
// to 3), with a barrier between consecutive levels.
//
// natural layout: runs are lines along x. No lower offset leads to a larger skewed coordinate j' = j + s k, so slabs of
// j' depend only on slabs before them. This is the paper's acyclic task mapping, with a CPU thread in place of a thread
// block. A thread computes the planes k of its slab in ascending order. Before each plane it waits until the slab
// before has completed the same plane (the paper's block-to-block waiting scheme). With a single thread there is one
// slab, which is computed in memory order.
//
// Of several ranks, each computes the planes of its slabs slab by slab, and passes the last planes of a slab on to the
// next rank before it begins the next slab. So ranks follow each other a slab apart, and every dependency between them
// is kept (CarriedLines).
//
// Every run is computed by a single thread and always in the same way, so results have the same bits for any number of
// threads and ranks.
#pragma once

#include <vector>

#include "core/grid/layout.hpp"
#include "precond/factors/side.hpp"

namespace hyperplane {

/// What runs read of the planes of other ranks: arrays, given by their value at slot 0, in `planes` planes.
struct Carried {
    std::vector<double*> arrays;
    int planes = 0;
};

/// Calls body(run) for every run of points with `dof` unknowns, after all the runs on which it depends, also those of
/// other ranks, of which it may read `carried`.
void for_each_run_in_order(const Context& context, const Layout& layout, int dof, int skew, Side side,
                           const Carried& carried, FunctionRef<void(const Run&)> body);

}  // namespace hyperplane
