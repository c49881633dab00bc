// SPDX-License-Identifier: BSD-3-Clause
// The two solves of Eisenstat's form on a CPU, in natural layout: lines along x in wavefront order, each updated,
// solved for and summed while the first-level cache holds it.
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/vector/plane_sums.hpp"
#include "precond/triangular/wavefront/eisenstat.hpp"
#include "precond/walks/recurrence.hpp"
#include "precond/walks/run_pieces.hpp"

namespace hyperplane::wavefront_cpu {
namespace {

/// x_t = c_t - e_t d_{t+o} x_{t+o}, where o is -1 (lower) or 1 (upper).
struct AlongLine {
    const double *e, *d, *c;  ///< `d` begins at position o
    template <class T>
    Recurrence<T> at(int t) const {
        return {-(take<T>(e, t) * take<T>(d, t)), take<T>(c, t)};
    }
};

/// A piece of a line, and what it reads of the factors.
struct Piece {
    const FactorsByRun& f;
    const Run& run;
    const double* inverse;

    Piece(const FactorsByRun& factors, const Run& of) : f(factors), run(of), inverse(factors.inverse(0, 0, of.slot)) {}

    /// Calls body(coefficients, D^-1 of the neighbours, neighbours, their first slot) for the entries [first, last)
    /// that are, or are not, along the line.
    template <class Body>
    void for_entries(int first, int last, bool along, const Body& body) const {
        for (int e = first; e < last; ++e) {
            if (f.along_run(e) != along) continue;
            const RunNeighbours near = f.layout.neighbours(run, f.stencil[e]);
            if (near.begin >= near.end) continue;
            body(f.triangles.along(run, near, e, 0, 0), f.inverse(0, 0, near.slot), near, f.stencil[e]);
        }
    }

