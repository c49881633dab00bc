// SPDX-License-Identifier: BSD-3-Clause
#include "precond/reproductions/fgbilu_by_element.hpp"

#include "core/device/for_each_element.hpp"
#include "precond/walks/level_columns.hpp"

namespace hyperplane {
namespace {

/// Whether a column of a hyperplane has a point; if so, the point and its slot.
HYPERPLANE_HD bool find_point(const Layout& layout, const Hyperplane& plane, int column, Int3* p, Index* slot) {
    plane.find(layout.grid().nx, layout.levels().y, layout.levels().z, column, &p->x, &p->y, &p->z);
    if (!layout.grid().contains(*p)) return false;
    *slot = layout.slot(*p);
    return true;
}

/// The common part of the steps of a level, and the arithmetic of one element (r, c) of a point's blocks. A step is a
/// loop over the level's columns, `at`, and over elements. Neighbours outside the grid or across a periodic boundary
/// are skipped.
struct Step {
    FgBiluFactors f;
    Hyperplane plane;

    /// Whether column `at` has a point.
    HYPERPLANE_HD bool find(int at, Int3* p, Index* slot) const {
        return find_point(f.view.layout, plane, at, p, slot);
    }
    HYPERPLANE_HD bool neighbour(Int3 p, int entry, Index* slot) const {
        const Int3 q = p + f.view.offsets[entry];
        if (!f.view.layout.grid().contains(q)) return false;
        *slot = f.view.layout.slot(q);
        return true;
    }
    /// <E_l(p)^{r,:}, D^-1(p+l)^{:,c}>
    HYPERPLANE_HD double product(Int3 p, Index slot, int l, int r, int c) const {
        Index there;
        double sum = 0.0;
        if (!neighbour(p, l, &there)) return sum;
        for (int k = 0; k < f.dof; ++k) sum += f.view.at(l, slot, there, r, k) * f.inverse.at(0, there, k, c);
        return sum;
    }
    /// X_e(p)^{r,c} -= <s^{r,:}, F_u(p+l)^{:,c}>, where s has the products of row r at a distance of `step`.
    HYPERPLANE_HD void eliminate(Int3 p, Index slot, int l, int u, int e, int r, int c, const double* s,
                                 Index step) const {
        Index there, end;
        if (!neighbour(p, l, &there) || !neighbour(p, e, &end)) return;
        double sum = 0.0;
        for (int k = 0; k < f.dof; ++k) sum += s[k * step] * f.view.at(u, there, end, k, c);
        (e == f.view.lower ? f.inverse.at(0, slot, r, c) : f.triangles.at(e, slot, r, c)) -= sum;
    }
};

/// Steps #1 and #2 of Algorithm 4, for one group of lower entries.
struct EliminationStep : Step {
    const int* group;  ///< `lowers` entries, then `pairs` triples
    int lowers, pairs;
    double* products;
};

struct Multiply : EliminationStep {
    HYPERPLANE_HD void operator()(int at, int element) const {
        Int3 p;
        Index slot;
        if (!find(at, &p, &slot)) return;
        const int dof = f.dof;
        for (int place = 0; place < lowers; ++place)
            products[(Index(place) * dof * dof + element) * plane.columns + at] =
                product(p, slot, group[place], element / dof, element % dof);
    }
};

struct Subtract : EliminationStep {
    HYPERPLANE_HD void operator()(int at, int element) const {
        Int3 p;
        Index slot;
        if (!find(at, &p, &slot)) return;
        const int dof = f.dof, r = element / dof, c = element % dof;
        const int* triples = group + lowers;
        for (int pair = 0; pair < pairs; ++pair) {
            const int place = triples[3 * pair], u = triples[3 * pair + 1], e = triples[3 * pair + 2];
            const double* s = products + (Index(place) * dof + r) * dof * plane.columns + at;
            eliminate(p, slot, group[place], u, e, r, c, s, plane.columns);
        }
    }
};

/// The common part of the steps of the inversion (Algorithm 4, #3 to #5).
struct InversionStep : Step {
    double* scale;
    int* failed;
    PivotRatio* ratios;
    PivotJudge judge;
    int r;  ///< the pivot's row

