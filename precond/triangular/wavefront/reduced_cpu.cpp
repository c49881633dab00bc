// SPDX-License-Identifier: BSD-3-Clause
// The two triangular solves in wavefront order on a CPU, with factors in reduced precision, M = (I + W) D (I + G):
//
//     lower   v(p) = r(p) - sum_l W_l(p) v(p+l)                      points ascending
//     upper   z(p) = D^-1(p) v(p) - sum_u G_u(p) z(p+u)              points descending
//
// The coefficients of a piece of a run are widened, with their scales applied, into scratch memory that stays in the
// first-level cache. The rest of the computation reads doubles, as the solves with factors in double precision do.
#include <algorithm>
#include <array>

#include "precond/triangular/wavefront/solve_cpu.hpp"
#include "precond/walks/recurrence.hpp"
#include "precond/walks/run_pieces.hpp"

namespace hyperplane {
namespace wavefront_cpu {
namespace {

/// Factors in reduced precision, with values of type T, and what a solve needs to know about the matrix.
template <class T>
struct Reduced {
    const ReducedFactors& factors;
    const Context& context;
    const Layout& layout;
    const Stencil& stencil;
    int dof;
    bool symmetric;
    BasicBlockView<const T> values;

    explicit Reduced(const IluFactors& of)
        : factors(*of.reduced()),
          context(of.matrix().context()),
          layout(of.pattern().layout),
          stencil(of.stencil()),
          dof(of.matrix().dof()),
          symmetric(of.matrix().symmetric()),
          values(factors.values<T>()) {}
    bool along_run(int entry) const {
        const Int3 o = stencil[entry];
        return layout.kind() == LayoutKind::natural && o.y == 0 && o.z == 0;
    }
};

/// The widened coefficients of a piece: those of entries [first, first + entries), then, if `inverse`, those of D^-1.
template <class T>
class Piece {
public:
    Piece(const Reduced<T>& f, const Run& run, int first, int entries, bool inverse)
        : f_(f), run_(run), first_(first), entries_(entries) {
        near().resize(f.stencil.size());
        values().resize(std::size_t(entries + inverse) * f.dof * f.dof * run.count);
        for (int e = first; e < first + entries; ++e) widen_entry(e);
        if (!inverse) return;
        const RowExponentView scales = f.factors.of_inverse();
        for (int row = 0; row < f.dof; ++row)
            for (int col = 0; col < f.dof; ++col)
                widen(&f.values.at(f.stencil.diagonal(), run.slot, row, col),
                      scales.values ? &scales.at(run.slot, row) : nullptr, run.count, place(first + entries, row, col));
    }

    const RunNeighbours& neighbours(int entry) const { return near()[entry]; }
    const double* coefficient(int entry, int row, int col) const { return place(entry, row, col); }
    const double* inverse(int row, int col) const { return place(first_ + entries_, row, col); }

private:
    static std::vector<RunNeighbours>& near() { return scratch().near; }
    static std::vector<double>& values() {
        thread_local std::vector<double> mine;
        return mine;
    }
    double* place(int entry, int row, int col) const {
        return values().data() + (Index((entry - first_) * f_.dof + row) * f_.dof + col) * run_.count;
    }
    void widen_entry(int e) {
        RunNeighbours& n = near()[e] = f_.layout.neighbours(run_, f_.stencil[e]);
        n.end = std::max(n.begin, n.end);
        if (n.begin == n.end) return;
        const bool upper = e > f_.stencil.diagonal(), mirrored = upper && f_.symmetric;
        const Index slot = (mirrored ? n.slot : run_.slot) + n.begin;
        const RowExponentView scales = upper && !mirrored ? f_.factors.of_upper() : f_.factors.of_lower();
        for (int row = 0; row < f_.dof; ++row)
            for (int col = 0; col < f_.dof; ++col) {
                const int kept_row = mirrored ? col : row, kept_col = mirrored ? row : col;
                widen(&f_.values.at(mirrored ? f_.stencil.mirror(e) : e, slot, kept_row, kept_col),
                      scales.values ? &scales.at(slot, kept_row) : nullptr, n.end - n.begin,
                      place(e, row, col) + n.begin);
            }
    }

