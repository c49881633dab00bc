// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of a general matrix of one unknown on a GPU by tables; table_factor.cuh is the kernel's text.
#pragma once

#include "core/device/rtc.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/general/factors/pivot_kernel.hpp"
#include "precond/general/orders/tables.hpp"
#include "precond/general/pattern/gpu_pattern.hpp"
#include "precond/sync_free_ilu/table_arguments.hpp"

namespace hyperplane {

/// The tables of one pattern, and the kernels.
class TableFactor {
public:
    /// All in the context's memory; `pattern` must exist as long as this object. `order` is taken over.
    TableFactor(const Context& context, const GpuPattern& pattern, TableOrder order, const TableShape& shape);

    /// The factors of A + alpha diag(A) into `values`, and the pivots to `inverter`. `place`: of A's entries within
    /// their rows, or null if A has the pattern of the factors.
    void factor(const BsrMatrix& a, const int* place, double alpha, const PivotRules& rules, double* values,
                PivotInverter& inverter);

    /// Bytes that it holds.
    static Index bytes(const FilledPattern& filled, const TableSizes& sizes, const TableShape& shape);
    static rtc::Programs programs(const TableShape& shape);

private:
    void make(const Context& context, const Buffer<int>& order, const TableShape& shape);

    const BlockPattern& pattern_;
    const Buffer<Index>& diagonal_;
    Index rows_, count_;
    Buffer<TableSlice> slices_;
    Buffer<TableRow> table_rows_;
    Buffer<unsigned> pivot_;
    Buffer<unsigned char> offset_;
    Buffer<double> long_rows_;
    Buffer<double> given_;  ///< A in the factors' pattern; empty if A has it
    PivotRecord pivots_;
    rtc::Kernel<SpreadArguments> spread_;
    rtc::Kernel<UnfinishArguments> unfinish_;
    PivotKernel<TableFactorArguments> kernel_;
};

}  // namespace hyperplane
