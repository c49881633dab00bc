// SPDX-License-Identifier: BSD-3-Clause
// One fixed-point sweep at a point, for host and device, and its data (precond/par_ilu/sweeps.hpp).
#pragma once

#include "core/matrix/views.hpp"
#include "precond/factors/eliminations.hpp"
#include "precond/factors/judged_inverse.hpp"
#include "precond/factors/pivot_rule.hpp"
#include "precond/factors/view.hpp"
#include "precond/par_ilu/sweeps_cuda.hpp"

namespace hyperplane::par_ilu {

/// Computes all entries of one point; m is the dof if it is known at compile time, else 0.
template <int m>
struct SweepRow {
    FactorView old;  ///< result of the sweep before; E and F are A's for D-ILU
    UpdateTables tables;
    ConstBlockView a;
    BlockView triangles, inverse;  ///< written; for D-ILU only `inverse` is
    int dof, kept;
    bool shares, updates;  ///< without updates: the initial guess
    double alpha;
    PivotRule rule;
    bool last;
    VectorView ratio, failure, failed;

    static constexpr int room = m > 0 ? m : max_dof;

    HYPERPLANE_HD int size() const { return m > 0 ? m : dof; }
    HYPERPLANE_HD double& target(int e, Index slot, int r, int c) const {
        return e == old.lower ? inverse.at(0, slot, r, c) : triangles.at(e, slot, r, c);
    }

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        for (int e = shares ? old.lower : 0; e < (shares ? old.lower + 1 : kept); ++e) begin(p, slot, e);
        if (updates)
            for (int l = 0; l < old.lower; ++l) eliminate(p, slot, l);
        invert(slot);
    }

    /// X_e = A_e + alpha diag(A), or zero if the neighbour is outside the grid.
    HYPERPLANE_HD void begin(Int3 p, Index slot, int e) const {
        const bool inside = old.layout.grid().contains(p + tables.offsets[e]) && tables.a_entry[e] >= 0;
        for (int r = 0; r < size(); ++r)
            for (int c = 0; c < size(); ++c) {
                const double factor = e == old.lower && r == c ? 1.0 + alpha : 1.0;
                target(e, slot, r, c) = inside ? factor * a.at(tables.a_entry[e], slot, r, c) : 0.0;
            }
    }

    /// X_e -= E_l(p) D^-1(p+l) F_u(p+l) for all u and e = l + u, row by row.
    HYPERPLANE_HD void eliminate(Int3 p, Index slot, int l) const {
        const Grid& grid = old.layout.grid();
        const Int3 q = p + tables.offsets[l];
        if (!grid.contains(q)) return;
        const Index there = old.layout.slot(q);
        for (int r = 0; r < size(); ++r) {
            double w[room];
            for (int c = 0; c < size(); ++c) {
                w[c] = 0.0;
                for (int k = 0; k < size(); ++k) w[c] += old.at(l, slot, there, r, k) * old.inverse.at(0, there, k, c);
            }
            for (int at = tables.begin[l]; at < tables.begin[l + 1]; ++at) {
                const int u = tables.updates[2 * at], e = tables.updates[2 * at + 1];
                const Int3 end = p + tables.offsets[e];
                if (!grid.contains(end)) continue;
                const Index end_slot = old.layout.slot(end);
                for (int c = 0; c < size(); ++c) {
                    double sum = 0.0;
                    for (int k = 0; k < size(); ++k) sum += w[k] * old.at(u, there, end_slot, k, c);
                    target(e, slot, r, c) -= sum;
                }
            }
        }
    }

    /// Replaces D by D^-1 and, in the last sweep, records the pivots.
    HYPERPLANE_HD void invert(Index slot) const {
        double block[room * room], bad = 0.0;
        int component = -1;
        const int own_entry = tables.a_entry[old.lower];
        for (int r = 0; r < size(); ++r)
            for (int c = 0; c < size(); ++c) block[r * size() + c] = inverse.at(0, slot, r, c);
        const double smallest = invert_judged(
            size(), block, [&](int r, int c) { return a.at(own_entry, slot, r, c); }, rule,
            [&](int row, double pivot, double own, double scale) {
                if (rule.accepts(pivot, own, rule.tolerance * scale)) return pivot;
                if (component < 0) component = row, bad = pivot;
                return last ? 0.0 : rule.guess(own, scale);
            });
        for (int r = 0; r < size(); ++r)
            for (int c = 0; c < size(); ++c) inverse.at(0, slot, r, c) = block[r * size() + c];
        if (!last) return;
        for (int e = 0; e < (shares ? 0 : kept) && component < 0; ++e) {
            if (e == old.lower) continue;
            for (int r = 0; r < size(); ++r)
                for (int c = 0; c < size(); ++c)
                    if (const double x = triangles.at(e, slot, r, c); !PivotRule::is_number(x)) component = r, bad = x;
        }
        ratio.at(slot) = smallest;
        failure.at(slot) = component < 0 ? 0.0 : -1.0;
        failed.at(slot, 0) = component;
        failed.at(slot, 1) = bad;
    }
};

/// The same, with the number of unknowns m as a compile-time constant; m = 0 leaves it variable.
template <int m>
SweepRow<m> known(const SweepRow<0>& s) {
    return {s.old,     s.tables, s.a,    s.triangles, s.inverse, s.dof,     s.kept,  s.shares,
            s.updates, s.alpha,  s.rule, s.last,      s.ratio,   s.failure, s.failed};
}

/// Whether the address of every coefficient advances by one from a point of a run to the next.
inline bool go_by_runs(const SweepRow<0>& row) {
    return row.old.triangles.slot_stride == 1 && row.old.inverse.slot_stride == 1 && row.a.slot_stride == 1 &&
           row.triangles.slot_stride == 1 && row.inverse.slot_stride == 1;
}
/// Computes a sweep over all points on a CPU, run by run (precond/par_ilu/sweep_cpu.cpp); go_by_runs(row) must hold. If
/// `then` is given, the sweep is asynchronous: the new entries of each run are copied there, to the factors that other
/// runs read, as soon as they are computed.
void sweep_runs(const Context& context, const SweepRow<0>& row, const FactorSweepsCuda::Factors* then);

}  // namespace hyperplane::par_ilu
