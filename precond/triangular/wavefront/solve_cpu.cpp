// SPDX-License-Identifier: BSD-3-Clause
// The two triangular solves in wavefront order on a CPU, with factors in double precision.
#include "precond/triangular/wavefront/solve_cpu.hpp"

#include <cstdlib>

#include "precond/factors/known_dof.hpp"
#include "precond/triangular/wavefront/lines_cpu.hpp"

namespace hyperplane {
namespace wavefront_cpu {
namespace {

/// Finds the neighbours of a piece for entries [first, last), in scratch().near.
void find_neighbours(const FactorsByRun& f, const Run& run, int first, int last) {
    Scratch& mine = scratch();
    mine.near.resize(f.stencil.size());
    for (int e = first; e < last; ++e) mine.near[e] = f.layout.neighbours(run, f.stencil[e]);
}

/// For one row of the blocks of a piece: out = in + sign times the sum of coefficient times x, over columns and over
/// the entries [first, last) that are not along the run.
template <int sign>
void add_products(const FactorsByRun& f, const Run& run, int first, int last, int row, const Vector& x,
                  const double* in, double* out) {
    Scratch& mine = scratch();
    mine.terms.clear();
    for (int e = first; e < last; ++e) {
        const RunNeighbours& near = mine.near[e];
        if (near.begin >= near.end || f.along_run(e)) continue;
        for (int col = 0; col < f.dof; ++col) {
            const double* const a = f.triangles.along(run, near, e, row, col);
            mine.terms.push_back({a, x.component(col) + near.slot, near.begin, near.end});
            if (f.dof > 1) ask_for(a - sign * run.count, run.count);
        }
    }
    accumulate<sign>(mine.terms, in, out, run.count);
}

/// out = in + sign D^-1 s for a piece; a null `in` stands for zero.
template <int sign>
void add_inverse_times(const FactorsByRun& f, const Run& run, const double* s, const Vector* in, Vector& out) {
    Scratch& mine = scratch();
    for (int row = 0; row < f.dof; ++row) {
        mine.terms.clear();
        for (int col = 0; col < f.dof; ++col) {
            mine.terms.push_back({f.inverse(row, col, run.slot), s + col * run.count, 0, run.count});
            if (f.dof > 1) ask_for(mine.terms.back().a + sign * run.count, run.count);
        }
        accumulate<sign>(mine.terms, in ? in->component(row) + run.slot : nullptr, out.component(row) + run.slot,
                         run.count);
    }
}

/// Those of the entries [first, last) that are along the run and have neighbours.
struct AlongRun {
    std::array<int, max_along> entries;
    int count = 0;

