// SPDX-License-Identifier: BSD-3-Clause
// Jacobi sweeps in place of both solves with general factors (Anzt, Chow, Dongarra, Euro-Par 2015):
//
//     M = (I + W) D (I + G):  v = r - W v from v = 0, `lower` times;  z = D^-1 v - G z from z = 0, `upper` times
//
// W and G are matrices without diagonal, so a synchronous sweep is a product and an addition: it runs wherever products
// do. An asynchronous one computes blocks of 128 block rows in place, from the values that others have at the time
// (precond/triangular/jacobi/sweeps.hpp): on a GPU by a kernel of its own, on a CPU with a thread for each block.
//
// On several ranks each sweep but the first exchanges the halo that the factors have, which may be another one than
// that of the vectors.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/device/rtc.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "precond/counted_plan.hpp"
#include "precond/general/solves/general_solve.hpp"
#include "precond/general/sweeps/block_sweeps.hpp"
#include "precond/triangular/jacobi/sweeps.hpp"

namespace hyperplane {

class SweptFactors final : public GeneralSolve {
public:
    /// For factors of this pattern; their values lie in the memory of the context or of its host. Of one of several
    /// ranks, `slab` has the rows of the factors and `of_vectors` those of the vectors; if these are two, sweeps have
    /// vectors of their own. All ranks must call it.
    SweptFactors(const Context& context, const GeneralFactors& factors, const SweepOptions& options,
                 std::shared_ptr<const RowSlab> slab = nullptr, const RowSlab* of_vectors = nullptr);

    /// Throws SetupError if the sweeps diverge.
    void take(const GeneralFactors& factors, const std::string& name) override;
    void apply(const Vector& r, Vector& z) const override;
    Index bytes_per_apply() const override;
    /// Bytes that it holds for factors of this pattern on a backend; the ranks' rows as in the constructor.
    static Index bytes(const FilledPattern& filled, int dof, const SweepOptions& options, Backend backend,
                       const std::shared_ptr<const RowSlab>& slab = nullptr, const RowSlab* of_vectors = nullptr);
    /// Returns the fewest and the most bytes that it holds for factors of so many rows and blocks on one rank.
    static Index least_bytes(const BlockCounts& factors, const SweepOptions& options, Backend backend);
    static Index most_bytes(const BlockCounts& factors, const SweepOptions& options, Backend backend);
    /// Bytes that one application moves, with `rows` rows from filled.first on.
    static Index bytes_per_apply(const FilledPattern& filled, Index rows, int dof, const SweepOptions& options);
    /// Returns the bytes that one application moves where the triangles have so many blocks.
    static Index bytes_per_apply(Index rows, Index lower, Index upper, int dof, const SweepOptions& options);

    /// What NVRTC compiles for the sweeps on a GPU.
    static rtc::Programs programs(const FilledPattern& filled, int dof, const SweepOptions& options);
    /// Returns the programs that sweeps compile for triangles of `lower` and `upper` blocks, whose rows are as uneven
    /// as those of the triangles of `a`. Diagonal blocks may be missing in `a`.
    static rtc::Programs programs(const BlockPattern& a, Index lower, Index upper, int dof,
                                  const SweepOptions& options);

private:
    void sweep_both(const Vector& r, Vector& z) const;
    /// x = b - T x from x = 0, `sweeps` times.
    void sweep(const BsrMatrix& triangle, int sweeps, const Vector& b, Vector& x) const;
    void sweep_by_blocks(Side side, int sweeps, const Vector& b, Vector& x) const;
    void refuse_divergence(Side side, const std::string& name) const;

    Context context_;
    SweepOptions options_;
    std::unique_ptr<BsrMatrix> w_, g_, inverse_;
    std::optional<BlockSweeps> blocks_of_w_, blocks_of_g_;  ///< of asynchronous sweeps
    mutable Vector product_, scaled_;
    mutable Vector r_, z_;  ///< where the factors' halo is not that of the vectors
};

}  // namespace hyperplane
