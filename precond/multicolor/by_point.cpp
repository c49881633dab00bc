// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multicolor/by_point.hpp"

#include "core/device/for_each_point.hpp"
#include "precond/factors/judged_inverse.hpp"
#include "precond/factors/known_dof.hpp"
#include "precond/factors/pivot_log.hpp"
#include "precond/factors/view.hpp"

namespace hyperplane::multicolor {
namespace {

using Place = ColouredView::Place;

/// View of A by the entries of a colouring.
struct MatrixRows {
    Layout layout;
    ConstBlockView blocks;
    int diagonal, stored;
    const Index* entry;  ///< A's entry of each offset of the colouring

    HYPERPLANE_HD double at(Int3 p, Int3 q, int e, int row, int col) const {
        if (entry[e] < stored) return blocks.at(int(entry[e]), layout.slot(p), row, col);
        return blocks.at(2 * diagonal - int(entry[e]), layout.slot(q), col, row);
    }
};

/// The factors as source of a copy: an entry has coefficients of W if the neighbour's colour is earlier than the
/// point's, and of G if it is later. In the triangle to which it does not belong it is zero.
struct Triangles {
    ColouredView points;
    const double* values;
    int dof;

    HYPERPLANE_HD double at(int entry, Int3 p, Int3 q, int row, int col) const {
        const Place own = points.place(p), there = points.place(q);
        if (entry == points.entries) return values[points.inverse_coefficient(own, row, col, dof)];
        const bool of_w = entry < points.entries;
        if (of_w != (there.colour < own.colour)) return 0.0;
        return values[points.coefficient(own, of_w ? entry : entry - points.entries - 1, there, row, col, dof)];
    }
};

/// Factorises one point after all points of earlier colours; m is the dof if it is known at compile time, else 0.
template <int m>
struct FactorPoint {
    ColouredView points;
    MatrixRows a;
    double* values;
    int dof, colour;
    Index first, count;  ///< the places that are factored
    double alpha;
    PivotJudge judge;
    bool eliminates;
    double* ratios;
    Index first_row;  ///< of the matrix's layout

    static constexpr int room = m > 0 ? m : max_dof;
    using few_points = void;  // loops may count points in 32 bits, since ColouredShape limits slots to 2^31

    HYPERPLANE_HD int size() const { return m > 0 ? m : dof; }
    /// The measure of the work at a point: one for each coefficient.
    int unknowns() const { return (points.entries + 1) * dof * dof; }
    HYPERPLANE_HD double& x(Place own, int e, Place there, int row, int col) const {
        return values[points.coefficient(own, e, there, row, col, size())];
    }
    HYPERPLANE_HD double& diagonal(Place own, int row, int col) const {
        return values[points.inverse_coefficient(own, row, col, size())];
    }

    HYPERPLANE_HD void operator()(Int3, Index at) const {
        if (at >= count) return;
        const Place own{colour, first + at};
        const Int3 p = points.point(colour, first + at);
        if (!points.grid.contains(p)) return;
        begin(own, p);
        for (int earlier = 0; earlier < colour; ++earlier)
            for (int l = 0; l < points.entries; ++l) {
                if (!points.grid.contains(p + points.offsets[l])) continue;
                const Place q = points.neighbour(own, p, l);
                if (q.colour == earlier) eliminate(own, p, l, q);
            }
        invert(own, p);
        scale(own, p);
    }

    /// X = A + alpha diag(A).
    HYPERPLANE_HD void begin(Place own, Int3 p) const {
        for (int r = 0; r < size(); ++r)
            for (int c = 0; c < size(); ++c)
                diagonal(own, r, c) = (r == c ? 1.0 + alpha : 1.0) * a.blocks.at(a.diagonal, a.layout.slot(p), r, c);
        for (int e = 0; e < points.entries; ++e) {
            if (!points.keeps(colour, e)) continue;
            const Int3 q = p + points.offsets[e];
            const bool inside = points.grid.contains(q);
            for (int r = 0; r < size(); ++r)
                for (int c = 0; c < size(); ++c) x(own, e, own, r, c) = inside ? a.at(p, q, e, r, c) : 0.0;
        }
    }

