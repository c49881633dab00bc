// SPDX-License-Identifier: BSD-3-Clause
// Multicolour factorisation on a CPU for a linear colouring: the places of a colour are factored in pieces, all points
// of a piece at once. The steps are those at the head of precond/multicolor/multicolor.hpp.
//
// Empty places have coefficients of zero, and so have couplings to neighbours outside the grid, whose places belong to
// other points. Masks leave out the products with such neighbours, since zero times a coefficient that is not finite is
// not zero.
#include <algorithm>
#include <vector>

#include "precond/factors/known_dof.hpp"
#include "precond/factors/run_blocks.hpp"
#include "precond/multicolor/by_point.hpp"

namespace hyperplane::multicolor {
namespace {

/// An element of a mask has all bits set or none; there is one for each place of a piece.
using Mask = long long;

/// z -= x y at those of the places [begin, end) whose mask is set.
template <int m>
void subtract_products(int known, const RunBlocks<const double>& x, const RunBlocks<const double>& y,
                       const RunBlocks<double>& z, const Mask* mask, int begin, int end) {
    const int dof = m > 0 ? m : known;
    for (int row = 0; row < dof; ++row)
        for (int col = 0; col < dof; ++col) {
            double* const out = &z.at(0, row, col);
            const auto subtract = [&](auto terms, int first) {
                constexpr int n = terms.value;
                const double *left[n], *right[n];
                for (int q = 0; q < n; ++q) left[q] = &x.at(0, row, first + q), right[q] = &y.at(0, first + q, col);
#pragma omp simd
                for (int t = begin; t < end; ++t) {
                    double sum = 0.0;
#pragma GCC unroll 8
                    for (int q = 0; q < n; ++q) sum += left[q][t] * right[q][t];
                    out[t] -= mask[t] ? sum : 0.0;
                }
            };
            if constexpr (m > 0)
                subtract(std::integral_constant<int, m>(), 0);
            else
                for (int q = 0; q < dof; ++q) subtract(std::integral_constant<int, 1>(), q);
        }
}

/// Factorises the places of one colour; m is the dof if it is known at compile time, else 0.
template <int m>
class ColourFactors {
public:
    ColourFactors(const StructMatrix& a, const ColouredView& points, const Index* a_entry, double alpha,
                  PivotInverter& inverter, bool eliminates, double* values, int colour)
        : a_(a),
          points_(points),
          a_entry_(a_entry),
          alpha_(alpha),
          inverter_(inverter),
          eliminates_(eliminates),
          values_(values),
          colour_(colour),
          dof_(a.dof()) {
        for (int earlier = 0; earlier < colour; ++earlier)
            for (int l = 0; l < points.entries; ++l)
                if (next(l) == earlier) lower_.push_back(l);
    }
    static Index piece_length(int dof) { return dof == 1 ? 1024 : std::max(32, 4096 / (dof * dof)); }

    /// Factorises the places [first, first + count).
    void factor_piece(Index first, int count) {
        first_ = first;
        count_ = count;
        locate();
        begin_entry(points_.entries);
        for (int e = 0; e < points_.entries; ++e)
            if (kept(e)) begin_entry(e);
        for (const int l : lower_) eliminate(l);
        invert();
        for (int e = 0; e < points_.entries; ++e)
            if (kept(e) && next(e) > colour_) scale(e);
    }

private:
    int dof() const { return m > 0 ? m : dof_; }
    int next(int e) const { return int(points_.next[colour_ * points_.entries + e]); }
    bool kept(int e) const { return points_.keeps(colour_, e); }
    const Mask* inside(int e) const { return inside_.data() + std::size_t(e) * count_; }

