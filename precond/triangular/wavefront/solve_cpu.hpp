// SPDX-License-Identifier: BSD-3-Clause
// The two triangular solves in wavefront order on a CPU, with factors in double and in reduced precision.
#pragma once

#include <vector>

#include "core/matrix/single_matrix.hpp"
#include "precond/factors/ilu_factors.hpp"

namespace hyperplane::wavefront_cpu {

/// y = D^-1 (I + E D^-1)^-1 r, with factors in double precision. `of_line`, if given, receives the part of each line
/// along x in y^T D y, which is r^T M^-1 r if M is symmetric. `upper` replaces y by z.
void lower(const IluFactors& factors, const Vector& r, Vector& y, std::vector<double>* of_line = nullptr);
void upper(const IluFactors& factors, Vector& z);

/// Whether the two functions below serve these factors, in double precision: lines of one unknown, long enough, without
/// periodic axes. `x` is any vector of the matrix.
bool has_step(const IluFactors& factors, const Vector& x);
/// y = D^-1 (I + E D^-1)^-1 (b - A x), where x has its halo.
void lower_of_residual(const IluFactors& factors, const Vector& b, const Vector& x, Vector& y);
/// `upper`, and then x = x + omega z line by line.
void upper_to(const IluFactors& factors, double omega, Vector& z, Vector& x);

/// The same with factors in reduced precision, whose triangles are unit. Here the upper solve gives the part of each
/// line, in v^T D^-1 v.
void lower_reduced(const IluFactors& factors, const Vector& r, Vector& v);
void upper_reduced(const IluFactors& factors, Vector& z, std::vector<double>* of_line = nullptr);

/// Whether the functions below serve these factors: in single precision, of one unknown, in lines that are long enough,
/// without periodic axes. Vectors are in single precision, too; sums and recurrences are not.
bool has_single(const IluFactors& factors);
void lower_single(const IluFactors& factors, const SingleVector& r, SingleVector& v);
void upper_single(const IluFactors& factors, SingleVector& z);
/// The steps as above; `a` is a copy of the matrix. Whether lines have few enough terms for that is has_single_step().
bool has_single_step(const IluFactors& factors, const SingleMatrix& a, const SingleVector& x);
void lower_of_residual(const IluFactors& factors, const SingleMatrix& a, const SingleVector& b, const SingleVector& x,
                       SingleVector& v);
void upper_to(const IluFactors& factors, double omega, SingleVector& z, SingleVector& x);

}  // namespace hyperplane::wavefront_cpu
