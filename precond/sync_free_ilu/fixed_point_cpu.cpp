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

#include "precond/sync_free_ilu/cpu.hpp"

namespace hyperplane::general_cpu {
namespace {

class Sweep {
public:
    Sweep(const BsrMatrix& a, double alpha, const GeneralFactors& f, const double* old, const double* inverse,
          double* made)
        : a_(a), alpha_(alpha), f_(f), old_(old), inverse_(inverse), made_(made), dof_(f.dof), size_(dof_ * dof_) {}

    /// The new row i; without `old` that of A.
    void row(Index i) const {
        const BlockPattern& p = f_.pattern();
        const Index begin = p.row_begin()[i], diagonal = f_.filled.diagonal[i], end = p.row_begin()[i + 1];
        load(i, begin, diagonal, end);
        if (!old_) return;
        std::array<double, max_dof * max_dof> w;
        for (Index at = begin; at < diagonal; ++at) {
            const Index k = p.column()[at], last = p.row_begin()[k + 1];
            std::fill_n(w.begin(), size_, 0.0);
            add_product(1.0, old_ + at * size_, inverse_ + k * size_, w.data());
            Index mine = at + 1;
            for (Index other = f_.filled.diagonal[k] + 1; other < last && mine < end; ++other) {
                mine = std::lower_bound(p.column() + mine, p.column() + end, p.column()[other]) - p.column();
                if (mine < end && p.column()[mine] == p.column()[other])
                    add_product(-1.0, w.data(), old_ + other * size_, made_ + mine * size_);
            }
        }
    }

private:
    void load(Index i, Index begin, Index diagonal, Index end) const {
        std::fill(made_ + begin * size_, made_ + end * size_, 0.0);
        const BlockPattern& own = *a_.pattern();
        for (Index at = own.row_begin()[i]; at < own.row_begin()[i + 1]; ++at)
            std::copy_n(a_.values() + at * size_, size_, made_ + f_.filled.place_of(i, at) * size_);
        for (int r = 0; r < dof_; ++r) made_[diagonal * size_ + r * dof_ + r] *= 1.0 + alpha_;
    }
    void add_product(double sign, const double* x, const double* y, double* out) const {
        for (int row = 0; row < dof_; ++row)
            for (int q = 0; q < dof_; ++q) {
                const double factor = sign * x[row * dof_ + q];
                for (int col = 0; col < dof_; ++col) out[row * dof_ + col] += factor * y[q * dof_ + col];
            }
    }

    const BsrMatrix& a_;
    double alpha_;
    const GeneralFactors& f_;
    const double *old_, *inverse_;
    double* made_;
    int dof_, size_;
};

/// The inverses of the diagonal blocks of X.
void invert_all(const BsrMatrix& a, const GeneralFactors& f, const double* x, double* inverse,
                PivotInverter& inverter) {
    const int size = f.dof * f.dof;
    const Index rows = f.pattern().rows();
#pragma omp parallel num_threads(a.context().threads_for(rows* size))
    {
        PivotRatio smallest;
        std::array<double, max_dof * max_dof> own;
#pragma omp for schedule(static)
        for (Index i = 0; i < rows; ++i) {
            const Index at = a.pattern()->find(i, int(i));
            if (at < 0)
                std::fill_n(own.begin(), size, 0.0);
            else
                std::copy_n(a.values() + at * size, size, own.begin());
            std::copy_n(x + f.filled.diagonal[i] * size, size, inverse + i * size);
            inverter.invert({int(i), 0, 0}, own.data(), inverse + i * size, smallest);
        }
        inverter.note(smallest);
    }
}

/// L, U and inverses from X, in place.
void finish(GeneralFactors& f, const Buffer<double>& inverse) {
    const BlockPattern& p = f.pattern();
    const int dof = f.dof, size = dof * dof;
#pragma omp parallel for schedule(static) num_threads(p.context().threads_for(p.blocks() * size))
    for (Index i = 0; i < p.rows(); ++i) {
        std::array<double, max_dof * max_dof> product;
        for (Index at = p.row_begin()[i]; at < f.filled.diagonal[i]; ++at) {
            const Index k = p.column()[at], mirrored = f.symmetric ? p.find(k, int(i)) : at;
            const double *x = f.values.data() + mirrored * size, *y = inverse.data() + k * size;
            for (int r = 0; r < dof; ++r)
                for (int c = 0; c < dof; ++c) {
                    double sum = 0.0;
                    for (int q = 0; q < dof; ++q)
                        sum += (f.symmetric ? x[q * dof + r] : x[r * dof + q]) * y[q * dof + c];
                    product[r * dof + c] = sum;
                }
            std::copy_n(product.begin(), size, f.values.data() + at * size);
        }
        std::copy_n(inverse.data() + i * size, size, f.values.data() + f.filled.diagonal[i] * size);
    }
}

}  // namespace

Index fixed_point_bytes(const FilledPattern& filled, int dof) {
    return (filled.pattern->blocks() + filled.pattern->rows()) * dof * dof * Index(sizeof(double));
}

void fixed_point(const BsrMatrix& a, double alpha, int sweeps, const PivotRules& rules, FixedPointScratch& scratch,
                 GeneralFactors& f, PivotInverter& inverter) {
    const BlockPattern& p = f.pattern();
    const int threads = a.context().threads_for(f.value_count());
    PivotRules guesses = rules;
    guesses.policy = PivotPolicy::boost;
    for (int at = 0; at <= sweeps; ++at) {
        const Sweep sweep(a, alpha, f, at == 0 ? nullptr : f.values.data(), scratch.inverse.data(),
                          at == 0 ? f.values.data() : scratch.spare.data());
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads)
        for (Index i = 0; i < p.rows(); ++i) sweep.row(i);
        if (at > 0) std::swap(f.values, scratch.spare);
        PivotInverter guess(guesses, places_of(a), a.dof(), a.symmetric());
        invert_all(a, f, f.values.data(), scratch.inverse.data(), at == sweeps ? inverter : guess);
    }
    finish(f, scratch.inverse);
}

}  // namespace hyperplane::general_cpu