    /// Finds the piece's points and, as masks, which neighbours they have.
    void locate() {
        const Grid& g = points_.grid;
        point_.resize(count_);
        inside_.resize(std::size_t(points_.entries + 1) * count_);
        Mask* const own = inside_.data() + std::size_t(points_.entries) * count_;
        const Index number = points_.base + first_ * points_.colours + colour_, rest = number % points_.plane;
        Index k = number / points_.plane, j = rest / points_.line, i = rest % points_.line;
        Index in_plane = rest;  // the last line of a plane may be longer than the others
        for (int t = 0; t < count_; ++t) {
            point_[t] = {int(i), int(j), int(k)};
            own[t] = -Mask(g.contains(point_[t]));
            i += points_.colours, in_plane += points_.colours;
            if (in_plane >= points_.plane) {
                k += in_plane / points_.plane, in_plane %= points_.plane;
                j = in_plane / points_.line, i = in_plane % points_.line;
            }
            for (; i >= points_.line; i -= points_.line) ++j;
        }
        for (int e = 0; e < points_.entries; ++e) {
            Mask* const mask = inside_.data() + std::size_t(e) * count_;
            const Int3 o = points_.offsets[e];
            for (int t = 0; t < count_; ++t) mask[t] = own[t] & -Mask(g.contains(point_[t] + o));
        }
    }

    /// The piece's blocks of an entry that is stored; number `entries` is the diagonal.
    RunBlocks<double> blocks(int e) const {
        const Index at = e == points_.entries ? points_.inverse[colour_] : points_.block[colour_ * points_.entries + e];
        return {values_ + at + first_, dof() * points_.pitch, points_.pitch};
    }
    /// The blocks of entry u at the neighbours at l of the piece's places; u leads from there to the neighbours at e.
    RunBlocks<const double> blocks_of_neighbour(int l, int u, int e) const {
        const Index at = Index(next(l)) * points_.entries + u, pitch = points_.pitch;
        const Index shift = points_.shift[colour_ * points_.entries + l];
        if (points_.block[at] >= 0) return {values_ + points_.block[at] + first_ + shift, dof() * pitch, pitch};
        const Index mirror = Index(next(e)) * points_.entries + points_.entries - 1 - u;
        return {values_ + points_.block[mirror] + first_ + points_.shift[colour_ * points_.entries + e], pitch,
                dof() * pitch};
    }
    /// The places [begin, end) of the piece for which the neighbour at e has a place, empty or not, in its colour.
    struct Range {
        int begin, end;
    };
    Range range(int e) const {
        const Index there = first_ + points_.shift[colour_ * points_.entries + e];
        const int begin = int(std::clamp<Index>(-there, 0, count_));
        return {begin, int(std::clamp<Index>(points_.pitch - there, begin, count_))};
    }

    /// X = A + alpha diag(A).
    void begin_entry(int e) {
        const bool diagonal = e == points_.entries;
        const int own = diagonal ? a_.stencil().diagonal() : int(a_entry_[e]);
        const bool stored = a_.stores(own);
        const Int3 way = stored || diagonal ? Int3{0, 0, 0} : points_.offsets[e];
        const Mask* const mask = inside(e);
        slot_.resize(count_);
        for (int t = 0; t < count_; ++t) slot_[t] = mask[t] ? a_.layout().slot(point_[t] + way) : 0;
        const RunBlocks<double> x = blocks(e);
        for (int row = 0; row < dof(); ++row)
            for (int col = 0; col < dof(); ++col) {
                const double* const from =
                    stored ? a_.values(own, row, col) : a_.values(2 * a_.stencil().diagonal() - own, col, row);
                const double factor = diagonal && row == col ? 1.0 + alpha_ : 1.0;
                double* const out = &x.at(0, row, col);
                // The next coefficient's values are prefetched: a piece is too short for hardware prefetchers.
                const double* const next = from + a_.stride();
                for (int t = 0; t < count_; ++t) {
                    __builtin_prefetch(next + slot_[t]);
                    const double value = factor * from[slot_[t]];
                    out[t] = mask[t] ? value : 0.0;
                }
            }
    }

