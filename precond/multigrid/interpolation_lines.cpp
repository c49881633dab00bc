// SPDX-License-Identifier: BSD-3-Clause
// Interpolation on a CPU along lines of the natural layout: the same formulas as in interpolation.cpp, for a line of
// coarse points at once.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "core/grid/layout.hpp"
#include "core/vector/streamed_copy.hpp"
#include "precond/multigrid/interpolation.hpp"
#include "precond/multigrid/lines.hpp"
#include "precond/multigrid/weight_formula.hpp"
#include "precond/walks/line_blocks.hpp"

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

void Interpolation::compute_different_lines(const Source& source, FunctionRef<void(const Run&)> compute) {
    const StructMatrix& a = *source.a;
    a.find_equal_lines();
    const CopiedLines lines(
        source.planes, [&](int j, int k, std::vector<int>& numbers) { source.append_lines(grids_, j, k, numbers); });
    const bool past_caches = weights_.size() * Index(sizeof(double)) >= least_streamed;
    lines.for_each_line(a.context(), source.planes, 16 * a.dof(), compute, [&](Int3 from, const Run& run) {
        const StreamedCopy copies(past_caches);
        for (int place = 0; place < places_.count; ++place) {
            double* const weights = first(weights_) + place * stride_;
            copies.copy(weights + order_.slot(from), run.count, weights + order_.slot(run.first));
        }
    });
    if (source.planes == coarse_ && coarse_.halo() == 0) lines_ = lines.equal_lines(order_);
}

