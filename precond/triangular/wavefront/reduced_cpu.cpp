// SPDX-License-Identifier: BSD-3-Clause
// The two triangular solves in wavefront order on a CPU, with factors in reduced precision, M = (I + W) D (I + G):
//
//     lower   v(p) = r(p) - sum_l W_l(p) v(p+l)                      points ascending
//     upper   z(p) = D^-1(p) v(p) - sum_u G_u(p) z(p+u)              points descending
//
// Lines of one unknown in single precision are solved in one pass over memory (precond/walks/line_blocks.hpp), all
// others by pieces of runs, as the solves with factors in double precision are.
#include <algorithm>
#include <array>
#include <optional>

#include "precond/factors/known_dof.hpp"
#include "precond/triangular/wavefront/lines_cpu.hpp"
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

/// The coefficients of a piece: those of entries [first, first + entries), then, if `inverse`, those of D^-1. They are
/// widened, with their scales applied, into scratch memory that stays in the first-level cache.
template <class T>
class Piece {
public:
    using Coefficient = double;
    static constexpr bool in_place = false;  ///< whether coefficients are read where they are stored

    Piece(const Reduced<T>& f, const Run& run, int first, int entries, bool inverse)
        : f_(f), run_(run), first_(first), entries_(entries) {
        near().resize(f.stencil.size());
        values().resize(std::size_t(entries + inverse) * f.dof * f.dof * run.count);
        for (int e = first; e < first + entries; ++e) widen_entry(e);
        if (!inverse) return;
        const RowExponentView scales = f.factors.of_inverse();
        for (int row = 0; row < f.dof; ++row)
            for (int col = 0; col < f.dof; ++col)
                widen(&f.values.at(f.stencil.diagonal(), run.slot, row, col), &scales.at(run.slot, row), run.count,
                      place(first + entries, row, col));
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
                      &scales.at(slot, kept_row), n.end - n.begin, place(e, row, col) + n.begin);
            }
    }

    const Reduced<T>& f_;
    const Run& run_;
    int first_, entries_;
};

/// In single precision they are read as they are stored.
template <>
class Piece<float> {
public:
    using Coefficient = float;
    static constexpr bool in_place = true;

    Piece(const Reduced<float>& f, const Run& run, int first, int entries, bool /*inverse*/) : f_(f), run_(run) {
        near().resize(f.stencil.size());
        for (int e = first; e < first + entries; ++e) near()[e] = f.layout.neighbours(run, f.stencil[e]);
    }

    const RunNeighbours& neighbours(int entry) const { return near()[entry]; }
    const float* coefficient(int entry, int row, int col) const {
        if (f_.symmetric && entry > f_.stencil.diagonal())
            return &f_.values.at(f_.stencil.mirror(entry), near()[entry].slot, col, row);
        return &f_.values.at(entry, run_.slot, row, col);
    }
    const float* inverse(int row, int col) const { return &f_.values.at(f_.stencil.diagonal(), run_.slot, row, col); }

private:
    static std::vector<RunNeighbours>& near() { return scratch().near; }

    const Reduced<float>& f_;
    const Run& run_;
};

/// x_t <- x_t - a_t x_{t-1}, or x_{t+1} in the upper solve.
template <class Coefficient>
struct UnitLine {
    const Coefficient* a;
    const double* x;
    template <class V>
    Recurrence<V> at(int t) const {
        return {-take<V>(a, t), take<V>(x, t)};
    }
};

/// This lists the entries in [first, end) that are along the run and have neighbours.
template <class T>
struct AlongRun {
    std::array<int, max_along> entries;
    int count = 0;

    AlongRun(const Reduced<T>& f, const Piece<T>& piece, int first, int end) {
        for (int e = first; e < end; ++e)
            if (f.along_run(e) && piece.neighbours(e).begin < piece.neighbours(e).end) entries[count++] = e;
    }
};