    HYPERPLANE_HD double& d(Index slot, int row, int col) const { return f.inverse.at(0, slot, row, col); }
    HYPERPLANE_HD double own(Index slot) const { return f.diagonal.at(0, slot, r, r); }
    HYPERPLANE_HD unsigned long long row_of(Int3 p) const {
        return (unsigned long long)(f.view.layout.grid().row(p)) * f.dof + r;
    }
    /// d^{r,r}, or the number that replaces it if it cannot be used; 0 if the inversion has failed at this point. If
    /// `tells`, a pivot that cannot be used is recorded.
    HYPERPLANE_HD double pivot(int at, Int3 p, Index slot, bool tells) const {
        return failed[at] ? 0.0 : judge.usable(d(slot, r, r), own(slot), scale[at], row_of(p), tells);
    }
    /// The same without a record, and the point's slot; 0 if the column has no point.
    HYPERPLANE_HD double pivot_at(int at, Index* slot) const {
        Int3 p;
        return find(at, &p, slot) ? pivot(at, p, *slot, false) : 0.0;
    }
};

/// Computes the scale with which pivots are compared. This step is not in the paper, which tests no pivots.
struct Measure : InversionStep {
    HYPERPLANE_HD void operator()(int at, int) const {
        Int3 p;
        Index slot;
        if (!find(at, &p, &slot)) return;
        double largest = 0.0;
        for (int row = 0; row < f.dof; ++row)
            for (int col = 0; col < f.dof; ++col)
                largest = fmax(largest, fmax(fabs(d(slot, row, col)), fabs(f.diagonal.at(0, slot, row, col))));
        scale[at] = largest;
        failed[at] = 0;
    }
};

/// Step #3: column r and row r of the block, 2 (n - 1) elements.
struct ScaleCross : InversionStep {
    HYPERPLANE_HD void operator()(int at, int element) const {
        Index slot;
        const double by = pivot_at(at, &slot);
        if (by == 0.0) return;
        const bool in_column = element >= f.dof - 1;
        int other = element - (in_column ? f.dof - 1 : 0);
        other += other >= r;
        double& value = in_column ? d(slot, other, r) : d(slot, r, other);
        value = (in_column ? -value : value) / by;
    }
};

/// Step #4: all other elements, (n - 1)^2 of them.
struct UpdateRest : InversionStep {
    HYPERPLANE_HD void operator()(int at, int element) const {
        Index slot;
        const double by = pivot_at(at, &slot);
        if (by == 0.0) return;
        int row = element / (f.dof - 1), col = element % (f.dof - 1);
        row += row >= r, col += col >= r;
        d(slot, row, col) += d(slot, row, r) * d(slot, r, col) * by;
    }
};

/// Step #5: inverts the pivot and records its ratio to A's diagonal.
struct InvertPivot : InversionStep {
    HYPERPLANE_HD void operator()(int at, int) const {
        Int3 p;
        Index slot;
        if (!find(at, &p, &slot)) return;
        if (!failed[at]) {
            ratios[at].take(judge.ratio(d(slot, r, r), own(slot)), f.view.layout.grid().row(p));
            const double by = pivot(at, p, slot, true);
            if (by == 0.0)
                failed[at] = 1;
            else
                d(slot, r, r) = 1.0 / by;
        }
        if (r < f.dof - 1 || !failed[at]) return;
        for (int row = 0; row < f.dof; ++row)
            for (int col = 0; col < f.dof; ++col) d(slot, row, col) = 0.0;
    }
};

void invert_by_steps(const Context& context, InversionStep step, int columns) {
    const int dof = step.f.dof;
    for_each_element(context, columns, 1, "fgbilu: scale", Measure{step});
    for (int r = 0; r < dof; ++r) {
        step.r = r;
        for_each_element(context, columns, 2 * (dof - 1), "fgbilu: step 3", ScaleCross{step});
        for_each_element(context, columns, (dof - 1) * (dof - 1), "fgbilu: step 4", UpdateRest{step});
        for_each_element(context, columns, 1, "fgbilu: step 5", InvertPivot{step});
    }
}

/// A level of a triangular solve, as a loop over the level's columns, `at`, and over the rows of a block. Factors is
/// FactorView or ReducedFactorView.
template <class Factors>
struct SolveStep {
    Factors f;
    Hyperplane plane;
    int dof;
    bool lower;

