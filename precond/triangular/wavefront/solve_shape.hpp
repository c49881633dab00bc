// SPDX-License-Identifier: BSD-3-Clause
// How StructILU's triangular solves on a GPU are divided into tiles, threads and groups of terms. The kernel is
// precond/triangular/wavefront/solve.cuh.
#pragma once

#include <vector>

#include "precond/factors/ilu_factors.hpp"
#include "precond/tuning.hpp"
#include "precond/walks/tiles.hpp"

namespace hyperplane::wavefront_cuda {

/// The terms of a row, sorted into groups. Group 0 has the newest ones, of level l - 1; the older ones are distributed
/// evenly to groups of about that size (StructILU paper, table 2), or belong to group 0, too.
struct Groups {
    std::vector<int> terms, begin{0};

    /// `pipelined` is that of StructIluTuning. With one unknown in double precision, groups that are not summed ahead
    /// are summed by one thread, in the same order.
    Groups(const IluPattern& system, const Geometry& geometry, int pipelined);
    int count() const { return int(begin.size()) - 1; }

private:
    void sort(const Geometry& geometry, bool ahead);
};

constexpr int eisenstat_vectors = 3;  ///< p, y or s, and A's diagonal

/// How a solve is divided into tiles and threads, and how much shared memory a tile takes.
struct SolveShape {
    TileShape tile;
    int stages, lookahead, halo_threads;
    Index shared;
    int consumer_threads;  ///< of one group
    int groups, producer_threads, blocks;
    int producer_lines = 1, run = 1;  ///< lines of a producer thread, and of one copy
    int rows = 0;                     ///< where warps do not synchronise: edges that a lane loads at a time
    int ring = 0;                     ///< levels in shared memory

    /// With `vectors` vectors that a solve copies along with the coefficients, besides its right-hand side.
    SolveShape(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning, int vectors = 0);
    int threads() const { return groups * consumer_threads + producer_threads + lookahead * halo_threads; }
    /// Number of edges that a tile writes at a level.
    int edge_records(const Geometry& geometry, int dof) const;
};

}  // namespace hyperplane::wavefront_cuda
