// SPDX-License-Identifier: BSD-3-Clause
// When a solve ends. Every method decides with a Convergence object, so that all use the same criteria.
//
//   converged          ||b - A x|| <= max(rtol ||b||, atol), and nothing else
//   Each iteration yields ||r|| of the recurrence at no extra cost. When it is small enough, b - A x is
//   computed. If that does not confirm convergence, the method starts anew from r = b - A x. After two
//   such restarts in a row that did not lower the true residual, the solve ends with false_convergence:
//   rtol is below what rounding allows.
//
//   diverged           ||r|| > divergence_tolerance max(||b||, ||r_0||)
//   not_finite         a scalar of the method is NaN or infinite; it has not been used to change x
//   out_of_range       ||b - A x|| is too small or too large for its square, so that the sums of the method have lost
//                      their digits (core/vector/square_range.hpp). norm2 itself is right at any size.
//   max_iterations, interrupted
//
// A recurrence whose ||r|| is that small is not followed either: b - A x is computed and decides.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "core/interfaces/solver.hpp"
#include "core/vector/square_range.hpp"

namespace hyperplane {

/// Exists for one solve of A x = b.
class Convergence {
public:
    /// `complete_x` is called before x is used here, for methods that update it late.
    Convergence(
        const StopCriteria& criteria, const LinearOperator& a, const Vector& b, Vector& x, History& history,
        std::function<void()> complete_x = [] {});

    /// Computes r = b - A x, which is b where x = 0, and adds entry 0 of the history. If b = 0, x is set to 0, the
    /// solution.
    void begin(Vector& r);
    bool going() const { return !reason_; }
    bool interrupted() const { return reason_ == StopReason::interrupted; }
    /// ||r|| of the newest iterate: of the true residual after begin and judge, otherwise of the recurrence's.
    double residual_norm() const { return norm_; }
    /// Where ||r|| of the recurrence ends a solve: up to the first one it looks converged, above the second it has
    /// diverged.
    double target() const { return std::max(target_, smallest_norm); }
    double limit() const { return limit_; }
    /// Whether the recurrence's ||r|| is so small that b - A x must be computed.
    bool looks_converged(double r_norm) const { return r_norm <= target(); }

    /// Whether the next iteration may be started before this one's scalars are known; called once an iteration. False
    /// if this is the last iteration allowed or a stop was requested, so that the solve ends with this iteration.
    bool may_run_ahead();
    /// Reports one more iteration with ||r|| of the recurrence. If it returns true, form x and call judge.
    bool iterated(double r_norm);
    /// Computes r = b - A x and decides by its norm. If the solve continues, it must continue from this r.
    void judge(Vector& r);
    /// Both of the above, for methods that have x and r in every iteration. If it returns true, r is now b - A x and
    /// the recurrence must begin anew. `work` is overwritten. An interrupt leaves r unchanged.
    bool iterated_and_judged(double r_norm, Vector& r, Vector& work);
    /// Reports one more iteration of a method whose r is b - A x itself.
    void iterated_truly(double r_norm);

    /// Whether the history shows the true residual of this iteration (true_residual_every).
    bool wants_truth() const;
    /// Computes work = b - A y for the newest iterate y and adds its norm to the history.
    void show_truth(const Vector& y, Vector& work);

    /// Stops the solve if the method cannot use a scalar: with not_finite if it is NaN or infinite, else with
    /// `otherwise` if it is not `usable`. Returns whether the solve goes on.
    bool require(bool usable, double scalar, StopReason otherwise);
    bool require_finite(double scalar) { return require(true, scalar, StopReason::not_finite); }
    void stop(StopReason reason) { reason_ = reason; }

    /// Makes x the newest iterate.
    void complete_x() const { complete_x_(); }

    /// Ends the solve. The true residual in the report is that of x; `r` is overwritten if it must be computed.
    SolveReport report(Vector& r);

    /// Saves this object's state and the history, for a solve that continues later.
    void save(StateStore& store) const;
    /// Restores both; called in place of begin. The saved solve had tested its newest iterate.
    void resume(const StateStore& store);

private:
    void set_target();
    double residual(const Vector& y, Vector& r) const;
    double first_residual(Vector& r) const;
    void decide(double truth);
    bool reached_limit() const;
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
    double best_truth_ = std::numeric_limits<double>::infinity();  ///< lowest that did not confirm convergence
    int stalled_ = 0;                                              ///< restarts in a row without progress
};

}  // namespace hyperplane
