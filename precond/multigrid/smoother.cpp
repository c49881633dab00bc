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
#include "core/vector/scalars.hpp"
#include "precond/fused_step.hpp"
#include "precond/multigrid/copied_lines.hpp"
#include "precond/multigrid/examined_row.hpp"
#include "precond/multigrid/grid_norm.hpp"
#include "precond/single_solve.hpp"
#include "precond/walks/coefficients.hpp"

namespace hyperplane::multigrid {
namespace {

constexpr double margin = 1.7, largest_lambda = 3.0;
constexpr double damping_of_jumps = 0.95;
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

/// ||M^-1 A x|| / ||x|| after some steps x = M^-1 A x; infinite or NaN where a step overflows. On a GPU the host waits
/// once, for the norms of all steps; those after one that is not usable mean nothing.
double power_method(const StructMatrix& a, const LinearOperator& m, int steps, Vector& x, Vector& y) {
    const auto ends = [](double norm) { return !std::isfinite(norm) || norm == 0.0; };
    for_each_point(x.context(), x.layout(), "random vector", RandomStart{x.layout().grid(), view(x), x.dof()});
    Scalars norms(x.context(), "multigrid: tables", steps + 1);
    grid_norm(x, norms.data());
    for (int step = 0; step < steps; ++step) {
        a.apply(x, y);
        scale(Ratio(1.0, nullptr, norms.data() + step), y);
        m.apply(y, x);
        grid_norm(x, norms.data() + step + 1);
        if (x.backend() == Backend::cpu && ends(norms.data()[step + 1])) break;
    }
    double lambda = 0.0;
    for (const double norm : norms.get(1, steps)) {
        lambda = norm;
        if (ends(norm)) break;
    }
    return lambda;
}

/// flags(i) = 1 where row i is not that of an M-matrix: a coefficient beside the diagonal is positive, or the row's sum
/// is negative by more than rounding. Else a little where its couplings jump, so little that all rows add up to less
/// than 1, and 0 where they do not.
struct RowFlags {
    Coefficients a;
    VectorView flags;
    double little;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double sum = 0.0, own = 0.0;
        bool fits = true, jumps = false;
        for (int e = 0; e < a.entries; ++e) {
            Int3 q;
            if (!a.neighbour(p, e, q)) continue;
            const double value = a(e, 0, 0, slot, a.layout.slot(q));
            sum += value;
            if (a.offsets[e] == Int3{})
                own = value;
            else
                fits = fits && value <= 0.0;
            Int3 opposite;
            const int mirror = a.entries - 1 - e;
            if (e < mirror && a.neighbour(p, mirror, opposite))
                jumps = jumps || is_jump(value, a(mirror, 0, 0, slot, a.layout.slot(opposite)));
        }
        flags.at(slot) = !(fits && sum >= -1e-12 * own) ? 1.0 : jumps ? little : 0.0;
    }
};

/// Whether it is so on all ranks that have parts of a matrix.
bool on_all_ranks(const StructMatrix& a, bool mine) {
    return a.layout().is_part() ? !any_rank(a.context(), !mine) : mine;
}

/// What the rows of a matrix have, on any rank: a positive coefficient beside the diagonal; couplings that jump; a sum
/// that is negative by more than rounding.
struct RowTraits {
    bool positive = false, jump = false, negative_sum = false;
};

/// The traits of the rows along a run.
RowTraits traits_of(const StructMatrix& a, const Run& run) {
    RowTraits traits;
    thread_local std::vector<double> sums;
    sums.assign(run.count, 0.0);
    for (int e = 0; e < a.stencil().size(); ++e) {
        const int mirror = a.stencil().mirror(e);
        const RunNeighbours near = a.layout().neighbours(run, a.stencil()[e]);
        const double* one = a.along(run, near, e, 0, 0);
        for (int t = near.begin; t < near.end; ++t) sums[t] += one[t];
        if (e >= a.stencil().diagonal()) continue;
        const RunNeighbours opposite = a.layout().neighbours(run, a.stencil()[mirror]);
        const double* other = a.along(run, opposite, mirror, 0, 0);
        int above = 0, jumps = 0;
        for (int t = near.begin; t < near.end; ++t) above |= one[t] > 0.0;
        for (int t = std::max(near.begin, opposite.begin); t < std::min(near.end, opposite.end); ++t)
            jumps |= is_jump(one[t], other[t]);
        traits.positive = traits.positive || above;
        traits.jump = traits.jump || jumps;
    }
    const double* own = a.values(a.stencil().diagonal()) + run.slot;
    int negative = 0;
    for (int t = 0; t < run.count; ++t) negative |= !(sums[t] >= -1e-12 * own[t]);
    traits.negative_sum = negative;
    return traits;
}

RowTraits traits_of(const StructMatrix& a) {
    bool positive = false, jump = false, negative_sum = false;
    const auto note = [](bool found, bool& noted) {
        if (!found) return;
#pragma omp atomic write
        noted = true;
    };
    for_each_different_run(
        a,
        [&](const Run& run) {
            const RowTraits traits = traits_of(a, run);
            note(traits.positive, positive);
            note(traits.jump, jump);
            note(traits.negative_sum, negative_sum);
        },
        [](Int3, const Run&) {});
    return {!on_all_ranks(a, !positive), !on_all_ranks(a, !jump), !on_all_ranks(a, !negative_sum)};
}

/// Overwrites a vector.
MatrixKind kind_of(const StructMatrix& a, Vector& sums) {
    if (a.dof() > 1 || !a.symmetric()) return {};
    if (a.backend() == Backend::cuda || a.grid().any_periodic()) {
        const Buffer<Int3> offsets = offsets_of(a, "multigrid: tables");
        for_each_point(a.context(), a.layout(), "row flags",
                       RowFlags{Coefficients(a, offsets.data()), view(sums), 0.5 / double(a.grid().points())});
        const double flags = sum(sums, 0);
        return {.m_matrix = flags < 1.0, .jumps = 0.0 < flags};
    }
    const RowTraits traits = traits_of(a);
    return {.m_matrix = !traits.positive && !traits.negative_sum, .jumps = traits.jump};
}

}  // namespace

