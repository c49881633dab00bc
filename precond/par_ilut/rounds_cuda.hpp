// SPDX-License-Identifier: BSD-3-Clause
// The rounds of par_ilut and the last factors on a GPU, with the pattern and the bits that a CPU finds. Each round
// makes a pattern, so entries that rows share are searched for (precond/sync_free_ilu/factor.cuh), not kept in tables.
#pragma once

#include <memory>

#include "precond/general/fixed_point/fixed_point_cuda.hpp"
#include "precond/par_ilut/factors_on_gpu.hpp"
#include "precond/par_ilut/gpu_factors.hpp"
#include "precond/par_ilut/par_ilut.hpp"
#include "precond/sync_free_ilu/cuda.hpp"

namespace hyperplane::par_ilut {

class RoundsOnGpu {
public:
    /// Both must exist as long as this object. The matrix is in a GPU's memory.
    RoundsOnGpu(const BsrMatrix& a, const ParIlutOptions& options) : a_(a), options_(options) {}

    /// The factors of A + alpha diag(A), and what solves with them. Writes the number of rounds to `rounds`.
    std::unique_ptr<FactorsOnGpu> factors(double alpha, PivotInverter& inverter, int& rounds);

    /// What NVRTC compiles for factors within these limits.
    static rtc::Programs programs(const FillLimits& limits, const MatrixShape& a);
    /// Writes all bytes to `plan`. `own`: the pattern of A with all diagonal blocks, in the host's memory.
    static void plan(const ParIlutOptions& options, const PreconditionerSetting& setting, const FilledPattern& own,
                     const FillLimits& limits, PreconditionerPlan& plan);

private:
    /// What the kernels are specialised on: rows have the lanes that suit the fullest factors.
    static SyncFreeShape shape_of(const FillLimits& limits, Index rows, int dof, bool symmetric);
    SyncFreeShape shape_of(const FillLimits& limits, Index rows) const {
        return shape_of(limits, rows, a_.dof(), a_.symmetric());
    }

    const BsrMatrix& a_;
    const ParIlutOptions& options_;
};

}  // namespace hyperplane::par_ilut
