// SPDX-License-Identifier: BSD-3-Clause
// Vectors in single precision, for the cycles of multigrid, and operations on them. They are vectors of whole grids, on
// one rank. All arithmetic is in double precision; results are rounded when they are stored.
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "core/vector/vector.hpp"

namespace hyperplane {

/// values[component][slot], initially zero.
class SingleVector {
public:
    SingleVector() = default;
    SingleVector(const Context& context, const Layout& layout, int dof, std::string label)
        : layout_(layout), dof_(dof), values_(context, std::move(label), layout.slots() * dof) {}

    const Layout& layout() const { return layout_; }
    int dof() const { return dof_; }
    Index size() const { return values_.size(); }
    Backend backend() const { return values_.backend(); }
    const Context& context() const { return values_.context(); }
    float* data() { return values_.data(); }
    const float* data() const { return values_.data(); }
    Buffer<float>& memory() { return values_; }
    const Buffer<float>& memory() const { return values_; }
    float* component(int c) { return data() + c * layout_.slots(); }
    const float* component(int c) const { return data() + c * layout_.slots(); }

private:
    Layout layout_;
    int dof_ = 0;
    Buffer<float> values_;
};

/// A power of two near the norm of a vector with x^T x = square, so that no value of x over it exceeds 2; 1 if the
/// square is 0 or not finite.
HYPERPLANE_HD inline double scale_of_square(double square) {
    if (!(square > 0.0) || !(square <= 1.7976931348623157e308)) return 1.0;
    int exponent;
    frexp(square, &exponent);  // 2^(exponent - 1) <= square < 2^exponent
    return ldexp(1.0, exponent >= 0 ? exponent / 2 : -((1 - exponent) / 2));
}

/// y = x
void round_to_single(const Context& context, const double* x, float* y, Index size);
void round_to_single(const Vector& x, SingleVector& y);
void widen(const SingleVector& x, Vector& y);
/// y = x / s and y = s x, where s is the scale of *square, which lies in the memory of the vectors' backend. The
/// exponents of single precision reach from 2^-126 to 2^127, those of x further.
void round_scaled(const Vector& x, const double* square, SingleVector& y);
void widen_scaled(const SingleVector& x, const double* square, Vector& y);

/// y = s x and *product = r^T y, on a GPU in one pass; the bits are those of both one after the other.
void widen_scaled_dot(const SingleVector& x, const double* square, const Vector& r, Vector& y, double* product);

void set_zero(SingleVector& x);
/// x = a x
void scale(double a, SingleVector& x);
/// y = a x + y
void axpy(double a, const SingleVector& x, SingleVector& y);
/// z = x - y
void subtract(const SingleVector& x, const Vector& y, SingleVector& z);

}  // namespace hyperplane
