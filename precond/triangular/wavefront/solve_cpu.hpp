// SPDX-License-Identifier: BSD-3-Clause
// The two triangular solves of a wavefront on a CPU, from factors in double and in reduced precision.
#pragma once

#include <vector>

#include "precond/factors/ilu_factors.hpp"

namespace hyperplane::wavefront_cpu {

/// y = D^-1 (I + E D^-1)^-1 r, factors in double precision. `of_line`: what each line along x adds to y^T D y, which is
/// r^T M^-1 r of a symmetric M.
void lower(const IluFactors& factors, const Vector& r, Vector& y, std::vector<double>* of_line = nullptr);
void upper(const IluFactors& factors, Vector& z);

/// The same from factors in reduced precision, with unit triangles; here the upper solve gives v^T D^-1 v of each line.
void lower_reduced(const IluFactors& factors, const Vector& r, Vector& v);
void upper_reduced(const IluFactors& factors, Vector& z, std::vector<double>* of_line = nullptr);

}  // namespace hyperplane::wavefront_cpu
