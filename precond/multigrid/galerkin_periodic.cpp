// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/galerkin_periodic.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/grid/layout.hpp"
#include "core/vector/lanes.hpp"
#include "precond/multigrid/galerkin_lines.hpp"
#include "precond/multigrid/periodic_lines.hpp"

namespace hyperplane::multigrid {
namespace {

using detail::Lanes, detail::lanes;

/// A product P(i, I) a_i(o) P(i + o, J), for the points I of a segment. Slots are relative to those of its first point:
/// of the coarse point among weights, and of the fine point that coincides with it.
struct PeriodicTerm {
    int coarse_entry, entry;  ///< both stored
    int from, to;             ///< number_of the child among I's and among J's
    Index parent, coefficient;
    bool mirrored, ahead;  ///< `ahead`: the coefficient's point lies above the fine one along x
};

/// The terms of a segment, those of each coarse entry in the order in which the loop over points adds them.
struct SegmentTerms {
    std::vector<PeriodicTerm> list;
    std::vector<int> begin;  ///< of each coarse entry's terms, and the end
};

/// Where a term's factors stand.
struct TermFactors {
    const double *from, *to, *coefficient;
    bool ahead;
};

/// The sums of eight positions from t on, which are regular points.
template <int step>
HYPERPLANE_INLINE Lanes sum_of_products(const std::vector<TermFactors>& terms, int t) {
    Lanes sum{};
    for (const TermFactors& term : terms) {
        const double* a = term.coefficient + step * t;
        const Lanes both = detail::load(term.from + t) * detail::load(term.to + t);
        if constexpr (step == 1)
            sum = detail::fused(both, detail::load(a), sum);
        else if (term.ahead)  // behind the last coefficient the line may end, but there is one before the first
            sum = detail::fused(both, detail::odd_of(detail::load(a - 1), detail::load(a + lanes - 1)), sum);
        else
            sum = detail::fused(both, detail::even_of(detail::load(a), detail::load(a + lanes)), sum);
    }
    return sum;
}

template <int step>
void add_products(const std::vector<TermFactors>& terms, int count, double* sum) {
    if (count >= lanes) {
        for (int t = 0; t + lanes <= count; t += lanes) detail::store(sum_of_products<step>(terms, t), sum + t);
        if (count % lanes > 0) detail::store(sum_of_products<step>(terms, count - lanes), sum + count - lanes);
        return;
    }
    for (int t = 0; t < count; ++t) {
        double own = 0.0;
        for (const TermFactors& term : terms)
            own = std::fma(term.from[t] * term.to[t], term.coefficient[step * t], own);
        sum[t] = own;
    }
}

class PeriodicProduct {
public:
    PeriodicProduct(const StructMatrix& a, const Interpolation& p, StructMatrix& coarse)
        : a_(a),
          weights_(p.view()),
          ones_(p.line(Int3{}, 0, 0)),
          stencil_(coarse.stencil()),
          layout_(coarse.layout()),
          lines_(p.grids(), a.stencil().radius()) {
        std::fill(std::begin(entry_of_), std::end(entry_of_), -1);
        for (int e = 0; e < coarse.stored_entries(); ++e) {
            entry_of_[place(stencil_[e])] = e;
            for (int row = 0; row < a.dof(); ++row)
                for (int col = 0; col < a.dof(); ++col) to_.push_back(coarse.values(e, row, col));
        }
        const int y = lines_.first_regular(1), z = lines_.first_regular(2);
        if (y < 0 || z < 0) return;
        for (const Segment& segment : lines_.segments()) collect({segment.first, y, z}, regular_.emplace_back());
    }

    void line(const Run& run) const {
        const Int3 at = run.first;
        const bool regular = lines_.at(1, at.y).regular() && lines_.at(2, at.z).regular();
        thread_local SegmentTerms own;
        for (std::size_t n = 0; n < lines_.segments().size(); ++n) {
            const Segment& segment = lines_.segments()[n];
            const Int3 first{segment.first, at.y, at.z};
            if (!regular) collect(first, own);
            compute(first, segment.count, regular ? regular_[n] : own);
        }
    }

private:
    static constexpr int reach = 2;  ///< the largest radius of a coarse stencil

    static int place(Int3 d) { return d.x + reach + (2 * reach + 1) * (d.y + reach + (2 * reach + 1) * (d.z + reach)); }

    Index fine_slot(Int3 coarse_point) const { return a_.layout().slot(weights_.grids.first_child(coarse_point)); }

