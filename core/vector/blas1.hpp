// SPDX-License-Identifier: BSD-3-Clause
// BLAS-1 on vectors, on the backend that holds them. Sums are taken over blocks of a fixed size, so they have the same
// bits for any number of threads. Vectors must have equal sizes.
//
// Coefficients are Ratios of scalars in the context's memory, and results are written through `double*` to the same
// memory, so the device never waits for the host. The vector that a coefficient of 0 multiplies is not read. Functions
// that return a double wait for the device.
#pragma once

#include <span>

#include "core/vector/scalars.hpp"
#include "core/vector/vector.hpp"

namespace hyperplane {

using Columns = std::span<const Vector* const>;  ///< V, one vector a column

void set_zero(Vector& x);
void fill(Vector& x, double value);
/// y = x
void copy(const Vector& x, Vector& y);
/// x = a x
void scale(const Ratio& a, Vector& x);
/// x = x / sqrt(square); x is unchanged if square is 0.
void divide_by_root(const double* square, Vector& x);
/// y = a x + y
void axpy(const Ratio& a, const Vector& x, Vector& y);
/// y = x + b y
void xpby(const Vector& x, const Ratio& b, Vector& y);
/// z = x + a y; z is unchanged if a is 0.
void add(const Vector& x, const Ratio& a, const Vector& y, Vector& z);
/// p = r + c (p / o - v); p = r if c is 0.
void direction(const Vector& r, const Ratio& c, const Ratio& o, const Vector& v, Vector& p);

/// x^T y
void dot(const Vector& x, const Vector& y, double* product);
double dot(const Vector& x, const Vector& y);
/// sqrt(x^T x); NaN if x contains one
double norm2(const Vector& x);
/// x^T y and y^T y.
void dot_norm2(const Vector& x, const Vector& y, double* xy, double* yy);
/// y = a x + y, and y^T y.
void axpy_norm2(const Ratio& a, const Vector& x, Vector& y, double* yy);
/// y = a x + y, then y^T y and u^T y.
void axpy_norm2_dot(const Ratio& a, const Vector& x, Vector& y, const Vector& u, double* yy, double* uy);
/// x = a p + x, then p = z + b p, in one pass.
void axpy_xpby(const Ratio& a, Vector& x, const Vector& z, const Ratio& b, Vector& p);

/// h = V^T w in one pass over w.
void dots(Columns v, const Vector& w, double* h);
/// w = w + sign V c in one pass over w.
void add_combination(double sign, const double* c, Columns v, Vector& w);
/// w = w + sign V c, then *ww = w^T w.
void add_combination(double sign, const double* c, Columns v, Vector& w, double* ww);
/// w = w + sign V c, then h = V^T w, in one pass over V if the caches hold a block of its columns.
void add_combination_dots(double sign, const double* c, Columns v, Vector& w, double* h);

/// Sum of one component, used to project constants out.
void sum(const Vector& x, int component, double* total);
double sum(const Vector& x, int component);
/// Adds `value` to each entry of one component.
void add_constant(Vector& x, int component, const Ratio& value);
/// True when every entry is finite.
bool all_finite(const Vector& x);

}  // namespace hyperplane
