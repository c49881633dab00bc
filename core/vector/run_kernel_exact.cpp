// SPDX-License-Identifier: BSD-3-Clause
// Compiled without contraction of a * b + c (-ffp-contract=off), which would change the error terms and fuse
// products that are to be rounded before they are added.
#include <algorithm>
#include <cmath>

#include "core/vector/rounded_products.hpp"
#include "core/vector/run_kernel.hpp"

namespace hyperplane {

void subtract_exactly(std::span<const RunTerm> terms, const double* in, double* out, double* low, int count) {
    std::copy_n(in, count, out);
    std::fill_n(low, count, 0.0);
    for (const RunTerm& term : terms) {
        const double *a = term.a, *x = term.x;
        const int end = std::min(term.end, count);
#pragma omp simd
        for (int t = term.begin; t < end; ++t) {
            const double product = -a[t] * x[t];
            const double product_error = std::fma(-a[t], x[t], -product);
            const double sum = out[t] + product;
            const double part = sum - out[t];
            const double sum_error = (out[t] - (sum - part)) + (product - part);
            out[t] = sum;
            low[t] += sum_error + product_error;
        }
    }
    for (int t = 0; t < count; ++t) out[t] += low[t];
}

void add_rounded_products(const double* a, const double* x, double* y, int count) {
#pragma omp simd
    for (int t = 0; t < count; ++t) y[t] += a[t] * x[t];
}

double sum_at_end(const EndOfLine& end, const RunTerm* terms, int t) {
    double sum = 0.0;
    for (const int n : end.inside) sum = std::fma(terms[n].a[t], terms[n].x[t], sum);
    for (const auto& [n, a, x] : end.wrapped) sum += terms[n].a[t + a] * terms[n].x[t + x];
    return sum;
}

}  // namespace hyperplane
