// SPDX-License-Identifier: BSD-3-Clause
// The operations of core/vector/blas1.hpp on vectors in a GPU's memory.
//
// Each is one pass over memory, with 16-byte loads. Sums are deterministic: a fixed number of thread blocks each sum a
// fixed part, and the last one to finish adds the partial sums in order.
#pragma once

#include "core/vector/blas1.hpp"
#include "core/vector/pipelined_step.hpp"

namespace hyperplane::cuda {

void fill(Vector& x, double value);
void copy(const Vector& x, Vector& y);
void scale(const Ratio& a, Vector& x);
void divide_by_root(const double* square, Vector& x);
void axpy(const Ratio& a, const Vector& x, Vector& y);
void xpby(const Vector& x, const Ratio& b, Vector& y);
void add(const Vector& x, const Ratio& a, const Vector& y, Vector& z);
void direction(const Vector& r, const Ratio& c, const Ratio& o, const Vector& v, Vector& p);

void dot(const Vector& x, const Vector& y, double* product);
void scaled_square(double factor, const Vector& x, double* square);
void dot_norm2(const Vector& x, const Vector& y, double* xy, double* yy);
void axpy_norm2(const Ratio& a, const Vector& x, Vector& y, double* yy);
void axpy_norm2_dot(const Ratio& a, const Vector& x, Vector& y, const Vector& u, double* yy, double* uy);
void axpy_xpby(const Ratio& a, Vector& x, const Vector& z, const Ratio& b, Vector& p);

void pipelined_step(const double* before, double* now, const PipelinedVectors& vectors);

void dots(Columns v, const Vector& w, double* h);
void add_combination(double sign, const double* c, Columns v, Vector& w);
void add_combination(double sign, const double* c, Columns v, Vector& w, double* ww);
void add_combination_dots(double sign, const double* c, Columns v, Vector& w, double* h);

void sum(const Vector& x, int component, double* total);
void add_constant(Vector& x, int component, const Ratio& value);
void count_not_finite(const Vector& x, double* count);

/// The first of values[slot] in the order of comes_before (core/vector/point_values.hpp), and its slot. Waits for the
/// device.
void smallest(const Context& context, const Layout& layout, const double* values, double* value, Index* slot);

}  // namespace hyperplane::cuda
