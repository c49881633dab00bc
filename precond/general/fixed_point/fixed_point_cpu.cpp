// SPDX-License-Identifier: BSD-3-Clause
// Fixed-point sweeps for the factors of a general matrix on a CPU (Chow and Patel, SIAM J. Sci. Comput. 37, 2015):
//
//     X_ij <- A_ij - sum over k < min(i, j) of X_ik X_kk^-1 X_kj,  beginning with X = A
//
// A sweep reads the values of the sweep before alone, so rows are independent and the bits do not depend on threads.
// In all sweeps but the last a pivot that cannot be used is boosted. At the end L_ik = X_ik X_kk^-1, of a symmetric
// matrix L_ik = X_ki^T X_kk^-1.
#include <algorithm>
#include <array>

#include "precond/factors/known_dof.hpp"
#include "precond/general/factors/cpu.hpp"

namespace hyperplane::general_cpu {
namespace {

template <int m>
class Sweep {
public:
    Sweep(const BsrMatrix& a, double alpha, const GeneralFactors& f, const double* inverse, double* made)
        : a_(a),
          alpha_(alpha),
          f_(f),
          old_(f.values.data()),
          inverse_(inverse),
          made_(made),
          dof_(m > 0 ? m : f.dof),
          size_(dof_ * dof_) {}

    /// Computes the new row i; without inverses it is that of A.
    void row(Index i) const {
        const BlockPattern& p = f_.pattern();
        const int dof = m > 0 ? m : dof_, size = dof * dof;
        const Index begin = p.row_begin()[i], diagonal = f_.filled.diagonal[i], end = p.row_begin()[i + 1];
        load(i, begin, diagonal, end);
        if (!inverse_) return;
        std::array<double, (m > 0 ? m * m : max_dof * max_dof)> w;
        for (Index at = begin; at < diagonal; ++at) {
            const Index k = p.column()[at], last = p.row_begin()[k + 1];
            std::fill_n(w.begin(), size, 0.0);
            add_product(dof, 1.0, old_ + at * size, inverse_ + k * size, w.data());
            for_each_shared(p.column(), at + 1, end, f_.filled.diagonal[k] + 1, last, [&](Index mine, Index other) {
                add_product(dof, -1.0, w.data(), old_ + other * size, made_ + mine * size);
            });
        }
    }

private:
    void load(Index i, Index begin, Index diagonal, Index end) const {
        std::fill(made_ + begin * size_, made_ + end * size_, 0.0);
        const BlockPattern& own = *a_.pattern();
        const Index row = i - f_.filled.first;
        for (Index at = own.row_begin()[row]; at < own.row_begin()[row + 1]; ++at)
            if (const Index place = f_.filled.place_of(row, at); place >= 0)
                std::copy_n(a_.values() + at * size_, size_, made_ + place * size_);
        for (int r = 0; r < dof_; ++r) made_[diagonal * size_ + r * dof_ + r] *= 1.0 + alpha_;
    }
    const BsrMatrix& a_;
    double alpha_;
    const GeneralFactors& f_;
    const double *old_, *inverse_;
    double* made_;
    int dof_, size_;
};

}  // namespace

void sweep(const BsrMatrix& a, double alpha, const GeneralFactors& x, const double* inverse, double* made) {
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(x.dof, [&](auto m) {
        const Sweep<m.value> one(a, alpha, x, inverse, made);
#pragma omp parallel for schedule(dynamic, 256) num_threads(a.context().threads_for(x.value_count()))
        for (Index row = 0; row < a.pattern()->rows(); ++row) one.row(x.filled.first + row);
    });
}

void invert_diagonals(const BsrMatrix& a, const GeneralFactors& x, double* inverse, PivotInverter& inverter) {
    const int size = x.dof * x.dof;
    const Index rows = a.pattern()->rows(), first = x.filled.first;
#pragma omp parallel num_threads(a.context().threads_for(rows* size))
    {
        PivotRatio smallest;
        std::array<double, max_dof * max_dof> own;
#pragma omp for schedule(static)
        for (Index row = 0; row < rows; ++row) {
            const Index at = a.pattern()->find(row, int(row)), i = first + row;
            if (at < 0)
                std::fill_n(own.begin(), size, 0.0);
            else
                std::copy_n(a.values() + at * size, size, own.begin());
            std::copy_n(x.values.data() + x.filled.diagonal[i] * size, size, inverse + i * size);
            inverter.invert({int(a.space().first_block_row() + row), 0, 0}, own.data(), inverse + i * size, smallest,
                            [&] { return largest_of_row(a, x.filled, row); });
        }
        inverter.note(smallest);
    }
}

void finish(const BsrMatrix& a, GeneralFactors& x, const double* inverse) {
    const BlockPattern& p = x.pattern();
    const int dof = x.dof, size = dof * dof;
#pragma omp parallel for schedule(static) num_threads(p.context().threads_for(p.blocks() * size))
    for (Index i = x.filled.first; i < x.filled.first + a.pattern()->rows(); ++i) {
        std::array<double, max_dof * max_dof> product;
        for (Index at = p.row_begin()[i]; at < x.filled.diagonal[i]; ++at) {
            const Index k = p.column()[at], mirrored = x.symmetric ? p.find(k, int(i)) : at;
            const double *block = x.values.data() + mirrored * size, *y = inverse + k * size;
            for (int r = 0; r < dof; ++r)
                for (int c = 0; c < dof; ++c) {
                    double sum = 0.0;
                    for (int q = 0; q < dof; ++q)
                        sum = std::fma(x.symmetric ? block[q * dof + r] : block[r * dof + q], y[q * dof + c], sum);
                    product[r * dof + c] = sum;
                }
            std::copy_n(product.begin(), size, x.values.data() + at * size);
        }
        std::copy_n(inverse + i * size, size, x.values.data() + x.filled.diagonal[i] * size);
    }
}

PivotRules rules_of_guesses(const PivotRules& rules) {
    PivotRules guesses = rules;
    guesses.policy = PivotPolicy::boost;
    return guesses;
}

Index fixed_point_bytes(Index rows, Index blocks, int dof) {
    return (blocks + rows) * dof * dof * Index(sizeof(double));
}

void fixed_point(const BsrMatrix& a, double alpha, int sweeps, const PivotRules& rules, FixedPointScratch& scratch,
                 GeneralFactors& f, PivotInverter& inverter, const ShareRows& share) {
    sweep(a, alpha, f, nullptr, f.values.data());
    PivotInverter guess(rules_of_guesses(rules), places_of(a), a.dof(), a.symmetric());
    invert_diagonals(a, f, scratch.inverse.data(), guess);
    share(f.values.data(), scratch.inverse.data());
    sweep_to_factors(a, alpha, sweeps, rules, scratch, f, inverter, share);
}

void sweep_to_factors(const BsrMatrix& a, double alpha, int sweeps, const PivotRules& rules, FixedPointScratch& scratch,
                      GeneralFactors& x, PivotInverter& inverter, const ShareRows& share) {
    for (int at = 1; at <= sweeps; ++at) {
        sweep(a, alpha, x, scratch.inverse.data(), scratch.spare.data());
        std::swap(x.values, scratch.spare);
        PivotInverter guess(rules_of_guesses(rules), places_of(a), a.dof(), a.symmetric());
        invert_diagonals(a, x, scratch.inverse.data(), at == sweeps ? inverter : guess);
        share(x.values.data(), scratch.inverse.data());
    }
    finish(a, x, scratch.inverse.data());
}

}  // namespace hyperplane::general_cpu