void Interpolation::compute_by_lines(const Source& source) {
    const std::vector<LineChildren> all = all_children(*source.a, grids_);
    compute_different_lines(source, [&](const Run& run) { compute_line(*source.a, all, run); });
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

void Interpolation::find_equal_lines() {
    std::vector<const double*> arrays;
    for (int place = 0; place < places_.count; ++place) arrays.push_back(first(weights_) + place * stride_);
    lines_.emplace(context_, order_, arrays);
}

namespace {

using detail::Lanes, detail::lanes;

/// Weights of a line of coarse points to the children below, at and above them along x, and the values that these
/// multiply: of a line of children in a restriction, of the parents themselves in a prolongation.
template <class T, class Real>
struct LineOfWeights {
    const T *below, *own, *above;
    const Real* x;
};
constexpr int most_lines = 9;

/// The sum over lines of below[t] x[2 t - 1] + own[t] x[2 t] + above[t] x[2 t + 1], in this order. A weight of a point
/// that does not exist is zero; there are `fine` points.
template <class Take, class T, class Real>
HYPERPLANE_INLINE Lanes sum_of_children(const Take& take, std::span<const LineOfWeights<T, Real>> lines, int t,
                                        int fine) {
    Lanes sum{};
    for (const LineOfWeights<T, Real>& line : lines) {
        const Lanes first = take(line.x, 2 * t, 0, fine), last = take(line.x, 2 * t + lanes, 0, fine);
        const Lanes before = take(line.x, 2 * t - 1, 0, fine), after = take(line.x, 2 * t - 1 + lanes, 0, fine);
        sum = detail::fused(detail::load(line.below + t), detail::even_of(before, after), sum);
        sum = detail::fused(detail::load(line.own + t), detail::even_of(first, last), sum);
        sum = detail::fused(detail::load(line.above + t), detail::odd_of(first, last), sum);
    }
    return sum;
}

/// The sums of all coarse points of a line.
template <class T, class Real>
void sum_children(std::span<const LineOfWeights<T, Real>> lines, int count, int fine, Real* sum) {
    int t = 0;
    for (; fine >= lanes && t + lanes <= count; t += lanes) {
        const bool inner = t > 0 && 2 * t + 2 * lanes <= fine;
        const Lanes v =
            inner ? sum_of_children(TakeAll{}, lines, t, fine) : sum_of_children(TakeValid{}, lines, t, fine);
        detail::store(v, sum + t);
    }
    for (; t < count; ++t) {
        double own = 0.0;
        for (const LineOfWeights<T, Real>& line : lines) {
            const auto add = [&](const T* weights, int at) {
                own = std::fma(double(weights[t]), at >= 0 && at < fine ? double(line.x[at]) : 0.0, own);
            };
            add(line.below, 2 * t - 1);
            add(line.own, 2 * t);
            add(line.above, 2 * t + 1);
        }
        sum[t] = Real(own);
    }
}

/// Adds to the fine points of a line what their parents give: to point 2 t the sum over lines of own[t] x[t], to point
/// 2 t + 1 that of below[t + 1] x[t + 1] + above[t] x[t], in this order, for `count` parents.
template <class T, class Real>
void add_parents(std::span<const LineOfWeights<T, Real>> lines, int count, int points, Real* fine) {
    int t = 0;
    for (; t + lanes <= count && 2 * (t + lanes) <= points; t += lanes) {
        const bool inner = t + lanes < count;
        Lanes even{}, odd{};
        for (const LineOfWeights<T, Real>& line : lines) {
            const Lanes x = detail::load(line.x + t);
            even = detail::fused(detail::load(line.own + t), x, even);
            if (inner)
                odd = detail::fused(detail::load(line.below + t + 1), detail::load(line.x + t + 1), odd);
            else  // position `count` does not exist
                odd += detail::shifted<1, true>(detail::load(line.below + t) * x, Lanes{});
            odd = detail::fused(detail::load(line.above + t), x, odd);
        }
        const Lanes first = detail::load(fine + 2 * t) + detail::first_pairs(even, odd);
        const Lanes last = detail::load(fine + 2 * t + lanes) + detail::last_pairs(even, odd);
        detail::store(first, fine + 2 * t);
        detail::store(last, fine + 2 * t + lanes);
    }
    for (; t < count; ++t) {
        double even = 0.0, odd = 0.0;
        for (const LineOfWeights<T, Real>& line : lines) {
            even = std::fma(double(line.own[t]), double(line.x[t]), even);
            if (t + 1 < count) odd = std::fma(double(line.below[t + 1]), double(line.x[t + 1]), odd);
            odd = std::fma(double(line.above[t]), double(line.x[t]), odd);
        }
        fine[2 * t] = Real(double(fine[2 * t]) + even);
        if (2 * t + 1 < points) fine[2 * t + 1] = Real(double(fine[2 * t + 1]) + odd);
    }
}

}  // namespace

template <class T, class AnyVector, class Memory>
void Interpolation::restrict_line(const Run& run, const AnyVector& fine, const Memory& memory,
                                  AnyVector& coarse) const {
    using Real = std::remove_pointer_t<decltype(coarse.data())>;
    for (int c = 0; c < fine.dof(); ++c) {
        Real* sum = coarse.component(c) + coarse.layout().slot(run.first);
        std::array<LineOfWeights<T, Real>, most_lines> lines;
        std::size_t size = 0;
        for (int z = -grids_.axes[2]; z <= grids_.axes[2]; ++z)
            for (int y = -grids_.axes[1]; y <= grids_.axes[1]; ++y) {
                Int3 child;
                if (!grids_.child(run.first, {0, y, z}, child)) continue;
                const auto weights = [&](int x) { return line<T>({x, y, z}, run.first.y, run.first.z); };
                const Real* from = fine.component(c) + fine_.slot({0, child.y, memory(child.z)});
                lines[size++] = grids_.axes[0] ? LineOfWeights<T, Real>{weights(-1), weights(0), weights(1), from}
                                               : LineOfWeights<T, Real>{nullptr, weights(0), nullptr, from};
            }
        const std::span<const LineOfWeights<T, Real>> all(lines.data(), size);
        if (grids_.axes[0]) {
            sum_children(all, run.count, grids_.fine.nx, sum);
            continue;
        }
        for (int t = 0; t < run.count; ++t) {
            double own = 0.0;
            for (const LineOfWeights<T, Real>& one : all) own = std::fma(double(one.own[t]), double(one.x[t]), own);
            sum[t] = Real(own);
        }
    }
}

template <class T, class AnyVector>
void Interpolation::restrict_by_lines(const AnyVector& fine, AnyVector& coarse) const {
    for_each_run(coarse.context(), coarse_, 8 * fine.dof(), [&](const Run& run) {
        restrict_line<T>(
            run, fine, [](int plane) { return plane; }, coarse);
    });
}

namespace {

constexpr int planes_of_thread = 3;  ///< of the fine grid, which the children of a coarse plane are in

}  // namespace

bool Interpolation::restricts_planes() const {
    constexpr int fewest_planes = 4;  // the first fine plane of a thread is computed by the one before, too
    return by_lines() && !fine_.is_part() && coarse_.planes() >= fewest_planes * context_.threads_for(fine_.slots());
}

void Interpolation::restrict_planes(Vector& scratch, FunctionRef<void(int plane, int to)> compute,
                                    Vector& coarse) const {
    const int count = coarse_.planes(), step = grids_.axes[2] ? 2 : 1, last = grids_.fine.nz - 1;
#pragma omp parallel num_threads(context_.threads_for(fine_.slots()))
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const auto memory = [&](int plane) { return planes_of_thread * thread + plane % planes_of_thread; };
        const int begin = int(Index(count) * thread / threads), end = int(Index(count) * (thread + 1) / threads);
        int next = std::max(0, step * begin - (step - 1));
        for (int plane = begin; plane < end; ++plane) {
            for (; next <= std::min(last, step * plane + (step - 1)); ++next) compute(next, memory(next));
            for (int j = 0; j < coarse_.grid().ny; ++j) {
                const Run run = coarse_.line(j, plane);
                rounded() ? restrict_line<float>(run, scratch, memory, coarse)
                          : restrict_line<double>(run, scratch, memory, coarse);
            }
        }
    }
}

