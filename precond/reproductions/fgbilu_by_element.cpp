// SPDX-License-Identifier: BSD-3-Clause
#include "precond/reproductions/fgbilu_by_element.hpp"

#include "core/device/for_each_point.hpp"
#include "precond/walks/for_each_element.hpp"

namespace hyperplane {

Hyperplane hyperplane_of(const Layout& layout, int level) {
    constexpr int sector = Hyperplane::sector;
    const Grid& grid = layout.grid();
    const int beyond = layout.level_count() - 1 - level;
    const int longest = std::min({grid.nx - 1, level, beyond}) / layout.levels().y + 1;  // points of a plane k, at most
    const int width = std::min(grid.ny, (longest + 2 * (sector - 1)) / sector * sector);
    const int first_k = layout.level_first_plane(level);
    const int columns = width * std::max(0, layout.level_last_plane(level) - first_k + 1);
    const Index all = Index(1) << 32;
    const bool exact = width > 1 && Index(width) * columns <= all;
    return {level, width, first_k, columns, exact ? unsigned((all + width - 1) / width) : 0u};
}

int most_columns(const Layout& layout) {
    int most = 0;
    for (int level = 0; level < layout.level_count(); ++level)
        most = std::max(most, hyperplane_of(layout, level).columns);
    return most;
}

EliminationOrder::EliminationOrder(const Stencil& stencil, bool symmetric, bool shares) {
    std::vector<int> depth(stencil.lower_size(), 0);
    for (int l = 0; l < stencil.lower_size(); ++l) {
        if (depth[l] >= int(groups.size())) groups.resize(depth[l] + 1);
        Group& group = groups[depth[l]];
        const int place = int(group.lower.size());
        group.lower.push_back(l);
        for (int u = stencil.diagonal() + 1; u < stencil.size(); ++u) {
            const int e = stencil.find(stencil[l] + stencil[u]);
            if (e < 0 || (symmetric && e > stencil.diagonal()) || (shares && e != stencil.diagonal())) continue;
            group.pairs.push_back({place, u, e});
            if (e < stencil.diagonal()) depth[e] = std::max(depth[e], depth[l] + 1);
        }
    }
}

int EliminationOrder::largest_group() const {
    std::size_t largest = 0;
    for (const Group& group : groups) largest = std::max(largest, group.lower.size());
    return int(largest);
}

std::vector<int> EliminationOrder::table() const {
    std::vector<int> words;
    for (const Group& group : groups) {
        words.insert(words.end(), group.lower.begin(), group.lower.end());
        for (const Pair& pair : group.pairs) words.insert(words.end(), {pair.l, pair.u, pair.e});
    }
    return words;
}

FgBiluScratch::FgBiluScratch(const Context& context, const Layout& layout, const StructMatrix& a, bool shares,
                             bool steps)
    : layout_(layout),
      stencil_(a.stencil()),
      dof_(a.dof()),
      symmetric_(a.symmetric()),
      shares_(shares),
      order_(stencil_, symmetric_, shares),
      offsets_(copied_to(context, "preconditioner: scratch", stencil_.offsets())) {
    const char* label = "preconditioner: scratch";
    const Index columns = most_columns(layout_), dof = dof_;
    log_ = Buffer<PivotLog>(context, label, 1);
    ratios_ = Buffer<PivotRatio>(context, label, columns);
    if (!steps) return;
    table_ = copied_to(context, label, order_.table());
    failed_ = Buffer<int>(context, label, columns);
    products_ = Buffer<double>(context, label, order_.largest_group() * dof * dof * columns);
    vector_ = Buffer<double>(context, label, dof * columns);
    scale_ = Buffer<double>(context, label, columns);
}

bool FgBiluScratch::serves(const Layout& layout, const StructMatrix& a, bool shares) const {
    return layout == layout_ && a.dof() == dof_ && a.symmetric() == symmetric_ && shares == shares_ &&
           a.stencil().offsets() == stencil_.offsets();
}

Index FgBiluScratch::bytes(const Layout& layout, const Stencil& stencil, int dof, bool symmetric, bool shares,
                           bool steps) {
    const EliminationOrder order(stencil, symmetric, shares);
    const Index columns = most_columns(layout), block = Index(dof) * dof;
    Index bytes = Index(sizeof(PivotLog)) + columns * Index(sizeof(PivotRatio)) + stencil.size() * Index(sizeof(Int3));
    if (steps)
        bytes += Index(order.table().size() * sizeof(int)) + columns * Index(sizeof(int)) +
                 (order.largest_group() * block + dof + 1) * columns * Index(sizeof(double));
    return bytes;
}

void FgBiluScratch::reset() {
    const PivotLog log = empty_pivot_log();
    const std::vector<PivotRatio> none(ratios_.size());
    if (log_.backend() == Backend::cuda) {
        device::copy(&log, log_.data(), sizeof log);
        device::copy(none.data(), ratios_.data(), Index(none.size() * sizeof(PivotRatio)));
    } else {
        log_[0] = log;
        std::copy(none.begin(), none.end(), ratios_.begin());
    }
}

void FgBiluScratch::report(PivotInverter& inverter) const {
    PivotLog log;
    std::vector<PivotRatio> ratios(ratios_.size());
    if (log_.backend() == Backend::cuda) {
        device::copy(log_.data(), &log, sizeof log);
        device::copy(ratios_.data(), ratios.data(), Index(ratios.size() * sizeof(PivotRatio)));
    } else {
        log = log_[0];
        std::copy(ratios_.begin(), ratios_.end(), ratios.begin());
    }
    PivotRatio smallest;
    for (const PivotRatio& one : ratios) smallest.take(one.value, one.row);
    inverter.adopt(log, smallest);
}

namespace {

/// The arithmetic of one element of a point: (r, c) of a block or r of a vector. Neighbours outside the grid or across
/// a periodic boundary are skipped.
struct Elements {
    FgBiluFactors f;

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

struct Copy {
    FgBiluFactors f;
    ConstBlockView a;
    int entries;  ///< number of stored entries, or 0 for the diagonal alone
    double alpha;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        for (int r = 0; r < f.dof; ++r)
            for (int c = 0; c < f.dof; ++c) {
                const double factor = r == c ? 1.0 + alpha : 1.0;
                f.inverse.at(0, slot, r, c) = factor * f.diagonal.at(0, slot, r, c);
                for (int e = 0; e < entries; ++e)
                    if (e != f.view.lower) f.triangles.at(e, slot, r, c) = a.at(e, slot, r, c);
            }
    }
};

/// The common part of the steps of a level. A step is a loop over the level's columns, `at`, and over elements.
struct Step {
    Elements m;
    Hyperplane plane;