    /// X_e(p) -= E_l(p) G_u(p+l), but for Gauss-Seidel, then W_l(p) = E_l(p) D^-1(p+l).
    void eliminate(int l) {
        const Range near = range(l);
        const int back = points_.entries - 1 - l;
        const RunBlocks<double> own = blocks(l);
        const Index shift = points_.shift[colour_ * points_.entries + l];
        const RunBlocks<const double> inverse{values_ + points_.inverse[next(l)] + first_ + shift,
                                              dof() * points_.pitch, points_.pitch};
        product_.assign(std::size_t(dof()) * dof() * count_, 0.0);
        const RunBlocks<double> w{product_.data(), Index(dof()) * count_, count_};
        add_products<+1, m>(dof(), own, inverse, w, near.begin, near.end);
        if (!eliminates_) return store(w, own, near, inside(l));
        if (points_.keeps(next(l), back))
            subtract_products<m>(dof(), own, blocks_of_neighbour(l, back, points_.entries), blocks(points_.entries),
                                 inside(l), near.begin, near.end);
        else  // G of the neighbour is W^T
            subtract_products<m>(dof(), w, RunBlocks<const double>(own).transposed(), blocks(points_.entries),
                                 inside(l), near.begin, near.end);
        both_.resize(count_);
        for (int e = 0; e < points_.entries; ++e) {
            const int u = int(points_.sum[e * points_.entries + l]);
            if (u < 0 || !kept(e) || next(e) <= next(l)) continue;
            const Range end = range(e);
            const Mask *const there = inside(l), *const behind = inside(e);
            for (int t = 0; t < count_; ++t) both_[t] = there[t] & behind[t];
            subtract_products<m>(dof(), own, blocks_of_neighbour(l, u, e), blocks(e), both_.data(),
                                 std::max(near.begin, end.begin), std::min(near.end, end.end));
        }
        store(w, own, near, inside(l));
    }
    /// G_e = D^-1 F_e.
    void scale(int e) {
        product_.assign(std::size_t(dof()) * dof() * count_, 0.0);
        const RunBlocks<double> own = blocks(e), g{product_.data(), Index(dof()) * count_, count_};
        add_products<+1, m>(dof(), blocks(points_.entries), own, g, 0, count_);
        store(g, own, {0, count_}, inside(e));
    }
    void store(const RunBlocks<double>& from, const RunBlocks<double>& to, Range range, const Mask* mask) const {
        for (int row = 0; row < dof(); ++row)
            for (int col = 0; col < dof(); ++col) {
                const double* const in = &from.at(0, row, col);
                double* const out = &to.at(0, row, col);
                for (int t = range.begin; t < range.end; ++t) out[t] = mask[t] ? in[t] : 0.0;
            }
    }

    /// Replaces D by D^-1, or by zero if a pivot cannot be used.
    void invert() {
        const RunBlocks<double> pivots = blocks(points_.entries);
        const int own = a_.stencil().diagonal();
        PivotRatio smallest;
        for (int t = 0; t < count_; ++t) {
            if (!inside(points_.entries)[t]) continue;
            const Index slot = a_.layout().slot(point_[t]);
            const auto given = run_blocks(dof(), [&](int row, int col) { return a_.values(own, row, col) + slot; });
            invert_point<m>(dof(), inverter_, point_[t], given, 0, pivots, t, smallest);
        }
        inverter_.note(smallest);
    }

    const StructMatrix& a_;
    const ColouredView& points_;
    const Index* const a_entry_;
    const double alpha_;
    PivotInverter& inverter_;
    const bool eliminates_;
    double* const values_;
    const int colour_, dof_;
    std::vector<int> lower_;  ///< entries that lead to earlier colours, sorted by colour
    Index first_ = 0;
    int count_ = 0;
    std::vector<Int3> point_;
    std::vector<Mask> inside_, both_;  ///< inside_[e][place]: the neighbour at e exists; e = entries: the point
    std::vector<Index> slot_;
    std::vector<double> product_;
};

}  // namespace

void factor_pieces(const StructMatrix& a, const ColouredPoints& points, const Index* a_entry, double alpha,
                   PivotInverter& inverter, bool eliminates, double* values) {
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(a.dof(), [&](auto m) {
        using Factors = ColourFactors<m.value>;
        const Index piece = Factors::piece_length(a.dof());
        for (int colour = 0; colour < points.colours(); ++colour) {
            const ColouredPoints::Range owned = points.owned(a.layout(), colour);
            const Index begin = owned.begin, end = owned.end, blocks = (end - begin) * (points.host().entries + 1);
#pragma omp parallel num_threads(a.context().threads_for(blocks* a.dof() * a.dof()))
            {
                Factors factors(a, points.host(), a_entry, alpha, inverter, eliminates, values, colour);
#pragma omp for schedule(static)
                for (Index first = begin; first < end; first += piece)
                    factors.factor_piece(first, int(std::min(piece, end - first)));
            }
            points.exchange(a.context(), a.layout(), colour, points.coefficients(colour, a.dof(), values));
        }
    });
}

}  // namespace hyperplane::multicolor
