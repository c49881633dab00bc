// SPDX-License-Identifier: BSD-3-Clause
// Interpolation on a CPU along lines of the natural layout: the same formulas as in interpolation.cpp, for a line of
// coarse points at once.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/grid/layout.hpp"
#include "precond/multigrid/interpolation.hpp"
#include "precond/multigrid/lines.hpp"
#include "precond/multigrid/weight_formula.hpp"

namespace hyperplane::multigrid {
namespace {

/// Entry `entry` of A at the children at s of a coarse line.
struct Term {
    int entry;
    Int3 o;
    bool centre;  ///< whether o has no component along the axes of s
    int subset;   ///< the axes T of s for which o has the signs of -s on T and none off T; 0 if there are none
    Range range;  ///< of the points of a coarse line for which child and neighbour exist
};

/// The children at s of all coarse points.
struct Children {
    Int3 s;
    int axes;  ///< of s, as bits
    Range range;
    std::vector<Term> terms;

    Children(const StructMatrix& a, const Coarsening& grids, Int3 at) : s(at), axes(axes_of(at)), range(0) {
        const int step = grids.axes[0] ? 2 : 1, nx = grids.fine.nx;
        range = Range(grids.coarse.nx).with_fine(step, s.x, nx);
        for (int e = 0; e < a.stencil().size(); ++e) {
            const Int3 o = a.stencil()[e], t = signs_on(s, o);
            int subset = 0;
            for (int bits = 1; bits <= axes; ++bits)
                if ((bits & axes) == bits && t == -part_of(s, bits)) subset = bits;
            terms.push_back({e, o, t == Int3{}, subset, range.with_fine(step, s.x + o.x, nx)});
        }
    }
};

/// The children in the order |S| = 1, 2, 3.
std::vector<Children> all_children(const StructMatrix& a, const Coarsening& grids) {
    std::vector<Children> list;
    for (int size = 1; size <= 3; ++size)
        for (int number = 0; number < 27; ++number) {
            const Int3 s = offset_of(number);
            if ((s.x != 0) + (s.y != 0) + (s.z != 0) == size && grids.has_children_at(s))
                list.emplace_back(a, grids, s);
        }
    return list;
}

/// The coefficients of the children at s of the points of a coarse line, collapsed onto S.
struct Collapsed {
    std::vector<double> own, sigma, magnitude, value;
    std::array<std::vector<double>, 8> b;  ///< b(-s on T) by T

