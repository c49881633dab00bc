// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/dense_solve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "precond/multigrid/dense_inverse.hpp"
#include "precond/multigrid/positive_inverse.hpp"

#ifdef __CUDACC__
#include "core/device/cuda.hpp"
#endif

namespace hyperplane::multigrid {
namespace {

const std::string label = "multigrid: coarsest inverse";

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
/// One warp a row, so that adjacent threads read adjacent coefficients. A lane loads what belongs to `at_once` terms
/// together, since a small product takes the time of its loads one after another.
template <class Real>
__global__ void dense_product(const __grid_constant__ DenseProduct<Real> p) {
    constexpr int at_once = 16;
    const Index row = (Index(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    const int lane = int(threadIdx.x % 32), n = int(p.n);
    if (row >= p.n) return;
    double sum = 0.0;
    for (int first = lane; first < n; first += 32 * at_once) {
        double weight[at_once];
        int place[at_once];
#pragma unroll
        for (int t = 0; t < at_once; ++t) {
            const int at = min(first + 32 * t, n - 1);
            weight[t] = __ldg(p.inverse + row * p.n + at);
            place[t] = __ldg(p.place + at);
        }
        double value[at_once];
#pragma unroll
        for (int t = 0; t < at_once; ++t) value[t] = double(p.b[place[t]]);
#pragma unroll
        for (int t = 0; t < at_once; ++t)
            if (first + 32 * t < n) sum += weight[t] * value[t];
    }
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

/// Calls body(row, column, value) for all values of a matrix, rows and columns in natural order, dof fastest. Along a
/// short periodic axis several of them may have the same row and column.
template <class Body>
void for_each_value(const StructMatrix& a, const Body& body) {
    const Grid& grid = a.grid();
    const int dof = a.dof();
    for (Index at = 0; at < grid.points(); ++at) {
        const Int3 p = grid.point(at);
        for (int e = 0; e < a.stencil().size(); ++e) {
            const Int3 q = grid.wrapped(p + a.stencil()[e]);
            if (!grid.contains(q)) continue;
            for (int r = 0; r < dof; ++r)
                for (int c = 0; c < dof; ++c) body(at * dof + r, grid.row(q) * dof + c, a.at(p, e, r, c));
        }
    }
}

/// The largest sums of rows, over the sums of their magnitudes, with which A lacks a constant, and may lack one.
constexpr double certain_sum = 1e-10, doubtful_sum = 1e-3;

/// What the values of a matrix decide, whichever form it is stored in.
struct Examined {
    std::vector<int> lacking;   ///< unknowns for which A times their constants is zero, to the rounding of its rows
    std::vector<int> doubtful;  ///< other unknowns for which it is small
    Index band = 0;             ///< half of it, without values that are zero
};

/// The unknowns of `known` lack their constants whatever the sums are.
Examined examined(const StructMatrix& a, const std::vector<int>& known) {
    const Index rows = a.unknowns();
    const int dof = a.dof();
    const std::size_t size = std::size_t(rows * dof);
    std::vector<double> sums(size, 0.0), magnitudes(size, 0.0);  // [row][unknown of the column]
    double most = 0.0;
    Examined found;
    for_each_value(a, [&](Index row, Index column, double value) {
        sums[row * dof + column % dof] += value;
        magnitudes[row * dof + column % dof] += std::abs(value);
        most = std::max(most, std::abs(value));
        if (value != 0.0) found.band = std::max(found.band, row - column);
    });
    for (int c = 0; c < dof; ++c) {
        const auto all_below = [&](double bound) {
            bool below = most > 0.0;
            for (Index row = 0; row < rows; ++row)
                below = below && std::abs(sums[row * dof + c]) <= bound * magnitudes[row * dof + c];
            return below;
        };
        if (std::find(known.begin(), known.end(), c) != known.end() || all_below(certain_sum))
            found.lacking.push_back(c);
        else if (all_below(doubtful_sum))
            found.doubtful.push_back(c);
    }
    return found;
}

/// The matrix within its band. To the diagonal value of the first row of each unknown that lacks its constant the same
/// value is added, which leaves solutions of right-hand sides without a mean as they are but for a constant.
PositiveInverse within_band(const Context& host, const StructMatrix& a, const Examined& of) {
    PositiveInverse inverse(host, a.unknowns(), of.band);
    for_each_value(a, [&](Index row, Index column, double value) {
        if (column <= row && value != 0.0) inverse.at(row, column) += value;
    });
    for (const int c : of.lacking) inverse.at(c, c) *= 2.0;
    return inverse;
}

/// A square matrix, row by row, in place.
class Square {
public:
    Square(double* values, Index n) : values_(values), n_(n) {}
    double* row(Index i) const { return values_ + i * n_; }

    double largest() const {
        double most = 0.0;
        for (Index at = 0; at < n_ * n_; ++at) most = std::max(most, std::abs(values_[at]));
        return most;
    }

    void clear() const { std::fill_n(values_, n_ * n_, 0.0); }
    bool finite() const {
        return std::all_of(values_, values_ + n_ * n_, [](double value) { return std::isfinite(value); });
    }

    void add_constant(int c, int dof, double value) const {
        for (Index i = c; i < n_; i += dof)
            for (Index j = c; j < n_; j += dof) row(i)[j] += value;
    }
    /// Adds the constants of one unknown, at most 1 in each column, to a matrix whose columns are scaled.
    void add_scaled_constant(int c, int dof, const Scales& scales) const {
        const double points = points_of(dof);
        int least = scales.column[c];
        for (Index j = c; j < n_; j += dof) least = std::min(least, scales.column[j]);
        for (Index j = c; j < n_; j += dof) {
            const double value = std::ldexp(1.0 / points, least - scales.column[j]);
            for (Index i = c; i < n_; i += dof) row(i)[j] += value;
        }
    }
    /// Removes the means of one unknown from all columns, and so from what the matrix makes of a vector.
    void project_columns(int c, int dof) const {
        const double points = points_of(dof);
        std::vector<double> sums(std::size_t(n_), 0.0);
        for (Index i = c; i < n_; i += dof)
            for (Index j = 0; j < n_; ++j) sums[j] += row(i)[j];
        for (Index i = c; i < n_; i += dof)
            for (Index j = 0; j < n_; ++j) row(i)[j] -= sums[j] / points;
    }
    /// Removes the means of one unknown from all columns, and then from all rows.
    void project(int c, int dof) const {
        project_columns(c, dof);
        const double points = points_of(dof);
        for (Index i = 0; i < n_; ++i) {
            double sum = 0.0;
            for (Index j = c; j < n_; j += dof) sum += row(i)[j];
            for (Index j = c; j < n_; j += dof) row(i)[j] -= sum / points;
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
    /// n_ is a multiple of dof.
    double points_of(int dof) const {
        const Index points = n_ / dof;
        return double(points);
    }

    double* values_;
    Index n_;
};

/// Whether a GPU computes the columns of the inverse.
bool goes_to_gpu(const DenseSolve::Factors& factors, Backend backend) {
    return backend == Backend::cuda && factors.lacking.empty() && PositiveInverse::serves_gpu(factors.inverse.band());
}

}  // namespace

std::vector<int> DenseSolve::doubtful(const StructMatrix& a) {
    return examined(a, {}).doubtful;
}

std::optional<DenseSolve::Factors> DenseSolve::factor(const StructMatrix& a, Backend backend,
                                                      const std::vector<int>& known) {
    if (!a.symmetric()) return {};
    // For a GPU this runs in a thread of its own, for which OpenMP would have to start others.
    const Context host = backend == Backend::cuda ? Context::cpu(1) : a.context();
    Examined of = examined(a, known);
    Factors all{within_band(host, a, of), std::move(of.lacking)};
    if (!all.inverse.factor(goes_to_gpu(all, backend) ? Backend::cuda : Backend::cpu)) return {};
    return all;
}

void DenseSolve::invert_positive(const Context& context, const StructMatrix& a, const Factors& factors) {
    const auto& [inverse, lacking] = factors;
    const Index n = a.unknowns();
    if constexpr (cuda_built)
        if (goes_to_gpu(factors, context.backend())) {
            inverse_ = Buffer<double>(context, label, n * n, Initially::anything);
            return inverse.invert_on_gpu(context, inverse_.data());
        }
    Buffer<double> made(a.context(), label, n * n, Initially::anything);
    inverse.invert(a.context(), made.data());
    const Square square(made.data(), n);
    for (const int c : lacking) square.project(c, a.dof());
    if (!lacking.empty()) square.symmetrise();
    inverse_ = moved_to(context, label, std::move(made));
}

namespace {

void set_values(const StructMatrix& a, const Square& square) {
    square.clear();
    for_each_value(a, [&](Index row, Index column, double value) { square.row(row)[column] += value; });
}

/// fmt cannot be compiled by nvcc.
std::string text_of_grid(const Grid& grid) {
    return std::to_string(grid.nx) + " x " + std::to_string(grid.ny) + " x " + std::to_string(grid.nz) + " points";
}
std::string text_of_point(const Int3& p) {
    return "(" + std::to_string(p.x) + "," + std::to_string(p.y) + "," + std::to_string(p.z) + ")";
}

}  // namespace

void DenseSolve::invert_scaled(const StructMatrix& a, const std::vector<int>& lacking, Buffer<double>& made) {
    const int dof = a.dof();
    const Index n = a.unknowns();
    const Square square(made.data(), n);
    set_values(a, square);
    const std::string what = "multigrid: the matrix of the coarsest grid, " + text_of_grid(a.grid()) + ", ";
    if (!square.finite()) throw SetupError(what + "holds values that are not finite; use struct_ilu with gmres.");
    const Scales scales = equilibrate(made.data(), n, a.symmetric());
    for (const int c : lacking) square.add_scaled_constant(c, dof, scales);
    if (const Index failed = invert(a.context(), made.data(), n, least_scaled_pivot); failed >= 0)
        throw SetupError(what + "cannot be inverted: elimination stops at point " +
                         text_of_point(a.grid().point(failed / dof)) + ", component " + std::to_string(failed % dof) +
                         ". The matrix is singular by more than a constant for each unknown, also with its rows and "
                         "columns scaled; use preconditioner.coarsest = jacobi, or struct_ilu with gmres.");
    undo(scales, made.data(), n);
}

void DenseSolve::invert_any(const Context& context, const StructMatrix& a, const std::vector<int>& known) {
    const int dof = a.dof();
    Buffer<double> made(a.context(), label, a.unknowns() * a.unknowns(), Initially::anything);
    const Square square(made.data(), a.unknowns());
    set_values(a, square);
    const std::vector<int> lacking = examined(a, known).lacking;
    const double size = square.largest();
    for (const int c : lacking) square.add_constant(c, dof, size / double(a.grid().points()));
    const bool scaled = invert(a.context(), made.data(), a.unknowns()) >= 0;
    if (scaled) invert_scaled(a, lacking, made);
    // With rows in units of their own, right-hand sides that have a solution have means.
    for (const int c : lacking) scaled && !a.symmetric() ? square.project_columns(c, dof) : square.project(c, dof);
    if (a.symmetric()) square.symmetrise();
    inverse_ = moved_to(context, label, std::move(made));
}

DenseSolve::DenseSolve(const Context& context, const StructMatrix& a, const std::optional<Factors>& factors,
                       const std::vector<int>& known) {
    factors ? invert_positive(context, a, *factors) : invert_any(context, a, known);
    places_ = copied_to(context, label, places(a.layout(), a.dof()));
}

namespace {

/// The half bandwidth of a matrix of this shape, whatever its values.
Index band_of(const MatrixShape& a) {
    const Grid& grid = a.grid();
    const std::array<Index, 3> extent{grid.nx, grid.ny, grid.nz}, stride{1, grid.nx, Index(grid.nx) * grid.ny};
    Index points = 0;  // between two that are coupled
    for (const Int3 o : a.stencil().offsets()) {
        const std::array<int, 3> offset{o.x, o.y, o.z};
        Index farthest = 0;
        bool exists = true;
        for (int axis = 0; axis < 3; ++axis) {
            const Index n = extent[axis], inside = std::abs(offset[axis]);
            const bool wraps = grid.periodic[axis] && offset[axis] != 0;
            exists = exists && (inside < n || wraps);
            farthest += stride[axis] * (wraps ? std::max(std::min(inside, n - 1), n - inside) : inside);
        }
        if (exists) points = std::max(points, farthest);
    }
    return std::min(points * a.dof() + a.dof(), a.unknowns()) - 1;
}

}  // namespace

Index DenseSolve::setup_bytes(const MatrixShape& a, Backend backend) {
    const Index n = a.unknowns(), band = band_of(a);
    if (backend == Backend::cuda)
        return a.symmetric() && PositiveInverse::serves_gpu(band) ? PositiveInverse::gpu_bytes(n, band) : 0;
    if (!a.symmetric()) return bytes_to_invert(n);
    const Index factors = PositiveInverse::factor_bytes(n, band);
    return std::max(factors, factors + PositiveInverse::matrix_bytes(n, band) - bytes(n));
}

Index DenseSolve::host_bytes(const MatrixShape& a) {
    const Index n = a.unknowns(), band = band_of(a);
    if (!a.symmetric()) return bytes(n) + bytes_to_invert(n);
    const Index packed = PositiveInverse::serves_gpu(band) ? PositiveInverse::gpu_bytes(n, band) : 0;
    return PositiveInverse::factor_bytes(n, band) + std::max(PositiveInverse::matrix_bytes(n, band), packed + bytes(n));
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
