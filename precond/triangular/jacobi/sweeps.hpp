// SPDX-License-Identifier: BSD-3-Clause
// Jacobi sweeps on triangular systems, in place of exact solves.
//
// Anzt, Chow, Dongarra, "Iterative sparse triangular solves for preconditioning", Euro-Par 2015: equations (1) and (2).
// For a triangle T with the diagonal D, a sweep replaces x by D^-1 (b - (T - D) x); the first one begins with x = 0.
// For the factors of precond/factors/view.hpp, with y and z approximating the results of exact solves:
//
//     lower   y <- D^-1 (r - E y)   or   v <- r - W v, y = D^-1 v after the last sweep
//     upper   z <- y - D^-1 F z     or   z <- y - G z
//
// Both forms give the same iterates. The first sweep reads no neighbours, because x is zero: it gives D^-1 r for the
// lower triangle and y for the upper one. Let N be the iteration matrix; then the error after n sweeps is (-N)^n times
// the solution. N is strictly triangular, so as many sweeps as the grid has levels give the exact solution, but until
// then powers of N may grow (its departure from normality).
//
// sync: a sweep reads only values of the sweep before. M is a fixed operator, and results are deterministic.
// block_async: all sweeps update one vector. Each block of `block_points` consecutive slots reads the values that are
// there, computes its points, and then writes them (section 3). Blocks are begun forward, backward, or in the order of
// dependencies, which is forward for the lower and backward for the upper triangle. On a GPU a thread block that begins
// takes the next number from a counter, because the order in which thread blocks begin is not defined. With `natural`
// there is no order: a thread block uses its own number, and on a CPU each thread has a contiguous part of the blocks.
// M is not a fixed operator, and results are not deterministic.
//
// Synchronous sweeps on a GPU have kernels of their own (precond/triangular/jacobi/sweeps_cuda.hpp). On a CPU, sweeps
// on factors in double precision compute a run of points at a time (precond/triangular/jacobi/sweeps_cpu.hpp). All
// others are loops over points.
#pragma once

#include <memory>

#include "core/function_ref.hpp"
#include "core/vector/vector.hpp"
#include "precond/factors/view.hpp"
#include "precond/sweep_options.hpp"
#include "precond/triangular/jacobi/sweeps_cuda.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {

/// The order in which the blocks of an asynchronous sweep begin.
enum class Turns { ascending, descending, any };
Turns turns_of(BlockOrder order, Side side);
/// Calls body(block) for every block on the host's threads, which begin blocks in that order.
void for_each_turn(Index blocks, int threads, Turns turns, FunctionRef<void(Index)> body);

/// Sweeps on triangles of one shape, with the vectors that hold iterates.
class TriangleSweeps {
public:
    static constexpr int block_points = 128;  ///< the size of the paper's thread blocks

    TriangleSweeps(const Context& context, const TriangleShape& shape, const SweepOptions& options)
        : TriangleSweeps(context, shape, options, shape.layout) {}
    /// For vectors in another layout than the factors: that of a rank's part, where the factors are on a GPU and on the
    /// grid of the part's planes with its halo (IluPattern::of_rank).
    TriangleSweeps(const Context& context, const TriangleShape& shape, const SweepOptions& options,
                   const Layout& vectors);

    /// z = M^-1 r, with sweeps in place of both solves.
    void apply(const TriangleFactors& factors, const Vector& r, Vector& z);
    /// ||N^n w|| / ||w|| in the 2-norm, for n from 1 to the number of sweeps with that triangle and a positive random
    /// w. The list ends early with a value that is above `most` or not finite.
    std::vector<double> growth(const TriangleFactors& factors, Side side, double most);

    /// Memory held, in bytes.
    static Index bytes(Index unknowns) { return 2 * unknowns * Index(sizeof(double)) + Index(sizeof(unsigned)); }
    /// Fewest bytes that `apply` moves: a sweep reads its triangle, D^-1 unless the triangle is unit, and its vectors
    /// once; the first sweep of each side reads no triangle.
    static Index bytes_per_apply(const TriangleShape& shape, const SweepOptions& options);
    bool serves(const TriangleShape& shape) const { return shape == shape_; }

private:
    /// One synchronous sweep. If `x` is null, it begins with zero; a null `b` is zero.
    void run(const TriangleFactors& factors, Side side, const Vector* b, const Vector* x, Vector& out,
             bool times_inverse) const;
    void sync(const TriangleFactors& factors, const Vector& r, Vector& z);
    void block_async(const TriangleFactors& factors, const Vector& r, Vector& z);

    TriangleShape shape_;
    SweepOptions options_;
    Vector lower_, other_;                      ///< result of the lower sweeps; second vector of alternating sweeps
    Buffer<unsigned> next_block_;               ///< the counter of blocks, for block_async on a GPU
    std::shared_ptr<TriangleSweepsCuda> cuda_;  ///< kernels, if the factors are on a GPU
};

}  // namespace hyperplane
