// SPDX-License-Identifier: BSD-3-Clause
// Synchronous Jacobi sweeps on a GPU. The kernels are in precond/triangular/jacobi/jacobi_sweep.cuh.
#pragma once

#include "core/device/rtc.hpp"
#include "core/vector/vector.hpp"
#include "precond/factors/triangle_shape.hpp"
#include "precond/triangular/jacobi/arguments.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {

/// The kernels for one shape. Factors of several unknowns must be unit, and each block must be contiguous.
class TriangleSweepsCuda {
public:
    TriangleSweepsCuda(const Context& context, const TriangleShape& shape);

    /// For unit triangles out = b - T x, which is multiplied by D^-1 if `times_inverse` (lower only). For others out =
    /// D^-1 (b - E x) or out = b - D^-1 F x. A null `b` stands for zero. `out` must be neither `b` nor `x`.
    void sweep(const TriangleFactors& factors, Side side, const double* b, const double* x, double* out,
               bool times_inverse) const;
    /// out = D^-1 b
    void scale(const TriangleFactors& factors, const double* b, double* out) const;

    /// What NVRTC compiles.
    static rtc::Programs programs(const TriangleShape& shape);

private:
    using Arguments = JacobiSweepArguments<const void, rtc::most_entries>;
    using Kernel = rtc::Kernel<Arguments>;
    /// The kernels of a triangle, and their arguments, in which a launch sets factors and vectors.
    struct Triangle {
        Kernel sweep, scaled;
        Arguments arguments{};
    };
    void launch(const Kernel& kernel, const TriangleFactors& factors, Side side, const double* b, const double* x,
                double* out) const;

    TriangleShape shape_;
    Triangle lower_, upper_;
    Kernel scale_;
};

}  // namespace hyperplane