    void begin(int count, int axes) {
        for (auto* list : {&own, &sigma, &magnitude}) list->assign(count, 0.0);
        for (int subset = 1; subset <= axes; ++subset)
            if ((subset & axes) == subset) b[subset].assign(count, 0.0);
        value.resize(count);
    }
};

/// values[t] = the scalar that stands for the block of an entry at the fine points `first` + step t; `there`: the slot
/// of the neighbour of the first one.
void scalars(const StructMatrix& a, int entry, Index first, Index there, int step, const Range& range, double* values) {
    const int dof = a.dof(), mirror = a.stencil().mirror(entry);
    const double share = 1.0 / (a.symmetric() ? dof : 2 * dof);
    std::fill(values + range.begin, values + range.end, 0.0);
    const auto add = [&](const double* from) {
        if (step == 2)
            for (int t = range.begin; t < range.end; ++t) values[t] += share * from[2 * t];
        else
            for (int t = range.begin; t < range.end; ++t) values[t] += share * from[t];
    };
    for (int c = 0; c < dof; ++c) {
        if (a.stores(entry)) add(a.values(entry, c, c) + first);
        if (!a.stores(entry) || !a.symmetric()) add(a.values(mirror, c, c) + there);
    }
}

/// Adds values[stride t] to |a_i| and to b(0), or to sigma and perhaps to another b.
template <int stride>
void add_term(const Term& term, const double* values, Collapsed& sums) {
    const auto [begin, end] = term.range;
    double* magnitude = sums.magnitude.data();
    if (term.centre) {
        double* own = sums.own.data();
        for (int t = begin; t < end; ++t) {
            magnitude[t] += std::abs(values[stride * t]);
            own[t] += values[stride * t];
        }
        return;
    }
    double* sigma = sums.sigma.data();
    for (int t = begin; t < end; ++t) {
        magnitude[t] += std::abs(values[stride * t]);
        sigma[t] -= values[stride * t];
    }
    if (term.subset == 0) return;
    double* b = sums.b[term.subset].data();
    for (int t = begin; t < end; ++t) b[t] += values[stride * t];
}

/// Collapses the entries of the children on the fine line (0, j, k).
void collapse(const StructMatrix& a, const Children& children, int j, int k, int step, int count, Collapsed& sums) {
    sums.begin(count, children.axes);
    const Layout& layout = a.layout();
    const Index first = layout.slot({children.s.x, j, k});
    for (const Term& term : children.terms) {
        if (term.range.empty() || !layout.grid().contains({0, j + term.o.y, k + term.o.z})) continue;
        const Index there = first + layout.distance(term.o);
        if (a.dof() == 1 && a.symmetric()) {
            const double* values =
                a.stores(term.entry) ? a.values(term.entry) + first : a.values(a.stencil().mirror(term.entry)) + there;
            step == 2 ? add_term<2>(term, values, sums) : add_term<1>(term, values, sums);
        } else {
            scalars(a, term.entry, first, there, step, term.range, sums.value.data());
            add_term<1>(term, sums.value.data(), sums);
        }
    }
}

}  // namespace

void Interpolation::compute_by_lines(const StructMatrix& a, const Layout& planes) {
    const int step = grids_.axes[0] ? 2 : 1;
    const std::vector<Children> all = all_children(a, grids_);
    for_each_run(a.context(), planes, 16 * a.dof(), [&](const Run& run) {
        thread_local Collapsed sums;
        const Index slot = order_.slot(run.first);
        const auto row = [&](Int3 s) { return first(weights_) + places_.of[number_of(s)] * stride_ + slot; };
        for (const Children& children : all) {
            const auto& [s, axes, range, terms] = children;
            double* weight = row(s);
            std::fill_n(weight, run.count, 0.0);
            Int3 child;
            if (!grids_.child(run.first, {0, s.y, s.z}, child)) continue;
            collapse(a, children, child.y, child.z, step, run.count, sums);
            double* delta = sums.own.data();
            for (int t = range.begin; t < range.end; ++t)
                delta[t] = used_delta(delta[t], sums.sigma[t], sums.magnitude[t]);
            for (int subset = 1; subset <= axes; ++subset) {
                if ((subset & axes) != subset) continue;
                const double* b = sums.b[subset].data();
                if (subset == axes) {
                    for (int t = range.begin; t < range.end; ++t) weight[t] -= b[t] / delta[t];
                } else {
                    const double* rest = row(part_of(s, axes & ~subset));
                    for (int t = range.begin; t < range.end; ++t) weight[t] -= b[t] / delta[t] * rest[t];
                }
            }
            for (int t = range.begin; t < range.end; ++t) weight[t] = delta[t] == 0.0 ? 0.0 : weight[t];
        }
    });
}

template <class T>
void Interpolation::restrict_by_lines(const Vector& fine, Vector& coarse) const {
    const int step = grids_.axes[0] ? 2 : 1;
    for_each_run(coarse.context(), coarse_, 8 * fine.dof(), [&](const Run& run) {
        for (int c = 0; c < fine.dof(); ++c) {
            double* sum = coarse.component(c) + coarse.layout().slot(run.first);
            std::fill_n(sum, run.count, 0.0);
            for (int number = 0; number < 27; ++number) {
                const Int3 s = offset_of(number);
                Int3 child;
                if (!grids_.has_children_at(s) || !grids_.child(run.first, {0, s.y, s.z}, child)) continue;
                const Range range = Range(run.count).with_fine(step, s.x, grids_.fine.nx);
                const T* weight = line<T>(s, run.first.y, run.first.z);
                const double* from = fine.component(c) + fine_.slot({s.x, child.y, child.z});
                if (step == 2)
                    for (int t = range.begin; t < range.end; ++t) sum[t] += weight[t] * from[2 * t];
                else
                    for (int t = range.begin; t < range.end; ++t) sum[t] += weight[t] * from[t];
            }
        }
    });
}

template <class T>
void Interpolation::add_by_lines(Vector& fine, const Vector& coarse) const {
    const int step = grids_.axes[0] ? 2 : 1, count = grids_.coarse.nx;
    for_each_run(fine.context(), fine_, fine.dof(), [&](const Run& run) {
        thread_local std::vector<double> sums[2];  // at points of even and of odd index
        for (int c = 0; c < fine.dof(); ++c) {
            for (auto& list : sums) list.assign(count + 1, 0.0);
            for (int number = 0; number < 27; ++number) {
                const Int3 s = offset_of(number);
                Int3 parent;
                if (!grids_.has_children_at(s) || !grids_.parent(run.first, {0, s.y, s.z}, parent)) continue;
                const T* weight = line<T>(s, parent.y, parent.z);
                const double* from = coarse.component(c) + coarse.layout().slot({0, parent.y, parent.z});
                // The child of I at -1 is the odd point 2 (I - 1) + 1.
                const int shift = s.x < 0 ? -1 : 0;
                double* sum = sums[s.x != 0].data() + shift;
                for (int t = -shift; t < count; ++t) sum[t] += weight[t] * from[t];
            }
            double* x = fine.component(c) + run.slot;
            for (int t = 0; t < count; ++t) x[step * t] += sums[0][t];
            if (step == 2)
                for (int t = 0; 2 * t + 1 < run.count; ++t) x[2 * t + 1] += sums[1][t];
        }
    });
}

template void Interpolation::restrict_by_lines<double>(const Vector&, Vector&) const;
template void Interpolation::restrict_by_lines<float>(const Vector&, Vector&) const;
template void Interpolation::add_by_lines<double>(Vector&, const Vector&) const;
template void Interpolation::add_by_lines<float>(Vector&, const Vector&) const;

}  // namespace hyperplane::multigrid
