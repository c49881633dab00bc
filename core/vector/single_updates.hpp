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
    HYPERPLANE_HD void operator()(Index at, double factor) const { to[at] = To(factor * double(from[at])); }
};

struct Scaling {
    double a;
    float* x;

    HYPERPLANE_HD double factor() const { return a; }
    HYPERPLANE_HD void operator()(Index at, double factor) const { x[at] = float(factor * double(x[at])); }
};

struct Addition {
    double a;
    const float* x;
    float* y;

    HYPERPLANE_HD double factor() const { return a; }
    HYPERPLANE_HD void operator()(Index at, double factor) const {
        y[at] = float(std::fma(factor, double(x[at]), double(y[at])));
    }
};

struct Difference {
    const float* x;
    const double* y;
    float* z;

    HYPERPLANE_HD double factor() const { return 1.0; }
    HYPERPLANE_HD void operator()(Index at, double) const { z[at] = float(double(x[at]) - y[at]); }
};

/// Calls update(at, update.factor()) for all `at` in [0, size).
template <class Update>
void on_gpu(const Context& context, Index size, const Update& update);

}  // namespace hyperplane::single_updates
