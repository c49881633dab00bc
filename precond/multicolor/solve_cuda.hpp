// SPDX-License-Identifier: BSD-3-Clause
// Multicolour solves on a GPU for a linear colouring. The kernels are in precond/multicolor/solve.cuh.
#pragma once

#include <vector>

#include "core/device/rtc.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/vector/single_vector.hpp"
#include "precond/factors/stored_values.hpp"
#include "precond/multicolor/arguments.hpp"
#include "precond/multicolor/coloured_points.hpp"

namespace hyperplane {

/// Whether the kernel of a step loads coefficients before it waits for the step before. The results have the same bits.
enum class ColourLaunches { fastest, each, ahead };

/// What is done with M^-1 r.
struct ResultOfSolve {
    ColourResult is = writes_result;
    double omega = 1.0;
};

/// Ranks exchange the values of this vector after a step, at the places of its colour.
enum class ColourSends { nothing, v, w };

/// A launch of a solve, of vectors in double or in single precision.
template <class Real>
struct ColourStep {
    const char* kernel;
    /// Factors and vectors are not among them until set() adds them.
    ColourArguments<const void, most_colour_terms, Real> arguments;
    ColourSends sends = ColourSends::nothing;
    /// This many values after the begin of r or z comes the first plane that has places.
    Index first_slot = 0;

    Index places() const { return arguments.last - arguments.first; }
    /// Sets factors and vectors; r and z, by their components in the layout that the step was made for.
    void set(const StoredView& factors, const Real* r, Real* v, Real* w, Real* z) {
        arguments.factors = factors.values;
        arguments.exponents = factors.exponents;
        arguments.r = r + first_slot;
        arguments.v = v;
        arguments.w = w;
        arguments.z = z + first_slot;
    }
};

/// The steps of a solve of all colours, one after the other. `layout` is that of r and z. Real is double or float.
template <class Real>
std::vector<ColourStep<Real>> colour_steps(const ColouredPoints& points, const Layout& layout, int dof);

/// The kernels for one shape, and their arguments.
class MulticolorCuda {
public:
    /// Threads of a thread block; fewer if the thread blocks can then be distributed more evenly to multiprocessors.
    static constexpr int usual_threads = 256, fewer_threads = 192;
    /// Threads of a thread block where steps load ahead on a grid of few places: more multiprocessors share the loads.
    static constexpr int ahead_threads = 128;

    /// `layout` is that of r and z; `points` are read as long as this lives.
    MulticolorCuda(const Context& context, const ColouredPoints& points, const Layout& layout, int dof, bool symmetric,
                   FactorStorage storage, ColourLaunches launches = ColourLaunches::fastest);

    /// z = M^-1 r, with factors in the given storage; v and w are vectors in coloured order. On several ranks the halo
    /// of r is filled, too.
    void apply(const StoredView& factors, const Vector& r, Vector& z, double* v, double* w,
               ResultOfSolve result = {}) const;

    /// Whether there are solves of vectors in single precision: with factors in reduced precision, on one rank.
    static bool has_single(const Layout& layout, FactorStorage storage) {
        return is_reduced(storage) && !layout.is_part();
    }
    /// The same with such vectors. The kernels are loaded at the first call.
    void apply(const StoredView& factors, const SingleVector& r, SingleVector& z, float* v, float* w,
               ResultOfSolve result = {}) const;

    /// What NVRTC compiles for blocks of `threads` threads, or ahead_threads where it takes these; with
    /// `single_vectors`, that of vectors in single precision.
    static rtc::Programs programs(const Layout& layout, const Stencil& stencil, int dof, bool symmetric,
                                  FactorStorage storage, int threads = usual_threads, bool single_vectors = false);

private:
    template <class Real>
    struct Step {
        rtc::Kernel<ColourArguments<const void, most_colour_terms, Real>> kernel;
        ColourStep<Real> launch;
    };

    /// Launches the steps one after the other; exchange(ColourStep) says whether it has exchanged anything after one.
    template <class AnyVector, class Real, class Exchange>
    void solve(const std::vector<Step<Real>>& steps, const StoredView& factors, const AnyVector& r, AnyVector& z,
               Real* v, Real* w, ResultOfSolve result, const Exchange& exchange) const;
    template <class Real>
    std::vector<Step<Real>> steps_with(const Context& context, const rtc::Definitions& definitions) const;

    const ColouredPoints* points_;
    Layout layout_;
    int dof_;
    int threads_ = 0;          ///< of a thread block
    rtc::Definitions single_;  ///< of the kernels for vectors in single precision
    std::vector<Step<double>> steps_;
    mutable std::vector<Step<float>> single_steps_;
};

}  // namespace hyperplane
