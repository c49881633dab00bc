// SPDX-License-Identifier: BSD-3-Clause
// The largest errors that checks find, for checks that are loops over points on either backend
// (precond/checks/applications.cpp, apps/bench/rows.cpp).
#pragma once

#include <atomic>

#include "core/device/context.hpp"
#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// *most = max(*most, value) for values >= 0; NaN counts as larger than any number.
HYPERPLANE_HD inline void raise(double* most, double value) {
#ifdef __CUDA_ARCH__
    // As integers, the bits of numbers >= 0 have the same order as the numbers, and those of NaN are the largest.
    if (!(value <= *static_cast<volatile double*>(most)))
        atomicMax(reinterpret_cast<unsigned long long*>(most), (unsigned long long)(__double_as_longlong(value)));
#else
    std::atomic_ref<double> shared(*most);
    double seen = shared.load(std::memory_order_relaxed);
    while (!(value <= seen) && seen == seen && !shared.compare_exchange_weak(seen, value)) {
    }
#endif
}

HYPERPLANE_HD inline double magnitude(double value) {
    return value < 0.0 ? -value : value;
}

/// v = B^-1 v, where B has the coefficients at(row, col), by Gaussian elimination with column pivots.
template <class At>
HYPERPLANE_HD void divide_by_block(int dof, const At& at, double* v) {
    const auto exchange = [](double& a, double& b) {
        const double kept = a;
        a = b;
        b = kept;
    };
    double block[max_dof * max_dof];
    for (int r = 0; r < dof; ++r)
        for (int c = 0; c < dof; ++c) block[r * dof + c] = at(r, c);
    for (int k = 0; k < dof; ++k) {
        int best = k;
        for (int r = k + 1; r < dof; ++r)
            if (magnitude(block[r * dof + k]) > magnitude(block[best * dof + k])) best = r;
        for (int c = 0; c < dof; ++c) exchange(block[k * dof + c], block[best * dof + c]);
        exchange(v[k], v[best]);
        for (int r = k + 1; r < dof; ++r) {
            const double factor = block[r * dof + k] / block[k * dof + k];
            for (int c = k; c < dof; ++c) block[r * dof + c] -= factor * block[k * dof + c];
            v[r] -= factor * v[k];
        }
    }
    for (int r = dof - 1; r >= 0; --r) {
        for (int c = r + 1; c < dof; ++c) v[r] -= block[r * dof + c] * v[c];
        v[r] /= block[r * dof + r];
    }
}

/// The two numbers that raise() changes: the largest error, and the largest value to which it is relative.
class Maxima {
public:
    explicit Maxima(const Context& context) : context_(context), held_(context, "bench", 2) {}
    double* data() { return held_.data(); }
    double absolute() { return read(0); }
    double relative() { return read(0) / read(1); }

private:
    double read(int at) {
        if (context_.backend() == Backend::cpu) return held_[at];
        double value = 0.0;
        context_.stream().copy(held_.data() + at, &value, sizeof value);
        return value;
    }
    Context context_;
    Buffer<double> held_;
};

}  // namespace hyperplane