    HYPERPLANE_HD bool find(int at, Int3* p, Index* slot) const { return find_point(f.layout, plane, at, p, slot); }
    /// The sum over the entries of the triangle of <X_e(p)^{r,:}, x(p+e)>. Neighbours outside the grid or across a
    /// periodic boundary are skipped.
    HYPERPLANE_HD double triangle(Int3 p, Index slot, int r, const double* x) const {
        const Index slots = f.layout.slots();
        double sum = 0.0;
        for (int at = 0; at < f.lower; ++at) {
            const int e = lower ? at : f.lower + 1 + at;
            const Int3 q = p + f.offsets[e];
            if (!f.layout.grid().contains(q)) continue;
            const Index there = f.layout.slot(q);
            for (int c = 0; c < dof; ++c) sum += f.at(e, slot, there, r, c) * x[c * slots + there];
        }
        return sum;
    }
};

/// The first kernel of a level in Algorithm 6: z = b - E x in the lower solve, z = F x in the upper one.
struct SolveTriangle : SolveStep<FactorView> {
    const double *b, *x;
    double* z;

    HYPERPLANE_HD void operator()(int at, int r) const {
        Int3 p;
        Index slot;
        if (!find(at, &p, &slot)) return;
        const double sum = triangle(p, slot, r, x);
        z[Index(r) * plane.columns + at] = lower ? b[r * f.layout.slots() + slot] - sum : sum;
    }
};

/// The second kernel: x = D^-1 z in the lower solve, x -= D^-1 z in the upper one.
struct SolvePivot : SolveStep<FactorView> {
    const double* z;
    double* x;

    HYPERPLANE_HD void operator()(int at, int r) const {
        Int3 p;
        Index slot;
        if (!find(at, &p, &slot)) return;
        double sum = 0.0;
        for (int c = 0; c < dof; ++c) sum += f.inverse_at(slot, r, c) * z[Index(c) * plane.columns + at];
        double& value = x[r * f.layout.slots() + slot];
        value = lower ? sum : value - sum;
    }
};

/// The only kernel of a level if the triangles are unit: x = b - W x, or x = b - G x.
template <class T>
struct SolveUnitTriangle : SolveStep<ReducedFactorView<T>> {
    const double* b;
    double* x;

