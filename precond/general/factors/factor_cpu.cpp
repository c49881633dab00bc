// SPDX-License-Identifier: BSD-3-Clause
// Row by row (Saad, Iterative Methods, Algorithm 10.4): for each k < i in the row, L_ik = X_ik U_kk^-1, and X_ij -=
// L_ik U_kj for each j > k that both rows have. Of a symmetric matrix only j >= i is computed, and L_ik = U_ki^T
// D_k^-1.
#include <array>

#include "precond/factors/known_dof.hpp"
#include "precond/general/factors/cpu.hpp"

namespace hyperplane::general_cpu {
namespace {

template <int m>
class Rows {
public:
    Rows(const BsrMatrix& a, double alpha, GeneralFactors& factors, PivotInverter& inverter)
        : a_(a), alpha_(alpha), f_(factors), inverter_(inverter), dof_(factors.dof), size_(dof_ * dof_) {}

    void all_of(const RowRange& range) const {
        PivotRatio smallest;
        range.for_each([&](Index i) { row(i, smallest); });
        inverter_.note(smallest);
    }

private:
    void row(Index i, PivotRatio& smallest) const {
        const BlockPattern& p = f_.pattern();
        const Index begin = p.row_begin()[i], diagonal = f_.filled.diagonal[i], end = p.row_begin()[i + 1];
        load(i, begin, end);
        for (Index at = begin; at < diagonal; ++at) eliminate(i, at, diagonal, end);
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
        Index mine = f_.symmetric ? diagonal : at + 1;
        for (; other < last && mine < end; ++other) {
            mine = place_from(columns, mine, end, columns[other]);
            if (mine < end && columns[mine] == columns[other])
                add_product<m>(dof_, -1.0, w.data(), block(other), block(mine));
        }
    }

    const BsrMatrix& a_;
    double alpha_;
    GeneralFactors& f_;
    PivotInverter& inverter_;
    int dof_, size_;
};

}  // namespace

void factorise(const BsrMatrix& a, double alpha, const RowWalk& walk, GeneralFactors& factors,
               PivotInverter& inverter) {
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(factors.dof, [&](auto m) {
        const Rows<m.value> rows(a, alpha, factors, inverter);
        walk.for_each_part([&](const RowRange& part) { rows.all_of(part); });
    });
}

void factorise(const BsrMatrix& a, double alpha, const RowRange& rows, GeneralFactors& factors,
               PivotInverter& inverter) {
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(factors.dof,
                                           [&](auto m) { Rows<m.value>(a, alpha, factors, inverter).all_of(rows); });
}

}  // namespace hyperplane::general_cpu
