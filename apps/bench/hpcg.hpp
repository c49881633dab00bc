// SPDX-License-Identifier: BSD-3-Clause
// HPCG's problem, solved by this program's parts: an unofficial figure, since the matrix is stored by diagonals without
// indices, which the benchmark's rules do not allow.
//
// A x = b with 27 points, 26 and -1, and the solution 1; conjugate gradients with four grids of multigrid and symmetric
// Gauss-Seidel (precond/reproductions/hpcg_cycle.hpp). The sweeps take the points by colour, not in natural order, so
// they converge differently. As in HPCG, the reference's residual after 50 iterations is the goal, and the figure
// counts the operations of 50 iterations over the time of those iterations that reach the goal.
#pragma once

#include <array>
#include <memory>

#include "apps/base/invocation.hpp"
#include "core/device/context.hpp"
#include "core/interfaces/preconditioner.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/timer.hpp"

namespace hyperplane {

struct HpcgBench {
    static constexpr int reference_iterations = 50;

    double goal = 0.0;     ///< ||r|| / ||b|| of the reference after its iterations
    int iterations = 0;    ///< how many reach the goal
    double reached = 0.0;  ///< ||r|| / ||b|| after them
    /// HPCG's TestSymmetry: |x^T O y - y^T O x| over the rounding that it allows; at most 1.
    double asymmetry_of_a = 0.0, asymmetry_of_m = 0.0;
    double setup = 0.0;       ///< seconds: coarse matrices and factors, as HPCG's optimisation phase
    Timing solve;             ///< seconds of `iterations` iterations
    bool same_bits = false;   ///< the residuals of all repeats are equal
    double operations = 0.0;  ///< of 50 iterations

    double rate() const { return operations / solve.median; }  ///< operations a second
};

/// Returns symmetric Gauss-Seidel by colour, which smooths on a matrix of one unknown and 27 points.
std::unique_ptr<Preconditioner> gauss_seidel_by_colour(const StructMatrix& a);

/// HPCG's count of a set of `iterations` iterations on n[0] x n[1] x n[2] points: products, vector operations and
/// the multigrid cycle.
double hpcg_operations(std::array<Index, 3> n, Index iterations);

/// Throws UsageError for extents that are no multiples of eight or below 16.
HpcgBench bench_hpcg(const Context& context, std::array<int, 3> extents, int repeats);

/// The verb `bench hpcg [NX NY NZ]`: prints the figure, and writes JSON if asked to. The exit status is that of an
/// expectation that failed if a check fails.
int bench_hpcg_verb(const Invocation& invocation, int repeats);

}  // namespace hyperplane
