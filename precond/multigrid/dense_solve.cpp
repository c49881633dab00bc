// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/dense_solve.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.hpp"
#include "precond/multigrid/dense_inverse.hpp"

#ifdef __CUDACC__
#include "core/device/cuda.hpp"
#endif

namespace hyperplane::multigrid {
namespace {

/// x[place[row]] = sum over columns of inverse[row][column] b[place[column]]
template <class Real>
struct DenseProduct {
    const double* inverse;
    const int* place;
    const Real* b;
    Real* x;
    Index n;
};

#ifdef __CUDACC__
/// One warp a row, so that adjacent threads read adjacent coefficients.
template <class Real>
__global__ void dense_product(const __grid_constant__ DenseProduct<Real> p) {
    const Index row = (Index(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    const int lane = int(threadIdx.x % 32);
    if (row >= p.n) return;
    double sum = 0.0;
    for (Index at = lane; at < p.n; at += 32) sum += p.inverse[row * p.n + at] * double(p.b[p.place[at]]);
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (lane == 0) p.x[p.place[row]] = Real(sum);
}
#endif

template <class Real>
void multiply(const Context& context, const DenseProduct<Real>& p) {
#ifdef __CUDACC__
    if (context.backend() == Backend::cuda) {
        constexpr int threads = 128;
        dense_product<<<cuda::blocks_for(32 * p.n, threads), threads, 0, cuda::stream(context)>>>(p);
        return cuda::launched(context, "coarsest solve");
    }
#endif
#pragma omp parallel for schedule(static) num_threads(context.threads_for(p.n* p.n))
    for (Index row = 0; row < p.n; ++row) {
        double sum = 0.0;
        for (Index at = 0; at < p.n; ++at) sum += p.inverse[row * p.n + at] * double(p.b[p.place[at]]);
        p.x[p.place[row]] = Real(sum);
    }
}

/// Where a vector holds its unknowns, which are numbered in natural order, dof fastest.
std::vector<int> places(const Layout& layout, int dof) {
    std::vector<int> list;
    for (Index at = 0; at < layout.slots(); ++at)
        for (int c = 0; c < dof; ++c) list.push_back(int(c * layout.slots() + layout.slot(layout.grid().point(at))));
    return list;
}

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
        const Index points = n_ / dof;
        for (Index j = 0; j < n_; ++j) {
            double sum = 0.0;
            for (Index i = c; i < n_; i += dof) sum += row(i)[j];
            for (Index i = c; i < n_; i += dof) row(i)[j] -= sum / double(points);
        }
        for (Index i = 0; i < n_; ++i) {
            double sum = 0.0;
            for (Index j = c; j < n_; j += dof) sum += row(i)[j];
            for (Index j = c; j < n_; j += dof) row(i)[j] -= sum / double(points);
        }
    }
    void symmetrise() const {
        constexpr Index tile = 32;  // of columns, whose transposed values then stay in the first-level cache
        for (Index begin = 0; begin < n_; begin += tile)
            for (Index i = begin; i < n_; ++i)
                for (Index j = begin; j < std::min(i, begin + tile); ++j)
                    row(i)[j] = row(j)[i] = 0.5 * (row(i)[j] + row(j)[i]);
    }

private:
    double* values_;
    Index n_;
};

}  // namespace

DenseSolve::DenseSolve(const Context& context, const StructMatrix& a) {
    const int dof = a.dof();
    Buffer<double> made(a.context(), "multigrid: coarsest inverse", a.unknowns() * a.unknowns());
    const Square square(made.data(), a.unknowns());
    square.fill(a);
    const double size = square.largest();
    std::vector<int> lacking;
    for (int c = 0; c < dof; ++c)
        if (size > 0.0 && square.lacks_constant(c, dof)) lacking.push_back(c);
    for (const int c : lacking) square.add_constant(c, dof, size / double(a.grid().points()));
    const bool positive = a.symmetric() && invert_positive(a.context(), made.data(), a.unknowns());
    if (const Index failed = positive ? -1 : invert(a.context(), made.data(), a.unknowns()); failed >= 0) {
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
    if (a.symmetric() && (!positive || !lacking.empty())) square.symmetrise();
    inverse_ = moved_to(context, "multigrid: coarsest inverse", std::move(made));
    places_ = copied_to(context, "multigrid: coarsest inverse", places(a.layout(), dof));
}

std::vector<double> DenseSolve::natural_inverse() const {
    std::vector<double> values(static_cast<std::size_t>(inverse_.size()));
    if (inverse_.backend() == Backend::cpu)
        std::copy(inverse_.begin(), inverse_.end(), values.begin());
    else
        inverse_.context().stream().copy(inverse_.data(), values.data(), inverse_.size() * Index(sizeof(double)));
    return values;
}

void DenseSolve::apply(const Vector& b, Vector& x) const {
    multiply(b.context(), DenseProduct<double>{inverse_.data(), places_.data(), b.data(), x.data(), places_.size()});
}

void DenseSolve::apply(const SingleVector& b, SingleVector& x) const {
    multiply(b.context(), DenseProduct<float>{inverse_.data(), places_.data(), b.data(), x.data(), places_.size()});
}

}  // namespace hyperplane::multigrid
