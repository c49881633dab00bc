// SPDX-License-Identifier: BSD-3-Clause
// Interpolation on a CPU along lines of grids with periodic axes: what interpolation.cpp computes point by point, to
// the same bits, for a segment of a line at once.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/grid/layout.hpp"
#include "core/vector/lanes.hpp"
#include "precond/multigrid/interpolation.hpp"
#include "precond/multigrid/periodic_lines.hpp"
#include "precond/multigrid/weight_formula.hpp"

namespace hyperplane::multigrid {
namespace {

/// The entries of A of the children at s, in the order in which they are summed (interpolation.cpp).
struct CollapsedChild {
    struct Entry {
        int number, subset;
    };
    static constexpr int rest = 8;

    Int3 s;
    std::vector<Entry> entries;  ///< by subset: those of b(0), of b(-s on T) for each T, and the rest

    CollapsedChild(const Stencil& stencil, Int3 at) : s(at) {
        for (int e = 0; e < stencil.size(); ++e) {
            const Int3 t = signs_on(s, stencil[e]);
            int subset = t == Int3{} ? 0 : rest;
            for (int bits = 1; bits <= axes_of(s); ++bits)
                if ((bits & axes_of(s)) == bits && t == -part_of(s, bits)) subset = bits;
            entries.push_back({e, subset});
        }
        std::stable_sort(entries.begin(), entries.end(),
                         [](const Entry& one, const Entry& other) { return one.subset < other.subset; });
    }
};

std::vector<CollapsedChild> collapsed_children(const Stencil& stencil, const Coarsening& grids) {
    std::vector<CollapsedChild> list;
    for (int size = 1; size <= 3; ++size)
        for (int number = 0; number < 27; ++number) {
            const Int3 s = offset_of(number);
            if ((s.x != 0) + (s.y != 0) + (s.z != 0) == size && grids.has_children_at(s)) list.emplace_back(stencil, s);
        }
    return list;
}

/// The weights of segments.
class PeriodicWeights {
public:
    PeriodicWeights(const StructMatrix& a, const WeightsView<double>& weights)
        : a_(a),
          weights_(weights),
          lines_(weights.grids, a.stencil().radius()),
          children_(collapsed_children(a.stencil(), weights.grids)) {}

    void line(const Run& run) const {
        for (const Segment& segment : lines_.segments())
            for (const CollapsedChild& child : children_)
                compute({segment.first, run.first.y, run.first.z}, segment.count, child);
    }

private:
    /// The coefficients of one child at the points of a segment, collapsed.
    struct Sums {
        std::vector<double> value, part, own, magnitude, sigma, all;
        void begin(int count) {
            for (auto* list : {&own, &magnitude, &sigma, &all}) list->assign(std::size_t(count), 0.0);
            for (auto* list : {&value, &part}) list->resize(std::size_t(count));
        }
    };

    void compute(Int3 first, int count, const CollapsedChild& child) const {
        thread_local Sums sums;
        const AxisPoint &x = lines_.at(0, first.x), &y = lines_.at(1, first.y), &z = lines_.at(2, first.z);
        const Int3 s = child.s, p{x.child(s.x), y.child(s.y), z.child(s.z)};
        const Index to = weights_.order.slot(first);
        double* const weight = &weights_.at(number_of(s), to);
        if (p.x < 0 || p.y < 0 || p.z < 0) {
            std::fill_n(weight, count, 0.0);
            return;
        }
        sums.begin(count);
        const int axes = axes_of(s);
        std::size_t at = 0;
        for (int subset = 0; subset <= CollapsedChild::rest; ++subset) {
            if (subset < CollapsedChild::rest && (subset & axes) != subset) continue;
            std::fill_n(sums.part.data(), count, 0.0);
            for (; at < child.entries.size() && child.entries[at].subset == subset; ++at) {
                const int e = child.entries[at].number;
                const Int3 o = a_.stencil()[e];
                const Int3 q{x.neighbour(s.x, o.x), y.neighbour(s.y, o.y), z.neighbour(s.z, o.z)};
                if (q.x < 0 || q.y < 0 || q.z < 0) continue;
                scalars(e, a_.layout().slot(p), a_.layout().slot(q), count, sums.value.data());
                for (int t = 0; t < count; ++t) {
                    sums.part[t] += sums.value[t];
                    sums.magnitude[t] += std::abs(sums.value[t]);
                }
            }
            add_part(subset, axes, to, s, count, sums);
        }
        for (int t = 0; t < count; ++t) {
            const double delta = used_delta(sums.own[t], sums.sigma[t], sums.magnitude[t]);
            weight[t] = delta == 0.0 ? 0.0 : sums.all[t] / delta;
        }
    }

    void add_part(int subset, int axes, Index to, Int3 s, int count, Sums& sums) const {
        const double* const part = sums.part.data();
        if (subset == 0) {
            std::copy_n(part, count, sums.own.data());
            return;
        }
        for (int t = 0; t < count; ++t) sums.sigma[t] -= part[t];
        if (subset == CollapsedChild::rest) return;
        if (subset == axes) {
            for (int t = 0; t < count; ++t) sums.all[t] -= part[t];
            return;
        }
        const double* const other = &weights_.at(number_of(part_of(s, axes & ~subset)), to);
        for (int t = 0; t < count; ++t)
            sums.value[t] = part[t] * other[t];  // rounded: interpolation.cpp's are not fused
        for (int t = 0; t < count; ++t) sums.all[t] -= sums.value[t];
    }