    /// The terms of a segment that begins at a point.
    void collect(Int3 first, SegmentTerms& terms) const {
        thread_local std::vector<PeriodicTerm> found;
        found.clear();
        const AxisPoint &x = lines_.at(0, first.x), &y = lines_.at(1, first.y), &z = lines_.at(2, first.z);
        for (int number = 0; number < 27; ++number) {
            const Int3 s = offset_of(number), child{x.child(s.x), y.child(s.y), z.child(s.z)};
            if (child.x < 0 || child.y < 0 || child.z < 0) continue;
            for (int e = 0; e < a_.stencil().size(); ++e) {
                const Int3 o = a_.stencil()[e];
                const Int3 there{x.neighbour(s.x, o.x), y.neighbour(s.y, o.y), z.neighbour(s.z, o.z)};
                if (there.x < 0 || there.y < 0 || there.z < 0) continue;
                const bool mirrored = !a_.stores(e);
                PeriodicTerm term{-1,       mirrored ? a_.stencil().mirror(e) : e,
                                  number,   13,
                                  0,        a_.layout().slot(mirrored ? there : child) - fine_slot(first),
                                  mirrored, (mirrored ? s.x + o.x : s.x) > 0};
                for (const AxisPoint::Parent& pz : z.parents(s.z, o.z))
                    for (const AxisPoint::Parent& py : y.parents(s.y, o.y))
                        for (const AxisPoint::Parent& px : x.parents(s.x, o.x)) {
                            term.coarse_entry = entry_of_[place({px.offset, py.offset, pz.offset})];
                            if (term.coarse_entry < 0) continue;
                            term.to = number_of({px.child, py.child, pz.child});
                            term.parent =
                                weights_.order.slot({px.index, py.index, pz.index}) - weights_.order.slot(first);
                            found.push_back(term);
                        }
            }
        }
        sort_by_entry(found, terms);
    }

    /// Keeps the order of each coarse entry's terms.
    void sort_by_entry(const std::vector<PeriodicTerm>& found, SegmentTerms& terms) const {
        terms.begin.assign(stencil_.size() + 2, 0);
        for (const PeriodicTerm& term : found) ++terms.begin[term.coarse_entry + 2];
        for (std::size_t e = 2; e < terms.begin.size(); ++e) terms.begin[e] += terms.begin[e - 1];
        terms.list.resize(found.size());
        for (const PeriodicTerm& term : found) terms.list[terms.begin[term.coarse_entry + 1]++] = term;
    }

    void compute(Int3 first, int count, const SegmentTerms& terms) const {
        thread_local std::vector<TermFactors> factors;
        const Index own = weights_.order.slot(first), fine = fine_slot(first), slot = layout_.slot(first);
        const auto weights = [&](int number, Index at) {
            return number == 13 ? ones_ : weights_.values + weights_.places.of[number] * weights_.stride + at;
        };
        const int dof = a_.dof();
        const bool halves = weights_.grids.axes[0];
        for (std::size_t at = 0; at < to_.size(); ++at) {
            const int e = int(at) / (dof * dof), row = int(at) / dof % dof, col = int(at) % dof;
            factors.clear();
            for (int n = terms.begin[e]; n < terms.begin[e + 1]; ++n) {
                const PeriodicTerm& term = terms.list[n];
                const double* values =
                    term.mirrored ? a_.values(term.entry, col, row) : a_.values(term.entry, row, col);
                factors.push_back({weights(term.from, own), weights(term.to, own + term.parent),
                                   values + fine + term.coefficient, term.ahead});
            }
            double* const sum = to_[at] + slot;
            halves ? add_products<2>(factors, count, sum) : add_products<1>(factors, count, sum);
            if (e == stencil_.diagonal() && row == col)
                for (int t = 0; t < count; ++t) sum[t] = sum[t] == 0.0 ? 1.0 : sum[t];
        }
    }

    const StructMatrix& a_;
    const WeightsView<const double> weights_;
    const double* const ones_;
    const Stencil& stencil_;  ///< of the coarse matrix
    const Layout& layout_;
    const PeriodicLines lines_;
    std::vector<double*> to_;            ///< the coarse coefficients at slot 0, by stored entry, row and column
    int entry_of_[125];                  ///< by offset; -1 where the coarse stencil has none, or does not store it
    std::vector<SegmentTerms> regular_;  ///< of the segments of lines that are regular along y and z
};

}  // namespace

void galerkin_by_periodic_lines(const Source& source, const Interpolation& p, StructMatrix& coarse) {
    const PeriodicProduct product(*source.a, p, coarse);
    galerkin_of_different_lines(source, p, coarse, [&](const Run& run) { product.line(run); });
}

}  // namespace hyperplane::multigrid
