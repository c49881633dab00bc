// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/convergence.hpp"

#include <algorithm>
#include <cmath>

#include "core/vector/blas1.hpp"

namespace hyperplane {

Convergence::Convergence(const StopCriteria& criteria, const LinearOperator& a, const Vector& b, Vector& x,
                         History& history, std::function<void()> complete_x)
    : criteria_(criteria), a_(a), b_(b), x_(x), history_(history), complete_x_(std::move(complete_x)) {}

void Convergence::set_target() {
    b_norm_ = norm2(b_);
    target_ = std::max(criteria_.rtol * b_norm_, criteria_.atol);
}

void Convergence::begin(Vector& r) {
    history_.start();
    set_target();
    if (b_norm_ == 0.0) set_zero(x_);
    norm_ = first_residual(r);
    limit_ = criteria_.divergence_tolerance * std::max(b_norm_, norm_);
    report_.recurrence_residual = norm_;
    history_.add(0, relative(norm_));
    decide(norm_);
    stop_asked_ = history_.interrupted();
    if (going()) check_limits(norm_);
}

bool Convergence::may_run_ahead() {
    stop_asked_ = stop_asked_ || history_.interrupted();
    return !stop_asked_ && report_.iterations + 1 < criteria_.max_iterations;
}

bool Convergence::iterated(double r_norm) {
    norm_ = r_norm;
    truth_known_ = false;
    report_.recurrence_residual = r_norm;
    history_.add(++report_.iterations, relative(r_norm));
    if (looks_converged(r_norm)) return true;
    if (require_finite(r_norm)) check_limits(r_norm);
    return !going();
}

void Convergence::judge(Vector& r) {
    const bool looked_converged = looks_converged(norm_);
    norm_ = residual(x_, r);
    decide(norm_);
    if (going() && looked_converged) confirm_failed(norm_);
}

bool Convergence::iterated_and_judged(double r_norm, Vector& r, Vector& work) {
    const bool look = iterated(r_norm);
    if (look && !interrupted()) {
        judge(r);
        return true;
    }
    if (wants_truth()) show_truth(x_, work);
    return false;
}

void Convergence::iterated_truly(double r_norm) {
    iterated(r_norm);
    if (square_of_is_exact(r_norm))
        decide(r_norm);
    else if (going())
        stop(StopReason::out_of_range);  // unless the report finds that b - A x meets the criterion
}

bool Convergence::wants_truth() const {
    return criteria_.true_residual_every > 0 && report_.iterations % criteria_.true_residual_every == 0;
}

void Convergence::show_truth(const Vector& y, Vector& work) {
    history_.set_truth(relative(residual(y, work)));
}

bool Convergence::require(bool usable, double scalar, StopReason otherwise) {
    if (!std::isfinite(scalar)) {
        stop(StopReason::not_finite);
    } else if (!usable) {
        stop(otherwise);
    }
    return going();
}

SolveReport Convergence::report(Vector& r) {
    if (!truth_known_) decide(residual(x_, r));
    report_.reason = *reason_;
    report_.b_norm = b_norm_;
    return report_;
}

/// Nearly all solves begin with x = 0. Testing that reads one vector; computing b - A x reads as many as a row has
/// couplings, with sums in twice the precision.
double Convergence::first_residual(Vector& r) const {
    complete_x_();
    if (norm2(x_) != 0.0) return residual(x_, r);
    copy(b_, r);
    return b_norm_;
}

double Convergence::residual(const Vector& y, Vector& r) const {
    if (&y == &x_) complete_x_();
    a_.residual(b_, y, r);
    return norm2(r);
}

/// An x whose true residual satisfies the criterion has converged, whatever stopped the method. Where its square has
/// lost its digits, so have the scalars that a method may have failed for.
void Convergence::decide(double truth) {
    truth_known_ = true;
    report_.true_residual = truth;
    history_.set_truth(relative(truth));
    if (!std::isfinite(truth) || !std::isfinite(b_norm_)) {
        if (reason_ != StopReason::diverged) reason_ = StopReason::not_finite;
    } else if (truth <= target_) {
        reason_ = truth <= criteria_.rtol * b_norm_ ? StopReason::converged_rtol : StopReason::converged_atol;
    } else if (!square_of_is_exact(truth) && !reached_limit()) {
        reason_ = StopReason::out_of_range;
    }
}

bool Convergence::reached_limit() const {
    return reason_ == StopReason::diverged || reason_ == StopReason::max_iterations || interrupted();
}

void Convergence::check_limits(double r_norm) {
    if (r_norm > limit_) {
        reason_ = StopReason::diverged;
    } else if (report_.iterations >= criteria_.max_iterations) {
        reason_ = StopReason::max_iterations;
    } else if (stop_asked_) {
        reason_ = StopReason::interrupted;
    }
}

void Convergence::confirm_failed(double truth) {
    stalled_ = truth < best_truth_ ? 0 : stalled_ + 1;
    best_truth_ = std::min(best_truth_, truth);
    if (stalled_ == 2) {
        reason_ = StopReason::false_convergence;
        return;
    }
    check_limits(truth);
    if (going() || interrupted()) ++report_.restarts_from_true;
}

void Convergence::save(StateStore& store) const {
    store.put("convergence",
              std::vector<double>{double(report_.iterations), report_.recurrence_residual,
                                  double(report_.restarts_from_true), norm_, limit_, best_truth_, double(stalled_)});
    const auto column = [&](const char* name, auto member) {
        std::vector<double> values;
        for (const HistoryEntry& entry : history_.entries()) values.push_back(double(entry.*member));
        store.put(std::string("history/") + name, values);
    };
    column("iteration", &HistoryEntry::iteration);
    column("recurrence", &HistoryEntry::recurrence);
    column("truth", &HistoryEntry::truth);
    column("seconds", &HistoryEntry::seconds);
}

void Convergence::resume(const StateStore& store) {
    const std::vector<double> iteration = store.get("history/iteration"), recurrence = store.get("history/recurrence"),
                              truth = store.get("history/truth"), seconds = store.get("history/seconds");
    std::vector<HistoryEntry> entries;
    for (std::size_t at = 0; at < iteration.size(); ++at)
        entries.push_back({Index(iteration[at]), recurrence.at(at), truth.at(at), seconds.at(at)});
    history_.resume(std::move(entries));

    set_target();
    const std::vector<double> known = store.get("convergence");
    report_.iterations = Index(known.at(0));
    report_.recurrence_residual = known.at(1);
    report_.restarts_from_true = int(known.at(2));
    norm_ = known.at(3);
    limit_ = known.at(4);
    best_truth_ = known.at(5);
    stalled_ = int(known.at(6));
}

}  // namespace hyperplane