    /// Whether column `at` has a point.
    HYPERPLANE_HD bool find(int at, Int3* p, Index* slot) const {
        return find_point(m.f.view.layout, plane, at, p, slot);
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
        const int dof = m.f.dof;
        for (int place = 0; place < lowers; ++place)
            products[(Index(place) * dof * dof + element) * plane.columns + at] =
                m.product(p, slot, group[place], element / dof, element % dof);
    }
};

struct Subtract : EliminationStep {
    HYPERPLANE_HD void operator()(int at, int element) const {
        Int3 p;
        Index slot;
        if (!find(at, &p, &slot)) return;
        const int dof = m.f.dof, r = element / dof, c = element % dof;
        const int* triples = group + lowers;
        for (int pair = 0; pair < pairs; ++pair) {
            const int place = triples[3 * pair], u = triples[3 * pair + 1], e = triples[3 * pair + 2];
            const double* s = products + (Index(place) * dof + r) * dof * plane.columns + at;
            m.eliminate(p, slot, group[place], u, e, r, c, s, plane.columns);
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

    HYPERPLANE_HD double& d(Index slot, int row, int col) const { return m.f.inverse.at(0, slot, row, col); }
    HYPERPLANE_HD double own(Index slot) const { return m.f.diagonal.at(0, slot, r, r); }
    HYPERPLANE_HD unsigned long long row_of(Int3 p) const {
        return (unsigned long long)(m.f.view.layout.grid().row(p)) * m.f.dof + r;
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
        for (int row = 0; row < m.f.dof; ++row)
            for (int col = 0; col < m.f.dof; ++col)
                largest = fmax(largest, fmax(fabs(d(slot, row, col)), fabs(m.f.diagonal.at(0, slot, row, col))));
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
        const bool in_column = element >= m.f.dof - 1;
        int other = element - (in_column ? m.f.dof - 1 : 0);
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
        int row = element / (m.f.dof - 1), col = element % (m.f.dof - 1);
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
            ratios[at].take(judge.ratio(d(slot, r, r), own(slot)), m.f.view.layout.grid().row(p));
            const double by = pivot(at, p, slot, true);
            if (by == 0.0)
                failed[at] = 1;
            else
                d(slot, r, r) = 1.0 / by;
        }
        if (r < m.f.dof - 1 || !failed[at]) return;
        for (int row = 0; row < m.f.dof; ++row)
            for (int col = 0; col < m.f.dof; ++col) d(slot, row, col) = 0.0;
    }
};

void invert_by_steps(Backend backend, InversionStep step, int columns) {
    const int dof = step.m.f.dof;
    for_each_element(backend, columns, 1, "fgbilu: scale", Measure{step});
    for (int r = 0; r < dof; ++r) {
        step.r = r;
        for_each_element(backend, columns, 2 * (dof - 1), "fgbilu: step 3", ScaleCross{step});
        for_each_element(backend, columns, (dof - 1) * (dof - 1), "fgbilu: step 4", UpdateRest{step});
        for_each_element(backend, columns, 1, "fgbilu: step 5", InvertPivot{step});
    }
}

}  // namespace

void fgbilu_copy(Backend backend, const StructMatrix& a, const FgBiluFactors& factors, bool shares, double alpha) {
    for_each_point(backend, factors.view.layout, "fgbilu: copy",
                   Copy{factors, block_view(a), shares ? 0 : a.stored_entries(), alpha});
}

void fgbilu_factor_by_steps(Backend backend, const FgBiluFactors& factors, FgBiluScratch& scratch,
                            const PivotRules& rules) {
    const Layout& layout = factors.view.layout;
    const PivotJudge judge{rule_of(rules, factors.view.symmetric), scratch.log()};
    const int block = factors.dof * factors.dof;
    for (int level = 0; level < layout.level_count(); ++level) {
        const Step step{{factors}, hyperplane_of(layout, level)};
        const int* table = scratch.table();
        for (const EliminationOrder::Group& group : scratch.order().groups) {
            const int lowers = int(group.lower.size()), pairs = int(group.pairs.size());
            const EliminationStep elimination{step, table, lowers, pairs, scratch.products()};
            for_each_element(backend, step.plane.columns, block, "fgbilu: step 1", Multiply{elimination});
            for_each_element(backend, step.plane.columns, block, "fgbilu: step 2", Subtract{elimination});
            table += lowers + 3 * pairs;
        }
        invert_by_steps(backend, {step, scratch.scale(), scratch.failed(), scratch.ratios(), judge, 0},
                        step.plane.columns);
    }
}

}  // namespace hyperplane
