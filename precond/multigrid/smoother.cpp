// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/smoother.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/error.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/scalars.hpp"
#include "precond/multigrid/matrix_traits.hpp"
#include "precond/queued_setup.hpp"
#include "precond/walks/random_vector.hpp"

namespace hyperplane::multigrid {
namespace {

constexpr double margin = 1.7, largest_lambda = 3.0;
constexpr double damping_of_jumps = 0.95;
constexpr double shifts[] = {0.01, 0.03, 0.1, 0.3, 1.0};

bool is_usable(double norm) {
    return std::isfinite(norm) && norm != 0.0;
}

void begin_power_method(Vector& x) {
    set_random(x, 1982, -1.0);
}
/// x = M^-1 A x / norm
void power_step(const StructMatrix& a, const LinearOperator& m, const double* norm, Vector& x, Vector& y) {
    a.apply(x, y);
    scale(Ratio(1.0, nullptr, norm), y);
    m.apply(y, x);
}

/// ||M^-1 A x|| / ||x|| after all steps, from the norms of these; infinite, NaN or zero where one is.
double largest_of(std::span<const double> norms) {
    double lambda = 0.0;
    for (const double norm : norms) {
        lambda = norm;
        if (!is_usable(norm)) break;
    }
    return lambda;
}

double power_method(const StructMatrix& a, const LinearOperator& m, int steps, Vector& x, Vector& y) {
    Scalars norms(x.context(), "multigrid: tables", steps + 1);
    begin_power_method(x);
    grid_norm(x, norms.data());
    for (int step = 0; step < steps; ++step) {
        power_step(a, m, norms.data() + step, x, y);
        grid_norm(x, norms.data() + step + 1);
        if (x.backend() == Backend::cpu && !is_usable(norms.data()[step + 1])) break;
    }
    return largest_of(norms.get(1, steps));
}

}  // namespace

bool Smoother::prepare(const StructMatrix& a, const SmootherChoice& choice, const SmootherOptions& options) {
    a_ = &a;
    if (!m_ || shifted_) m_ = choice.make(a, 0.0);
    shifted_ = false;
    m_->suggest_shift(options.suggested_shift);
    lambda_ = 0.0;
    omega_ = 1.0;
    pending_ = {};
    pending_.choice = &choice;
    pending_.options = options;
    auto* const queues = dynamic_cast<QueuedSetup*>(m_.get());
    if (!queues || !queues->can_queue_setup(a)) return false;
    queues->provide(a);
    return true;
}

void Smoother::begin(const std::optional<MatrixTraits>& known, Vector& r, Vector& t) {
    pending_.r = &r;
    pending_.t = &t;
    auto* const queues = dynamic_cast<QueuedSetup*>(m_.get());
    pending_.queued = queues && queues->queue_setup(*a_);
    if (!pending_.queued) pending_.report = m_->setup(*a_);
    if (pending_.options.damping) {
        omega_ = *pending_.options.damping;
        return;
    }
    const MatrixTraits traits = !pending_.choice->regular_splitting ? MatrixTraits{}
                                : known                             ? *known
                                                                    : traits_of(*a_, t);
    if (traits.m_matrix && traits.jumps) omega_ = damping_of_jumps;
    pending_.estimates = !traits.m_matrix;
    if (!pending_.estimates) return;
    if (pending_.queued)
        queue_power_method();
    else
        settle(false, pending_.report);
}

/// Steps on a small grid take less time than their launches. So one is recorded, when it has run once with the same
/// memory, and all run beside the set-ups of larger grids.
void Smoother::queue_power_method() {
    const StructMatrix& a = *a_;
    const int steps = pending_.options.power_steps;
    Vector &x = *pending_.r, &y = *pending_.t;
    if (!norms_ || norms_->most() != steps + 1) {
        norms_.emplace(a.context(), a.layout(), steps + 1);
        recorded_.reset();
    }
    const auto first = [&] {
        begin_power_method(x);
        norms_->clear();
        norms_->add(x);
    };
    const auto step = [&] {
        power_step(a, *m_, norms_->last(), x, y);
        norms_->add(x);
    };
    if constexpr (cuda_built) {
        const Recorded uses{a.values(0), m_.get(), x.data(), y.data()};
        if (recorded_ != uses) power_.reset();
        recorded_ = uses;
        if (!a.context().profile()) {
            if (!power_) {
                first(), step();
                power_ = std::make_shared<device::SideWork>(a.context().stream(), first, step);
            }
            return power_->queue(steps);
        }
    }
    first();
    for (int at = 0; at < steps; ++at) step();
}

Index Smoother::table_bytes(const Layout& layout) {
    return NormList::bytes(layout, SmootherOptions{}.power_steps + 1);
}

void Smoother::join() {
    if constexpr (cuda_built)
        if (power_) power_->join();
}

SetupReport Smoother::finish() {
    if (!pending_.queued) return std::move(pending_.report);
    QueuedSetup::Finished all = dynamic_cast<QueuedSetup&>(*m_).finish_setup();
    if (!pending_.estimates) return std::move(all.report);
    if (!all.repeated) lambda_ = largest_of(norms_->get(1, norms_->most() - 1));
    settle(!all.repeated, all.report);
    return std::move(all.report);
}

void Smoother::settle(bool estimated, SetupReport& report) {
    const StructMatrix& a = *a_;
    const int steps = pending_.options.power_steps;
    Vector &r = *pending_.r, &t = *pending_.t;
    const auto is_large = [&] { return !(lambda_ < largest_lambda); };
    if (!estimated) lambda_ = power_method(a, *m_, steps, r, t);
    for (const double alpha : shifts) {
        if (!is_large()) break;
        std::unique_ptr<Preconditioner> shifted = pending_.choice->make(a, alpha);
        if (!shifted) break;
        power_.reset();
        recorded_.reset();
        m_.reset();
        m_ = std::move(shifted);
        shifted_ = true;
        report = m_->setup(a);
        lambda_ = power_method(a, *m_, steps, r, t);
    }
    if (!std::isfinite(lambda_))
        throw SetupError("M^-1 A has no bound. Use another smoother.name, or struct_ilu as the preconditioner.");
    omega_ = lambda_ > 0.0 ? std::min(1.0, margin / lambda_) : 1.0;
}

const SmootherPasses* Smoother::passes() const {
    return dynamic_cast<const SmootherPasses*>(m_.get());
}

template <class AnyVector>
bool Smoother::solve_to(const AnyVector& r, bool adds, AnyVector& x) const {
    const SmootherPasses* const own = passes();
    return own && own->solve_to(r, omega_, adds, x);
}

void Smoother::from_zero(const Vector& b, Vector& x) const {
    if (omega_ != 1.0 && solve_to(b, false, x)) return;
    m_->apply(b, x);
    if (omega_ != 1.0) scale(omega_, x);
}

void Smoother::smooth(const Vector& b, Vector& x, Vector& r, Vector& t) const {
    if (const SmootherPasses* const own = passes(); own && own->step(b, omega_, x, t)) return;
    a_->subtract_product(b, x, r);     // r = b - A x
    if (solve_to(r, true, x)) return;  // x += omega M^-1 r
    m_->apply(r, t);
    axpy(omega_, t, x);
}

void Smoother::apply(const SingleVector& r, SingleVector& z, Vector& wide_r, Vector& wide_z) const {
    if (const SmootherPasses* const own = passes(); own && own->apply(r, z)) return;
    widen(r, wide_r);
    m_->apply(wide_r, wide_z);
    round_to_single(wide_z, z);
}

void Smoother::from_zero(const SingleVector& b, SingleVector& x, Vector& r, Vector& t) const {
    if (omega_ != 1.0 && solve_to(b, false, x)) return;
    apply(b, x, r, t);
    if (omega_ != 1.0) scale(omega_, x);
}

void Smoother::residual(const SingleVector& b, const SingleVector& x, SingleParts& single, Vector& r, Vector& t) const {
    if (single.matrix) return single.matrix->subtract_product(b, x, single.r);
    widen(x, t);
    a_->apply(t, r);
    subtract(b, r, single.r);
}

void Smoother::smooth(const SingleVector& b, SingleVector& x, SingleParts& single, Vector& r, Vector& t) const {
    const SmootherPasses* const own = passes();
    if (own && single.matrix && own->step(*single.matrix, b, omega_, x, single.t)) return;
    residual(b, x, single, r, t);
    if (solve_to(single.r, true, x)) return;
    apply(single.r, single.t, r, t);
    axpy(omega_, single.t, x);
}

}  // namespace hyperplane::multigrid
