// SPDX-License-Identifier: BSD-3-Clause
// Row by row (Saad, Iterative Methods, Algorithm 10.4): for each k < i in the row, L_ik = X_ik U_kk^-1, and X_ij -=
// L_ik U_kj for each j > k that both rows have. Of a symmetric matrix only j >= i is computed, and L_ik = U_ki^T
// D_k^-1.
//
// Where rows are long, finding the entries that two of them share would take most of the time. So a long row of one
// unknown is spread over an array with a place for each column: all of U_k is subtracted there without a comparison,
// and what falls between the entries of the row is ignored. Only where U_k is much longer than what is left of the row
// are the entries that both have looked up.
#include <algorithm>
#include <array>

#include "precond/factors/known_dof.hpp"
#include "precond/general/factors/cpu.hpp"

namespace hyperplane::general_cpu {
namespace {

template <int m>
class Rows {
public:
    Rows(const BsrMatrix& a, double alpha, GeneralFactors& factors, PivotInverter& inverter, SpreadRows& spread)
        : a_(a),
          alpha_(alpha),
          f_(factors),
          inverter_(inverter),
          dof_(factors.dof),
          size_(dof_ * dof_),
          spread_(spread) {}

    void all_of(const RowRange& range) const {
        PivotRatio smallest;
        SpreadRows::Row spread;
        range.for_each([&](Index i) { row(i, smallest, spread); });
        spread_.give_back(std::move(spread));
        inverter_.note(smallest);
    }

private:
    /// Rows with at least so many entries are spread.
    static constexpr Index long_row = 32;

    void row(Index i, PivotRatio& smallest, SpreadRows::Row& spread) const {
        const BlockPattern& p = f_.pattern();
        const Index begin = p.row_begin()[i], diagonal = f_.filled.diagonal[i], end = p.row_begin()[i + 1];
        load(i, begin, end);
        if (m == 1 && end - begin >= long_row) {
            if (spread.empty()) spread = spread_.take();
            make_room(begin, diagonal, end, spread);
            eliminate_spread(i, begin, diagonal, end, spread.data());
        } else {
            for (Index at = begin; at < diagonal; ++at) eliminate(i, at, diagonal, end);
        }
        std::array<double, max_dof * max_dof> own;
        own_diagonal(i, own.data());
        inverter_.invert({int(a_.space().first_block_row() + row_of_a(i)), 0, 0}, own.data(), block(diagonal), smallest,
                         [&] { return largest_of_row(a_, f_.filled, row_of_a(i)); });
    }
    int size() const { return m > 0 ? m * m : size_; }
    Index row_of_a(Index i) const { return i - f_.filled.first; }
    double* block(Index at) const { return f_.values.data() + at * size(); }

    /// Sets the row to that of A + alpha diag(A).
    void load(Index i, Index begin, Index end) const {
        std::fill(block(begin), block(end), 0.0);
        const BlockPattern& own = *a_.pattern();
        const Index row = row_of_a(i);
        for (Index at = own.row_begin()[row]; at < own.row_begin()[row + 1]; ++at)
            if (const Index place = f_.filled.place_of(row, at); place >= 0)
                std::copy_n(a_.values() + at * size(), size(), block(place));
        if (alpha_ == 0.0) return;
        double* const diagonal = block(f_.filled.diagonal[i]);
        for (int r = 0; r < dof_; ++r) diagonal[r * dof_ + r] *= 1.0 + alpha_;
    }
    void own_diagonal(Index i, double* own) const {
        const Index at = a_.pattern()->find(row_of_a(i), int(row_of_a(i)));
        if (at < 0)
            std::fill_n(own, size(), 0.0);
        else
            std::copy_n(a_.values() + at * size(), size(), own);
    }