template <class T, class AnyVector>
void Interpolation::add_by_lines(AnyVector& fine, const AnyVector& coarse) const {
    using Real = std::remove_pointer_t<decltype(fine.data())>;
    const int count = grids_.coarse.nx;
    for_each_run(fine.context(), fine_, fine.dof(), [&](const Run& run) {
        for (int c = 0; c < fine.dof(); ++c) {
            std::array<LineOfWeights<T, Real>, most_lines> lines;
            std::size_t size = 0;
            for (int z = -grids_.axes[2]; z <= grids_.axes[2]; ++z)
                for (int y = -grids_.axes[1]; y <= grids_.axes[1]; ++y) {
                    Int3 parent;
                    if (!grids_.parent(run.first, {0, y, z}, parent)) continue;
                    const auto weights = [&](int x) { return line<T>({x, y, z}, parent.y, parent.z); };
                    const Real* from = coarse.component(c) + coarse.layout().slot({0, parent.y, parent.z});
                    lines[size++] = grids_.axes[0] ? LineOfWeights<T, Real>{weights(-1), weights(0), weights(1), from}
                                                   : LineOfWeights<T, Real>{nullptr, weights(0), nullptr, from};
                }
            const std::span<const LineOfWeights<T, Real>> all(lines.data(), size);
            Real* x = fine.component(c) + run.slot;
            if (grids_.axes[0]) {
                add_parents(all, count, run.count, x);
                continue;
            }
            for (int t = 0; t < count; ++t) {
                double sum = 0.0;
                for (const LineOfWeights<T, Real>& one : all) sum = std::fma(double(one.own[t]), double(one.x[t]), sum);
                x[t] = Real(double(x[t]) + sum);
            }
        }
    });
}

template void Interpolation::restrict_by_lines<double>(const Vector&, Vector&) const;
template void Interpolation::restrict_by_lines<double>(const SingleVector&, SingleVector&) const;
template void Interpolation::restrict_by_lines<float>(const Vector&, Vector&) const;
template void Interpolation::restrict_by_lines<float>(const SingleVector&, SingleVector&) const;
template void Interpolation::add_by_lines<double>(Vector&, const Vector&) const;
template void Interpolation::add_by_lines<double>(SingleVector&, const SingleVector&) const;
template void Interpolation::add_by_lines<float>(Vector&, const Vector&) const;
template void Interpolation::add_by_lines<float>(SingleVector&, const SingleVector&) const;

}  // namespace hyperplane::multigrid