    /// x_t = c_t - sum over the entries [first, last) along the line of e_t d_{t+o} x_{t+o}.
    template <Side side>
    void solve(int first, int last, const double* c, double* x) const {
        constexpr bool up = side == Side::lower;
        int entries = 0, begin = 0, end = 0;
        bool adjacent = false;
        AlongLine line{nullptr, nullptr, c};
        for_entries(first, last, true, [&](const double* e, const double* d, const RunNeighbours& near, Int3 offset) {
            ++entries;
            line.e = e, line.d = d;
            begin = near.begin, end = near.end;
            adjacent = std::abs(offset.x) == 1;
        });
        if (entries == 0) {
            std::copy_n(c, run.count, x);
        } else if (entries == 1 && adjacent && up) {
            std::copy_n(c, begin, x);
            solve_recurrence<false>(line, begin, run.count, begin < run.count ? x[begin - 1] : 0.0, x);
        } else if (entries == 1 && adjacent) {
            std::copy(c + end, c + run.count, x + end);
            solve_recurrence<true>(line, 0, end, end > 0 ? x[end] : 0.0, x);
        } else {
            solve_one_by_one<side>(first, last, c, x);
        }
    }

private:
    template <Side side>
    void solve_one_by_one(int first, int last, const double* c, double* x) const {
        for (int step = 0; step < run.count; ++step) {
            const int t = side == Side::lower ? step : run.count - 1 - step;
            double sum = c[t];
            for_entries(first, last, true,
                        [&](const double* e, const double* d, const RunNeighbours& near, Int3 offset) {
                            if (t >= near.begin && t < near.end) sum = std::fma(-(e[t] * d[t]), x[t + offset.x], sum);
                        });
            x[t] = sum;
        }
    }
};

/// The updates of a piece: y += alpha p, p = s + beta p.
void update(const EisenstatCoefficients& with, const EisenstatVectors& v, const Run& run) {
    double *p = v.p.data() + run.slot, *y = v.y.data() + run.slot;
    const double* s = v.s.data() + run.slot;
    const double alpha = with.alpha, beta = with.beta;
    if (alpha != 0.0)
#pragma omp simd
        for (int t = 0; t < run.count; ++t) y[t] = std::fma(alpha, p[t], y[t]);
    if (beta == 0.0) {
        std::copy_n(s, run.count, p);
        return;
    }
#pragma omp simd
    for (int t = 0; t < run.count; ++t) p[t] = std::fma(beta, p[t], s[t]);
}

void upper_piece(const FactorsByRun& f, const StructMatrix& a, const Run& run, const EisenstatCoefficients& with,
                 const EisenstatVectors& v, double* sums) {
    update(with, v, run);
    const Piece piece(f, run);
    const int first = f.stencil.diagonal() + 1, last = f.stencil.size();
    scratch().values.resize(std::size_t(run.count));
    double* c = scratch().values.data();
    std::copy_n(v.p.data() + run.slot, run.count, c);
    piece.for_entries(first, last, false, [&](const double* e, const double* d, const RunNeighbours& near, Int3) {
        const double* u = v.u.data() + near.slot;
#pragma omp simd
        for (int t = near.begin; t < near.end; ++t) c[t] = std::fma(-(e[t] * d[t]), u[t], c[t]);
    });
    double* u = v.u.data() + run.slot;
    piece.solve<Side::upper>(first, last, c, u);
    const double* diagonal = a.values(a.stencil().diagonal()) + run.slot;
    add_sums(EisenstatUpperLine{piece.inverse, diagonal, v.s.data() + run.slot, v.p.data() + run.slot, u}, run.count,
             sums);
}

/// Leaves w - u in v.work, whose values of other lines the next ones read, and the next s in v.u.
void lower_piece(const FactorsByRun& f, const StructMatrix& a, const Run& run, double alpha, const EisenstatVectors& v,
                 double* sums) {
    const Piece piece(f, run);
    const int lower = f.stencil.lower_size(), count = run.count;
    scratch().values.resize(2 * std::size_t(count));
    double *g = scratch().values.data(), *r = g + count;
    const double *s = v.s.data() + run.slot, *p = v.p.data() + run.slot;
    double *u = v.u.data() + run.slot, *e = v.work.data() + run.slot;
    const double* diagonal = a.values(a.stencil().diagonal()) + run.slot;
#pragma omp simd
    for (int t = 0; t < count; ++t) {
        g[t] = std::fma(-2.0, u[t], std::fma(diagonal[t], piece.inverse[t] * u[t], p[t]));
        r[t] = s[t];
    }
    piece.for_entries(0, lower, false, [&](const double* c, const double* d, const RunNeighbours& near, Int3) {
        const double *e_near = v.work.data() + near.slot, *s_near = v.s.data() + near.slot;
#pragma omp simd
        for (int t = near.begin; t < near.end; ++t) {
            const double scaled = c[t] * d[t];
            g[t] = std::fma(-scaled, e_near[t], g[t]);
            r[t] = std::fma(scaled, s_near[t], r[t]);
        }
    });
    piece.for_entries(0, lower, true, [&](const double* c, const double* d, const RunNeighbours& near, Int3) {
        const double* s_near = v.s.data() + near.slot;
#pragma omp simd
        for (int t = near.begin; t < near.end; ++t) r[t] = std::fma(c[t] * d[t], s_near[t], r[t]);
    });
    piece.solve<Side::lower>(0, lower, g, e);
    if (alpha != 0.0)
#pragma omp simd
        for (int t = 0; t < count; ++t) u[t] = std::fma(-alpha, u[t] + e[t], s[t]);
    else
        std::copy_n(s, count, u);
    add_sums(EisenstatLowerLine{piece.inverse, r, u}, count, sums);
}

/// Calls body(run, sums of its line) for all pieces, and adds up the sums of the lines, `count` of each.
template <class Body>
void for_each_with_sums(const IluFactors& factors, Side side, Index count, double* sums, const Body& body) {
    const FactorsByRun f = read_by_runs(factors);
    const Grid& grid = f.layout.grid();
    std::vector<double> of_line(std::size_t(grid.ny) * grid.nz * count);
    for_each_piece(f, side, Carried{}, [&](const Run& run) {
        const std::size_t line = run.first.y + std::size_t(grid.ny) * run.first.z;
        body(f, run, of_line.data() + line * count);
    });
    PlaneSums::of_lines(factors.matrix().layout()).add_up(factors.context(), of_line, count, sums);
}

}  // namespace

void upper_step(const IluFactors& factors, const EisenstatCoefficients& with, const EisenstatVectors& v, double* sums) {
    for_each_with_sums(factors, Side::upper, eisenstat_upper_sums, sums + eisenstat_rho,
                       [&](const FactorsByRun& f, const Run& run, double* of_line) {
                           upper_piece(f, factors.matrix(), run, with, v, of_line);
                       });
}

void lower_step(const IluFactors& factors, const EisenstatVectors& v, double* sums) {
    const double alpha = eisenstat_alpha(sums);
    for_each_with_sums(factors, Side::lower, eisenstat_lower_sums, sums + eisenstat_rr,
                       [&](const FactorsByRun& f, const Run& run, double* of_line) {
                           lower_piece(f, factors.matrix(), run, alpha, v, of_line);
                       });
}

}  // namespace hyperplane::wavefront_cpu
