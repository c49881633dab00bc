// SPDX-License-Identifier: BSD-3-Clause
// Fixed-point sweeps for the factors of a general matrix on a GPU; fixed_point.cuh is the kernels' text.
#pragma once

#include <optional>

#include "core/device/rtc.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/general/factors/cpu.hpp"
#include "precond/general/factors/pivot_kernel.hpp"
#include "precond/general/fixed_point/arguments.hpp"
#include "precond/general/pattern/gpu_pattern.hpp"

namespace hyperplane {

/// What the kernels are specialised on.
struct FixedPointShape {
    int dof;
    bool symmetric;
    int lanes;  ///< threads of a row

    bool has_long_rows() const { return dof == 1; }      ///< that have thread blocks of their own
    int warps() const { return dof > 16 ? 2 : 4; }       ///< of a thread block
    Index rows() const { return 32 * warps() / lanes; }  ///< of a thread block
};

/// The rows of a pattern that begins with so many rows of other ranks.
struct OwnRows {
    Index before, count;
};

class FixedPointCuda {
public:
    /// `pattern` must exist as long as this object. `own`: the rows that are computed; otherwise all.
    FixedPointCuda(const Context& context, const GpuPattern& pattern, const FixedPointShape& shape,
                   const std::optional<OwnRows>& own = std::nullopt);

    /// The factors of A + alpha diag(A) into `values` after so many sweeps, and the pivots of the last one to
    /// `inverter`. `values` and `scratch` lie in the GPU's memory; share(values, inverse) queues there what brings rows
    /// of other ranks up to date.
    void factor(const BsrMatrix& a, double alpha, int sweeps, const PivotRules& rules,
                general_cpu::FixedPointScratch& scratch, Buffer<double>& values, PivotInverter& inverter,
                const general_cpu::ShareRows& share = general_cpu::no_other_rows);

    // The parts of `factor`, for callers that change the pattern between sweeps. `inverse`: of the diagonal blocks of
    // X.

    /// Writes X = A + alpha diag(A) to `x`, and the inverses of its diagonal blocks.
    void begin(const BsrMatrix& a, double alpha, const PivotRules& rules, Buffer<double>& inverse, Buffer<double>& x);
    /// Writes the result of a sweep that reads X to `made`, and the inverses of its diagonal blocks.
    void sweep(const BsrMatrix& a, double alpha, const PivotRules& rules, const Buffer<double>& x,
               Buffer<double>& inverse, Buffer<double>& made);
    /// Makes `sweeps` further sweeps, beginning with X and the inverses in `scratch`, and turns the result into
    /// factors.
    void sweep_to_factors(const BsrMatrix& a, double alpha, int sweeps, const PivotRules& rules,
                          general_cpu::FixedPointScratch& scratch, Buffer<double>& x, PivotInverter& inverter,
                          const general_cpu::ShareRows& share = general_cpu::no_other_rows);

    /// Bytes that it holds.
    static Index bytes(const RowCounts& counts, const FixedPointShape& shape);
    static rtc::Programs programs(const FixedPointShape& shape);

private:
    using Kernel = rtc::Kernel<FixedPointArguments>;

    /// Pivots are guesses.
    FixedPointArguments arguments(const BsrMatrix& a, double alpha, const PivotRules& rules, const double* others,
                                  Buffer<double>& inverse, Buffer<double>& values);
    void launch(const Kernel& kernel, const FixedPointArguments& arguments) const;
    void launch_sweep(const FixedPointArguments& arguments) const;

    const GpuPattern& pattern_;
    FixedPointShape shape_;
    OwnRows own_;
    Buffer<int> long_rows_;
    PivotRecord pivots_;
    Kernel sweep_, sweep_long_rows_, finish_;
    PivotKernel<FixedPointArguments> invert_;
};

}  // namespace hyperplane
