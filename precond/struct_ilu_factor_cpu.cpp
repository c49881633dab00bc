// StructILU's factorisation on a CPU: Algorithm 1, a run of points instead of a row.
#include "precond/eliminations.hpp"
#include "precond/struct_ilu.hpp"
#include "precond/struct_ilu_cpu.hpp"

namespace hyperplane {
namespace struct_ilu_cpu {
namespace {

/// One elimination: X_e -= E_l D^-1 F_u with e = l + u.
struct Update {
    int u, e;
};

/// The updates of each lower entry l (LOOP3). With one triangle stored, F_u(p+l) is E of p + e; where
/// e lies along the run, that is a point of the same run, complete only when all entries off the run
/// are: such updates come after them.
struct EliminationPlan {
    std::vector<std::vector<Update>> updates, late;
};

EliminationPlan plan_elimination(const Factors& f, bool symmetric) {
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

class Factorisation {
public:
    /// `x` holds A + alpha diag(A) on the filled pattern; or, for D-ILU, its diagonal alone, E and F being
    /// read from the matrix and never written.
    Factorisation(const Factors& f, const StructMatrix& a, StructMatrix& x, PivotInverter& inverter)
        : f_(f), a_(a), x_(x), inverter_(inverter), plan_(plan_elimination(f, a.symmetric())) {}

    void piece(const Run& run) const {
        std::array<int, max_along> along;
        int count = 0;
        for (int l = 0; l < f_.stencil.lower_size(); ++l) {
            if (f_.along_run(l))
                along[count++] = l;
            else
                eliminate(run, l, plan_.updates[l]);
        }
        for (int l = 0; l < f_.stencil.lower_size(); ++l) eliminate(run, l, plan_.late[l]);
        if (count == 0) return invert_pivots(run);
        if (count == 1 && f_.dof == 1) return eliminate_line(run, along[0]);
        for (int t = 0; t < run.count; ++t) {
            const Run point = piece_of(f_.layout, run, t, 1);
            for (int at = 0; at < count; ++at) eliminate(point, along[at], plan_.updates[along[at]]);
            invert_pivots(point);
        }
    }

private:
    double* target(int e, int row, int col) const {
        return x_.values(e == f_.stencil.diagonal() ? f_.pivot_entry : e, row, col);
    }

    /// LOOP2 and LOOP3 for one lower entry: W = E_l D^-1(p+l), then X_e -= W F_u(p+l).
    void eliminate(const Run& run, int l, const std::vector<Update>& updates) const {
        if (updates.empty()) return;
        Scratch& mine = scratch();
        const int m = f_.dof, count = run.count;
        const RunNeighbours near = f_.layout.neighbours(run, f_.stencil[l]);
        if (near.begin >= near.end) return;
        mine.values.resize(std::size_t(m) * m * count);
        double* w = mine.values.data();
        for (int row = 0; row < m; ++row)
            for (int col = 0; col < m; ++col) {
                mine.terms.clear();
                for (int q = 0; q < m; ++q)
                    mine.terms.push_back({f_.triangles.along(run, near, l, row, q), f_.inverse(q, col, near.slot),
                                          near.begin, near.end});
                accumulate<+1>(mine.terms, nullptr, w + (row * m + col) * count, count);
            }
        const Run before{run.first + f_.stencil[l], count, near.slot};  // the points p + l
        for (const auto [u, e] : updates) {
            const RunNeighbours there = f_.layout.neighbours(run, f_.stencil[e]);
            const int begin = std::max(near.begin, there.begin), end = std::min(near.end, there.end);
            if (begin >= end) continue;
            for (int row = 0; row < m; ++row)
                for (int col = 0; col < m; ++col) {
                    mine.terms.clear();
                    for (int q = 0; q < m; ++q)
                        mine.terms.push_back(
                            {w + (row * m + q) * count, f_.triangles.along(before, there, u, q, col), begin, end});
                    double* out = target(e, row, col) + run.slot;
                    accumulate<-1>(mine.terms, out, out, count);
                }
        }
    }

    /// One unknown a point and one entry l along the run: the same, point by point with its pivots.
    void eliminate_line(const Run& run, int l) const {
        struct Term {
            double* x;
            const double* f;
            int begin, end;
        };
        thread_local std::vector<Term> terms;
        terms.clear();
        const RunNeighbours near = f_.layout.neighbours(run, f_.stencil[l]);
        const Run before{run.first + f_.stencil[l], run.count, near.slot};
        for (const auto [u, e] : plan_.updates[l]) {
            const RunNeighbours there = f_.layout.neighbours(run, f_.stencil[e]);
            terms.push_back({target(e, 0, 0) + run.slot, f_.triangles.along(before, there, u, 0, 0),
                             std::max(near.begin, there.begin), std::min(near.end, there.end)});
        }
        const double* lower = f_.triangles.along(run, near, l, 0, 0);
        double* pivot = x_.values(f_.pivot_entry) + run.slot;
        const double* own = a_.values(a_.stencil().diagonal()) + run.slot;
        PivotRatio smallest;
        for (int t = 0; t < run.count; ++t) {
            if (t >= near.begin && t < near.end) {
                const double w = lower[t] * f_.inverse(0, 0, near.slot)[t];
                for (const Term& term : terms)
                    if (t >= term.begin && t < term.end) term.x[t] -= w * term.f[t];
            }
            inverter_.invert(run.first + Int3{t, 0, 0}, own + t, pivot + t, smallest);
        }
        inverter_.note(smallest);
    }

    void invert_pivots(const Run& run) const {
        const int m = f_.dof, diagonal = a_.stencil().diagonal();
        std::array<double, max_dof * max_dof> block, own;
        const Int3 step = f_.layout.step();
        Int3 point = run.first;
        PivotRatio smallest;
        for (int t = 0; t < run.count; ++t, point = point + step) {
            for (int row = 0; row < m; ++row)
                for (int col = 0; col < m; ++col) {
                    block[row * m + col] = x_.values(f_.pivot_entry, row, col)[run.slot + t];
                    own[row * m + col] = a_.values(diagonal, row, col)[run.slot + t];
                }
            inverter_.invert(point, own.data(), block.data(), smallest);
            for (int row = 0; row < m; ++row)
                for (int col = 0; col < m; ++col)
                    x_.values(f_.pivot_entry, row, col)[run.slot + t] = block[row * m + col];
        }
        inverter_.note(smallest);
    }

    const Factors& f_;
    const StructMatrix& a_;
    StructMatrix& x_;
    PivotInverter& inverter_;
    EliminationPlan plan_;
};

/// Entry `to` of x becomes entry `from` of a, its scalar diagonal times 1 + alpha.
void copy_entry(const StructMatrix& a, int from, StructMatrix& x, int to, double alpha) {
    for (int row = 0; row < a.dof(); ++row)
        for (int col = 0; col < a.dof(); ++col) {
            const double factor = row == col ? 1.0 + alpha : 1.0;
            const double* source = a.values(from, row, col);
            double* target = x.values(to, row, col);
#pragma omp parallel for simd schedule(static) num_threads(threads_for(a.layout().slots()))
            for (Index slot = 0; slot < a.layout().slots(); ++slot) target[slot] = factor * source[slot];
        }
}

}  // namespace
}  // namespace struct_ilu_cpu

void StructIlu::copy_matrix(double alpha) {
    using struct_ilu_cpu::copy_entry;
    const Stencil& from = a_->stencil();
    if (!factor_) return copy_entry(*a_, from.diagonal(), *inverse_, 0, alpha);
    for (int e = 0; e < factor_->stored_entries(); ++e) {
        const int source = from.find(stencil_[e]);
        if (source >= 0)
            copy_entry(*a_, source, *factor_, e, e == stencil_.diagonal() ? alpha : 0.0);
        else
            factor_->set_zero(e);
    }
}

void StructIlu::factor(PivotInverter& inverter) {
    StructMatrix& x = factor_ ? *factor_ : *inverse_;
    const struct_ilu_cpu::Factors f{triangles(), x, pivot_entry(), a_->layout(), stencil_, a_->dof()};
    const struct_ilu_cpu::Factorisation factorisation(f, *a_, x, inverter);
    sweep_pieces(f, Direction::lower, [&](const Run& piece) { factorisation.piece(piece); });
}

}  // namespace hyperplane
