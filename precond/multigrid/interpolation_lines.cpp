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

/// The children at s of all coarse points.
struct LineChildren {
    /// Entry `entry` of A at the children at s of a coarse line.
    struct Term {
        int entry;
        Int3 o;
        bool centre;  ///< whether o has no component along the axes of s
        int subset;   ///< the axes T of s for which o has the signs of -s on T and none off T; 0 if there are none
        Range range;  ///< of the points of a coarse line for which child and neighbour exist
    };

    Int3 s;
    int axes;  ///< of s, as bits
    Range range;
    std::vector<Term> terms;

    LineChildren(const StructMatrix& a, const Coarsening& grids, Int3 at) : s(at), axes(axes_of(at)), range(0) {
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

namespace {

using Term = LineChildren::Term;

/// The children in the order |S| = 1, 2, 3.
std::vector<LineChildren> all_children(const StructMatrix& a, const Coarsening& grids) {
    std::vector<LineChildren> list;
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
void collapse(const StructMatrix& a, const LineChildren& children, int j, int k, int step, int count, Collapsed& sums) {
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

void Interpolation::compute_by_lines(const Source& source) {
    const StructMatrix& a = *source.a;
    const std::vector<LineChildren> all = all_children(a, grids_);
    const CopiedLines lines(
        source.planes, [&](int j, int k, std::vector<int>& numbers) { source.append_lines(grids_, j, k, numbers); });
    lines.for_each_line(
        a.context(), source.planes, 16 * a.dof(), [&](const Run& run) { compute_line(a, all, run); },
        [&](Int3 from, const Run& run) {
            for (int place = 0; place < places_.count; ++place) {
                double* const weights = first(weights_) + place * stride_;
                std::copy_n(weights + order_.slot(from), run.count, weights + order_.slot(run.first));
            }
        });
}

void Interpolation::compute_line(const StructMatrix& a, const std::vector<LineChildren>& all, const Run& run) {
    const int step = grids_.axes[0] ? 2 : 1;
    thread_local Collapsed sums;
    const Index slot = order_.slot(run.first);
    const auto row = [&](Int3 s) { return first(weights_) + places_.of[number_of(s)] * stride_ + slot; };
    for (const LineChildren& children : all) {
        const auto& [s, axes, range, terms] = children;
        double* weight = row(s);
        std::fill_n(weight, run.count, 0.0);
        Int3 child;
        if (!grids_.child(run.first, {0, s.y, s.z}, child)) continue;
        collapse(a, children, child.y, child.z, step, run.count, sums);
        double* delta = sums.own.data();
        for (int t = range.begin; t < range.end; ++t) delta[t] = used_delta(delta[t], sums.sigma[t], sums.magnitude[t]);
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
}

EqualLines Interpolation::equal_lines() const {
    std::vector<const double*> arrays;
    for (int place = 0; place < places_.count; ++place) arrays.push_back(first(weights_) + place * stride_);
    return {context_, order_, arrays};
}

namespace {

/// sum[t] += below[t] x[2 t - 1] + own[t] x[2 t] + above[t] x[2 t + 1], in this order, for a line of `fine` points. A
/// weight of a point that does not exist is zero.
template <class T>
void add_children(const T* below, const T* own, const T* above, const double* x, int count, int fine, double* sum) {
    const auto at = [&](int t, double first, double last) {
        return std::fma(double(above[t]), last,
                        std::fma(double(own[t]), x[2 * t], std::fma(double(below[t]), first, sum[t])));
    };
    const int inner = fine / 2;  // positions that have a point above
    sum[0] = at(0, 0.0, fine > 1 ? x[1] : 0.0);
#pragma omp simd
    for (int t = 1; t < inner; ++t) sum[t] = at(t, x[2 * t - 1], x[2 * t + 1]);
    for (int t = std::max(1, inner); t < count; ++t) sum[t] = at(t, x[2 * t - 1], 0.0);
}

/// The sums of a parents' line at even and odd points: even[t] += own[t] x[t], and
/// odd[t] += below[t + 1] x[t + 1] + above[t] x[t] in this order, for t in [0, count); x[count] does not exist.
template <class T>
void add_parents(const T* below, const T* own, const T* above, const double* x, int count, double* even, double* odd) {
#pragma omp simd
    for (int t = 0; t < count - 1; ++t) {
        even[t] = std::fma(double(own[t]), x[t], even[t]);
        odd[t] = std::fma(double(above[t]), x[t], std::fma(double(below[t + 1]), x[t + 1], odd[t]));
    }
    const int last = count - 1;
    even[last] = std::fma(double(own[last]), x[last], even[last]);
    odd[last] = std::fma(double(above[last]), x[last], odd[last]);
}

}  // namespace

template <class T>
void Interpolation::restrict_by_lines(const Vector& fine, Vector& coarse) const {
    for_each_run(coarse.context(), coarse_, 8 * fine.dof(), [&](const Run& run) {
        for (int c = 0; c < fine.dof(); ++c) {
            double* sum = coarse.component(c) + coarse.layout().slot(run.first);
            std::fill_n(sum, run.count, 0.0);
            for (int z = -grids_.axes[2]; z <= grids_.axes[2]; ++z)
                for (int y = -grids_.axes[1]; y <= grids_.axes[1]; ++y) {
                    Int3 child;
                    if (!grids_.child(run.first, {0, y, z}, child)) continue;
                    const auto weights = [&](int x) { return line<T>({x, y, z}, run.first.y, run.first.z); };
                    const double* from = fine.component(c) + fine_.slot({0, child.y, child.z});
                    if (grids_.axes[0]) {
                        add_children(weights(-1), weights(0), weights(1), from, run.count, grids_.fine.nx, sum);
                        continue;
                    }
                    const T* weight = weights(0);
                    for (int t = 0; t < run.count; ++t) sum[t] = std::fma(double(weight[t]), from[t], sum[t]);
                }
        }
    });
}

template <class T>
void Interpolation::add_by_lines(Vector& fine, const Vector& coarse) const {
    const int count = grids_.coarse.nx;
    for_each_run(fine.context(), fine_, fine.dof(), [&](const Run& run) {
        thread_local std::vector<double> sums[2];  // at points of even and of odd index
        for (int c = 0; c < fine.dof(); ++c) {
            for (auto& list : sums) list.assign(count, 0.0);
            double *const even = sums[0].data(), *const odd = sums[1].data();
            for (int z = -grids_.axes[2]; z <= grids_.axes[2]; ++z)
                for (int y = -grids_.axes[1]; y <= grids_.axes[1]; ++y) {
                    Int3 parent;
                    if (!grids_.parent(run.first, {0, y, z}, parent)) continue;
                    const auto weights = [&](int x) { return line<T>({x, y, z}, parent.y, parent.z); };
                    const double* from = coarse.component(c) + coarse.layout().slot({0, parent.y, parent.z});
                    if (grids_.axes[0]) {
                        add_parents(weights(-1), weights(0), weights(1), from, count, even, odd);
                        continue;
                    }
                    const T* weight = weights(0);
                    for (int t = 0; t < count; ++t) even[t] = std::fma(double(weight[t]), from[t], even[t]);
                }
            double* x = fine.component(c) + run.slot;
            if (!grids_.axes[0]) {
                for (int t = 0; t < count; ++t) x[t] += even[t];
                continue;
            }
            for (int t = 0; t < run.count / 2; ++t) {
                x[2 * t] += even[t];
                x[2 * t + 1] += odd[t];
            }
            if (run.count % 2) x[run.count - 1] += even[count - 1];
        }
    });
}

template void Interpolation::restrict_by_lines<double>(const Vector&, Vector&) const;
template void Interpolation::restrict_by_lines<float>(const Vector&, Vector&) const;
template void Interpolation::add_by_lines<double>(Vector&, const Vector&) const;
template void Interpolation::add_by_lines<float>(Vector&, const Vector&) const;

}  // namespace hyperplane::multigrid