    AlongRun(const FactorsByRun& f, int first, int last) : f_(f) {
        for (int e = first; e < last; ++e)
            if (f.along_run(e) && scratch().near[e].begin < scratch().near[e].end) entries[count++] = e;
    }
    /// Whether there is one unknown a point, which depends on that of the adjacent point alone.
    bool is_recurrence() const { return f_.dof == 1 && count == 1 && std::abs(f_.stencil[entries[0]].x) == 1; }

private:
    const FactorsByRun& f_;
};

/// Lower solve along x, one unknown a point: y_t = d_t (s_t - e_t y_{t-1}).
struct LowerLine {
    const double *d, *e, *s;
    template <class T>
    Recurrence<T> at(int t) const {
        const T pivot = take<T>(d, t);
        return {-(pivot * take<T>(e, t)), pivot * take<T>(s, t)};
    }
};

/// Upper solve along x: z_t = y_t - d_t (s_t + f_t z_{t+1}), where z overwrites y.
struct UpperLine {
    const double *d, *f, *s, *y;
    template <class T>
    Recurrence<T> at(int t) const {
        const T pivot = take<T>(d, t);
        return {-(pivot * take<T>(f, t)), take<T>(y, t) - pivot * take<T>(s, t)};
    }
};

/// y^T D y of a line, from D y = s - e y_{t-1}.
double pivot_product(const LowerLine& line, const RunNeighbours& near, int count, const double* y) {
    const int first = std::min(near.begin, count);
    return dot_run(y, line.s, count) - dot_run3(y + first, line.e + first, y + first - 1, count - first);
}

void solve_line(const LowerLine& line, const RunNeighbours& near, int count, double* y) {
    for (int t = 0; t < near.begin; ++t) y[t] = line.d[t] * line.s[t];
    solve_recurrence<false>(line, near.begin, count, near.begin < count ? y[near.begin - 1] : 0.0, y);
}

void solve_line(const UpperLine& line, const RunNeighbours& near, int count, double* z) {
    for (int t = near.end; t < count; ++t) z[t] -= line.d[t] * line.s[t];
    solve_recurrence<true>(line, 0, near.end, near.end > 0 ? z[near.end] : 0.0, z);
}

/// Solves for the points of a piece one by one, for any dof and any entries along the run; `m` is the dof if it is
/// known at compile time, else 0.
///     lower   x = D^-1 (s - sum E x)        upper   x = x - D^-1 (s + sum F x)
/// The lower solve returns x^T D x of the piece.
template <int m, Side side>
double solve_points(const FactorsByRun& f, const Run& run, const AlongRun& along, const double* s, Vector& x) {
    const int dof = m > 0 ? m : f.dof;
    double product = 0.0;
    struct Entry {
        const RunNeighbours* near;
        const double* coefficients[m > 0 ? m* m : max_dof* max_dof];
    };
    thread_local std::vector<Entry> entries(max_along);
    thread_local std::vector<const double*> inverse(max_dof * max_dof);
    for (int row = 0; row < dof; ++row)
        for (int col = 0; col < dof; ++col) {
            inverse[row * dof + col] = f.inverse(row, col, run.slot);
            for (int at = 0; at < along.count; ++at)
                entries[at].coefficients[row * dof + col] =
                    f.triangles.along(run, scratch().near[along.entries[at]], along.entries[at], row, col);
        }
    for (int at = 0; at < along.count; ++at) entries[at].near = &scratch().near[along.entries[at]];
    constexpr double sign = side == Side::lower ? -1.0 : 1.0;
    for (int step = 0; step < run.count; ++step) {
        const int t = side == Side::lower ? step : run.count - 1 - step;
        if (dof > 1 && step % points_of_line == 0) {
            const int soon = t + (side == Side::lower ? points_ahead : -points_ahead);
            for (int at = 0; at < dof * dof; ++at) {
                ask_for(inverse[at] + soon);
                for (int entry = 0; entry < along.count; ++entry) ask_for(entries[entry].coefficients[at] + soon);
            }
        }
        double sum[m > 0 ? m : max_dof];
        for (int row = 0; row < dof; ++row) sum[row] = s[row * run.count + t];
        for (int at = 0; at < along.count; ++at) {
            const Entry& entry = entries[at];
            if (t < entry.near->begin || t >= entry.near->end) continue;
            for (int col = 0; col < dof; ++col) {
                const double value = x.component(col)[entry.near->slot + t];
                for (int row = 0; row < dof; ++row) sum[row] += sign * entry.coefficients[row * dof + col][t] * value;
            }
        }
        for (int row = 0; row < dof; ++row) {
            double value = 0.0;
            for (int col = 0; col < dof; ++col) value += inverse[row * dof + col][t] * sum[col];
            double& target = x.component(row)[run.slot + t];
            target = side == Side::lower ? value : target - value;
            product += value * sum[row];
        }
    }
    return product;
}

template <Side side>
double solve_points(const FactorsByRun& f, const Run& run, const AlongRun& along, const double* s, Vector& x) {
    return with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(
        f.dof, [&](auto m) { return solve_points<m.value, side>(f, run, along, s, x); });
}

/// Solves for a piece and returns its y^T D y, if that is wanted. If F = E^T, the sum over all pieces is r^T M^-1 r,
/// since (D + E) y = r and (D + F) z = D y.
double lower_piece(const FactorsByRun& f, const Run& run, const Vector& r, Vector& y, bool product_wanted) {
    const int lower = f.stencil.lower_size();
    find_neighbours(f, run, 0, lower);
    scratch().values.resize(std::size_t(f.dof) * run.count);
    double* s = scratch().values.data();
    for (int row = 0; row < f.dof; ++row)
        add_products<-1>(f, run, 0, lower, row, y, r.component(row) + run.slot, s + row * run.count);
    const AlongRun along(f, 0, lower);
    if (along.count == 0) {
        add_inverse_times<+1>(f, run, s, nullptr, y);
        double product = 0.0;
        for (int row = 0; row < f.dof && product_wanted; ++row)
            product += dot_run(s + row * run.count, y.component(row) + run.slot, run.count);
        return product;
    }
    if (!along.is_recurrence()) return solve_points<Side::lower>(f, run, along, s, y);
    const RunNeighbours& near = scratch().near[along.entries[0]];
    const LowerLine line{f.inverse(0, 0, run.slot), f.triangles.along(run, near, along.entries[0], 0, 0), s};
    solve_line(line, near, run.count, y.data() + run.slot);
    return product_wanted ? pivot_product(line, near, run.count, y.data() + run.slot) : 0.0;
}

void upper_piece(const FactorsByRun& f, const Run& run, Vector& z) {
    const int first = f.stencil.diagonal() + 1, last = f.stencil.size();
    find_neighbours(f, run, first, last);
    scratch().values.resize(std::size_t(f.dof) * run.count);
    double* s = scratch().values.data();
    for (int row = 0; row < f.dof; ++row) add_products<+1>(f, run, first, last, row, z, nullptr, s + row * run.count);
    const AlongRun along(f, first, last);
    if (along.count == 0) return add_inverse_times<-1>(f, run, s, &z, z);
    if (!along.is_recurrence()) {
        solve_points<Side::upper>(f, run, along, s, z);
        return;
    }
    const RunNeighbours& near = scratch().near[along.entries[0]];
    double* values = z.data() + run.slot;
    const UpperLine line{f.inverse(0, 0, run.slot), f.triangles.along(run, near, along.entries[0], 0, 0), s, values};
    solve_line(line, near, run.count, values);
}

/// The same for a piece of a line that is solved in one pass; its terms are listed.
double lower_line(const LineReads<double>& reads, const Run& run, const Vector& r, Vector& y, bool product_wanted) {
    scratch().values.resize(std::size_t(run.count));
    double *const s = scratch().values.data(), *const out = y.data() + run.slot;
    const RunNeighbours near = reads.along_line(run);
    const LowerBlocks line{reads.inverse(run), reads.along(run), near.begin, near.end};
    const double* in = r.data() + run.slot;
    const auto terms = last_terms<-1>(scratch().terms, in, s, run.count);
    const double before = near.begin == 0 ? out[-1] : 0.0;
    solve_line<false, -1>(terms, in, line, run.count, before, out, product_wanted ? s : nullptr);
    return product_wanted ? pivot_product({line.d, line.e, s}, near, run.count, out) : 0.0;
}

void upper_line(const LineReads<double>& reads, const Run& run, Vector& z) {
    scratch().values.resize(std::size_t(run.count));
    double* const out = z.data() + run.slot;
    const RunNeighbours near = reads.along_line(run);
    const UpperBlocks line{reads.inverse(run), reads.along(run), out, near.begin, near.end};
    const double* in = nullptr;
    const auto terms = last_terms<+1>(scratch().terms, in, scratch().values.data(), run.count);
    const double before = near.end == run.count ? out[run.count] : 0.0;
    solve_line<true, +1>(terms, in, line, run.count, before, out, nullptr);
}

}  // namespace
void lower(const IluFactors& factors, const Vector& r, Vector& y, std::vector<double>* of_line) {
    const FactorsByRun f = read_by_runs(factors);
    const Index lines = f.layout.grid().ny, first = f.layout.begin_plane();
    const LineReads<double> reads(f, 0, f.stencil.lower_size(), y);
    for_each_piece(f, Side::lower, carried(y, f.stencil), [&](const Run& piece) {
        const bool fits = reads.list(piece, false, scratch().terms);
        const double product =
            fits ? lower_line(reads, piece, r, y, of_line != nullptr) : lower_piece(f, piece, r, y, of_line != nullptr);
        if (of_line) (*of_line)[piece.first.y + lines * (piece.first.z - first)] += product;
    });
}

void upper(const IluFactors& factors, Vector& z) {
    const FactorsByRun f = read_by_runs(factors);
    const LineReads<double> reads(f, f.stencil.diagonal() + 1, f.stencil.size(), z);
    for_each_piece(f, Side::upper, carried(z, f.stencil), [&](const Run& piece) {
        reads.list(piece, true, scratch().terms) ? upper_line(reads, piece, z) : upper_piece(f, piece, z);
    });
}

bool has_step(const IluFactors& factors, const Vector& x) {
    const FactorsByRun f = read_by_runs(factors);
    const StructMatrix& a = factors.matrix();
    if (factors.reduced() || !(a.layout() == f.layout) || a.grid().any_periodic()) return false;
    LineReads<double> below(f, 0, f.stencil.lower_size(), x);
    below.add_products(a, x);
    return below.fits_all(false) && LineReads<double>(f, f.stencil.diagonal() + 1, f.stencil.size(), x).fits_all(true);
}

void lower_of_residual(const IluFactors& factors, const Vector& b, const Vector& x, Vector& y) {
    const FactorsByRun f = read_by_runs(factors);
    LineReads<double> reads(f, 0, f.stencil.lower_size(), y);
    reads.add_products(factors.matrix(), x);
    for_each_piece(f, Side::lower, carried(y, f.stencil), [&](const Run& piece) {
        reads.list(piece, false, scratch().terms);
        lower_line(reads, piece, b, y, false);
    });
}

void upper_to(const IluFactors& factors, double omega, Vector& z, Vector& x) {
    const FactorsByRun f = read_by_runs(factors);
    const LineReads<double> reads(f, f.stencil.diagonal() + 1, f.stencil.size(), z);
    for_each_piece(f, Side::upper, carried(z, f.stencil), [&](const Run& piece) {
        reads.list(piece, true, scratch().terms);
        upper_line(reads, piece, z);
        const double* const from = z.data() + piece.slot;
        double* const to = x.data() + piece.slot;
        for (int t = 0; t < piece.count; ++t) to[t] += omega * from[t];
    });
}

}  // namespace wavefront_cpu
}  // namespace hyperplane
