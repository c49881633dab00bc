// SPDX-License-Identifier: BSD-3-Clause
// A smoother on one grid: x = x + omega M^-1 (b - A x), with M any preconditioner of the registry
// that takes matrices on a grid.
//
// Set-up: 1. M is set up. 2. Steps of the power method give lambda, an estimate from below of the largest eigenvalue of
// M^-1 A. 3. omega = min(1, 1.7 / lambda). Twelve steps give 1.17 where 1.38 is right, and a cycle is positive definite
// only while omega lambda < 2. 4. Where lambda is not finite, or 3 and more, and M factors A + alpha diag(A), M is set
// up anew with alpha = 0.01, 0.03, 0.1, 0.3, 1, until lambda is below 3.
//
// For an incomplete factorisation of an M-matrix lambda is below 2 without any steps, and omega = 1. Where coefficients
// jump, lambda comes so close to 2 that errors of that eigenvalue last. There, where the couplings of a point to its
// two sides differ by more than a factor of ten, omega = 0.95.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "core/device/side_work.hpp"
#include "core/interfaces/preconditioner.hpp"
#include "core/matrix/single_matrix.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/multigrid/coarsening.hpp"
#include "precond/multigrid/grid_norm.hpp"
#include "precond/smoother_passes.hpp"

namespace hyperplane::multigrid {

struct SmootherOptions {
    std::optional<double> damping;  ///< omega; nothing: as above
    int power_steps = 12;
    double suggested_shift = 0.0;  ///< what M's shift = auto means
};

/// Makes a smoother's M for matrices like `a`, with a shift alpha; null if alpha is above 0 and M has no shift.
using MakeSmoother = std::function<std::unique_ptr<Preconditioner>(const StructMatrix& a, double alpha)>;

/// What a multigrid method needs to know of a smoother.
struct SmootherChoice {
    /// The layout that it prefers; where the context is that of a rank, of its part.
    std::function<Layout(const Context& context, const Grid& grid, const Stencil& stencil)> layout;
    MakeSmoother make;
    PreconditionerTraits traits;
    bool regular_splitting = false;  ///< of M-matrices (precond/registry_row.hpp)
    /// A message of M's with the deck's names of its keys.
    std::function<std::string(const std::string& message)> worded;
};

/// What a grid has besides for cycles in single precision: vectors, and a copy of the matrix where residuals are
/// computed with it. r, t and the copy are those of a grid with a smoother.
struct SingleParts {
    std::optional<SingleMatrix> matrix;
    SingleVector x, b, r, t;
};

class Smoother {
public:
    /// A set-up in three steps, so that those of several grids wait for a GPU together. M is kept, but for its values,
    /// from one set-up to the next.
    ///
    /// 1. Makes M, and allocates what it keeps if begin() will only queue work; returns whether it will. The values of
    ///    `a` need not be known yet.
    bool prepare(const StructMatrix& a, const SmootherChoice& choice, const SmootherOptions& options);
    /// 2. `known`: the matrix's traits, if they have been found already. r and t are overwritten until finish().
    void begin(const std::optional<MatrixTraits>& known, Vector& r, Vector& t);
    /// 3. Waits, and returns the report. join() must have been called before.
    SetupReport finish();
    /// Whatever is queued from now on runs after the work of begin().
    void join();
    /// x = omega M^-1 b, the step from x = 0
    void from_zero(const Vector& b, Vector& x) const;
    /// r and t are overwritten.
    void smooth(const Vector& b, Vector& x, Vector& r, Vector& t) const;

    /// The same in single precision; r and t of both kinds are overwritten. Through the double ones solves a smoother
    /// that takes no others.
    void from_zero(const SingleVector& b, SingleVector& x, Vector& r, Vector& t) const;
    void smooth(const SingleVector& b, SingleVector& x, SingleParts& single, Vector& r, Vector& t) const;
    /// single.r = b - A x
    void residual(const SingleVector& b, const SingleVector& x, SingleParts& single, Vector& r, Vector& t) const;

    /// Bytes that a smoother keeps on a GPU for estimates of lambda.
    static Index table_bytes(const Layout& layout);

    /// A message of M's with the deck's names of its keys.
    std::string worded(const std::string& message) const {
        return pending_.choice ? pending_.choice->worded(message) : message;
    }
    const Preconditioner& preconditioner() const { return *m_; }
    double omega() const { return omega_; }
    double lambda() const { return lambda_; }  ///< 0 if it was not needed

private:
    /// A set-up between prepare() and finish().
    struct Pending {
        const SmootherChoice* choice = nullptr;
        SmootherOptions options;
        Vector *r = nullptr, *t = nullptr;
        bool queued = false;     ///< M's set-up
        bool estimates = false;  ///< lambda is needed
        SetupReport report;      ///< if M's set-up was not queued
    };
    /// What the recorded steps of the power method read and write.
    using Recorded = std::array<const void*, 4>;

    void queue_power_method();
    /// Sets lambda and omega, with shifts if lambda is too large; `estimated`: lambda is known for the current M.
    void settle(bool estimated, SetupReport& report);
    /// What M's own solves can do in their passes; null if nothing.
    const SmootherPasses* passes() const;
    /// x = omega M^-1 r, or x = x + omega M^-1 r, in the pass of M's own solves; false if it has none.
    template <class AnyVector>
    bool solve_to(const AnyVector& r, bool adds, AnyVector& x) const;
    /// z = M^-1 r
    void apply(const SingleVector& r, SingleVector& z, Vector& wide_r, Vector& wide_z) const;

    const StructMatrix* a_ = nullptr;
    std::unique_ptr<Preconditioner> m_;
    bool shifted_ = false;  ///< m_ was made with a shift
    double omega_ = 1.0, lambda_ = 0.0;
    Pending pending_;
    std::optional<NormList> norms_;            ///< on a GPU, of all steps of the power method
    std::shared_ptr<device::SideWork> power_;  ///< these steps
    std::optional<Recorded> recorded_;
};

}  // namespace hyperplane::multigrid
