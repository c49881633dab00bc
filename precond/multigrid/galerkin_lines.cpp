// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/galerkin_lines.hpp"

#include <algorithm>
#include <vector>

#include "core/grid/layout.hpp"
#include "precond/multigrid/lines.hpp"

namespace hyperplane::multigrid {
namespace {

/// A parent of a neighbour: the coarse point at `offset`, whose child at `child` the neighbour is.
struct Parent {
    Int3 offset, child;
    int entry;    ///< of the coarse stencil
    Range range;  ///< of the points of a coarse line for which it exists
};

/// Entry `entry` of A at the children at s of a coarse line, and the parents of the neighbours there.
struct Term {
    Int3 s;
    int entry;
    std::vector<Parent> parents;  ///< those whose coarse entries are stored
    Range range;                  ///< of the points of a coarse line for which child and neighbour exist
};

class LineProduct {
public:
    LineProduct(const StructMatrix& a, const Interpolation& p, StructMatrix& coarse)
        : a_(a), p_(p), coarse_(coarse), grids_(p.grids()), step_(grids_.axes[0] ? 2 : 1) {
        for (int number = 0; number < 27; ++number)
            for (int e = 0; e < a.stencil().size() && grids_.has_children_at(offset_of(number)); ++e)
                if (Term term = term_of(offset_of(number), e); !term.range.empty() && !term.parents.empty())
                    terms_.push_back(std::move(term));
    }

    void line(const Run& run) const {
        const int dof = a_.dof();
        for (int e = 0; e < coarse_.stored_entries(); ++e)
            for (int row = 0; row < dof; ++row)
                for (int col = 0; col < dof; ++col) std::fill_n(coarse_.values(e, row, col) + run.slot, run.count, 0.0);
        for (const Term& term : terms_) add(run, term);
        for (int c = 0; c < dof; ++c) {
            double* own = coarse_.values(coarse_.stencil().diagonal(), c, c) + run.slot;
            for (int t = 0; t < run.count; ++t) own[t] = own[t] == 0.0 ? 1.0 : own[t];
        }
    }

private:
    Term term_of(Int3 s, int e) const {
        const Int3 o = a_.stencil()[e];
        const int nx = grids_.fine.nx, count = grids_.coarse.nx;
        Term term{s, e, {}, Range(count).with_fine(step_, s.x, nx).with_fine(step_, s.x + o.x, nx)};
        for (int number = 0; number < 27; ++number) {
            const Int3 child = offset_of(number);
            Int3 offset;
            if (!grids_.has_children_at(child) || !parent(0, s.x + o.x - child.x, offset.x) ||
                !parent(1, s.y + o.y - child.y, offset.y) || !parent(2, s.z + o.z - child.z, offset.z))
                continue;
            const int entry = coarse_.stencil().find(offset);
            const Range range = term.range.within(1, offset.x, 0, count);
            if (entry >= 0 && coarse_.stores(entry) && !range.empty())
                term.parents.push_back({offset, child, entry, range});
        }
        return term;
    }
    /// Whether fine points at a distance `fine` from 2 I are coarse, and at which distance from I.
    bool parent(int axis, int fine, int& coarse) const {
        coarse = grids_.axes[axis] ? fine / 2 : fine;
        return !grids_.axes[axis] || fine % 2 == 0;
    }

    void add(const Run& run, const Term& term) const {
        const Int3 o = a_.stencil()[term.entry], s = term.s;
        const int j = (grids_.axes[1] ? 2 * run.first.y : run.first.y) + s.y;
        const int k = (grids_.axes[2] ? 2 * run.first.z : run.first.z) + s.z;
        const Grid& fine = grids_.fine;
        if (!fine.contains({0, j, k}) || !fine.contains({0, j + o.y, k + o.z})) return;
        const Layout& layout = a_.layout();
        const bool stored = a_.stores(term.entry);
        const int entry = stored ? term.entry : a_.stencil().mirror(term.entry);
        const Index slot = layout.slot(stored ? Int3{s.x, j, k} : Int3{s.x + o.x, j + o.y, k + o.z});
        const double* weight = p_.line(s, run.first.y, run.first.z);
        thread_local std::vector<double> factor;
        factor.resize(run.count);
        for (int row = 0; row < a_.dof(); ++row)
            for (int col = 0; col < a_.dof(); ++col) {
                const double* from = (stored ? a_.values(entry, row, col) : a_.values(entry, col, row)) + slot;
                double* to = factor.data();
                if (step_ == 2)
                    for (int t = term.range.begin; t < term.range.end; ++t) to[t] = weight[t] * from[2 * t];
                else
                    for (int t = term.range.begin; t < term.range.end; ++t) to[t] = weight[t] * from[t];
                for (const Parent& parent : term.parents) add_parent(run, parent, to, row, col);
            }
    }

    void add_parent(const Run& run, const Parent& parent, const double* factor, int row, int col) const {
        const auto& [offset, child, entry, range] = parent;
        const Int3 there{0, run.first.y + offset.y, run.first.z + offset.z};
        if (!grids_.coarse.contains(there)) return;
        double* sum = coarse_.values(entry, row, col) + run.slot;
        if (child == Int3{}) {
            for (int t = range.begin; t < range.end; ++t) sum[t] += factor[t];
        } else {
            const double* weight = p_.line(child, there.y, there.z) + offset.x;
            for (int t = range.begin; t < range.end; ++t) sum[t] += factor[t] * weight[t];
        }
    }

    const StructMatrix& a_;
    const Interpolation& p_;
    StructMatrix& coarse_;
    const Coarsening& grids_;
    int step_;
    std::vector<Term> terms_;
};

}  // namespace

void galerkin_by_lines(const StructMatrix& a, const Interpolation& p, StructMatrix& coarse) {
    const LineProduct product(a, p, coarse);
    for_each_run(coarse.layout(), 64 * a.dof() * a.dof(), [&](const Run& run) { product.line(run); });
}

}  // namespace hyperplane::multigrid
