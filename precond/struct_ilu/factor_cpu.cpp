// SPDX-License-Identifier: BSD-3-Clause
// StructILU's factorisation on a CPU: Algorithm 1, computed for a run of points at once.
#include "precond/struct_ilu/factor_cpu.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/vector/streamed_copy.hpp"
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

/// X = A + alpha diag(A) on the filled pattern; for D-ILU, the diagonal alone.
class Beginning {
public:
    Beginning(IluFactors& factors, double alpha) : a_(factors.matrix()), x_(factors.held()), alpha_(alpha) {
        const Stencil& stencil = factors.stencil();
        diagonal_ = factors.pattern().shares ? 0 : stencil.diagonal();
        for (int e = 0; e < x_.stored_entries(); ++e)
            source_.push_back(a_.stencil().find(e == diagonal_ ? Int3{} : stencil[e]));
    }

    /// Everywhere, which takes less time than run by run where all lines are computed.
    void all() const {
        for (int e = 0; e < x_.stored_entries(); ++e) {
            if (source_[e] < 0) {
                x_.set_zero(e);
                continue;
            }
            for_blocks(e, [&](double* target, const double* source, double factor) {
                const Index slots = a_.layout().slots();
#pragma omp parallel for simd schedule(static) num_threads(x_.context().threads_for(slots))
                for (Index slot = 0; slot < slots; ++slot) target[slot] = factor * source[slot];
            });
        }
    }

    void run(const Run& run) const {
        for (int e = 0; e < x_.stored_entries(); ++e) {
            if (source_[e] < 0) {
                for (int at = 0; at < x_.dof() * x_.dof(); ++at)
                    std::fill_n(x_.values(e, at / x_.dof(), at % x_.dof()) + run.slot, run.count, 0.0);
                continue;
            }
            for_blocks(e, [&](double* target, const double* source, double factor) {
                for (Index slot = run.slot; slot < run.slot + run.count; ++slot) target[slot] = factor * source[slot];
            });
        }
    }

private:
    /// Calls body(target, source, factor) for each coefficient of an entry that A has.
    template <class Body>
    void for_blocks(int e, const Body& body) const {
        for (int row = 0; row < a_.dof(); ++row)
            for (int col = 0; col < a_.dof(); ++col)
                body(x_.values(e, row, col), a_.values(source_[e], row, col),
                     e == diagonal_ && row == col ? 1.0 + alpha_ : 1.0);
    }

    const StructMatrix& a_;
    StructMatrix& x_;
    double alpha_;
    int diagonal_;
    std::vector<int> source_;  ///< A's entries; -1 where it has none
};

/// Lines of factors that equal the line before, in their plane or in the plane before, since the lines of A and of
/// factors that they follow from are equal. They are copied, with the same bits. A line without such a one is compared
/// with these two when it is computed: pivots converge away from the boundary.
class CopiedFactors {
public:
    /// Whether lines are copied at all: where at least half of A's lines equal others.
    static bool serves(const FactorsByRun& f, const StructMatrix& a) {
        const Grid& grid = f.layout.grid();
        if (f.dof != 1 || f.layout.kind() != LayoutKind::natural || f.layout.is_part() || grid.any_periodic() ||
            grid.nx > piece_length(1))
            return false;
        a.find_equal_lines();
        return a.equal_lines()->save_half();
    }