/// x <- x - sum over the entries along the run of coefficient times x, in place, point by point; `m` is the dof if it
/// is known at compile time, else 0.
template <int m, Side side, class T>
void solve_points(const Reduced<T>& f, const Piece<T>& piece, const Run& run, const AlongRun<T>& along, Vector& x) {
    constexpr int most = m > 0 ? m : max_dof;
    const int dof = m > 0 ? m : f.dof;
    struct Entry {
        RunNeighbours near;
        const typename Piece<T>::Coefficient* coefficients[most * most];
    };
    thread_local std::vector<Entry> entries(max_along);
    for (int at = 0; at < along.count; ++at) {
        entries[at].near = piece.neighbours(along.entries[at]);
        for (int row = 0; row < dof; ++row)
            for (int col = 0; col < dof; ++col)
                entries[at].coefficients[row * dof + col] = piece.coefficient(along.entries[at], row, col);
    }
    double* components[most];
    for (int row = 0; row < dof; ++row) components[row] = x.component(row);
    for (int step = 0; step < run.count; ++step) {
        const int t = side == Side::lower ? step : run.count - 1 - step;
        if (Piece<T>::in_place && dof > 1 && step % points_of_line == 0) {
            const int soon = t + (side == Side::lower ? points_ahead : -points_ahead);
            for (int at = 0; at < along.count; ++at)
                for (int one = 0; one < dof * dof; ++one) ask_for(entries[at].coefficients[one] + soon);
        }
        double sum[most];
        for (int row = 0; row < dof; ++row) sum[row] = components[row][run.slot + t];
        for (int at = 0; at < along.count; ++at) {
            const Entry& entry = entries[at];
            if (t < entry.near.begin || t >= entry.near.end) continue;
            for (int col = 0; col < dof; ++col) {
                const double value = components[col][entry.near.slot + t];
                for (int row = 0; row < dof; ++row) sum[row] -= entry.coefficients[row * dof + col][t] * value;
            }
        }
        for (int row = 0; row < dof; ++row) components[row][run.slot + t] = sum[row];
    }
}

/// This chooses the loop: where each point has one unknown, which depends on that of the adjacent point alone, the
/// solve along the run is a recurrence, and otherwise it goes point by point.
template <Side side, class T>
void solve_along(const Reduced<T>& f, const Piece<T>& piece, const Run& run, int first, int entries, Vector& x) {
    const AlongRun along(f, piece, first, first + entries);
    if (along.count == 0) return;
    constexpr bool down = side == Side::lower;
    const int entry = along.entries[0];
    if (f.dof == 1 && along.count == 1 && std::abs(f.stencil[entry].x) == 1) {
        const RunNeighbours& n = piece.neighbours(entry);
        double* const values = x.data() + run.slot;
        const UnitLine<typename Piece<T>::Coefficient> line{piece.coefficient(entry, 0, 0), values};
        solve_recurrence<!down>(line, n.begin, n.end, values[down ? n.begin - 1 : n.end], values);
        return;
    }
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(f.dof,
                                           [&](auto m) { solve_points<m.value, side>(f, piece, run, along, x); });
}

/// For one row of the blocks of a piece: out = in - sum over the other entries of coefficient times x.
template <class T>
void subtract_products(const Reduced<T>& f, const Piece<T>& piece, const Run& run, int first, int entries, int row,
                       const Vector& x, const double* in, double* out) {
    auto& terms = terms_of_thread<typename Piece<T>::Coefficient, double>();
    terms.clear();
    const int next = first == 0 ? run.count : -run.count;  // the upper solve goes down
    for (int e = first; e < first + entries; ++e) {
        const RunNeighbours& n = piece.neighbours(e);
        if (n.begin >= n.end || f.along_run(e)) continue;
        for (int col = 0; col < f.dof; ++col) {
            terms.push_back({piece.coefficient(e, row, col), x.component(col) + n.slot, n.begin, n.end});
            if (Piece<T>::in_place && f.dof > 1) ask_for(terms.back().a + next, run.count);
        }
    }
    accumulate<-1>(terms, in, out, run.count);
}

template <class T>
void lower_piece(const Reduced<T>& f, const Run& run, const Vector& r, Vector& v) {
    const int entries = f.stencil.lower_size();
    const Piece<T> piece(f, run, 0, entries, false);
    for (int row = 0; row < f.dof; ++row)
        subtract_products(f, piece, run, 0, entries, row, v, r.component(row) + run.slot, v.component(row) + run.slot);
    solve_along<Side::lower>(f, piece, run, 0, entries, v);
}

