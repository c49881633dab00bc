// SPDX-License-Identifier: BSD-3-Clause
// Jacobi sweeps on triangular systems, instead of solving them.
//
// Anzt, Chow, Dongarra, "Iterative sparse triangular solves for preconditioning", Euro-Par 2015: equations (1) and (2).
// A sweep replaces x by D^-1 (b - (T - D) x), T a triangle with the diagonal D, from x = 0 on. For the factors of
// precond/factors/view.hpp, y and z being what exact solves would give:
//
//     lower   y <- D^-1 (r - E y)   or   v <- r - W v, y = D^-1 v after the last sweep
//     upper   z <- y - D^-1 F z     or   z <- y - G z
//
// Both forms give the same iterates. The first sweep finds zeros and gives D^-1 r, or y. With N the iteration matrix,
// the error after n sweeps is (-N)^n times the solution; N is strictly triangular, so as many sweeps as the grid has
// levels are exact, but before that powers of N may grow (its departure from normality).
//
// sync: a sweep reads the one before. Fixed, deterministic.
// block_async: one vector; blocks of `block_points` consecutive slots read whatever is there, update at once and write,
// each block when it is its turn (section 3). Blocks are begun forward, backward, or in the order of dependencies,
// forward for the lower and backward for the upper triangle: on a GPU a block of threads that begins takes the next
// number, since nobody promises in what order they begin. `natural` leaves it to the device: the number is the block's
// own, on a CPU threads have contiguous parts of the blocks. Neither fixed nor deterministic.
//
// Synchronous sweeps on a GPU have kernels of their own (precond/triangular/jacobi/sweeps_cuda.hpp); on a CPU factors
// of double precision are swept a run of points at a time (precond/triangular/jacobi/sweeps_cpu.hpp); all others are
// loops over points.
#pragma once

#include <memory>

#include "core/vector/vector.hpp"
#include "precond/factors/view.hpp"
#include "precond/triangular/jacobi/sweeps_cuda.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {

enum class SweepMode { sync, block_async };
enum class BlockOrder { dependency, forward, backward, natural };

struct SweepOptions {
    int lower = 5, upper = 5;  ///< sweeps, 1 or more
    SweepMode mode = SweepMode::sync;
    BlockOrder order = BlockOrder::dependency;  ///< of block_async
};

class TriangleSweeps {
public:
    static constexpr int block_points = 128;  ///< the paper's thread block

    TriangleSweeps(const Context& context, const TriangleShape& shape, const SweepOptions& options);

    /// z = M^-1 r, both solves by sweeps.
    void apply(const TriangleFactors& factors, const Vector& r, Vector& z);
    /// ||N^n w|| / ||w|| in the 2-norm for n = 1 to the sweeps of that direction, w positive and random; the list ends
    /// early behind a value above `most` or not finite.
    std::vector<double> growth(const TriangleFactors& factors, Direction direction, double most);

    /// Memory held, in bytes.
    static Index bytes(Index unknowns) { return 2 * unknowns * Index(sizeof(double)); }
    /// Fewest bytes of `apply`: a sweep reads its triangle, D^-1 unless the triangle is unit, and its vectors once; the
    /// first of either kind reads no triangle.
    static Index bytes_per_apply(const TriangleShape& shape, const SweepOptions& options);
    bool serves(const TriangleShape& shape) const { return shape == shape_; }

private:
    /// One synchronous sweep; without `x` from zero.
    struct Sweep {
        const Vector *b, *x;
        Vector* out;
        bool times_inverse;
    };
    void run(const TriangleFactors& factors, Direction direction, const Sweep& sweep) const;
    void sync(const TriangleFactors& factors, const Vector& r, Vector& z);
    void block_async(const TriangleFactors& factors, const Vector& r, Vector& z);

    TriangleShape shape_;
    SweepOptions options_;
    Vector lower_, other_;                      ///< what the lower sweeps give; room to alternate
    Buffer<int> next_block_;                    ///< one number, for block_async on a GPU
    std::shared_ptr<TriangleSweepsCuda> cuda_;  ///< kernels, where the factors are on a GPU
};

}  // namespace hyperplane