    /// X_e(p) -= E_l(p) G_u(q) for all u that lead from q to a later colour, with e = l + u; then W_l(p) = E_l(p)
    /// D^-1(q).
    HYPERPLANE_HD void eliminate(Place own, Int3 p, int l, Place q) const {
        if (eliminates) subtract(own, p, l, q);
        double row[room];
        for (int r = 0; r < size(); ++r) {
            product_with_pivot(own, l, q, r, row);
            for (int c = 0; c < size(); ++c) x(own, l, q, r, c) = row[c];
        }
    }
    HYPERPLANE_HD void subtract(Place own, Int3 p, int l, Place q) const {
        const int back = points.entries - 1 - l;
        const bool mirrored = !points.keeps(q.colour, back);  // G of q is the transpose of W of p
        double row[room];
        for (int r = 0; r < size(); ++r) {
            product_with_pivot(own, l, q, r, row);
            for (int c = 0; c < size(); ++c) {
                double sum = 0.0;
                for (int k = 0; k < size(); ++k)
                    sum += mirrored ? row[k] * x(own, l, q, c, k) : x(own, l, q, r, k) * x(q, back, own, k, c);
                diagonal(own, r, c) -= sum;
            }
        }
        for (int e = 0; e < points.entries; ++e) {
            const int u = int(points.sum[e * points.entries + l]);
            if (u < 0 || !points.keeps(colour, e) || !points.grid.contains(p + points.offsets[e])) continue;
            const Place end = points.neighbour(own, p, e);
            if (end.colour <= q.colour) continue;
            for (int r = 0; r < size(); ++r)
                for (int c = 0; c < size(); ++c) {
                    double sum = 0.0;
                    for (int k = 0; k < size(); ++k) sum += x(own, l, q, r, k) * x(q, u, end, k, c);
                    x(own, e, end, r, c) -= sum;
                }
        }
    }
    /// Computes row r of E_l(p) D^-1(q).
    HYPERPLANE_HD void product_with_pivot(Place own, int l, Place q, int r, double (&row)[room]) const {
        for (int c = 0; c < size(); ++c) {
            row[c] = 0.0;
            for (int k = 0; k < size(); ++k) row[c] += x(own, l, q, r, k) * diagonal(q, k, c);
        }
    }

    /// Replaces D by D^-1, or by zero if a pivot cannot be used (precond/factors/pivots.hpp).
    HYPERPLANE_HD void invert(Place own, Int3 p) const {
        double block[room * room];
        const Index slot = a.layout.slot(p), row_of_p = points.grid.row(p) - first_row;
        for (int r = 0; r < size(); ++r)
            for (int c = 0; c < size(); ++c) block[r * size() + c] = diagonal(own, r, c);
        ratios[row_of_p] = invert_judged(
            size(), block, [&](int r, int c) { return a.blocks.at(a.diagonal, slot, r, c); }, judge,
            [&](int r, double pivot, double given, double scale) {
                const Index row = row_of_p * size() + r;
                return judge.usable(pivot, given, scale, (unsigned long long)row, true);
            });
        for (int r = 0; r < size(); ++r)
            for (int c = 0; c < size(); ++c) diagonal(own, r, c) = block[r * size() + c];
    }

    /// G = D^-1 F.
    HYPERPLANE_HD void scale(Place own, Int3 p) const {
        double column[room];
        for (int e = 0; e < points.entries; ++e) {
            if (!points.keeps(colour, e) || !points.grid.contains(p + points.offsets[e])) continue;
            const Place q = points.neighbour(own, p, e);
            if (q.colour < colour) continue;
            for (int c = 0; c < size(); ++c) {
                for (int k = 0; k < size(); ++k) column[k] = x(own, e, q, k, c);
                for (int r = 0; r < size(); ++r) {
                    double sum = 0.0;
                    for (int k = 0; k < size(); ++k) sum += diagonal(own, r, k) * column[k];
                    x(own, e, q, r, c) = sum;
                }
            }
        }
    }
};

template <int m>
void run(const Context& context, const FactorPoint<0>& f) {
    const FactorPoint<m> body{f.points, f.a,     f.values, f.dof,        f.colour, f.first,
                              f.count,  f.alpha, f.judge,  f.eliminates, f.ratios, f.first_row};
    for_each_point(context, ColouredPoints::lines_of(f.count), "multicolour factorisation", body);
}

/// Rounds the values of a point, each row of W, D^-1 and G by itself.
template <class T>
struct RoundPoint {
    ColouredView points;
    const double* values;
    T* rounded;
    RowExponent* exponents;
    RoundingLog* log;
    int dof, parts, colour;
    Index count, slots;
    ColouredPoints::Range owned;  ///< the places that are logged

