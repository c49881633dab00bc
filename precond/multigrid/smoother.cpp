// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/smoother.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/device/for_each_point.hpp"
#include "core/error.hpp"
#include "core/matrix/views.hpp"
#include "core/random.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/blas1.hpp"
#include "precond/multigrid/grid_norm.hpp"
#include "precond/walks/coefficients.hpp"

namespace hyperplane::multigrid {
namespace {

constexpr double margin = 1.7, largest_lambda = 3.0;
constexpr double shifts[] = {0.01, 0.03, 0.1, 0.3, 1.0};

/// Values that depend on point and component alone, not on the layout.
struct RandomStart {
    Grid grid;
    VectorView x;
    int dof;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        for (int c = 0; c < dof; ++c) x.at(slot, c) = random_symmetric(1982, std::uint64_t(grid.row(p) * dof + c));
    }
};

/// ||M^-1 A x|| / ||x|| after some steps x = M^-1 A x; infinite or NaN where a step overflows.
double power_method(const StructMatrix& a, const LinearOperator& m, int steps, Vector& x, Vector& y) {
    for_each_point(x.context(), x.layout(), "random vector", RandomStart{x.layout().grid(), view(x), x.dof()});
    double lambda = 0.0, size = grid_norm(x);
    for (int step = 0; step < steps; ++step) {
        a.apply(x, y);
        scale(1.0 / size, y);
        m.apply(y, x);
        lambda = size = grid_norm(x);
        if (!std::isfinite(lambda) || lambda == 0.0) break;
    }
    return lambda;
}

/// flags(i) = 1 where row i is not that of an M-matrix: a coefficient beside the diagonal is positive, or the row's sum
/// is negative by more than rounding; else 0.
struct RowFlags {
    Coefficients a;
    VectorView flags;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double sum = 0.0, own = 0.0;
        bool fits = true;
        for (int e = 0; e < a.entries; ++e) {
            Int3 q;
            if (!a.neighbour(p, e, q)) continue;
            const double value = a(e, 0, 0, slot, a.layout.slot(q));
            sum += value;
            if (a.offsets[e] == Int3{})
                own = value;
            else
                fits = fits && value <= 0.0;
        }
        flags.at(slot) = fits && sum >= -1e-12 * own ? 0.0 : 1.0;
    }
};

/// Whether it is so on all ranks that have parts of a matrix.
bool on_all_ranks(const StructMatrix& a, bool mine) {
    return a.layout().is_part() ? !any_rank(a.context(), !mine) : mine;
}

/// Whether a matrix is symmetric with coefficients of an M-matrix, as above. Overwrites two vectors.
bool is_m_matrix(const StructMatrix& a, Vector& ones, Vector& sums) {
    if (a.dof() > 1 || !a.symmetric()) return false;
    if (a.backend() == Backend::cuda) {
        const Buffer<Int3> offsets = offsets_of(a, "multigrid: tables");
        for_each_point(a.context(), a.layout(), "row flags", RowFlags{Coefficients(a, offsets.data()), view(sums)});
        return sum(sums, 0) == 0.0;
    }
    const Index slots = a.layout().slots();
    bool all = true;
    for (int e = 0; e < a.stencil().diagonal() && all; ++e) {
        const double* values = a.values(e);
#pragma omp parallel for simd schedule(static) num_threads(a.context().threads_for(slots)) reduction(&& : all)
        for (Index slot = 0; slot < slots; ++slot) all = all && values[slot] <= 0.0;
    }
    all = on_all_ranks(a, all);
    if (!all) return false;
    fill(ones, 1.0);
    a.apply(ones, sums);
    const double* own = a.values(a.stencil().diagonal());
    const double* sum = sums.data();
#pragma omp parallel for simd schedule(static) num_threads(a.context().threads_for(slots)) reduction(&& : all)
    for (Index slot = 0; slot < slots; ++slot) all = all && sum[slot] >= -1e-12 * own[slot];
    return on_all_ranks(a, all);
}

}  // namespace

SetupReport Smoother::setup(const StructMatrix& a, const SmootherChoice& choice, const SmootherOptions& options,
                            Vector& r, Vector& t) {
    a_ = &a;
    if (!m_ || shifted_) m_ = choice.make(a, 0.0);
    shifted_ = false;
    m_->suggest_shift(options.suggested_shift);
    lambda_ = 0.0;
    omega_ = 1.0;
    SetupReport report = m_->setup(a);
    if (options.damping) {
        omega_ = *options.damping;
        return report;
    }
    if (choice.regular_splitting && is_m_matrix(a, r, t)) return report;
    const auto is_large = [&] { return !(lambda_ < largest_lambda); };
    lambda_ = power_method(a, *m_, options.power_steps, r, t);
    for (const double alpha : shifts) {
        if (!is_large()) break;
        std::unique_ptr<Preconditioner> shifted = choice.make(a, alpha);
        if (!shifted) break;
        m_.reset();
        m_ = std::move(shifted);
        shifted_ = true;
        report = m_->setup(a);
        lambda_ = power_method(a, *m_, options.power_steps, r, t);
    }
    if (!std::isfinite(lambda_))
        throw SetupError(
            "multigrid: the smoother is unstable on the grid of " + std::to_string(a.grid().nx) + " x " +
            std::to_string(a.grid().ny) + " x " + std::to_string(a.grid().nz) +  // nvcc cannot compile fmt
            " points: M^-1 A has no bound. Use another smoother.name, or struct_ilu as the preconditioner.");
    omega_ = lambda_ > 0.0 ? std::min(1.0, margin / lambda_) : 1.0;
    return report;
}

void Smoother::from_zero(const Vector& b, Vector& x) const {
    m_->apply(b, x);
    if (omega_ != 1.0) scale(omega_, x);
}

void Smoother::smooth(const Vector& b, Vector& x, Vector& r, Vector& t) const {
    a_->subtract_product(b, x, r);  // r = b - A x
    m_->apply(r, t);
    axpy(omega_, t, x);  // x += omega M^-1 r
}

}  // namespace hyperplane::multigrid
