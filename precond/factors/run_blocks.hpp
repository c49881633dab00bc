// SPDX-License-Identifier: BSD-3-Clause
// Blocks of coefficients of consecutive points, for factorisations on a CPU. The address of each coefficient advances
// by one from a point to the next, so that products of blocks vectorise over the points. The template parameter m is
// the dof if it is known at compile time, else 0.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/types.hpp"
#include "precond/factors/pivots.hpp"

namespace hyperplane {

/// View of the blocks of points t = 0, 1, ...
template <class T>
struct RunBlocks {
    T* first = nullptr;
    Index row_stride = 0, col_stride = 0;

    T& at(int t, int row, int col) const { return first[t + row * row_stride + col * col_stride]; }
    operator RunBlocks<const T>() const { return {first, row_stride, col_stride}; }
    RunBlocks transposed() const { return {first, col_stride, row_stride}; }
    /// The blocks from point `by` on.
    RunBlocks from(Index by) const { return {first + by, row_stride, col_stride}; }
};

/// Makes a view; place(row, col) returns the address of that coefficient at the first point.
template <class Place>
auto run_blocks(int dof, const Place& place) {
    auto* const first = place(0, 0);
    return RunBlocks<std::remove_pointer_t<decltype(first)>>{first, dof > 1 ? place(1, 0) - first : 0,
                                                             dof > 1 ? place(0, 1) - first : 0};
}

/// A copy of one point's block, row-major.
template <int m>
struct LocalBlock {
    double v[m > 0 ? m* m : max_dof* max_dof];

    template <class T>
    void load(const RunBlocks<T>& from, int t, int dof) {
        for (int row = 0; row < dof; ++row)
            for (int col = 0; col < dof; ++col) v[row * dof + col] = from.at(t, row, col);
    }
    void store(const RunBlocks<double>& to, int t, int dof) const {
        for (int row = 0; row < dof; ++row)
            for (int col = 0; col < dof; ++col) to.at(t, row, col) = v[row * dof + col];
    }
    /// Adds sign x y.
    template <int sign>
    void add_product(const LocalBlock& x, const LocalBlock& y, int dof) {
        for (int row = 0; row < dof; ++row)
            for (int q = 0; q < dof; ++q)
                for (int col = 0; col < dof; ++col)
                    v[row * dof + col] += sign * x.v[row * dof + q] * y.v[q * dof + col];
    }
};

/// z += sign x y at the points [begin, end).
template <int sign, int m, class X>
void add_products(int known, const RunBlocks<X>& x, const RunBlocks<const double>& y, const RunBlocks<double>& z,
                  int begin, int end) {
    const int dof = m > 0 ? m : known;
    for (int row = 0; row < dof; ++row)
        for (int col = 0; col < dof; ++col) {
            double* const out = &z.at(0, row, col);
            if constexpr (m > 0) {
                const double *left[m], *right[m];
                for (int q = 0; q < m; ++q) left[q] = &x.at(0, row, q), right[q] = &y.at(0, q, col);
#pragma omp simd
                for (int t = begin; t < end; ++t) {
                    double sum = out[t];
#pragma GCC unroll 8
                    for (int q = 0; q < m; ++q) sum += sign * left[q][t] * right[q][t];
                    out[t] = sum;
                }
            } else {
                for (int q = 0; q < dof; ++q) {
                    const double *left = &x.at(0, row, q), *right = &y.at(0, q, col);
#pragma omp simd
                    for (int t = begin; t < end; ++t) out[t] += sign * left[t] * right[t];
                }
            }
        }
}

/// Replaces D by D^-1 at point t of `pivots`; `given` are A's diagonal blocks, of which number `at` is this point's.
template <int m>
void invert_point(int known, PivotInverter& inverter, Int3 cell, const RunBlocks<const double>& given, int at,
                  const RunBlocks<double>& pivots, int t, PivotRatio& smallest) {
    const int dof = m > 0 ? m : std::max(known, 1);  // g++ warns of blocks without a value otherwise
    LocalBlock<m> own, x;
    own.load(given, at, dof);
    x.load(pivots, t, dof);
    inverter.invert(cell, own.v, x.v, smallest);
    x.store(pivots, t, dof);
}

/// The eliminations of consecutive points: for one neighbour after the other, W = E D^-1, then X -= W F for each of its
/// terms. These are LOOP2 and LOOP3 of Algorithm 1 of the StructILU paper.
template <int m>
class RunEliminations {
public:
    /// Removes all neighbours; those added next have `dof` unknowns a point.
    void begin(int dof) {
        dof_ = dof;
        neighbours_.clear(), terms_.clear();
    }
    /// Adds a neighbour that the points [begin, end) have: E at the points, D^-1 at the neighbours. at_point stores W
    /// in `w` if that is given.
    void add(const RunBlocks<const double>& e, const RunBlocks<const double>& inverse, int begin, int end,
             const RunBlocks<double>& w = {}) {
        neighbours_.push_back({e, inverse, w, begin, end, 0});
    }
    /// Adds X -= W F to the neighbour added last, at those of the points [begin, end) that have it.
    void add_term(const RunBlocks<double>& x, const RunBlocks<const double>& f, int begin, int end) {
        terms_.push_back({x, f, begin, end});
        ++neighbours_.back().terms;
    }

    /// Computes all eliminations at points [0, count), each neighbour at all points together. No term's F may be the X
    /// of another term.
    void at_all_points(int count) {
        const int dof = m > 0 ? m : dof_;
        const Term* next = terms_.data();
        for (const Neighbour& neighbour : neighbours_) {
            const std::span<const Term> terms(std::exchange(next, next + neighbour.terms), neighbour.terms);
            if (terms.empty() || neighbour.begin >= neighbour.end) continue;
            products_.assign(std::size_t(dof) * dof * count, 0.0);
            const RunBlocks<double> w{products_.data(), Index(dof) * count, count};
            add_products<+1, m>(dof, neighbour.e, neighbour.inverse, w, neighbour.begin, neighbour.end);
            for (const Term& term : terms)
                add_products<-1, m>(dof, w, term.f, term.x, std::max(neighbour.begin, term.begin),
                                    std::min(neighbour.end, term.end));
        }
    }
    /// Computes all eliminations at point t.
    void at_point(int t) const {
        const int dof = m > 0 ? m : dof_;
        LocalBlock<m> left, right, w, x;
        const Term* next = terms_.data();
        for (const Neighbour& neighbour : neighbours_) {
            const std::span<const Term> terms(std::exchange(next, next + neighbour.terms), neighbour.terms);
            if (t < neighbour.begin || t >= neighbour.end) continue;
            left.load(neighbour.e, t, dof);
            right.load(neighbour.inverse, t, dof);
            std::fill_n(w.v, dof * dof, 0.0);
            w.template add_product<+1>(left, right, dof);
            if (neighbour.w.first) w.store(neighbour.w, t, dof);
            for (const Term& term : terms) {
                if (t < term.begin || t >= term.end) continue;
                x.load(term.x, t, dof);
                right.load(term.f, t, dof);
                x.template add_product<-1>(w, right, dof);
                x.store(term.x, t, dof);
            }
        }
    }

private:
    struct Neighbour {
        RunBlocks<const double> e, inverse;
        RunBlocks<double> w;
        int begin, end;
        std::size_t terms;
    };
    struct Term {
        RunBlocks<double> x;
        RunBlocks<const double> f;
        int begin, end;
    };

    int dof_ = m;
    std::vector<Neighbour> neighbours_;
    std::vector<Term> terms_;
    std::vector<double> products_;
};

}  // namespace hyperplane
