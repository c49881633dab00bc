// SPDX-License-Identifier: BSD-3-Clause
// The operations of core/vector/single_vector.hpp on one value, and their loops on a GPU.
#pragma once

#include "core/device/context.hpp"
#include "core/vector/single_vector.hpp"

namespace hyperplane::single_updates {

/// to[at] = from[at] over the scale of *square, or times it if `by_scale`; without a square the scale is 1.
template <class From, class To>
struct Conversion {
    const From* from;
    To* to;
    const double* square;
    bool by_scale;

    HYPERPLANE_HD double factor() const {
        if (!square) return 1.0;
        const double scale = scale_of_square(*square);
        return by_scale ? scale : 1.0 / scale;
    }
    HYPERPLANE_HD From load(Index at) const { return from[at]; }
    HYPERPLANE_HD void store(Index at, double factor, From value) const { to[at] = To(factor * double(value)); }
};

struct Scaling {
    double a;
    float* x;

    HYPERPLANE_HD double factor() const { return a; }
    HYPERPLANE_HD float load(Index at) const { return x[at]; }
    HYPERPLANE_HD void store(Index at, double factor, float value) const { x[at] = float(factor * double(value)); }
};

struct Addition {
    double a;
    const float* x;
    float* y;

    struct Pair {
        float x, y;
    };
    HYPERPLANE_HD double factor() const { return a; }
    HYPERPLANE_HD Pair load(Index at) const { return {x[at], y[at]}; }
    HYPERPLANE_HD void store(Index at, double factor, Pair value) const {
        y[at] = float(std::fma(factor, double(value.x), double(value.y)));
    }
};

struct Difference {
    const float* x;
    const double* y;
    float* z;

    struct Pair {
        float x;
        double y;
    };
    HYPERPLANE_HD double factor() const { return 1.0; }
    HYPERPLANE_HD Pair load(Index at) const { return {x[at], y[at]}; }
    HYPERPLANE_HD void store(Index at, double, Pair value) const { z[at] = float(double(value.x) - value.y); }
};

/// Calls update.store(at, update.factor(), update.load(at)) for all `at` in [0, size).
template <class Update>
void on_gpu(const Context& context, Index size, const Update& update);

/// y = s x on a GPU, where s is the scale of *square, and *product = r^T y with the bits of dot(r, y).
void widen_dot_on_gpu(const SingleVector& x, const double* square, const Vector& r, Vector& y, double* product);

}  // namespace hyperplane::single_updates
