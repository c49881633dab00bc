// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/galerkin_lines.hpp"

#include <algorithm>
#include <vector>

#include "core/grid/layout.hpp"
#include "core/vector/run_kernel.hpp"
#include "core/vector/streamed_copy.hpp"
#include "precond/multigrid/lines.hpp"

namespace hyperplane::multigrid {
namespace {

/// A parent of a term's neighbour: the coarse point of an entry's offset, whose child at `child` the neighbour is.
struct Parent {
    std::size_t term;
    Int3 child;
    Range range;  ///< of the points of a coarse line for which it exists
};

/// Entry `entry` of A at the children at s of a coarse line.
struct LineTerm {
    Int3 s;
    int entry;
    Range range;  ///< of the points of a coarse line for which child and neighbour exist
};

class LineProduct {
public:
    LineProduct(const StructMatrix& a, const Interpolation& p, StructMatrix& coarse)
        : a_(a), p_(p), coarse_(coarse), grids_(p.grids()), step_(grids_.axes[0] ? 2 : 1) {
        parents_.resize(coarse.stored_entries());
        for (int number = 0; number < 27; ++number)
            for (int e = 0; e < a.stencil().size() && grids_.has_children_at(offset_of(number)); ++e)
                add_term(offset_of(number), e);
    }

    /// First P(i, I) a_i(o) for all terms, then the sums of their products with P(i + o, J), entry by entry.
    void line(const Run& run) const {
        thread_local std::vector<double> factors;
        thread_local std::vector<bool> exists;
        thread_local std::vector<RunTerm> sum;
        factors.resize(terms_.size() * run.count);
        exists.resize(terms_.size());
        const Index slot = coarse_.layout().slot(run.first);
        for (int row = 0; row < a_.dof(); ++row)
            for (int col = 0; col < a_.dof(); ++col) {
                for (std::size_t at = 0; at < terms_.size(); ++at)
                    exists[at] = multiply(run, terms_[at], row, col, factors.data() + at * run.count);
                for (int e = 0; e < coarse_.stored_entries(); ++e) {
                    const Int3 offset = coarse_.stencil()[e];
                    const Int3 there{0, run.first.y + offset.y, run.first.z + offset.z};
                    sum.clear();
                    if (grids_.coarse.contains(there))
                        for (const Parent& parent : parents_[e])
                            if (exists[parent.term])
                                sum.push_back(
                                    {factors.data() + parent.term * run.count,
                                     p_.line(parent.child, there.y, there.z) + (parent.child == Int3{} ? 0 : offset.x),
                                     parent.range.begin, parent.range.end});
                    accumulate<+1>(sum, nullptr, coarse_.values(e, row, col) + slot, run.count);
                }
            }
        for (int c = 0; c < a_.dof(); ++c) {
            double* own = coarse_.values(coarse_.stencil().diagonal(), c, c) + slot;
            for (int t = 0; t < run.count; ++t) own[t] = own[t] == 0.0 ? 1.0 : own[t];
        }
    }

private:
    /// Adds a term and the parents whose coarse entries are stored, if there are any.
    void add_term(Int3 s, int e) {
        const Int3 o = a_.stencil()[e];
        const int nx = grids_.fine.nx, count = grids_.coarse.nx;
        const LineTerm term{s, e, Range(count).with_fine(step_, s.x, nx).with_fine(step_, s.x + o.x, nx)};
        bool used = false;
        for (int number = 0; number < 27 && !term.range.empty(); ++number) {
            const Int3 child = offset_of(number);
            Int3 offset;
            if (!grids_.has_children_at(child) || !parent(0, s.x + o.x - child.x, offset.x) ||
                !parent(1, s.y + o.y - child.y, offset.y) || !parent(2, s.z + o.z - child.z, offset.z))
                continue;
            const int entry = coarse_.stencil().find(offset);
            const Range range = term.range.within(1, offset.x, 0, count);
            if (entry < 0 || !coarse_.stores(entry) || range.empty()) continue;
            parents_[entry].push_back({terms_.size(), child, range});
            used = true;
        }
        if (used) terms_.push_back(term);
    }
    /// Whether fine points at a distance `fine` from 2 I are coarse, and at which distance from I.
    bool parent(int axis, int fine, int& coarse) const {
        coarse = grids_.axes[axis] ? fine / 2 : fine;
        return !grids_.axes[axis] || fine % 2 == 0;
    }

    /// to[t] = P(i, I) a_i(o) along a coarse line; false if child or neighbour lie outside the grid.
    bool multiply(const Run& run, const LineTerm& term, int row, int col, double* to) const {
        const Int3 o = a_.stencil()[term.entry], s = term.s;
        const int j = (grids_.axes[1] ? 2 * run.first.y : run.first.y) + s.y;
        const int k = (grids_.axes[2] ? 2 * run.first.z : run.first.z) + s.z;
        const Grid& fine = grids_.fine;
        if (!fine.contains({0, j, k}) || !fine.contains({0, j + o.y, k + o.z})) return false;
        const bool stored = a_.stores(term.entry);
        const int entry = stored ? term.entry : a_.stencil().mirror(term.entry);
        const Index slot = a_.layout().slot(stored ? Int3{s.x, j, k} : Int3{s.x + o.x, j + o.y, k + o.z});
        const double* weight = p_.line(s, run.first.y, run.first.z);
        const double* from = (stored ? a_.values(entry, row, col) : a_.values(entry, col, row)) + slot;
        if (step_ == 2)
            for (int t = term.range.begin; t < term.range.end; ++t) to[t] = weight[t] * from[2 * t];
        else
            for (int t = term.range.begin; t < term.range.end; ++t) to[t] = weight[t] * from[t];
        return true;
    }

    const StructMatrix& a_;
    const Interpolation& p_;
    StructMatrix& coarse_;
    const Coarsening& grids_;
    int step_;
    std::vector<LineTerm> terms_;
    std::vector<std::vector<Parent>> parents_;  ///< of each stored coarse entry, in the order of the terms
};

}  // namespace

void galerkin_of_different_lines(const Source& source, const Interpolation& p, StructMatrix& coarse,
                                 FunctionRef<void(const Run&)> compute) {
    const StructMatrix& a = *source.a;
    const int reach = coarse.stencil().radius();
    a.find_equal_lines();
    const CopiedLines lines(source.planes, [&](int j, int k, std::vector<int>& numbers) {
        source.append_lines(p.grids(), j, k, numbers);
        append_around(*p.equal_lines(), p.grids().coarse, {0, j, k}, reach, reach, numbers);
    });
    const std::vector<double*> coefficients = coarse.coefficients();
    const bool past_caches = coarse.bytes() >= least_streamed;
    lines.for_each_line(
        coarse.context(), source.planes, 64 * a.dof() * a.dof(), compute, [&](Int3 from, const Run& run) {
            const StreamedCopy copies(past_caches);
            for (double* const values : coefficients)
                copies.copy(values + coarse.layout().slot(from), run.count, values + coarse.layout().slot(run.first));
        });
    if (source.planes == coarse.layout() && coarse.layout().halo() == 0)
        coarse.set_equal_lines(lines.equal_lines(coarse.layout()));
}

void galerkin_by_lines(const Source& source, const Interpolation& p, StructMatrix& coarse) {
    const LineProduct product(*source.a, p, coarse);
    galerkin_of_different_lines(source, p, coarse, [&](const Run& run) { product.line(run); });
}

}  // namespace hyperplane::multigrid
