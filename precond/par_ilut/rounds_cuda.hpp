// SPDX-License-Identifier: BSD-3-Clause
// The rounds of par_ilut and the last factors on a GPU, with the pattern and the bits that a CPU finds. Each round
// makes a pattern, so entries that rows share are searched for (precond/general/factors/search_factor.cuh), not kept in
// tables.
#pragma once

#include <memory>

#include "precond/general/fixed_point/fixed_point_cuda.hpp"
#include "precond/par_ilut/factors_on_gpu.hpp"
#include "precond/par_ilut/gpu_factors.hpp"
#include "precond/par_ilut/par_ilut.hpp"

namespace hyperplane::par_ilut {

/// The factors of A + alpha diag(A), where A is in a GPU's memory, and what solves with them. Writes the number of
/// rounds to `rounds`.
std::unique_ptr<FactorsOnGpu> factors_on_gpu(const BsrMatrix& a, const ParIlutOptions& options, double alpha,
                                             PivotInverter& inverter, int& rounds);
/// What NVRTC compiles for factors within these limits.
rtc::Programs programs_of_rounds(const FillLimits& limits, const MatrixShape& a);
/// Writes all bytes to `plan`. `own`: the pattern of A with all diagonal blocks, in the host's memory.
void plan_on_gpu(const ParIlutOptions& options, const PreconditionerSetting& setting, const FilledPattern& own,
                 const FillLimits& limits, PreconditionerPlan& plan);

}  // namespace hyperplane::par_ilut