    const Reduced<T>& f_;
    const Run& run_;
    int first_, entries_;
};

/// x_t <- x_t - a_t x_{t-1}, or x_{t+1} in the upper solve.
struct UnitLine {
    const double *a, *x;
    template <class V>
    Recurrence<V> at(int t) const {
        return {-take<V>(a, t), take<V>(x, t)};
    }
};

/// x <- x - sum over the entries along the run of coefficient times x, in place, point by point.
template <Direction direction, class T>
void solve_along(const Reduced<T>& f, const Piece<T>& piece, const Run& run, int first, int entries, Vector& x) {
    std::array<int, max_along> along;
    int count = 0;
    for (int e = first; e < first + entries; ++e)
        if (f.along_run(e) && piece.neighbours(e).begin < piece.neighbours(e).end) along[count++] = e;
    if (count == 0) return;
    constexpr bool down = direction == Direction::lower;
    if (f.dof == 1 && count == 1 && std::abs(f.stencil[along[0]].x) == 1) {
        const RunNeighbours& n = piece.neighbours(along[0]);
        double* const values = x.data() + run.slot;
        const UnitLine line{piece.coefficient(along[0], 0, 0), values};
        solve_recurrence<!down>(line, n.begin, n.end, values[down ? n.begin - 1 : n.end], values);
        return;
    }
    for (int step = 0; step < run.count; ++step) {
        const int t = down ? step : run.count - 1 - step;
        for (int at = 0; at < count; ++at) {
            const RunNeighbours& n = piece.neighbours(along[at]);
            if (t < n.begin || t >= n.end) continue;
            for (int col = 0; col < f.dof; ++col) {
                const double value = x.component(col)[n.slot + t];
                for (int row = 0; row < f.dof; ++row)
                    x.component(row)[run.slot + t] -= piece.coefficient(along[at], row, col)[t] * value;
            }
        }
    }
}

/// For one row of the blocks of a piece: out = in - sum over the other entries of coefficient times x.
template <class T>
void subtract_products(const Reduced<T>& f, const Piece<T>& piece, const Run& run, int first, int entries, int row,
                       const Vector& x, const double* in, double* out) {
    Scratch& mine = scratch();
    mine.terms.clear();
    for (int e = first; e < first + entries; ++e) {
        const RunNeighbours& n = piece.neighbours(e);
        if (n.begin >= n.end || f.along_run(e)) continue;
        for (int col = 0; col < f.dof; ++col)
            mine.terms.push_back({piece.coefficient(e, row, col), x.component(col) + n.slot, n.begin, n.end});
    }
    accumulate<-1>(mine.terms, in, out, run.count);
}

template <class T>
void lower_piece(const Reduced<T>& f, const Run& run, const Vector& r, Vector& v) {
    const int entries = f.stencil.lower_size();
    const Piece<T> piece(f, run, 0, entries, false);
    for (int row = 0; row < f.dof; ++row)
        subtract_products(f, piece, run, 0, entries, row, v, r.component(row) + run.slot, v.component(row) + run.slot);
    solve_along<Direction::lower>(f, piece, run, 0, entries, v);
}

/// Solves for a piece and returns its v^T D^-1 v. If G = W^T, the sum over all pieces is r^T M^-1 r.
template <class T>
double upper_piece(const Reduced<T>& f, const Run& run, Vector& z) {
    const int first = f.stencil.diagonal() + 1, entries = f.stencil.lower_size();
    const Piece<T> piece(f, run, first, entries, true);
    Scratch& mine = scratch();
    mine.values.resize(std::size_t(f.dof) * run.count);
    double product = 0.0;
    for (int row = 0; row < f.dof; ++row) {
        double* const scaled = mine.values.data() + row * run.count;
        mine.terms.clear();
        for (int col = 0; col < f.dof; ++col)
            mine.terms.push_back({piece.inverse(row, col), z.component(col) + run.slot, 0, run.count});
        accumulate<+1>(mine.terms, nullptr, scaled, run.count);
        product += dot_run(scaled, z.component(row) + run.slot, run.count);
    }
    for (int row = 0; row < f.dof; ++row)
        subtract_products(f, piece, run, first, entries, row, z, mine.values.data() + row * run.count,
                          z.component(row) + run.slot);
    solve_along<Direction::upper>(f, piece, run, first, entries, z);
    return product;
}

template <class Body>
void with_values(const IluFactors& factors, const Body& body) {
    if (factors.reduced()->storage() == FactorStorage::single_precision)
        body(Reduced<float>(factors));
    else
        body(Reduced<Half>(factors));
}

}  // namespace
void lower_reduced(const IluFactors& factors, const Vector& r, Vector& v) {
    with_values(factors, [&](const auto& f) {
        for_each_piece(f, Direction::lower, carried(v, f.stencil),
                       [&](const Run& piece) { lower_piece(f, piece, r, v); });
    });
}

void upper_reduced(const IluFactors& factors, Vector& z, std::vector<double>* of_line) {
    const Layout& layout = factors.matrix().layout();
    const Index lines = layout.grid().ny, first = layout.begin_plane();
    with_values(factors, [&](const auto& f) {
        for_each_piece(f, Direction::upper, carried(z, f.stencil), [&](const Run& piece) {
            const double product = upper_piece(f, piece, z);
            if (of_line) (*of_line)[piece.first.y + lines * (piece.first.z - first)] += product;
        });
    });
}

}  // namespace wavefront_cpu
}  // namespace hyperplane