    CopiedFactors(const FactorsByRun& f, const StructMatrix& a, StructMatrix& x)
        : f_(f),
          values_(x.coefficients()),
          ny_(f.layout.grid().ny),
          number_(ny_ * f.layout.grid().nz),
          past_caches_(x.bytes() >= least_streamed) {
        const int reach = f.stencil.radius();
        std::vector<int> own, other;
        for (int at = 0; at < int(number_.size()); ++at) {
            const auto around = [&](int line, std::vector<int>& numbers) {
                numbers.clear();
                a.equal_lines()->append_around(line % ny_, line / ny_, reach, reach, numbers);
            };
            around(at, own);
            Int3 same;
            if (at % ny_ > 0 && (around(at - 1, other), other == own)) same.y = 1;
            if (at >= ny_ && (around(at - ny_, other), other == own)) same.z = 1;
            same_matrix_.push_back(same);
        }
        for (int e = 0; e < f.stencil.lower_size(); ++e) {
            const Int3 line{0, f.stencil[e].y, f.stencil[e].z};
            if (!f.along_run(e) && (lower_.empty() || !(lower_.back() == line))) lower_.push_back(line);
        }
    }

    /// Whether a line has been copied.
    bool copy(const Run& line) {
        const int at = place(line.first);
        const Int3 same = same_matrix_[at];
        const int from = same.y && same_factors(line.first, {0, -1, 0})   ? at - 1
                         : same.z && same_factors(line.first, {0, 0, -1}) ? at - ny_
                                                                          : -1;
        if (from < 0) return false;
        number_[at] = number_[from];
        const StreamedCopy copies(past_caches_);
        for (double* const values : values_)
            copies.copy(values + Index(number_[at]) * line.count, line.count, values + line.slot);
        return true;
    }
    /// Compares a line that has been computed.
    void note(const Run& line) {
        const int at = place(line.first);
        const auto equals = [&](int other) {
            return std::all_of(values_.begin(), values_.end(), [&](const double* values) {
                return std::memcmp(values + line.slot, values + Index(other) * line.count,
                                   line.count * sizeof(double)) == 0;
            });
        };
        number_[at] = line.first.y > 0 && equals(at - 1)     ? number_[at - 1]
                      : line.first.z > 0 && equals(at - ny_) ? number_[at - ny_]
                                                             : at;
    }
    EqualLines equal_lines() && { return {f_.layout, std::move(number_)}; }

private:
    int place(Int3 p) const { return p.z * ny_ + p.y; }
    int number(Int3 p) const { return p.y < 0 || p.y >= ny_ || p.z < 0 ? -1 : number_[place(p)]; }
    /// Whether the factors that a line follows from equal those that the line at a distance follows from.
    bool same_factors(Int3 p, Int3 distance) const {
        return std::all_of(lower_.begin(), lower_.end(),
                           [&](Int3 o) { return number(p + o) == number(p + o + distance); });
    }

    const FactorsByRun& f_;
    std::vector<double*> values_;
    int ny_;
    std::vector<int> number_;        ///< of each line that is known, the first one that it equals
    bool past_caches_;               ///< how lines are copied
    std::vector<Int3> same_matrix_;  ///< whether what a line reads of A equals what those before it read
    std::vector<Int3> lower_;        ///< the lines that a line depends on
};

}  // namespace

void factorise(IluFactors& factors, double alpha, PivotInverter& inverter) {
    const FactorsByRun f = read_by_runs(factors);
    const Beginning beginning(factors, alpha);
    const Elimination elimination(f, factors.matrix(), factors.held(), inverter);
    const Carried carried{factors.held().coefficients(), f.stencil.planes()};
    if (CopiedFactors::serves(f, factors.matrix())) {
        CopiedFactors copied(f, factors.matrix(), factors.held());
        for_each_piece(f, Side::lower, carried, [&](const Run& piece) {
            // Events are counted where they happen, so lines are not copied from those that have some.
            if (!inverter.has_events() && copied.copy(piece)) return;
            beginning.run(piece);
            elimination.piece(piece);
            copied.note(piece);
        });
        factors.held().set_equal_lines(std::move(copied).equal_lines());
    } else {
        beginning.all();
        for_each_piece(f, Side::lower, carried, [&](const Run& piece) { elimination.piece(piece); });
    }
    if (f.layout.has_neighbours_outside()) factors.held().share_halos();
}

}  // namespace wavefront_cpu
}  // namespace hyperplane
