// BLAS-1 on vectors. Sums are taken over fixed blocks, so they have the same bits for any number
// of threads. Vectors must have equal sizes.
#pragma once

#include <span>

#include "core/vector.hpp"

namespace hyperplane {

void set_zero(Vector& x);
void fill(Vector& x, double value);
/// y = x
void copy(const Vector& x, Vector& y);
/// x = a x
void scale(double a, Vector& x);
/// y = a x + y
void axpy(double a, const Vector& x, Vector& y);
/// y = x + b y
void xpby(const Vector& x, double b, Vector& y);
/// z = a x + b y + c z
void axpbypcz(double a, const Vector& x, double b, const Vector& y, double c, Vector& z);
/// x^T y
double dot(const Vector& x, const Vector& y);
/// sqrt(x^T x); NaN when x holds one
double norm2(const Vector& x);
/// y = a x + y; returns y^T y.
double axpy_norm2(double a, const Vector& x, Vector& y);
/// x = a p + x, then p = z + b p, in one pass.
void axpy_xpby(double a, Vector& x, const Vector& z, double b, Vector& p);
/// x += a p; r -= a q; returns r^T r, in one pass.
double axpy_pair(double a, const Vector& p, Vector& x, const Vector& q, Vector& r);
/// h[m] = V[m]^T w for all m in one pass over w.
void dots(std::span<const Vector* const> v, const Vector& w, std::span<double> h);
/// w = w + sum_m c[m] V[m] in one pass over w; returns w^T w of the result.
double add_combination(std::span<const double> c, std::span<const Vector* const> v, Vector& w);
/// Sum of one component; used to project constants out.
double sum(const Vector& x, int component);
/// Adds `value` to each entry of one component.
void add_constant(Vector& x, int component, double value);
/// True when every entry is finite.
bool all_finite(const Vector& x);

}  // namespace hyperplane
