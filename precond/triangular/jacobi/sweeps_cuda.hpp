// SPDX-License-Identifier: BSD-3-Clause
// Synchronous Jacobi sweeps on a GPU; precond/triangular/jacobi/jacobi_sweep.cuh is the kernels' text.
#pragma once

#include <string>
#include <vector>

#include "core/device/rtc.hpp"
#include "core/vector/vector.hpp"
#include "precond/factors/triangle_shape.hpp"
#include "precond/triangular/jacobi/arguments.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {

/// The kernels of one shape. Factors of several unknowns lie in one piece a block, and are unit.
class TriangleSweepsCuda {
public:
    explicit TriangleSweepsCuda(const TriangleShape& shape);

    /// out = b - T x of unit triangles, and of the lower one D^-1 of that where `times_inverse`; of others
    /// D^-1 (b - E x), or b - D^-1 F x. A null `b` is zero. `out` is neither of both.
    void sweep(const TriangleFactors& factors, Direction direction, const double* b, const double* x, double* out,
               bool times_inverse) const;
    /// out = D^-1 b
    void scale(const TriangleFactors& factors, const double* b, double* out) const;

    /// Compiles the kernels for an architecture, without a device.
    static std::vector<rtc::KernelResources> compile(const TriangleShape& shape, const std::string& architecture);

private:
    using Arguments = JacobiSweepArguments<const void, rtc::most_entries>;
    using Kernel = rtc::Kernel<Arguments>;
    /// Kernels of a direction; of their arguments a launch sets factors and vectors.
    struct Triangle {
        Kernel sweep, scaled;
        Arguments arguments{};
    };
    void launch(const Kernel& kernel, const TriangleFactors& factors, Direction direction, const double* b,
                const double* x, double* out) const;

    TriangleShape shape_;
    Triangle lower_, upper_;
    Kernel scale_;
};

}  // namespace hyperplane
