// SPDX-License-Identifier: BSD-3-Clause
// Multicolour factorisation with a linear colouring by kernels of its own: of points of one unknown by threads
// (precond/multicolor/factor_point.cuh), and of five to eight unknowns, of matrices that store both triangles, on
// tensor cores (precond/multicolor/factor.cuh). Others go point by point (precond/multicolor/by_point.hpp). A program
// built without CUDA does not have it.
#pragma once

#include "core/device/rtc.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/multicolor/coloured_points.hpp"
#include "precond/multicolor/factor_arguments.hpp"

namespace hyperplane {

/// The kernel's argument for the points of a colour. Sizes are those of a whole set-up's arrays: multicolor::factor
/// tells what `log`, `ratios` and `values` are.
struct ColourFactorisation {
    const StructMatrix& a;
    const ColouredPoints& points;
    double alpha;
    PivotRule rule;
    bool eliminates;
    PivotLog* log;
    double *ratios, *values;

    static constexpr int places = 8, threads = 32 * places;  ///< of a thread block
    ColourFactorArguments arguments(int colour) const;
};

class MulticolorFactorCuda {
public:
    MulticolorFactorCuda(const Context& context, int dof, bool symmetric);

    static bool serves(const ColouredShape& shape, int dof, bool symmetric) {
        const bool on_tensor_cores = !symmetric && dof >= 5 && dof <= 8;
        return shape.is_linear() && (dof == 1 || on_tensor_cores) && shape.entries() <= most_colour_entries;
    }
    /// Computes the factors, colour by colour, as multicolor::factor does (precond/multicolor/by_point.hpp).
    void factor(const ColourFactorisation& all) const;

    /// What NVRTC compiles.
    static rtc::Program program(int dof, bool symmetric);

private:
    rtc::Kernel<ColourFactorArguments> kernel_;
};

}  // namespace hyperplane
