// SPDX-License-Identifier: BSD-3-Clause
// StructILU's factorisation on a CPU: Algorithm 1, computed for a run of points at once.
#include "precond/struct_ilu/factor_cpu.hpp"
#include "precond/factors/eliminations.hpp"
#include "precond/factors/known_dof.hpp"
#include "precond/factors/run_blocks.hpp"
#include "precond/walks/run_pieces.hpp"

namespace hyperplane {
namespace wavefront_cpu {
namespace {

/// One elimination: X_e -= E_l D^-1 F_u with e = l + u.
struct Update {
    int u, e;
};

/// The updates of each lower entry l (LOOP3). If one triangle is stored, F_u(p+l) is the transpose of a block E of the
/// point p + e. If e is along the run, p + e is in the same run, and this block is complete only after the eliminations
/// of all entries that are not along the run. Such updates, `late`, are done after those.
struct EliminationPlan {
    std::vector<std::vector<Update>> updates, late;
};

EliminationPlan plan_elimination(const FactorsByRun& f, bool symmetric) {
    const Stencil& stencil = f.stencil;
    EliminationPlan plan;
    plan.updates.resize(stencil.lower_size());
    plan.late.resize(stencil.lower_size());
    const auto [begin, u, e] = Eliminations(stencil, false, symmetric).by_lower();
    for (int l = 0; l < stencil.lower_size(); ++l)
        for (int at = begin[l]; at < begin[l + 1]; ++at) {
            const bool waits = symmetric && e[at] < stencil.diagonal() && f.along_run(e[at]) && !f.along_run(l);
            (waits ? plan.late : plan.updates)[l].push_back({u[at], e[at]});
        }
    return plan;
}

class Elimination {
public:
    /// `x` holds A + alpha diag(A) on the filled pattern. For D-ILU it holds the diagonal alone; E and F are then read
    /// from the matrix and never written.
    Elimination(const FactorsByRun& f, const StructMatrix& a, StructMatrix& x, PivotInverter& inverter)
        : f_(f), a_(a), x_(x), inverter_(inverter), plan_(plan_elimination(f, a.symmetric())) {}

    void piece(const Run& run) const {
        with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(f_.dof, [&](auto m) { piece<m.value>(run); });
    }

private:
    /// `m` is the dof if it is known at compile time, else 0.
    template <int m>
    void piece(const Run& run) const {
        thread_local RunEliminations<m> eliminations;
        const int lower = f_.stencil.lower_size();
        eliminations.begin(f_.dof);
        for (int l = 0; l < lower; ++l)
            if (!f_.along_run(l)) add(eliminations, run, l, plan_.updates[l]);
        for (int l = 0; l < lower; ++l) add(eliminations, run, l, plan_.late[l]);
        eliminations.at_all_points(run.count);
        eliminations.begin(f_.dof);
        for (int l = 0; l < lower; ++l)
            if (f_.along_run(l)) add(eliminations, run, l, plan_.updates[l]);
        finish_points(run, eliminations);
    }

    RunBlocks<double> target(const Run& run, int e) const {
        const int entry = e == f_.stencil.diagonal() ? f_.pivot_entry : e;
        return run_blocks(f_.dof, [&](int row, int col) { return x_.values(entry, row, col) + run.slot; });
    }
    RunBlocks<const double> triangle(const Run& run, const RunNeighbours& near, int e) const {
        return run_blocks(f_.dof, [&](int row, int col) { return f_.triangles.along(run, near, e, row, col); });
    }
    /// D^-1 of the neighbours.
    RunBlocks<const double> inverse(const RunNeighbours& near) const {
        return run_blocks(f_.dof, [&](int row, int col) { return f_.inverse(row, col, near.slot); });
    }

    template <int m>
    void add(RunEliminations<m>& to, const Run& run, int l, const std::vector<Update>& updates) const {
        if (updates.empty()) return;
        const RunNeighbours near = f_.layout.neighbours(run, f_.stencil[l]);
        const Run before{run.first + f_.stencil[l], run.count, near.slot};
        to.add(triangle(run, near, l), inverse(near), near.begin, near.end);
        for (const Update& update : updates) {
            const RunNeighbours there = f_.layout.neighbours(run, f_.stencil[update.e]);
            to.add_term(target(run, update.e), triangle(before, there, update.u), there.begin, there.end);
        }
    }

    /// Computes the eliminations along the run and inverts the pivots, point by point.
    template <int m>
    void finish_points(const Run& run, const RunEliminations<m>& along) const {
        const RunBlocks<double> pivots = target(run, f_.stencil.diagonal());
        const RunBlocks<const double> matrix = run_blocks(
            f_.dof, [&](int row, int col) { return a_.values(a_.stencil().diagonal(), row, col) + run.slot; });
        PivotRatio smallest;
        for (int t = 0; t < run.count; ++t) {
            along.at_point(t);
            invert_point<m>(f_.dof, inverter_, piece_of(f_.layout, run, t, 1).first, matrix, t, pivots, t, smallest);
        }
        inverter_.note(smallest);
    }

    const FactorsByRun& f_;
    const StructMatrix& a_;
    StructMatrix& x_;
    PivotInverter& inverter_;
    EliminationPlan plan_;
};

/// Copies entry `from` of a to entry `to` of x; the diagonals of its blocks are multiplied by 1 + alpha.
void copy_entry(const StructMatrix& a, int from, StructMatrix& x, int to, double alpha) {
    for (int row = 0; row < a.dof(); ++row)
        for (int col = 0; col < a.dof(); ++col) {
            const double factor = row == col ? 1.0 + alpha : 1.0;
            const double* source = a.values(from, row, col);
            double* target = x.values(to, row, col);
#pragma omp parallel for simd schedule(static) num_threads(x.context().threads_for(a.layout().slots()))
            for (Index slot = 0; slot < a.layout().slots(); ++slot) target[slot] = factor * source[slot];
        }
}

/// Sets X = A + alpha diag(A) on the filled pattern; for D-ILU, the diagonal alone.
void copy_matrix(IluFactors& factors, double alpha) {
    const StructMatrix& a = factors.matrix();
    StructMatrix& x = factors.held();
    const Stencil& stencil = factors.stencil();
    if (factors.pattern().shares) return copy_entry(a, a.stencil().diagonal(), x, 0, alpha);
    for (int e = 0; e < x.stored_entries(); ++e) {
        const int source = a.stencil().find(stencil[e]);
        if (source >= 0)
            copy_entry(a, source, x, e, e == stencil.diagonal() ? alpha : 0.0);
        else
            x.set_zero(e);
    }
}

}  // namespace

void factorise(IluFactors& factors, double alpha, PivotInverter& inverter) {
    copy_matrix(factors, alpha);
    const FactorsByRun f = read_by_runs(factors);
    const Elimination elimination(f, factors.matrix(), factors.held(), inverter);
    const Carried carried{factors.held().coefficients(), f.stencil.planes()};
    for_each_piece(f, Direction::lower, carried, [&](const Run& piece) { elimination.piece(piece); });
    if (f.layout.has_neighbours_outside()) factors.held().share_halos();
}

}  // namespace wavefront_cpu
}  // namespace hyperplane
