// StructILU's loops on a CPU. Each works on a run of points at once, so the products of a run
// vectorise; sweep.hpp orders the runs. In the natural layout a run's points depend on each other
// through offsets along x: those come last in the lower triangle's order and are done point by point.
#include <algorithm>
#include <array>
#include <vector>

#include "core/run_kernel.hpp"
#include "precond/recurrence.hpp"
#include "precond/struct_ilu.hpp"
#include "precond/sweep.hpp"

namespace hyperplane {
namespace {

/// Longest piece of a run done at once, so that a block of scratch stays in the first-level cache.
int piece_length(int dof) { return dof == 1 ? 1024 : std::max(16, 2048 / (dof * dof)); }

/// The piece of `run` that begins at position `t`.
Run piece_of(const Layout& layout, const Run& run, int t, int count) {
    const Int3 step = layout.step();
    return {run.first + Int3{t * step.x, t * step.y, t * step.z}, count, run.slot + t};
}

/// Calls body(piece) for the pieces of a run, in the sweep's direction.
template <class Body>
void for_pieces(const Layout& layout, const Run& run, int length, Direction direction, const Body& body) {
    const int pieces = (run.count + length - 1) / length;
    for (int at = 0; at < pieces; ++at) {
        const int t = (direction == Direction::lower ? at : pieces - 1 - at) * length;
        body(piece_of(layout, run, t, std::min(length, run.count - t)));
    }
}

bool along_run(const Layout& layout, Int3 offset) {
    return layout.kind() == LayoutKind::natural && offset.y == 0 && offset.z == 0;
}

/// Scratch of a thread, kept from run to run since an allocation costs more than a short run.
struct Scratch {
    std::vector<RunNeighbours> near;
    std::vector<RunTerm> terms;
    std::vector<double> values;
};

Scratch& scratch() {
    thread_local Scratch mine;
    return mine;
}

/// Everything a triangular sweep reads.
struct Factors {
    const StructMatrix& triangles;      ///< E and F
    const StructMatrix& pivots;         ///< holds D^-1 ...
    int pivot_entry;                    ///< ... as this entry
    const Layout& layout;
    const Stencil& stencil;
    int dof;