    /// What stands for the blocks of an entry at the fine points slot + step t, whose neighbours are those at `there`.
    void scalars(int entry, Index slot, Index there, int count, double* values) const {
        const int step = weights_.grids.axes[0] ? 2 : 1, dof = a_.dof(), mirror = a_.stencil().mirror(entry);
        std::fill_n(values, count, 0.0);
        const auto add = [&](const double* from) {
            if (step == 2)
                for (int t = 0; t < count; ++t) values[t] += from[2 * t];
            else
                for (int t = 0; t < count; ++t) values[t] += from[t];
        };
        for (int c = 0; c < dof; ++c)
            add(a_.stores(entry) ? a_.values(entry, c, c) + slot : a_.values(mirror, c, c) + there);
        if (!a_.symmetric())
            for (int c = 0; c < dof; ++c) add(a_.values(mirror, c, c) + there);
        const double by = a_.symmetric() ? dof : 2 * dof;
        if (by > 1.0)
            for (int t = 0; t < count; ++t) values[t] /= by;
    }

    const StructMatrix& a_;
    const WeightsView<double> weights_;
    const PeriodicLines lines_;
    const std::vector<CollapsedChild> children_;
};

using detail::Lanes, detail::lanes;

/// Weights along a line of coarse points to the children below, at and above them along x, null where a product does
/// not use them, and the values that these multiply. The weights of coarse points themselves are 1.
template <class T>
struct WeightsOfLine {
    const T *below, *own, *above;
    const double* x;
};

constexpr int most_lines_around = 9;

}  // namespace

void Interpolation::compute_by_periodic_lines(const Source& source) {
    const PeriodicWeights weights(*source.a, view_of(first(weights_)));
    compute_different_lines(source, [&](const Run& run) { weights.line(run); });
}

namespace {

/// sum[t] = own[t] + the sum over lines of below[t] x[2 t - 1] + own[t] x[2 t] + above[t] x[2 t + 1], in this order,
/// for points of a coarse line that have all these children; `centre`: the line of the coarse points themselves.
template <class T>
struct SumOfChildren {
    const WeightsOfLine<T>* lines;
    int size, centre;
    int points, fine;  ///< of a coarse and of a fine line
    bool wraps;        ///< the first coarse point has the last fine one as a child

