// SPDX-License-Identifier: BSD-3-Clause
// FGBILU's work on one level, for loops on either backend: equations and algorithms in precond/fgbilu/fgbilu.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "core/device/context.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/walks/hyperplane.cuh"

namespace hyperplane {

/// No columns where the level has no point.
Hyperplane hyperplane_of(const Layout& layout, int level);

/// Whether a column of a plane has a point, and where.
HYPERPLANE_HD inline bool find_point(const Layout& layout, const Hyperplane& plane, int column, Int3* p, Index* slot) {
    plane.find(layout.grid().nx, layout.levels().y, layout.levels().z, column, &p->x, &p->y, &p->z);
    if (!layout.grid().contains(*p)) return false;
    *slot = layout.slot(*p);
    return true;
}

/// Most columns that a level has.
int most_columns(const Layout& layout);

/// The order of (1): lower entries in groups, none of which changes another of its group.
struct EliminationOrder {
    struct Pair {
        int l, u, e;  ///< X_e -= E_l D^-1 F_u
    };
    struct Group {
        std::vector<int> lower;
        std::vector<Pair> pairs;  ///< l is the place in `lower`
    };
    std::vector<Group> groups;

    EliminationOrder(const Stencil& stencil, bool symmetric, bool shares);
    int largest_group() const;
    /// Of each group its lower entries, then its pairs.
    std::vector<int> table() const;
};

/// Where factors and matrix are.
struct FgBiluFactors {
    FactorView view;               ///< of factors, offsets in the context's memory
    BlockView triangles, inverse;  ///< written; of E and F none where they are the matrix's
    ConstBlockView diagonal;       ///< of A
    int dof;
};

/// What steps keep between each other, and what is told of pivots.
class FgBiluScratch {
public:
    /// `layout` is that of A with the levels to be swept; `steps`: also what style kernels keep between its loops.
    FgBiluScratch(const Context& context, const Layout& layout, const StructMatrix& a, bool shares, bool steps);

    bool serves(const Layout& layout, const StructMatrix& a, bool shares) const;
    static Index bytes(const Layout& layout, const Stencil& stencil, int dof, bool symmetric, bool shares, bool steps);

    const EliminationOrder& order() const { return order_; }
    const Int3* offsets() const { return offsets_.data(); }
    const int* table() const { return table_.data(); }
    double* products() { return products_.data(); }  ///< [place in a group][row][col][column]
    double* vector() { return vector_.data(); }      ///< [row][column]
    double* scale() { return scale_.data(); }        ///< [column]
    int* failed() { return failed_.data(); }         ///< [column]
    PivotLog* log() { return log_.data(); }
    PivotRatio* ratios() { return ratios_.data(); }  ///< [column], of all levels

    /// Forgets what was told.
    void reset();
    void report(PivotInverter& inverter) const;

private:
    Layout layout_;
    Stencil stencil_;
    int dof_;
    bool symmetric_, shares_;
    EliminationOrder order_;
    Buffer<Int3> offsets_;
    Buffer<int> table_, failed_;
    Buffer<double> products_, vector_, scale_;
    Buffer<PivotLog> log_;
    Buffer<PivotRatio> ratios_;
};

/// X = A + alpha diag(A), in the places of the factors.
void fgbilu_copy(Backend backend, const StructMatrix& a, const FgBiluFactors& factors, bool shares, double alpha);

/// Style kernels, on either backend: Algorithm 4 on X, then Algorithm 6.
void fgbilu_factor_by_steps(Backend backend, const FgBiluFactors& factors, FgBiluScratch& scratch,
                            const PivotRules& rules);
void fgbilu_solve_by_steps(Backend backend, const FgBiluFactors& factors, FgBiluScratch& scratch, const double* r,
                           double* z);
/// The same with factors of fewer bits: between the sweeps D^-1, at all points at once.
void fgbilu_solve_by_steps(const NarrowFactors& factors, const Vector& r, Vector& z);

}  // namespace hyperplane
