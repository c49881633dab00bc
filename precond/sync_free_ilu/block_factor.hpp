// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of a general matrix with short rows of blocks on a GPU; block_factor.cuh is the kernel's text.
#pragma once

#include "core/device/rtc.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/general/factors/pivot_kernel.hpp"
#include "precond/general/orders/orders.hpp"
#include "precond/general/pattern/gpu_pattern.hpp"
#include "precond/sync_free_ilu/block_arguments.hpp"
#include "precond/sync_free_ilu/table_arguments.hpp"

namespace hyperplane {

/// What the kernel is specialised on.
struct BlockShape {
    int dof;
    bool symmetric;
    int most;  ///< blocks of a row that it has room for

    static constexpr int least_dof = 2, most_dof = 4;
    /// The shape for rows of so many blocks at most, if they are short enough.
    static std::optional<BlockShape> of(Index most, int dof, bool symmetric);
    int threads() const { return most > 8 ? 64 : 128; }  ///< of a thread block
};

/// The kernels, and what they need of a pattern.
class BlockFactor {
public:
    /// `pattern`, and the slices and rows of `lower`, the order of the solve with L, must exist as long as this object,
    /// whoever owns them then.
    BlockFactor(const Context& context, const GpuPattern& pattern, const SlicedOrder& lower, const BlockShape& shape);

    /// The factors of A + alpha diag(A) into `values`, and the pivots to `inverter`.
    void factor(const BsrMatrix& a, double alpha, const PivotRules& rules, double* values, PivotInverter& inverter);

    /// Bytes that it holds.
    static Index bytes(const SlicedSizes& lower, const BlockShape& shape);
    static rtc::Programs programs(const BlockShape& shape);

private:
    const GpuPattern& pattern_;
    BlockShape shape_;
    Index count_;
    const SolveSlice* slices_;
    const int* order_;
    PivotRecord pivots_;
    rtc::Kernel<UnfinishArguments> unfinish_;
    PivotKernel<BlockFactorArguments> kernel_;
};

}  // namespace hyperplane
