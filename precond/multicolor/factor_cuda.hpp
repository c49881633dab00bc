// SPDX-License-Identifier: BSD-3-Clause
// Multicolour factorisation with a linear colouring by kernels of its own: of points of one unknown by threads
// (precond/multicolor/factor_point.cuh), and of five to eight unknowns, of matrices that store both triangles, on
// tensor cores (precond/multicolor/factor.cuh). Others go point by point (precond/multicolor/by_point.hpp). A program
// built without CUDA does not have it.
#pragma once

#include "core/device/rtc.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/storage.hpp"
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
    float* rounded = nullptr;  ///< the factors in single precision, in place of `values` where no colour reads those
    RoundingLog* roundings = nullptr;

    static constexpr int places = 8, threads = 32 * places;  ///< of a thread block
    ColourFactorArguments arguments(int colour) const;
    /// Sets what differs between set-ups for matrices of one shape with the same options.
    void renew(ColourFactorArguments& arguments) const;
};

class MulticolorFactorCuda {
public:
    MulticolorFactorCuda(const Context& context, const ColouredShape& shape, int dof, bool symmetric);

    static bool serves(const ColouredShape& shape, int dof, bool symmetric) {
        const bool on_tensor_cores = !symmetric && dof >= 5 && dof <= 8;
        return shape.is_linear() && (dof == 1 || on_tensor_cores) && shape.entries() <= most_colour_entries;
    }
    /// Whether the kernel rounds factors, and keeps in double precision those alone that later colours read.
    static bool rounds(const Layout& layout, int dof, FactorStorage storage) {
        return storage == FactorStorage::single_precision && writes_all(layout, dof);
    }
    /// Number of the coefficients that later colours read: all but those of the last colour, which keeps every entry.
    static Index read_by_later(const ColouredShape& shape, int dof, bool symmetric) {
        return shape.coefficients(dof, symmetric) - (shape.entries() + 1) * shape.stride * dof * dof;
    }
    /// Whether the kernel writes all places of all coefficients, so that nobody has to fill their memory before.
    static bool writes_all(const Layout& layout, int dof) { return dof == 1 && !layout.is_part(); }
    /// Computes the factors, colour by colour, as multicolor::factor does (precond/multicolor/by_point.hpp). All calls
    /// are for matrices of one shape, with the same options.
    void factor(const ColourFactorisation& all) const;

    /// What NVRTC compiles.
    static rtc::Program program(const ColouredShape& shape, int dof, bool symmetric);
    /// The products that the kernel's argument has room for: no colour has more. Many stencils share a number, so that
    /// one program serves all grids of a hierarchy.
    static int room_for_products(const ColouredShape& shape, int dof);

private:
    int room_;  ///< for products in the kernel's argument
    rtc::Kernel<ColourFactorArguments> kernel_;
    mutable std::vector<ColourFactorArguments> of_colours_;  ///< of the last call; their tables take a while to make
};

}  // namespace hyperplane