    HYPERPLANE_INLINE Lanes inner(int t) const {
        Lanes sum =
            detail::even_of(detail::load(lines[centre].x + 2 * t), detail::load(lines[centre].x + 2 * t + lanes));
        for (int n = 0; n < size; ++n) {
            const WeightsOfLine<T>& line = lines[n];
            const double* const x = line.x + 2 * t;
            const Lanes first = detail::load(x), last = detail::load(x + lanes);
            sum = detail::fused(detail::load(line.below + t),
                                detail::even_of(detail::load(x - 1), detail::load(x + lanes - 1)), sum);
            if (n != centre) sum = detail::fused(detail::load(line.own + t), detail::even_of(first, last), sum);
            sum = detail::fused(detail::load(line.above + t), detail::odd_of(first, last), sum);
        }
        return sum;
    }
    double at(int t) const {
        double sum = lines[centre].x[2 * t];
        for (int n = 0; n < size; ++n) {
            const WeightsOfLine<T>& line = lines[n];
            if (t > 0 || wraps) sum = std::fma(double(line.below[t]), line.x[t > 0 ? 2 * t - 1 : fine - 1], sum);
            if (n != centre) sum = std::fma(double(line.own[t]), line.x[2 * t], sum);
            if (2 * t + 1 < fine) sum = std::fma(double(line.above[t]), line.x[2 * t + 1], sum);
        }
        return sum;
    }
    void operator()(double* sum) const {
        const int end = fine / 2;  // points from 1 on that have all children
        sum[0] = at(0);
        int t = 1;
        for (; t + lanes <= end; t += lanes) detail::store(inner(t), sum + t);
        if (t < end && end > lanes) detail::store(inner(end - lanes), sum + end - lanes), t = end;
        for (; t < points; ++t) sum[t] = at(t);
    }
};

/// Adds to the fine points of a line what their parents give: to point 2 t own[t] x[t], to point 2 t + 1
/// below[t + 1] x[t + 1] and above[t] x[t], line by line, each sum rounded.
template <class T>
void add_values_of_parents(const WeightsOfLine<T>* lines, int size, int count, int points, bool wraps, double* fine) {
    int t = 0;
    for (; t + lanes < count && 2 * (t + lanes) <= points; t += lanes) {
        const Lanes a = detail::load(fine + 2 * t), b = detail::load(fine + 2 * t + lanes);
        Lanes even = detail::even_of(a, b), odd = detail::odd_of(a, b);
        for (int n = 0; n < size; ++n) {
            const WeightsOfLine<T>& line = lines[n];
            const Lanes x = detail::load(line.x + t);
            even = line.own ? detail::fused(detail::load(line.own + t), x, even) : even + x;
            odd = detail::fused(detail::load(line.below + t + 1), detail::load(line.x + t + 1), odd);
            odd = detail::fused(detail::load(line.above + t), x, odd);
        }
        detail::store(detail::first_pairs(even, odd), fine + 2 * t);
        detail::store(detail::last_pairs(even, odd), fine + 2 * t + lanes);
    }
    for (; t < count; ++t)
        for (int n = 0; n < size; ++n) {
            const WeightsOfLine<T>& line = lines[n];
            double& even = fine[2 * t];
            even = line.own ? std::fma(double(line.own[t]), line.x[t], even) : even + line.x[t];
            if (2 * t + 1 >= points) continue;
            double& odd = fine[2 * t + 1];
            const int next = t + 1 < count ? t + 1 : 0;
            if (next > 0 || wraps) odd = std::fma(double(line.below[next]), line.x[next], odd);
            odd = std::fma(double(line.above[t]), line.x[t], odd);
        }
}

}  // namespace

template <class T>
void Interpolation::restrict_by_periodic_lines(const Vector& fine, Vector& coarse) const {
    const WeightsView<const T> weights = view_of(of(weights_, singles_, T{}) + order_.halo_slots());
    const bool wraps = grids_.fine.periodic[0] && grids_.fine.nx % 2 == 0;
    for_each_run(coarse.context(), coarse_, 8 * fine.dof(), [&](const Run& run) {
        const Index slot = order_.slot(run.first);
        for (int c = 0; c < fine.dof(); ++c) {
            double* const sum = coarse.component(c) + coarse.layout().slot(run.first);
            std::array<WeightsOfLine<T>, most_lines_around> lines;
            int size = 0, centre = 0;
            for (int z = -grids_.axes[2]; z <= grids_.axes[2]; ++z)
                for (int y = -grids_.axes[1]; y <= grids_.axes[1]; ++y) {
                    Int3 child;
                    if (!grids_.child(run.first, {0, y, z}, child)) continue;
                    const auto to = [&](int x) {
                        const Int3 s{x, y, z};
                        return places_.of[number_of(s)] < 0 ? nullptr : &weights.at(number_of(s), slot);
                    };
                    if (y == 0 && z == 0) centre = size;
                    lines[size++] = {to(-1), to(0), to(1), fine.component(c) + fine_.slot({0, child.y, child.z})};
                }
            if (grids_.axes[0]) {
                SumOfChildren<T>{lines.data(), size, centre, run.count, grids_.fine.nx, wraps}(sum);
                continue;
            }
            for (int t = 0; t < run.count; ++t) {
                double own = lines[centre].x[t];
                for (int n = 0; n < size; ++n)
                    if (n != centre) own = std::fma(double(lines[n].own[t]), lines[n].x[t], own);
                sum[t] = own;
            }
        }
    });
}

template <class T>
void Interpolation::add_by_periodic_lines(Vector& fine, const Vector& coarse) const {
    const WeightsView<const T> weights = view_of(of(weights_, singles_, T{}) + order_.halo_slots());
    const int count = grids_.coarse.nx;
    for_each_run(fine.context(), fine_, fine.dof(), [&](const Run& run) {
        for (int c = 0; c < fine.dof(); ++c) {
            std::array<WeightsOfLine<T>, most_lines_around> lines;
            int size = 0;
            for (int z = -grids_.axes[2]; z <= grids_.axes[2]; ++z)  // parents above along an axis come first
                for (int y = -grids_.axes[1]; y <= grids_.axes[1]; ++y) {
                    Int3 parent;
                    if (!grids_.parent(run.first, {0, y, z}, parent)) continue;
                    const Index slot = order_.slot({0, parent.y, parent.z});
                    const auto to = [&](int x) {
                        const Int3 s{x, y, z};
                        return places_.of[number_of(s)] < 0 ? nullptr : &weights.at(number_of(s), slot);
                    };
                    lines[size++] = {to(-1), to(0), to(1),
                                     coarse.component(c) + coarse.layout().slot({0, parent.y, parent.z})};
                }
            double* const x = fine.component(c) + run.slot;
            if (grids_.axes[0]) {
                add_values_of_parents(lines.data(), size, count, run.count, grids_.fine.periodic[0], x);
                continue;
            }
            for (int n = 0; n < size; ++n)
                for (int t = 0; t < count; ++t)
                    x[t] = lines[n].own ? std::fma(double(lines[n].own[t]), lines[n].x[t], x[t]) : x[t] + lines[n].x[t];
        }
    });
}

template void Interpolation::restrict_by_periodic_lines<double>(const Vector&, Vector&) const;
template void Interpolation::restrict_by_periodic_lines<float>(const Vector&, Vector&) const;
template void Interpolation::add_by_periodic_lines<double>(Vector&, const Vector&) const;
template void Interpolation::add_by_periodic_lines<float>(Vector&, const Vector&) const;

}  // namespace hyperplane::multigrid
