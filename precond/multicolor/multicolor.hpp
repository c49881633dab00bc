// SPDX-License-Identifier: BSD-3-Clause
// Multicolour ILU(0) and IC(0): exact incomplete factorisation with the points sorted by colour.
//
// Li, Saad, "GPU-accelerated preconditioned iterative linear solvers", J. Supercomput. 63, 2013 (reference [33] of the
// StructILU paper, which compares with it as MC-ILU and MC-IC); Saad, Iterative Methods, section 12.4. Points of one
// colour do not depend on each other (precond/multicolor/colouring.hpp), so a triangular solve has one step for each
// colour, a loop over all its points. The price is a worse M: ILU(0) of the reordered matrix drops more fill.
//
// Points are ordered by colour, and arbitrarily within a colour. An offset o is lower at p if
// colour(p + o) < colour(p), and upper if it is greater. For each p, with colours ascending, for each lower l, with the
// colours of p + l ascending, and for each u that is upper at p + l and for which e = l + u is in the stencil or zero:
//
//     W_l(p)  = E_l(p) D^-1(p+l)
//     X_e(p) -= E_l(p) G_u(p+l)                    X = E, D, F = A + shift diag(A) initially
//     D^-1(p) = inverse of X_0(p),   G_u(p) = D^-1(p) F_u(p)
//
// so that M = (I + W) D (I + G). An application, z = M^-1 r, computes
//
//     lower   v(p) = r(p) - sum_l W_l(p) v(p+l)                 colours ascending; v = r at the first
//     upper   z(p) = D^-1(p) v(p) - sum_u G_u(p) z(p+u)         colours descending; z = D^-1 v at the last
//
// Symmetric Gauss-Seidel (factors = gauss_seidel) leaves out the subtraction, so that X = F throughout and, with the
// triangles L and U of F and its diagonal D, M = (D + L) D^-1 (D + U).
//
// For a symmetric matrix G_u(p) is the transpose of W_-u(p+u), and G is not stored (incomplete Cholesky). v and z are
// in coloured order (precond/multicolor/coloured_points.hpp). On a GPU the first step reads r, and the last step writes
// z, in the matrix's layout; on a CPU r and z are reordered by passes of their own. Offsets that leave the grid or wrap
// around it are skipped. For colourings that are not linear, both triangles are stored and slots are looked up. If the
// storage is in reduced precision, W, D^-1 and G are computed in double precision, then rounded, and widened when the
// solves read them (precond/factors/reduced_values.hpp).
#pragma once

#include <memory>

#include "core/interfaces/preconditioner.hpp"
#include "core/vector/point_values.hpp"
#include "core/vector/point_values_cuda.hpp"
#include "precond/checks/applications.hpp"
#include "precond/factors/exported.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/factors/stored_values.hpp"
#include "precond/multicolor/by_point.hpp"
#include "precond/multicolor/coloured_points.hpp"
#include "precond/multicolor/factor_cuda.hpp"
#include "precond/multicolor/solve_cuda.hpp"
#include "precond/queued_setup.hpp"
#include "precond/registry_row.hpp"
#include "precond/smoother_passes.hpp"

namespace hyperplane {

struct MulticolorOptions {
    bool gauss_seidel = false;  ///< the triangles of A itself; else an incomplete factorisation
    ColourRule colours = ColourRule::stencil;
    PivotOptions pivots;
    FactorStorage storage = FactorStorage::double_precision;  ///< reduced precision only with a linear colouring
};

class Multicolor : public Preconditioner, public ExportsFactors, public SmootherPasses, public QueuedSetup {
public:
    Multicolor(const Context& context, const MulticolorOptions& options) : context_(context), options_(options) {}