/// Solves for a piece and returns its v^T D^-1 v. If G = W^T, the sum over all pieces is r^T M^-1 r.
template <class T>
double upper_piece(const Reduced<T>& f, const Run& run, Vector& z) {
    const int first = f.stencil.diagonal() + 1, entries = f.stencil.lower_size();
    const Piece<T> piece(f, run, first, entries, true);
    auto& terms = terms_of_thread<typename Piece<T>::Coefficient, double>();
    std::vector<double>& values = scratch().values;
    values.resize(std::size_t(f.dof) * run.count);
    double product = 0.0;
    for (int row = 0; row < f.dof; ++row) {
        double* const scaled = values.data() + row * run.count;
        terms.clear();
        for (int col = 0; col < f.dof; ++col) {
            terms.push_back({piece.inverse(row, col), z.component(col) + run.slot, 0, run.count});
            if (Piece<T>::in_place && f.dof > 1) ask_for(terms.back().a - run.count, run.count);
        }
        accumulate<+1>(terms, nullptr, scaled, run.count);
        product += dot_run(scaled, z.component(row) + run.slot, run.count);
    }
    for (int row = 0; row < f.dof; ++row)
        subtract_products(f, piece, run, first, entries, row, z, values.data() + row * run.count,
                          z.component(row) + run.slot);
    solve_along<Side::upper>(f, piece, run, first, entries, z);
    return product;
}

template <class Body>
void with_values(const IluFactors& factors, const Body& body) {
    if (factors.reduced()->storage() == FactorStorage::single_precision)
        body(Reduced<float>(factors));
    else
        body(Reduced<Half>(factors));
}

/// Lines of one unknown in single precision, which are solved in one pass where they are long enough.
class SingleLines {
public:
    SingleLines(const IluFactors& factors, Side side, const Vector& x) : descends_(side != Side::lower) {
        if (factors.reduced()->storage() != FactorStorage::single_precision) return;
        const SinglesByRun f(factors);
        reads_.emplace(descends_ ? f.upper(x) : f.lower(x));
    }
    /// Whether a piece is such a line; then its terms are listed.
    bool list(const Run& piece) const {
        return reads_ && reads_->list(piece, descends_, terms()) && terms().size() <= most_line_terms;
    }
    void lower(const Run& piece, const Vector& r, Vector& v) const {
        lower_single_line(*reads_, terms(), piece, r.data(), v.data());
    }
    /// Returns v^T D^-1 v of the piece, if that is wanted.
    double upper(const Run& piece, Vector& z, bool product_wanted) const {
        double product = 0.0;
        if (product_wanted) {
            std::vector<double>& scaled = scratch().values;
            scaled.resize(std::size_t(piece.count));
            const float* const d = reads_->inverse(piece);
            const double* const v = z.data() + piece.slot;
            for (int t = 0; t < piece.count; ++t) scaled[t] = double(d[t]) * v[t];
            product = dot_run(scaled.data(), v, piece.count);
        }
        upper_single_line(*reads_, terms(), piece, z.data());
        return product;
    }

private:
    static std::vector<SingleRunTerm>& terms() { return terms_of_thread<float, double>(); }

    bool descends_;
    std::optional<LineReads<float, double>> reads_;
};

}  // namespace
void lower_reduced(const IluFactors& factors, const Vector& r, Vector& v) {
    const SingleLines lines(factors, Side::lower, v);
    with_values(factors, [&](const auto& f) {
        for_each_piece(f, Side::lower, carried(v, f.stencil), [&](const Run& piece) {
            lines.list(piece) ? lines.lower(piece, r, v) : lower_piece(f, piece, r, v);
        });
    });
}

void upper_reduced(const IluFactors& factors, Vector& z, std::vector<double>* of_line) {
    const Layout& layout = factors.matrix().layout();
    const Index ny = layout.grid().ny, first = layout.begin_plane();
    const SingleLines lines(factors, Side::upper, z);
    with_values(factors, [&](const auto& f) {
        for_each_piece(f, Side::upper, carried(z, f.stencil), [&](const Run& piece) {
            const double product =
                lines.list(piece) ? lines.upper(piece, z, of_line != nullptr) : upper_piece(f, piece, z);
            if (of_line) (*of_line)[piece.first.y + ny * (piece.first.z - first)] += product;
        });
    });
}

}  // namespace wavefront_cpu
}  // namespace hyperplane
