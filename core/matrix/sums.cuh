// SPDX-License-Identifier: BSD-3-Clause
// Sums of products in kernels: plain, or in twice the working precision, for products and residuals of matrices.
#pragma once

namespace hyperplane {

/// A sum of products in twice the working precision (Ogita, Rump and Oishi, Accurate sum and dot product,
/// SIAM J. Sci. Comput. 26, 2005, algorithm 5.3).
struct ExactSum {
    double high = 0.0, low = 0.0;

    __device__ void add(double v) {
        const double sum = __dadd_rn(high, v), part = __dsub_rn(sum, high);
        low = __dadd_rn(low, __dadd_rn(__dsub_rn(high, __dsub_rn(sum, part)), __dsub_rn(v, part)));
        high = sum;
    }
    /// Subtracts u v: products of a residual are subtracted from b.
    __device__ void add_product(double u, double v) {
        const double product = __dmul_rn(-u, v);
        low = __dadd_rn(low, __fma_rn(-u, v, -product));
        add(product);
    }
    __device__ void add(const ExactSum& other) {
        add(other.high);
        low = __dadd_rn(low, other.low);
    }
    __device__ double value() const { return __dadd_rn(high, low); }
};

struct PlainSum {
    double sum = 0.0;

    __device__ void add(double v) { sum += v; }
    __device__ void add_product(double u, double v) { sum += u * v; }
    __device__ void add(const PlainSum& other) { sum += other.sum; }
    __device__ double value() const { return sum; }
};

}  // namespace hyperplane