    /// The elimination of block `at`, which lies below the diagonal of row i.
    void eliminate(Index i, Index at, Index diagonal, Index end) const {
        const BlockPattern& p = f_.pattern();
        const int* const columns = p.column();
        const Index k = columns[at], pivot = f_.filled.diagonal[k], last = p.row_begin()[k + 1];
        std::array<double, (m > 0 ? m * m : max_dof * max_dof)> w;
        std::fill_n(w.begin(), size(), 0.0);
        Index other = pivot + 1;
        if (f_.symmetric) {
            other = place_from(columns, pivot, last, int(i));
            add_product<m, true>(dof_, 1.0, block(other), block(pivot), w.data());
        } else {
            add_product<m>(dof_, 1.0, block(at), block(pivot), w.data());
        }
        std::copy_n(w.begin(), size(), block(at));
        for_each_shared(columns, f_.symmetric ? diagonal : at + 1, end, other, last, [&](Index mine, Index theirs) {
            add_product<m>(dof_, -1.0, w.data(), block(theirs), block(mine));
        });
    }

    /// Gives a spread row a place for each column of this row and of the rows that are subtracted from it.
    void make_room(Index begin, Index diagonal, Index end, SpreadRows::Row& spread) const {
        const BlockPattern& p = f_.pattern();
        int last = p.column()[end - 1];
        for (Index at = begin; at < diagonal; ++at)
            last = std::max(last, p.column()[p.row_begin()[p.column()[at] + 1] - 1]);
        if (spread.size() <= std::size_t(last)) spread.resize(std::size_t(last) + 1);
    }
    /// Does what eliminate does, for all entries below the diagonal of a long row of one unknown; x has a place for
    /// each column.
    void eliminate_spread(Index i, Index begin, Index diagonal, Index end, double* x) const {
        const BlockPattern& p = f_.pattern();
        const int* const columns = p.column();
        double* const values = f_.values.data();
        for (Index at = begin; at < end; ++at) x[columns[at]] = values[at];
        for (Index at = begin; at < diagonal; ++at) {
            const Index k = columns[at], pivot = f_.filled.diagonal[k], last = p.row_begin()[k + 1];
            const Index other = f_.symmetric ? place_from(columns, pivot, last, int(i)) : pivot + 1;
            const double w = std::fma(f_.symmetric ? values[other] : x[k], values[pivot], 0.0);
            values[at] = w;
            const Index mine = f_.symmetric ? diagonal : at + 1;
            if (is_much_longer(last - other, end - mine))
                for_each_shared(columns, mine, end, other, last, [&](Index place, Index theirs) {
                    x[columns[place]] = std::fma(-w, values[theirs], x[columns[place]]);
                });
            else
                subtract_all(w, columns, values, other, last, x);
        }
        for (Index at = diagonal; at < end; ++at) values[at] = x[columns[at]];
    }
    /// x -= w times the entries [other, last) of a row, whose columns differ.
    static void subtract_all(double w, const int* columns, const double* values, Index other, Index last, double* x) {
#pragma omp simd
        for (Index at = other; at < last; ++at) x[columns[at]] = std::fma(-w, values[at], x[columns[at]]);
    }

    const BsrMatrix& a_;
    double alpha_;
    GeneralFactors& f_;
    PivotInverter& inverter_;
    int dof_, size_;
    SpreadRows& spread_;
};

}  // namespace

void factorise(const BsrMatrix& a, double alpha, const RowWalk& walk, GeneralFactors& factors,
               PivotInverter& inverter) {
    SpreadRows spread;
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(factors.dof, [&](auto m) {
        const Rows<m.value> rows(a, alpha, factors, inverter, spread);
        walk.for_each_part([&](const RowRange& part) { rows.all_of(part); });
    });
}

void factorise(const BsrMatrix& a, double alpha, const RowRange& rows, GeneralFactors& factors, PivotInverter& inverter,
               SpreadRows& spread) {
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(
        factors.dof, [&](auto m) { Rows<m.value>(a, alpha, factors, inverter, spread).all_of(rows); });
}

}  // namespace hyperplane::general_cpu
