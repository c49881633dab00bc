// SPDX-License-Identifier: BSD-3-Clause
// Multicolour ILU(0) and IC(0): exact incomplete factorisation with the points sorted by colour.
//
// Li, Saad, "GPU-accelerated preconditioned iterative linear solvers", J. Supercomput. 63, 2013 (reference [33] of the
// StructILU paper, which compares with it as MC-ILU and MC-IC); Saad, Iterative Methods, section 12.4. Points of one
// colour do not depend on each other (precond/multicolor/colouring.hpp), so a sweep has as many steps as there are
// colours, each of them one loop over all points of a colour. The price is a worse M: ILU(0) of the reordered matrix
// drops more fill.
//
// In the order "colour, then anything inside", an offset o is lower at p where colour(p + o) < colour(p), upper where
// it is greater. For each p, colours ascending, for each lower l, colours of p + l ascending, each upper u of p + l
// with e = l + u in the stencil or e = 0:
//
//     W_l(p)  = E_l(p) D^-1(p+l)
//     X_e(p) -= E_l(p) G_u(p+l)                    X = E, D, F = A + shift diag(A) at first
//     D^-1(p) = inverse of X_0(p),   G_u(p) = D^-1(p) F_u(p)
//
// so that M = (I + W) D (I + G). Apply, z = M^-1 r:
//
//     lower   v(p) = r(p) - sum_l W_l(p) v(p+l)                 colours ascending; v = r at the first
//     upper   z(p) = D^-1(p) v(p) - sum_u G_u(p) z(p+u)         colours descending; z = D^-1 v at the last
//
// Of a symmetric matrix G_u(p) is the transpose of W_-u(p+u), and W alone is kept (incomplete Cholesky). v and z lie in
// coloured order (precond/multicolor/coloured_points.hpp); r is brought there and z back, on a GPU on the way through
// the first and the last step, on a CPU by passes of their own. Offsets that leave the grid or wrap around it are
// skipped. Under a colouring that is no formula factors of both triangles are kept and slots are looked up. In storage
// of fewer bits W, D^-1 and G are computed as they always are, then rounded, and widened when sweeps read them
// (precond/factors/reduced_values.hpp).
#pragma once

#include <memory>

#include "core/interfaces/linear_operator.hpp"
#include "core/vector/point_values.hpp"
#include "precond/factors/exported.hpp"
#include "precond/multicolor/by_point.hpp"
#include "precond/multicolor/coloured_points.hpp"
#include "precond/multicolor/solve_cuda.hpp"
#include "precond/row.hpp"

namespace hyperplane {

struct MulticolorOptions {
    ColourRule colours = ColourRule::stencil;
    PivotOptions pivots;
    FactorStorage storage = FactorStorage::double_precision;  ///< fewer bits: of a linear colouring
};

class Multicolor : public Preconditioner, public ExportsFactors {
public:
    Multicolor(const Context& context, const MulticolorOptions& options) : context_(context), options_(options) {}

    SetupReport setup(const StructMatrix& a) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override;
    PreconditionerTraits traits() const override { return {.fixed = true, .symmetric = symmetric_}; }
    Index bytes_per_apply() const override;

    /// Of each coupling one of two places holds zero.
    TriangleShape exported_shape(const Grid& grid, const Stencil& stencil, int dof, bool symmetric) const override;
    void export_factors(const TriangleCopy& to) const override;

    int colours() const { return points_->colours(); }
    static PreconditionerPlan plan(const MulticolorOptions& options, const PreconditionerSetting& setting);

private:
    void prepare(const StructMatrix& a);
    /// The factors of A + alpha diag(A).
    void factor(const StructMatrix& a, double alpha, PivotInverter& inverter);
    void report(PivotInverter& inverter) const;
    /// Rounds the factors and releases them.
    void narrow(SetupReport& report);
    multicolor::Kept kept() const;

    void apply_by_tables(const Vector& r, Vector& z) const;
    void apply_cpu(const Vector& r, Vector& z) const;
    void lower_cpu(int colour) const;
    void upper_cpu(int colour) const;

    Context context_;
    MulticolorOptions options_;
    Layout layout_;
    Stencil stencil_{"point", {{0, 0, 0}}};
    int dof_ = 0;
    bool symmetric_ = false;
    std::unique_ptr<ColouredPoints> points_;
    Buffer<Index> a_entry_;         ///< A's entry of each offset
    Buffer<double> factors_;        ///< W, D^-1 and G
    Buffer<std::uint32_t> narrow_;  ///< the same in their place, once set up, where storage asks for it
    Buffer<RowExponent> exponents_;
    mutable Buffer<double> v_, w_;  ///< [component][slot]: what the lower and the upper sweep give
    std::unique_ptr<PointValues> ratios_, events_;
    std::shared_ptr<MulticolorCuda> cuda_;
};

PreconditionerRow multicolor_row();

}  // namespace hyperplane
