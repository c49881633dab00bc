// SPDX-License-Identifier: BSD-3-Clause
// When a solve ends. Every method decides through one Convergence object, so that all mean the same.
//
//   converged          ||b - A x|| <= max(rtol ||b||, atol), and nothing else
//   The recurrence's ||r|| is what a method gets for nothing each iteration; it says when to look.
//   If b - A x does not confirm it, the method starts anew from r = b - A x. After two such restarts
//   that did not lower the true residual: false_convergence, the limit of rounding is reached.
//
//   diverged           ||r|| > divergence_tolerance max(||b||, ||r_0||)
//   not_finite         a scalar of the method is NaN or infinite; x is not touched by it
//   max_iterations, interrupted
#pragma once

#include <functional>
#include <limits>
#include <optional>

#include "core/interfaces/solver.hpp"

namespace hyperplane {

/// Lives as long as one solve of A x = b.
class Convergence {
public:
    /// `complete_x` is called before x is looked at, for methods that update it late.
    Convergence(
        const StopCriteria& criteria, const LinearOperator& a, const Vector& b, Vector& x, History& history,
        std::function<void()> complete_x = [] {});

    /// r = b - A x and entry 0 of the history. Where b = 0, x = 0 is the solution and is set.
    void begin(Vector& r);
    bool going() const { return !reason_; }
    bool interrupted() const { return reason_ == StopReason::interrupted; }
    /// ||r|| of the newest iterate, true after begin and judge, the recurrence's otherwise.
    double residual_norm() const { return norm_; }
    /// The recurrence's ||r|| calls for a look at b - A x.
    bool looks_converged(double r_norm) const { return r_norm <= target_; }

    /// Asked once an iteration, before it is looked at: whether the next may run meanwhile. Not the one after the
    /// last allowed, nor after a wish to stop, so that a solve stops at the end of the newest iteration.
    bool may_run_ahead();
    /// One iteration more, `r_norm` by the recurrence. True: form x and call judge.
    bool iterated(double r_norm);
    /// r = b - A x, which decides; where the solve goes on, it does so from this r.
    void judge(Vector& r);
    /// For methods that hold x and r at every iteration: both of the above. True: r is now b - A x
    /// and the recurrence begins anew. `work` is overwritten. An interrupt leaves r as it is.
    bool iterated(double r_norm, Vector& r, Vector& work);
    /// For methods whose r is b - A x itself.
    void iterated_truly(double r_norm);

    /// True in the iterations whose history shows the true residual.
    bool wants_truth() const;
    /// work = b - A y for the newest iterate y; its norm goes into the history.
    void show_truth(const Vector& y, Vector& work);

    /// Whether the method can use a scalar; where not, the solve stops: with not_finite for a NaN or
    /// an infinity, else with `otherwise`.
    bool require(bool usable, double scalar, StopReason otherwise);
    void stop(StopReason reason) { reason_ = reason; }

    /// Makes x the newest iterate.
    void complete_x() const { complete_x_(); }

    /// The end: the true residual is always that of the x returned. `r` is overwritten where it is not known yet.
    SolveReport report(Vector& r);

    /// What the object knows and the history, for a solve that goes on later.
    void save(StateStore& store) const;
    /// In place of begin. The interrupted solve had looked at its newest iterate, as far as it is looked at at all.
    void resume(const StateStore& store);

private:
    void set_target();
    double residual(const Vector& y, Vector& r) const;
    void decide(double truth);
    void check_limits(double r_norm);
    void confirm_failed(double truth);
    double relative(double norm) const { return b_norm_ > 0.0 ? norm / b_norm_ : norm; }

    const StopCriteria& criteria_;
    const LinearOperator& a_;
    const Vector& b_;
    Vector& x_;
    History& history_;
    std::function<void()> complete_x_;
    SolveReport report_;
    std::optional<StopReason> reason_;
    double b_norm_ = 0.0, target_ = 0.0, limit_ = 0.0;
    double norm_ = 0.0;
    bool truth_known_ = false, stop_asked_ = false;
    double best_truth_ = std::numeric_limits<double>::infinity();  ///< of the looks that did not confirm
    int stalled_ = 0;                                              ///< restarts in a row without progress
};

}  // namespace hyperplane
