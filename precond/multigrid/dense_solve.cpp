// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/dense_solve.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/device/for_each_point.hpp"
#include "core/error.hpp"
#include "core/matrix/views.hpp"

namespace hyperplane::multigrid {
namespace {

struct DenseProduct {
    const double* inverse;
    ConstVectorView b;
    VectorView x;
    int dof;

    HYPERPLANE_HD int unknowns() const { return int(b.layout.slots()) * dof * dof; }

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const Grid& grid = b.layout.grid();
        const Index n = grid.points() * dof;
        for (int c = 0; c < dof; ++c) {
            const double* row = inverse + (grid.row(p) * dof + c) * n;
            double sum = 0.0;
            for (Index at = 0; at < grid.points(); ++at) {
                const Index there = b.layout.slot(grid.point(at));
                for (int d = 0; d < dof; ++d) sum += row[at * dof + d] * b.at(there, d);
            }
            x.at(slot, c) = sum;
        }
    }
};

/// A square matrix, row by row, in place.
class Square {
public:
    Square(double* values, Index n) : values_(values), n_(n) {}
    double* row(Index i) const { return values_ + i * n_; }

    void fill(const StructMatrix& a) const {
        const Grid& grid = a.grid();
        const int dof = a.dof();
        std::fill_n(values_, n_ * n_, 0.0);
        for (Index at = 0; at < grid.points(); ++at)
            for (int e = 0; e < a.stencil().size(); ++e) {
                const Int3 p = grid.point(at), q = grid.wrapped(p + a.stencil()[e]);
                if (!grid.contains(q)) continue;
                for (int r = 0; r < dof; ++r)
                    for (int c = 0; c < dof; ++c) row(at * dof + r)[grid.row(q) * dof + c] += a.at(p, e, r, c);
            }
    }

    double largest() const {
        double most = 0.0;
        for (Index at = 0; at < n_ * n_; ++at) most = std::max(most, std::abs(values_[at]));
        return most;
    }

    /// Whether A times the constants of one unknown is zero, to the rounding of its rows.
    bool lacks_constant(int c, int dof) const {
        for (Index i = 0; i < n_; ++i) {
            double sum = 0.0, magnitude = 0.0;
            for (Index j = c; j < n_; j += dof) {
                sum += row(i)[j];
                magnitude += std::abs(row(i)[j]);
            }
            if (!(std::abs(sum) <= 1e-10 * magnitude)) return false;
        }
        return true;
    }
    void add_constant(int c, int dof, double value) const {
        for (Index i = c; i < n_; i += dof)
            for (Index j = c; j < n_; j += dof) row(i)[j] += value;
    }
    /// Removes the means of one unknown from all columns, and then from all rows.
    void project(int c, int dof) const {
        const double points = double(n_ / dof);
        for (Index j = 0; j < n_; ++j) {
            double sum = 0.0;
            for (Index i = c; i < n_; i += dof) sum += row(i)[j];
            for (Index i = c; i < n_; i += dof) row(i)[j] -= sum / points;
        }
        for (Index i = 0; i < n_; ++i) {
            double sum = 0.0;
            for (Index j = c; j < n_; j += dof) sum += row(i)[j];
            for (Index j = c; j < n_; j += dof) row(i)[j] -= sum / points;
        }
    }
    void symmetrise() const {
        for (Index i = 0; i < n_; ++i)
            for (Index j = 0; j < i; ++j) row(i)[j] = row(j)[i] = 0.5 * (row(i)[j] + row(j)[i]);
    }

    /// Replaces the matrix by its inverse; returns the number of the first pivot that is too small, or -1.
    Index invert() const {
        const double least = 1e-15 * largest();
        std::vector<Index> exchanged(static_cast<std::size_t>(n_));
        for (Index k = 0; k < n_; ++k) {
            Index best = k;
            for (Index i = k + 1; i < n_; ++i)
                if (std::abs(row(i)[k]) > std::abs(row(best)[k])) best = i;
            exchanged[k] = best;
            if (!(std::abs(row(best)[k]) > least)) return k;
            if (best != k) std::swap_ranges(row(k), row(k) + n_, row(best));
            const double inverse = 1.0 / row(k)[k];
            row(k)[k] = 1.0;
            for (Index j = 0; j < n_; ++j) row(k)[j] *= inverse;
#pragma omp parallel for schedule(static) num_threads(threads_for(n_* n_))
            for (Index i = 0; i < n_; ++i) {
                if (i == k) continue;
                const double factor = row(i)[k];
                row(i)[k] = 0.0;
                const double* from = row(k);
                double* to = row(i);
#pragma omp simd
                for (Index j = 0; j < n_; ++j) to[j] -= factor * from[j];
            }
        }
        for (Index k = n_ - 1; k >= 0; --k)
            if (exchanged[k] != k)
                for (Index i = 0; i < n_; ++i) std::swap(row(i)[k], row(i)[exchanged[k]]);
        return -1;
    }

private:
    double* values_;
    Index n_;
};

}  // namespace

DenseSolve::DenseSolve(const StructMatrix& matrix) {
    std::optional<StructMatrix> copy;
    const StructMatrix& a = on_host(matrix, copy);
    const int dof = a.dof();
    Buffer<double> made(a.context(), "multigrid: coarsest inverse", a.unknowns() * a.unknowns());
    const Square square(made.data(), a.unknowns());
    square.fill(a);
    const double size = square.largest();
    std::vector<int> lacking;
    for (int c = 0; c < dof; ++c)
        if (size > 0.0 && square.lacks_constant(c, dof)) lacking.push_back(c);
    for (const int c : lacking) square.add_constant(c, dof, size / double(a.grid().points()));
    if (const Index failed = square.invert(); failed >= 0) {
        const Grid& grid = a.grid();
        const Int3 p = grid.point(failed / dof);
        const auto number = [](auto value) { return std::to_string(value); };  // fmt cannot be compiled by nvcc
        throw SetupError("multigrid: the matrix of the coarsest grid, " + number(grid.nx) + " x " + number(grid.ny) +
                         " x " + number(grid.nz) + " points, cannot be inverted: elimination stops at point (" +
                         number(p.x) + "," + number(p.y) + "," + number(p.z) + "), component " + number(failed % dof) +
                         ". The system is singular, by more than a constant for each unknown, or holds values that are "
                         "not finite; use struct_ilu with gmres.");
    }
    for (const int c : lacking) square.project(c, dof);
    if (a.symmetric()) square.symmetrise();
    inverse_ = moved_to(matrix.context(), "multigrid: coarsest inverse", std::move(made));
}

std::vector<double> DenseSolve::natural_inverse() const {
    std::vector<double> values(static_cast<std::size_t>(inverse_.size()));
    if (inverse_.backend() == Backend::cpu)
        std::copy(inverse_.begin(), inverse_.end(), values.begin());
    else
        device::copy(inverse_.data(), values.data(), bytes());
    return values;
}

void DenseSolve::apply(const Vector& b, Vector& x) const {
    for_each_point(b.backend(), b.layout(), "coarsest solve",
                   DenseProduct{inverse_.data(), hyperplane::view(b), hyperplane::view(x), b.dof()});
}

}  // namespace hyperplane::multigrid
