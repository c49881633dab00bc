// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of a general matrix on a GPU in which entries that two rows share are searched for;
// search_factor.cuh is the kernel's text. It needs no tables, so its set-up is short.
#pragma once

#include <optional>
#include <string>

#include "core/device/rtc.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/general/factors/arguments.hpp"
#include "precond/general/factors/pivot_kernel.hpp"
#include "precond/general/fixed_point/fixed_point_cuda.hpp"
#include "precond/general/orders/row_counts.hpp"
#include "precond/general/pattern/gpu_pattern.hpp"

namespace hyperplane {

/// What the kernel is specialised on.
struct SearchShape {
    int dof;
    bool symmetric;
    int lanes;  ///< threads of a row
    int batch;  ///< rows that a short row waits for together

    /// Most rows have a lane for each entry.
    static SearchShape of(const RowCounts& counts, int dof, bool symmetric);
    FixedPointShape swept() const { return {dof, symmetric, lanes}; }  ///< of fixed-point sweeps in its place
    int warps() const { return dof > 16 ? 2 : 4; }                     ///< of a thread block
    Index rows() const { return 32 * warps() / lanes; }                ///< of a thread block
};

/// Another kernel of the same arguments, whose thread blocks are resident and take many parts of the rows each.
struct ResidentKernel {
    rtc::Program program;
    std::string name;
};

/// What the factorisation needs of one pattern, and the kernel.
class SearchFactor {
public:
    /// `pattern` must exist as long as this object. `by_level`: the rows in the order of their levels; only a
    /// `resident` kernel can take them in natural order in its place. The pattern may begin with `before` rows of other
    /// ranks, whose factors are there before those of the rows in the order are computed.
    SearchFactor(const Context& context, const GpuPattern& pattern, const SearchShape& shape,
                 std::optional<Buffer<int>> by_level, Index before = 0,
                 const std::optional<ResidentKernel>& resident = std::nullopt);

    /// The factors of A + alpha diag(A) into `values`, and the pivots to `inverter`.
    void factor(const BsrMatrix& a, double alpha, const PivotRules& rules, double* values, PivotInverter& inverter);

    /// Bytes that it holds for so many rows, without the pattern.
    static Index bytes(Index rows, const SearchShape& shape, bool by_level = true, bool resident = false);
    /// What NVRTC compiles.
    static rtc::Programs programs(const SearchShape& shape);

private:
    const GpuPattern& pattern_;
    SearchShape shape_;
    std::optional<Buffer<int>> order_;
    Index rows_, before_;
    unsigned long long launches_ = 0;
    Buffer<unsigned long long> finished_;
    Buffer<TicketState> state_;
    PivotKernel<GeneralFactorArguments> kernel_;
    PivotRecord pivots_;
};

}  // namespace hyperplane
