// SPDX-License-Identifier: BSD-3-Clause
// Fixed-point sweeps on a CPU, a run of points at once (precond/par_ilu/sweeps.hpp).
#include "precond/factors/known_dof.hpp"
#include "precond/factors/run_blocks.hpp"
#include "precond/par_ilu/sweep_point.hpp"
#include "precond/walks/run_pieces.hpp"

namespace hyperplane::par_ilu {
namespace {

/// A sweep over the points of a run; m is the dof if it is known at compile time, else 0.
template <int m>
class RunSweep {
public:
    RunSweep(const SweepRow<0>& row, const FactorSweepsCuda::Factors* then)
        : row_(known<m>(row)), then_(then), layout_(row.old.layout), lower_(row.old.lower) {}

    void operator()(const Run& run) const {
        thread_local RunEliminations<m> eliminations;  // kept from run to run, as it allocates memory
        for (int e = first_entry(); e < last_entry(); ++e) begin(run, e);
        eliminations.begin(row_.dof);
        for (int l = 0; row_.updates && l < lower_; ++l)
            if (!in_turn(l)) add(eliminations, run, l);
        eliminations.at_all_points(run.count);
        eliminations.begin(row_.dof);
        for (int l = 0; row_.updates && l < lower_; ++l)
            if (in_turn(l)) add(eliminations, run, l);
        for (int t = 0; t < run.count; ++t) {
            eliminations.at_point(t);
            row_.invert(run.slot + t);
        }
        for (int e = first_entry(); then_ && e < last_entry(); ++e) replace(run, e);
    }

private:
    int first_entry() const { return row_.shares ? lower_ : 0; }
    int last_entry() const { return row_.shares ? lower_ + 1 : row_.kept; }

    /// Whether the points of a run need the new values of their neighbours at l, which are in the same run.
    bool in_turn(int l) const {
        const Int3 o = row_.tables.offsets[l];
        return then_ && layout_.kind() == LayoutKind::natural && o.y == 0 && o.z == 0;
    }

    static RunBlocks<const double> blocks(const ConstBlockView& v, int e, Index slot) {
        return {&v.at(e, slot, 0, 0), v.row_stride, v.col_stride};
    }
    static RunBlocks<double> blocks(const BlockView& v, int e, Index slot) {
        return {&v.at(e, slot, 0, 0), v.row_stride, v.col_stride};
    }
    /// The new blocks of an entry at the points from `slot` on.
    RunBlocks<double> made(int e, Index slot) const {
        return e == lower_ ? blocks(row_.inverse, 0, slot) : blocks(row_.triangles, e, slot);
    }
    /// The old blocks of an entry at the points from `slot` on, whose neighbours are the points from `there` on.
    RunBlocks<const double> old(int e, Index slot, Index there) const {
        const ConstBlockView& v = row_.old.triangles;
        return row_.old.symmetric && e > lower_ ? blocks(v, 2 * lower_ - e, there).transposed() : blocks(v, e, slot);
    }

    /// X_e = A_e + alpha diag(A), or zero if the neighbour is outside the grid.
    void begin(const Run& run, int e) const {
        const RunBlocks<double> x = made(e, run.slot);
        const int own = row_.tables.a_entry[e];
        const RunNeighbours there = layout_.neighbours(run, row_.tables.offsets[e]);
        const int begin = own < 0 ? run.count : std::min(there.begin, run.count);
        const int end = own < 0 ? run.count : std::clamp(there.end, begin, run.count);
        for (int r = 0; r < row_.size(); ++r)
            for (int c = 0; c < row_.size(); ++c) {
                const double factor = e == lower_ && r == c ? 1.0 + row_.alpha : 1.0;
                const double* const from = own < 0 ? nullptr : &row_.a.at(own, run.slot, r, c);
                double* const out = &x.at(0, r, c);
                std::fill(out, out + begin, 0.0);
#pragma omp simd
                for (int t = begin; t < end; ++t) out[t] = factor * from[t];
                std::fill(out + end, out + run.count, 0.0);
            }
    }

    /// X_e -= E_l(p) D^-1(p+l) F_u(p+l) for all u and e = l + u.
    void add(RunEliminations<m>& to, const Run& run, int l) const {
        const UpdateTables& tables = row_.tables;
        if (tables.begin[l] == tables.begin[l + 1]) return;
        const RunNeighbours near = layout_.neighbours(run, tables.offsets[l]);
        const RunBlocks<const double> inverse =
            in_turn(l) ? made(lower_, near.slot) : blocks(row_.old.inverse, 0, near.slot);
        to.add(old(l, run.slot, near.slot), inverse, near.begin, near.end);
        for (int at = tables.begin[l]; at < tables.begin[l + 1]; ++at) {
            const int u = tables.updates[2 * at], e = tables.updates[2 * at + 1];
            const RunNeighbours end = layout_.neighbours(run, tables.offsets[e]);
            const bool f_is_made = in_turn(l) && !row_.old.symmetric && !row_.shares;
            to.add_term(made(e, run.slot), f_is_made ? made(u, near.slot) : old(u, near.slot, end.slot), end.begin,
                        end.end);
        }
    }

    void replace(const Run& run, int e) const {
        const RunBlocks<double> from = made(e, run.slot), to = e == lower_ ? blocks(then_->inverse, 0, run.slot)
                                                                           : blocks(then_->triangles, e, run.slot);
        for (int r = 0; r < row_.size(); ++r)
            for (int c = 0; c < row_.size(); ++c) std::copy_n(&from.at(0, r, c), run.count, &to.at(0, r, c));
    }

    const SweepRow<m> row_;
    const FactorSweepsCuda::Factors* const then_;
    const Layout layout_;
    const int lower_;
};

}  // namespace

void sweep_runs(const Context& context, const SweepRow<0>& row, const FactorSweepsCuda::Factors* then) {
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(row.dof, [&](auto m) {
        const Layout& layout = row.old.layout;
        const int length = wavefront_cpu::piece_length(row.dof);
        const RunSweep<m.value> sweep(row, then);
        for_each_run(context, layout, row.dof, [&](const Run& run) {
            for (int t = 0; t < run.count; t += length)
                sweep(wavefront_cpu::piece_of(layout, run, t, std::min(length, run.count - t)));
        });
    });
}

}  // namespace hyperplane::par_ilu