    HYPERPLANE_HD void operator()(int at, int r) const {
        Int3 p;
        Index slot;
        if (!this->find(at, &p, &slot)) return;
        const Index place = r * this->f.layout.slots() + slot;
        x[place] = b[place] - this->triangle(p, slot, r, x);
    }
};

/// Calls body(hyperplane) for all levels, in the order of the lower or the upper solve.
template <class Body>
void for_each_level(const Layout& layout, bool lower, const Body& body) {
    const int levels = layout.level_count();
    for (int at = 0; at < levels; ++at) body(hyperplane_of(layout, lower ? at : levels - 1 - at));
}

template <class T>
void sweep(const ReducedFactorView<T>& factors, bool lower, const Vector& b, Vector& x) {
    for_each_level(factors.layout, lower, [&](const Hyperplane& plane) {
        for_each_element(x.context(), plane.columns, x.dof(), "fgbilu: unit triangle",
                         SolveUnitTriangle<T>{{factors, plane, x.dof(), lower}, b.data(), x.data()});
    });
}

void sweep(const ReducedFactors& factors, bool lower, const Vector& b, Vector& x) {
    factors.storage() == FactorStorage::single_precision ? sweep(factors.view<float>(), lower, b, x)
                                                         : sweep(factors.view<Half>(), lower, b, x);
}

}  // namespace

FgBiluByElement::Order::Order(const IluPattern& system) {
    const Stencil& stencil = system.stencil;
    std::vector<int> depth(stencil.lower_size(), 0);
    for (int l = 0; l < stencil.lower_size(); ++l) {
        if (depth[l] >= int(groups.size())) groups.resize(depth[l] + 1);
        Group& group = groups[depth[l]];
        const int place = int(group.lower.size());
        group.lower.push_back(l);
        for (int u = stencil.diagonal() + 1; u < stencil.size(); ++u) {
            const int e = stencil.find(stencil[l] + stencil[u]);
            if (e < 0 || (system.symmetric && e > stencil.diagonal()) || (system.shares && e != stencil.diagonal()))
                continue;
            group.pairs.push_back({place, u, e});
            if (e < stencil.diagonal()) depth[e] = std::max(depth[e], depth[l] + 1);
        }
    }
}

int FgBiluByElement::Order::largest_group() const {
    std::size_t largest = 0;
    for (const Group& group : groups) largest = std::max(largest, group.lower.size());
    return int(largest);
}

std::vector<int> FgBiluByElement::Order::table() const {
    std::vector<int> words;
    for (const Group& group : groups) {
        words.insert(words.end(), group.lower.begin(), group.lower.end());
        for (const Pair& pair : group.pairs) words.insert(words.end(), {pair.l, pair.u, pair.e});
    }
    return words;
}

FgBiluByElement::FgBiluByElement(const Context& context, const IluPattern& system) : order_(system) {
    const char* label = "preconditioner: scratch";
    const Index columns = most_columns(system.layout), dof = system.dof;
    table_ = copied_to(context, label, order_.table());
    failed_ = Buffer<int>(context, label, columns);
    products_ = Buffer<double>(context, label, order_.largest_group() * dof * dof * columns);
    vector_ = Buffer<double>(context, label, dof * columns);
    scale_ = Buffer<double>(context, label, columns);
}

Index FgBiluByElement::bytes(const IluPattern& system) {
    const Order order(system);
    const Index columns = most_columns(system.layout), dof = system.dof;
    return Index(order.table().size() * sizeof(int)) + columns * Index(sizeof(int)) +
           (order.largest_group() * dof * dof + dof + 1) * columns * Index(sizeof(double));
}

void FgBiluByElement::factor(const FgBiluFactors& factors, PivotRecord& record, const PivotRules& rules) {
    const Context& context = table_.context();
    const Layout& layout = factors.view.layout;
    const PivotJudge judge{rule_of(rules, factors.view.symmetric), record.log()};
    const int block = factors.dof * factors.dof;
    for (int level = 0; level < layout.level_count(); ++level) {
        const Step step{factors, hyperplane_of(layout, level)};
        const int* table = table_.data();
        for (const Order::Group& group : order_.groups) {
            const int lowers = int(group.lower.size()), pairs = int(group.pairs.size());
            const EliminationStep elimination{step, table, lowers, pairs, products_.data()};
            for_each_element(context, step.plane.columns, block, "fgbilu: step 1", Multiply{elimination});
            for_each_element(context, step.plane.columns, block, "fgbilu: step 2", Subtract{elimination});
            table += lowers + 3 * pairs;
        }
        invert_by_steps(context, {step, scale_.data(), failed_.data(), record.ratios(), judge, 0}, step.plane.columns);
    }
}

void FgBiluByElement::solve(const FgBiluFactors& factors, const Vector& r, Vector& z) {
    for (const bool lower : {true, false})
        for_each_level(factors.view.layout, lower, [&](const Hyperplane& plane) {
            const SolveStep<FactorView> step{factors.view, plane, factors.dof, lower};
            for_each_element(r.context(), plane.columns, factors.dof, "fgbilu: triangle",
                             SolveTriangle{step, r.data(), z.data(), vector_.data()});
            for_each_element(r.context(), plane.columns, factors.dof, "fgbilu: pivots",
                             SolvePivot{step, vector_.data(), z.data()});
        });
}

void FgBiluByElement::solve(const ReducedFactors& factors, const Vector& r, Vector& z) {
    sweep(factors, true, r, z);
    factors.apply_inverse(z, z);
    sweep(factors, false, z, z);
}

}  // namespace hyperplane
