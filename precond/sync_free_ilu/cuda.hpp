// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of a general matrix on a GPU, in one of two variants: factor.cuh and table_factor.cuh are the
// kernels' texts.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/device/rtc.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/sync_free_ilu/arguments.hpp"
#include "precond/sync_free_ilu/factors.hpp"
#include "precond/sync_free_ilu/gpu_pattern.hpp"
#include "precond/sync_free_ilu/symbolic.hpp"
#include "precond/sync_free_ilu/table_factor.hpp"

namespace hyperplane {

/// What the kernel is specialised on.
struct SyncFreeShape {
    int dof;
    bool symmetric;
    int lanes;  ///< threads of a row
    int batch;  ///< rows that a short row waits for together

    std::optional<TableShape> table = std::nullopt;  ///< of the variant `table`

    bool needs_a_diagonal() const { return !table; }  ///< of GpuPattern
    static SyncFreeShape of(const FilledPattern& filled, int dof, bool symmetric, FactorVariant variant);
    int warps() const { return dof > 16 ? 2 : 4; }       ///< of a thread block
    Index rows() const { return 32 * warps() / lanes; }  ///< of a thread block
};

/// The tables of one pattern, and the kernel.
class SyncFreeCuda {
public:
    /// `pattern` must exist as long as this object. `symbolic` is of the same pattern; what it does not know yet is
    /// found.
    SyncFreeCuda(const Context& context, const GpuPattern& pattern, const SyncFreeShape& shape, Symbolic& symbolic);

    /// The factors of A + alpha diag(A) into `values`, and the pivots to `inverter`.
    void factor(const BsrMatrix& a, double alpha, const PivotRules& rules, double* values, PivotInverter& inverter);

    /// Bytes that it holds, without the pattern. `symbolic` receives the order of the tables, where there are tables.
    static Index bytes(const Context& host, Symbolic& symbolic, const SyncFreeShape& shape);
    /// What NVRTC compiles.
    static rtc::Programs programs(const SyncFreeShape& shape);

private:
    /// What the variant `search` needs.
    struct Search {
        Search(const Context& context, const RowLevels& levels, const SyncFreeShape& shape);

        Buffer<int> order;
        Buffer<unsigned long long> finished;
        Buffer<TicketState> state;
        PivotRecord pivots;
        rtc::Kernel<GeneralFactorArguments> kernel;
    };

    const GpuPattern& pattern_;
    SyncFreeShape shape_;
    Index rows_;
    std::unique_ptr<Search> search_;
    std::unique_ptr<TableFactor> table_;
};

}  // namespace hyperplane
