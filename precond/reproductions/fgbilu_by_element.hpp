// SPDX-License-Identifier: BSD-3-Clause
// FGBILU's style kernels: the steps of a level as loops over elements, on either backend. Equations and algorithms are
// in precond/fgbilu/fgbilu.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "core/device/context.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/walks/hyperplane.hpp"

namespace hyperplane {

/// The hyperplane of a level. It has no columns if the level has no points.
Hyperplane hyperplane_of(const Layout& layout, int level);

/// Whether a column of a hyperplane has a point; if so, the point and its slot.
HYPERPLANE_HD inline bool find_point(const Layout& layout, const Hyperplane& plane, int column, Int3* p, Index* slot) {
    plane.find(layout.grid().nx, layout.levels().y, layout.levels().z, column, &p->x, &p->y, &p->z);
    if (!layout.grid().contains(*p)) return false;
    *slot = layout.slot(*p);
    return true;
}

/// The largest number of columns of any level.
int most_columns(const Layout& layout);

/// The order of eliminations in (1): lower entries in groups, such that no entry changes another one of its group.
struct EliminationOrder {
    struct Pair {
        int l, u, e;  ///< X_e -= E_l D^-1 F_u
    };
    struct Group {
        std::vector<int> lower;
        std::vector<Pair> pairs;  ///< here l is a position in `lower`
    };
    std::vector<Group> groups;

    EliminationOrder(const Stencil& stencil, bool symmetric, bool shares);
    int largest_group() const;
    /// All groups in one table: of each group the lower entries, then the pairs.
    std::vector<int> table() const;
};

/// Views of factors and matrix.
struct FgBiluFactors {
    FactorView view;               ///< of the factors; its offsets are in the context's memory
    BlockView triangles, inverse;  ///< written; `triangles` is null if E and F are the matrix's
    ConstBlockView diagonal;       ///< of A
    int dof;
};

/// Memory for what one step computes for the next, and the record of pivots.
class FgBiluScratch {
public:
    /// `layout` is that of A with the stencil's levels. If `steps`, it also allocates what style kernels needs between
    /// loops.
    FgBiluScratch(const Context& context, const Layout& layout, const StructMatrix& a, bool shares, bool steps);

    bool serves(const Layout& layout, const StructMatrix& a, bool shares) const;
    static Index bytes(const Layout& layout, const Stencil& stencil, int dof, bool symmetric, bool shares, bool steps);

    const EliminationOrder& order() const { return order_; }
    const Int3* offsets() const { return offsets_.data(); }
    const int* table() const { return table_.data(); }
    double* products() { return products_.data(); }  ///< [position in a group][row][col][column]
    double* vector() { return vector_.data(); }      ///< [row][column]
    double* scale() { return scale_.data(); }        ///< [column]
    int* failed() { return failed_.data(); }         ///< [column]
    PivotLog* log() { return log_.data(); }
    PivotRatio* ratios() { return ratios_.data(); }  ///< [column], of all levels

    /// Clears the record of pivots.
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

/// Sets X = A + alpha diag(A) in the memory of the factors.
void fgbilu_copy(Backend backend, const StructMatrix& a, const FgBiluFactors& factors, bool shares, double alpha);

/// Style kernels on either backend: the factorisation of X (Algorithm 4) and the solves (Algorithm 6).
void fgbilu_factor_by_steps(Backend backend, const FgBiluFactors& factors, FgBiluScratch& scratch,
                            const PivotRules& rules);
void fgbilu_solve_by_steps(Backend backend, const FgBiluFactors& factors, FgBiluScratch& scratch, const double* r,
                           double* z);
/// The solves with factors in reduced precision; between them, D^-1 multiplies the vector at all points at once.
void fgbilu_solve_by_steps(const ReducedFactors& factors, const Vector& r, Vector& z);

}  // namespace hyperplane