    const double* inverse(int row, int col, Index slot) const { return pivots.values(pivot_entry, row, col) + slot; }
};

/// out[row] = in[row] + sign sum over entries [first, last) and columns of coefficient times x, for one row
/// of a piece; entries along the run are left out.
template <int sign>
void add_products(const Factors& f, const Run& run, int first, int last, int row, const Vector& x, const double* in,
                  double* out) {
    Scratch& mine = scratch();
    mine.terms.clear();
    for (int e = first; e < last; ++e) {
        const RunNeighbours& near = mine.near[e];
        if (near.begin >= near.end || along_run(f.layout, f.stencil[e])) continue;
        for (int col = 0; col < f.dof; ++col)
            mine.terms.push_back({f.triangles.along(run, near, e, row, col), x.component(col) + near.slot, near.begin,
                                  near.end});
    }
    accumulate<sign>(mine.terms, in, out, run.count);
}

/// Asks for coefficients and values two lines ahead in the natural layout: hardware prefetchers follow
/// the descending sweep badly. A prefetch outside an array does nothing.
void prefetch(const Factors& f, const Run& run, int first, int last, const Vector& x, Direction direction) {
    if (f.dof > 1 || f.layout.kind() != LayoutKind::natural) return;
    constexpr int line = 8;  // values in a cache line
    const Index ahead = (direction == Direction::lower ? 2 : -2) * Index(run.count);
    const auto touch = [&](const double* from) {
        for (int t = 0; t < run.count; t += line) __builtin_prefetch(from + ahead + t);
    };
    for (int e = first; e < last; ++e) touch(f.triangles.along(run, scratch().near[e], e, 0, 0));
    touch(f.inverse(0, 0, run.slot));
    touch(x.data() + run.slot);
}

void find_neighbours(const Factors& f, const Run& run, int first, int last) {
    Scratch& mine = scratch();
    mine.near.resize(f.stencil.size());
    for (int e = first; e < last; ++e) mine.near[e] = f.layout.neighbours(run, f.stencil[e]);
}

/// Entries of [first, last) along the run that have a neighbour in it or before it.
int entries_along_run(const Factors& f, int first, int last, std::array<int, 8>& entries) {
    int count = 0;
    for (int e = first; e < last; ++e)
        if (along_run(f.layout, f.stencil[e]) && scratch().near[e].begin < scratch().near[e].end) entries[count++] = e;
    return count;
}

/// out[row] = in[row] + sign sum of D^-1 (row, col) t[col] for a piece.
template <int sign>
void multiply_inverse(const Factors& f, const Run& run, const double* t, const Vector* in, Vector& out) {
    Scratch& mine = scratch();
    for (int row = 0; row < f.dof; ++row) {
        mine.terms.clear();
        for (int col = 0; col < f.dof; ++col)
            mine.terms.push_back({f.inverse(row, col, run.slot), t + col * run.count, 0, run.count});
        accumulate<sign>(mine.terms, in ? in->component(row) + run.slot : nullptr, out.component(row) + run.slot,
                         run.count);
    }
}

/// Coefficients a, c of y_t = c_t + a_t y_{t-1}.
template <class T>
struct Recurrence {
    T a, c;
};

/// Lower sweep along x, one unknown a point: y_t = d_t (s_t - e_t y_{t-1}).
struct LowerLine {
    const double *d, *e, *s;
    template <class T>
    Recurrence<T> at(int t) const {
        const T pivot = take<T>(d, t);
        return {-(pivot * take<T>(e, t)), pivot * take<T>(s, t)};
    }
};

/// Upper sweep along x: z_t = y_t - d_t (s_t + f_t z_{t+1}), z in y's place.
struct UpperLine {
    const double *d, *f, *s, *y;
    template <class T>
    Recurrence<T> at(int t) const {
        const T pivot = take<T>(d, t);
        return {-(pivot * take<T>(f, t)), take<T>(y, t) - pivot * take<T>(s, t)};
    }
};

void lower_line(const LowerLine& line, const RunNeighbours& near, int count, double* y) {
    for (int t = 0; t < near.begin; ++t) y[t] = line.d[t] * line.s[t];
    solve_recurrence<false>(line, near.begin, count, near.begin < count ? y[near.begin - 1] : 0.0, y);
}

void upper_line(const UpperLine& line, const RunNeighbours& near, int count, double* z) {
    for (int t = near.end; t < count; ++t) z[t] -= line.d[t] * line.s[t];
    solve_recurrence<true>(line, 0, near.end, near.end > 0 ? z[near.end] : 0.0, z);
}

/// The same for any dof and any entries along the run, one point at a time:
/// s += sign * sum of coefficient times x, for one position t.
void add_along_run(const Factors& f, const Run& run, std::span<const int> entries, int t, double sign, const Vector& x,
                   double* s) {
    for (int e : entries) {
        const RunNeighbours& near = scratch().near[e];
        if (t < near.begin || t >= near.end) continue;
        for (int row = 0; row < f.dof; ++row)
            for (int col = 0; col < f.dof; ++col)
                s[row * run.count + t] +=
                    sign * f.triangles.along(run, near, e, row, col)[t] * x.component(col)[near.slot + t];
    }
}

void lower_piece(const Factors& f, const Run& run, const Vector& r, Vector& y) {
    const int lower = f.stencil.lower_size();
    find_neighbours(f, run, 0, lower);
    prefetch(f, run, 0, lower, r, Direction::lower);
    scratch().values.resize(std::size_t(f.dof) * run.count);
    double* s = scratch().values.data();
    for (int row = 0; row < f.dof; ++row)
        add_products<-1>(f, run, 0, lower, row, y, r.component(row) + run.slot, s + row * run.count);
    std::array<int, 8> along;
    const int count = entries_along_run(f, 0, lower, along);
    if (count == 0) {
        multiply_inverse<+1>(f, run, s, nullptr, y);
    } else if (f.dof == 1 && count == 1) {
        const RunNeighbours& near = scratch().near[along[0]];
        lower_line({f.inverse(0, 0, run.slot), f.triangles.along(run, near, along[0], 0, 0), s}, near, run.count,
                   y.data() + run.slot);
    } else {
        for (int t = 0; t < run.count; ++t) {
            add_along_run(f, run, std::span(along).first(count), t, -1.0, y, s);
            for (int row = 0; row < f.dof; ++row) {
                double value = 0.0;
                for (int col = 0; col < f.dof; ++col) value += f.inverse(row, col, run.slot)[t] * s[col * run.count + t];
                y.component(row)[run.slot + t] = value;
            }
        }
    }
}

void upper_piece(const Factors& f, const Run& run, Vector& z) {
    const int first = f.stencil.diagonal() + 1, last = f.stencil.size();
    find_neighbours(f, run, first, last);
    prefetch(f, run, first, last, z, Direction::upper);
    scratch().values.resize(std::size_t(f.dof) * run.count);
    double* s = scratch().values.data();
    for (int row = 0; row < f.dof; ++row) add_products<+1>(f, run, first, last, row, z, nullptr, s + row * run.count);
    std::array<int, 8> along;
    const int count = entries_along_run(f, first, last, along);
    if (count == 0) {
        multiply_inverse<-1>(f, run, s, &z, z);
    } else if (f.dof == 1 && count == 1) {
        const RunNeighbours& near = scratch().near[along[0]];
        double* values = z.data() + run.slot;
        upper_line({f.inverse(0, 0, run.slot), f.triangles.along(run, near, along[0], 0, 0), s, values}, near,
                   run.count, values);
    } else {
        for (int t = run.count - 1; t >= 0; --t) {
            add_along_run(f, run, std::span(along).first(count), t, +1.0, z, s);
            for (int row = 0; row < f.dof; ++row) {
                double value = 0.0;
                for (int col = 0; col < f.dof; ++col) value += f.inverse(row, col, run.slot)[t] * s[col * run.count + t];
                z.component(row)[run.slot + t] -= value;
            }
        }
    }
}

/// One elimination of the factorisation: X_e -= E_l D^-1 F_u with e = l + u.
struct Update {
    int l, u, e;
};

/// Updates sorted by l; `first[l]` .. `first[l + 1]` are those of lower entry l.
struct EliminationPlan {
    std::vector<Update> updates;
    std::vector<int> first;
};

EliminationPlan plan_elimination(const Stencil& stencil, bool symmetric) {
    EliminationPlan plan;
    for (int l = 0; l < stencil.lower_size(); ++l) {
        plan.first.push_back(int(plan.updates.size()));
        for (int u = stencil.diagonal() + 1; u < stencil.size(); ++u) {
            const int e = stencil.find(stencil[l] + stencil[u]);
            if (e >= 0 && (!symmetric || e <= stencil.diagonal())) plan.updates.push_back({l, u, e});
        }
    }
    plan.first.push_back(int(plan.updates.size()));
    return plan;
}

/// LOOP2 and LOOP3 of Algorithm 1 for one lower entry of a piece.
void eliminate(const Factors& f, StructMatrix& x, const EliminationPlan& plan, const Run& run, int l) {
    Scratch& mine = scratch();
    const int m = f.dof, count = run.count;
    const RunNeighbours near = f.layout.neighbours(run, f.stencil[l]);
    if (near.begin >= near.end) return;
    mine.values.resize(std::size_t(m) * m * count);
    double* w = mine.values.data();  // E_l D^-1(p+l)
    for (int row = 0; row < m; ++row)
        for (int col = 0; col < m; ++col) {
            mine.terms.clear();
            for (int q = 0; q < m; ++q)
                mine.terms.push_back({f.triangles.along(run, near, l, row, q), f.inverse(q, col, near.slot), near.begin,
                                      near.end});
            accumulate<+1>(mine.terms, nullptr, w + (row * m + col) * count, count);
        }
    const Run before{run.first + f.stencil[l], count, near.slot};  // the points p + l
    for (int at = plan.first[l]; at < plan.first[l + 1]; ++at) {
        const auto [lower, u, e] = plan.updates[at];
        const RunNeighbours target = f.layout.neighbours(run, f.stencil[e]);
        const int begin = std::max(near.begin, target.begin), end = std::min(near.end, target.end);
        if (begin >= end) continue;
        const int entry = e == f.stencil.diagonal() ? f.pivot_entry : e;
        for (int row = 0; row < m; ++row)
            for (int col = 0; col < m; ++col) {
                mine.terms.clear();
                for (int q = 0; q < m; ++q)
                    mine.terms.push_back({w + (row * m + q) * count, f.triangles.along(before, target, u, q, col),
                                          begin, end});
                double* out = x.values(entry, row, col) + run.slot;
                accumulate<-1>(mine.terms, out, out, count);
            }
    }
}

void invert_pivots(const StructMatrix& a, StructMatrix& pivots, int entry, const Run& run, PivotInverter& inverter) {
    const int m = a.dof(), diagonal = a.stencil().diagonal();
    std::array<double, max_dof * max_dof> block, own;
    const Int3 step = a.layout().step();
    Int3 point = run.first;
    for (int t = 0; t < run.count; ++t, point = point + step) {
        for (int row = 0; row < m; ++row)
            for (int col = 0; col < m; ++col) {
                block[row * m + col] = pivots.values(entry, row, col)[run.slot + t];
                own[row * m + col] = a.values(diagonal, row, col)[run.slot + t];
            }
        inverter.invert(point, own.data(), block.data());
        for (int row = 0; row < m; ++row)
            for (int col = 0; col < m; ++col) pivots.values(entry, row, col)[run.slot + t] = block[row * m + col];
    }
}

/// X = A + alpha diag(A): entries of `a` copied to where the factors will stand.
void copy_entry(const StructMatrix& a, int from, StructMatrix& x, int to, double alpha) {
    for (int row = 0; row < a.dof(); ++row)
        for (int col = 0; col < a.dof(); ++col) {
            const double factor = row == col ? 1.0 + alpha : 1.0;
            const double* source = a.values(from, row, col);
            double* target = x.values(to, row, col);
#pragma omp parallel for simd schedule(static)
            for (Index slot = 0; slot < a.layout().slots(); ++slot) target[slot] = factor * source[slot];
        }
}

}  // namespace

void StructIlu::copy_matrix(double alpha) {
    const Stencil& from = a_->stencil();
    if (!factor_) return copy_entry(*a_, from.diagonal(), *inverse_, 0, alpha);
    for (int e = 0; e < factor_->stored_entries(); ++e) {
        const int source = from.find(stencil_[e]);
        if (source >= 0)
            copy_entry(*a_, source, *factor_, e, e == stencil_.diagonal() ? alpha : 0.0);
        else
            fill_zero(factor_->values(e), Index(a_->dof()) * a_->dof() * a_->layout().slots());
    }
}

void StructIlu::factor(PivotInverter& inverter) {
    // Without fill and off-diagonal updates x holds the pivots alone; the matrix is read, never written.
    StructMatrix& x = factor_ ? *factor_ : *inverse_;
    const int entry = factor_ ? stencil_.diagonal() : 0;
    const Factors f{triangles(), x, entry, a_->layout(), stencil_, a_->dof()};
    const EliminationPlan plan = plan_elimination(stencil_, a_->symmetric());
    sweep(f.layout, stencil_.line_skew(), Direction::lower, [&](const Run& run) {
        for_pieces(f.layout, run, piece_length(f.dof), Direction::lower, [&](const Run& piece) {
            std::array<int, 8> along;
            int count = 0;
            for (int l = 0; l < stencil_.lower_size(); ++l) {
                if (along_run(f.layout, stencil_[l]))
                    along[count++] = l;
                else
                    eliminate(f, x, plan, piece, l);
            }
            if (count == 0) return invert_pivots(*a_, x, entry, piece, inverter);
            for (int t = 0; t < piece.count; ++t) {
                const Run point = piece_of(f.layout, piece, t, 1);
                for (int at = 0; at < count; ++at) eliminate(f, x, plan, point, along[at]);
                invert_pivots(*a_, x, entry, point, inverter);
            }
        });
    });
}

void StructIlu::lower_solve(const Vector& r, Vector& y) const {
    const Factors f{triangles(), factor_ ? *factor_ : *inverse_, factor_ ? stencil_.diagonal() : 0, a_->layout(),
                    stencil_, a_->dof()};
    sweep(f.layout, stencil_.line_skew(), Direction::lower, [&](const Run& run) {
        for_pieces(f.layout, run, piece_length(f.dof), Direction::lower,
                   [&](const Run& piece) { lower_piece(f, piece, r, y); });
    });
}

void StructIlu::upper_solve(Vector& z) const {
    const Factors f{triangles(), factor_ ? *factor_ : *inverse_, factor_ ? stencil_.diagonal() : 0, a_->layout(),
                    stencil_, a_->dof()};
    sweep(f.layout, stencil_.line_skew(), Direction::upper, [&](const Run& run) {
        for_pieces(f.layout, run, piece_length(f.dof), Direction::upper,
                   [&](const Run& piece) { upper_piece(f, piece, z); });
    });
}

}  // namespace hyperplane