    using few_points = void;

    HYPERPLANE_HD int part_of(int e) const {
        return e < 0 ? 1 : points.next[colour * points.entries + e] < colour ? 0 : 2;
    }
    /// Calls body(index) for the coefficients of row r in W, D^-1 or G, which are parts 0, 1 and 2.
    template <class Body>
    HYPERPLANE_HD void for_each(Place own, int part, int r, const Body& body) const {
        for (int e = -1; e < points.entries; ++e) {
            if (part_of(e) != part || (e >= 0 && !points.keeps(colour, e))) continue;
            for (int c = 0; c < dof; ++c)
                body(e < 0 ? points.inverse_coefficient(own, r, c, dof) : points.coefficient(own, e, own, r, c, dof));
        }
    }

    HYPERPLANE_HD void operator()(Int3, Index at) const {
        if (at >= count) return;
        const Place own{colour, at};
        const Int3 p = points.point(colour, at);
        const bool inside = points.grid.contains(p);
        for (int part = 0; part < parts; ++part)
            for (int r = 0; r < dof; ++r) {
                RowRounding<T> row;
                if constexpr (RowRounding<T>::scales) {
                    if (inside) for_each(own, part, r, [&](Index place) { row.see(values[place]); });
                    exponents[(part * dof + r) * slots + points.slot(own)] = row.settle();
                }
                for_each(own, part, r,
                         [&](Index place) { rounded[place] = inside ? row.rounded(values[place]) : T{}; });
                if (inside && at >= owned.begin && at < owned.end)
                    row.tell(*log, 3 * (unsigned long long)(points.grid.row(p) * dof + r) + part);
            }
    }
};

}  // namespace

void factor(const StructMatrix& a, const ColouredPoints& points, const Index* a_entry, double alpha,
            const PivotRules& rules, PivotLog* log, bool eliminates, double* ratios, double* values) {
    FactorPoint<0> f{};
    f.points = points.view();
    f.a = {a.layout(), block_view(a), a.stencil().diagonal(), a.stored_entries(), a_entry};
    f.values = values;
    f.dof = a.dof();
    f.alpha = alpha;
    f.judge = {rule_of(rules, a.symmetric()), log};
    f.eliminates = eliminates;
    f.ratios = ratios;
    f.first_row = a.grid().row({0, 0, a.layout().begin_plane()});
    for (f.colour = 0; f.colour < points.colours(); ++f.colour) {
        const ColouredPoints::Range owned = points.owned(a.layout(), f.colour);
        f.first = owned.begin, f.count = owned.end - owned.begin;
        if (f.count > 0) with_known_dof<1, 2, 3, 4, 5, 6, 8>(f.dof, [&](auto m) { run<m.value>(a.context(), f); });
        points.exchange(a.context(), a.layout(), f.colour, points.coefficients(f.colour, f.dof, values));
    }
}

template <class T>
void round(const Context& context, const Layout& layout, const ColouredPoints& points, int dof, bool symmetric,
           const double* values, T* rounded, RowExponent* exponents, RoundingLog* log) {
    const ColouredShape& shape = points.shape();
    const int parts = shape.halved(symmetric) ? 2 : 3;
    for (int colour = 0; colour < points.colours(); ++colour)
        if (const Index count = points.count(colour); count > 0)
            for_each_point(context, ColouredPoints::lines_of(count), "rounding of factors",
                           RoundPoint<T>{points.view(), values, rounded, exponents, log, dof, parts, colour, count,
                                         shape.slots, points.owned(layout, colour)});
}
template void round(const Context&, const Layout&, const ColouredPoints&, int, bool, const double*, float*,
                    RowExponent*, RoundingLog*);
template void round(const Context&, const Layout&, const ColouredPoints&, int, bool, const double*, Half*, RowExponent*,
                    RoundingLog*);

void copy_triangles(const ColouredView& points, const double* values, const TriangleCopy& to) {
    copy_triangles_of(Triangles{points, values, to.dof}, to);
}

}  // namespace hyperplane::multicolor