SetupReport Smoother::setup(const StructMatrix& a, const SmootherChoice& choice, const SmootherOptions& options,
                            const std::optional<MatrixKind>& known, Vector& r, Vector& t) {
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
    const MatrixKind kind = !choice.regular_splitting ? MatrixKind{} : known ? *known : kind_of(a, t);
    if (kind.m_matrix) {
        if (kind.jumps) omega_ = damping_of_jumps;
        return report;
    }
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
        throw SetupError("M^-1 A has no bound. Use another smoother.name, or struct_ilu as the preconditioner.");
    omega_ = lambda_ > 0.0 ? std::min(1.0, margin / lambda_) : 1.0;
    return report;
}

void Smoother::from_zero(const Vector& b, Vector& x) const {
    m_->apply(b, x);
    if (omega_ != 1.0) scale(omega_, x);
}

void Smoother::smooth(const Vector& b, Vector& x, Vector& r, Vector& t) const {
    if (const auto* fused = dynamic_cast<const FusedStep*>(m_.get()); fused && fused->step(b, omega_, x, t)) return;
    a_->subtract_product(b, x, r);  // r = b - A x
    m_->apply(r, t);
    axpy(omega_, t, x);  // x += omega M^-1 r
}

void Smoother::apply(const SingleVector& r, SingleVector& z, const SingleScratch& scratch) const {
    if (const auto* single = dynamic_cast<const SingleSolve*>(m_.get()); single && single->apply(r, z)) return;
    widen(r, scratch.wide_r);
    m_->apply(scratch.wide_r, scratch.wide_t);
    narrow(scratch.wide_t, z);
}

void Smoother::from_zero(const SingleVector& b, SingleVector& x, const SingleScratch& scratch) const {
    apply(b, x, scratch);
    if (omega_ != 1.0) scale(omega_, x);
}

void Smoother::residual(const SingleVector& b, const SingleVector& x, const SingleScratch& scratch) const {
    if (scratch.matrix) return scratch.matrix->subtract_product(b, x, scratch.r);
    widen(x, scratch.wide_t);
    a_->apply(scratch.wide_t, scratch.wide_r);
    subtract(b, scratch.wide_r, scratch.r);
}

void Smoother::smooth(const SingleVector& b, SingleVector& x, const SingleScratch& scratch) const {
    const auto* single = dynamic_cast<const SingleSolve*>(m_.get());
    if (single && scratch.matrix && single->step(*scratch.matrix, b, omega_, x, scratch.t)) return;
    residual(b, x, scratch);
    apply(scratch.r, scratch.t, scratch);
    axpy(omega_, scratch.t, x);
}

}  // namespace hyperplane::multigrid