    SetupReport setup(const SystemMatrix& matrix) override;
    /// A set-up can be queued on a GPU with a linear colouring, without ranks.
    bool can_queue_setup(const StructMatrix& a) const override;
    void provide(const StructMatrix& a) override;
    bool queue_setup(const StructMatrix& a) override;
    Finished finish_setup() override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override;
    /// Vectors in single precision are taken on a GPU with factors in reduced precision, on one rank.
    bool apply(const SingleVector& r, SingleVector& z) const override;
    /// Such solves are done on a GPU with a linear colouring, on one rank, and with vectors in single precision where
    /// apply takes them.
    bool solve_to(const Vector& r, double omega, bool adds, Vector& z) const override;
    bool solve_to(const SingleVector& r, double omega, bool adds, SingleVector& z) const override;
    PreconditionerTraits traits() const override { return {.fixed = true, .symmetric = symmetric_}; }
    Index bytes_per_apply() const override;
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override {
        return check_exported(structured(a), options_.storage, r, z, in_double);
    }

    /// In this shape each coupling is an entry of both triangles; at every point one of the two blocks is zero.
    TriangleShape exported_shape(const Grid& grid, const Stencil& stencil, int dof, bool symmetric) const override;
    void export_factors(const TriangleCopy& to) const override;

    int colours() const { return points_->colours(); }
    static PreconditionerPlan plan(const MulticolorOptions& options, const PreconditionerSetting& setting);
    /// The kernels that NVRTC compiles on a GPU.
    static std::vector<KernelSet> kernels(const MulticolorOptions& options, const PreconditionerSetting& setting);

private:
    /// What a factorisation on a GPU leaves for the host to read.
    struct Outcome {
        PivotLog pivots;
        RoundingLog roundings;
        cuda::SlotValue smallest;  ///< ratio of a pivot to A's diagonal, in the natural layout
    };

    void prepare(const StructMatrix& a);
    /// Allocates what a factorisation writes, unless it is there from an earlier one.
    void provide_factors();
    /// Whether the factorisation rounds each factor when it has computed it.
    bool rounds_at_once() const {
        return factor_cuda_ && MulticolorFactorCuda::rounds(layout_, dof_, options_.storage);
    }
    /// Computes the factors of A + alpha diag(A); a log is given if it rounds them, too.
    void factor(const StructMatrix& a, double alpha, PivotInverter& inverter, RoundingLog* roundings);
    /// Computes the factors, in which rows are counted from the first one of a's layout.
    void factor_by_points(const StructMatrix& a, double alpha, PivotLog* pivots, RoundingLog* roundings);
    /// Queues a factorisation with the rounding of its factors, and releases those in double precision where they are
    /// kept in another one.
    void queue_factor(const StructMatrix& a, double alpha);
    /// Rounds all factors.
    void round_factors(RoundingLog* log);

    void apply_cpu(const Vector& r, Vector& z) const;
    /// Returns whether there are such solves.
    bool solve_singles(const SingleVector& r, ResultOfSolve result, SingleVector& z) const;
    /// The factors as solves read them.
    StoredView stored() const {
        return is_reduced(options_.storage) ? reduced_.view() : StoredView{factors_.data(), nullptr};
    }
    /// Index of the exponent of a row in W, D^-1 or G, which are parts 0, 1 and 2.
    Index exponent(int part, int row, Index slot) const { return (part * dof_ + row) * points_->shape().slots + slot; }
    void lower_cpu(int colour) const;
    void upper_cpu(int colour) const;

    Context context_;
    MulticolorOptions options_;
    Layout layout_;
    Stencil stencil_{"point", {{0, 0, 0}}};
    int dof_ = 0;
    bool symmetric_ = false;
    std::unique_ptr<ColouredPoints> points_;
    Buffer<Index> a_entry_;                 ///< A's entry of each offset
    Buffer<double> factors_;                ///< W, D^-1 and G
    StoredValues reduced_;                  ///< replaces factors_ after a set-up in reduced precision
    mutable Buffer<double> v_, w_;          ///< [component][slot]: results of the lower and the upper solve
    std::unique_ptr<PointValues> ratios_;   ///< of a factorisation point by point
    std::unique_ptr<PivotRecord> record_;   ///< of its events
    Buffer<Outcome> outcome_;               ///< of a set-up that is queued
    const StructMatrix* queued_ = nullptr;  ///< the matrix of that
    std::shared_ptr<MulticolorCuda> cuda_;
    std::shared_ptr<const MulticolorFactorCuda> factor_cuda_;  ///< if it serves the matrix
};

PreconditionerRow multicolor_row();

}  // namespace hyperplane
