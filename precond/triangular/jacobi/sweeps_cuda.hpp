// SPDX-License-Identifier: BSD-3-Clause
// Synchronous Jacobi sweeps on a GPU; precond/triangular/jacobi/jacobi_sweep.cuh is the kernels' text.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/device/rtc.hpp"
#include "core/vector/vector.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {

/// Factors in the storage that they are kept in.
using TriangleFactors = std::variant<FactorView, NarrowFactorView<float>, NarrowFactorView<Half>>;

/// What sweeps on triangles are made for.
struct TriangleShape {
    Layout layout;
    std::vector<Int3> offsets;  ///< of the lower triangle's entries, (0,0,0), those of the upper one's
    int dof = 1;
    bool symmetric = false, unit = false;  ///< as FactorView's
    FactorStorage storage = FactorStorage::double_precision;
    int zeros = 0;  ///< entries of a triangle that are zero at a point, on average: the other triangle's

    int lower() const { return int(offsets.size()) / 2; }

    friend bool operator==(const TriangleShape& a, const TriangleShape& b) {
        return a.layout == b.layout && a.layout.grid().periodic == b.layout.grid().periodic && a.offsets == b.offsets &&
               a.dof == b.dof && a.symmetric == b.symmetric && a.unit == b.unit && a.storage == b.storage &&
               a.zeros == b.zeros;
    }
};

/// The kernels of one shape. Factors of several unknowns lie as StructIluCuda::place has them, and are unit.
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
    /// Kernels of a direction and its neighbours' slots.
    struct Triangle {
        rtc::Kernel sweep, scaled;
        std::vector<int> delta;
    };
    void launch(const rtc::Kernel& kernel, const TriangleFactors& factors, Direction direction, const double* b,
                const double* x, double* out) const;

    TriangleShape shape_;
    Triangle lower_, upper_;
    rtc::Kernel scale_;
};

}  // namespace hyperplane
