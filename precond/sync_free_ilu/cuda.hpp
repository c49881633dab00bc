// SPDX-License-Identifier: BSD-3-Clause
// sync_free_ilu on a GPU; factor.cuh and solve.cuh are the kernels' texts.
#pragma once

#include <string>
#include <vector>

#include "core/device/rtc.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/sync_free_ilu/arguments.hpp"
#include "precond/sync_free_ilu/factors.hpp"

namespace hyperplane {

/// What the kernels are specialised on.
struct SyncFreeShape {
    int dof;
    bool symmetric;
    int factor_lanes, solve_lanes;  ///< threads of a row

    /// For a pattern with so many blocks a row on average.
    static SyncFreeShape of(double mean, int dof, bool symmetric);
    int factor_warps() const { return dof > 16 ? 2 : 4; }
    Index factor_rows() const { return 32 * factor_warps() / factor_lanes; }  ///< of a thread block
    Index solve_rows() const { return 128 / solve_lanes; }
};

/// The tables of one pattern, and the kernels.
class SyncFreeCuda {
public:
    /// `factors` has its pattern in the host's memory.
    SyncFreeCuda(const Context& context, const BsrMatrix& a, const GeneralFactors& factors);

    /// The factors of A + alpha diag(A) into `values`, and the pivots to `inverter`.
    void factor(const BsrMatrix& a, double alpha, const PivotRules& rules, double* values, PivotInverter& inverter);
    /// Where the factors' rows and diagonal blocks begin, on the GPU.
    const Index* row_begin() const { return pattern_->row_begin(); }
    const Index* diagonal() const { return diagonal_.data(); }
    /// z = U^-1 L^-1 r.
    void solve(const double* values, const Vector& r, Vector& z) const;

    /// Bytes that it holds.
    static Index bytes(const FilledPattern& filled, Index a_blocks, const SyncFreeShape& shape);
    /// What NVRTC compiles.
    static rtc::Programs programs(const SyncFreeShape& shape);

private:
    SyncFreeShape shape_;
    Index rows_;
    std::shared_ptr<const BlockPattern> pattern_;
    Buffer<Index> diagonal_, a_diagonal_;  ///< a_diagonal_: empty if A has the same pattern
    Buffer<int> place_, lower_order_, upper_order_;
    Buffer<unsigned long long> finished_;
    mutable Buffer<RowRecord> lower_, upper_;
    mutable Buffer<TicketState> states_;  ///< of the factorisation and both solves
    PivotRecord pivots_;
    rtc::Kernel<GeneralFactorArguments> factor_kernel_;
    rtc::Kernel<GeneralSolveArguments> lower_kernel_, upper_kernel_;
};

}  // namespace hyperplane
