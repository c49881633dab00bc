// SPDX-License-Identifier: BSD-3-Clause
// Time stepping: the length of each step, the approximation of the time derivative, and whether a step is accepted.
//
// The scheme is implicit Euler, or BDF2 with variable steps, whose first step is one of implicit Euler. The length is
//
//   the problem's          by the deck's time step or Courant number; a step that cannot be solved ends the run
//
//   error-controlled       an estimate e of the local error stays below tolerance ||u||. u_p extrapolates the last
//                          q + 1 states (q the order of the scheme); if all lie on a smooth curve, then, for steps
//                          d_n, d_n-1, ...,
//                              e = (u - u_p) / (rate[0] (d_n + .. + d_n-q))
//                          The length is then multiplied by 0.9 (tolerance ||u|| / ||e||)^(1 / (q + 1)), limited to
//                          [0.2, 2]. Until q + 1 states on the curve are known, steps keep the first length and are not
//                          judged; after the second, the error of the first, d_1^2 u'' / 2, is known from
//                              D = u_2 - (1 + w) u_1 + w u_0,  w = d_2 / d_1
//                          as D / (2 w^2) with implicit Euler, for which D = d_2^2 u'', and D (1 + 2w) / (2 w^2 (1 +
//                          w)) with BDF2, whose second step follows from the error of the first. No step is shorter
//                          than smallest_step; a step of that length that fails ends the run.
//
//   pseudo-transient       switched evolution relaxation: the problem's step times g, where g_0 = 1 and
//                              g_n = clip(||F_0|| / ||F_n||, g_n-1, 2 g_n-1), at most cfl_max / cfl
//                          until ||F_n|| <= max(steady_rtol ||F_0||, steady_atol)
//
// With the last two, a step that fails is repeated with a quarter of its length; the run ends after 10 attempts. If
// steps are error-controlled, the 20 accepted after a failed solve are at most half as long as what failed last.
//
// Sources: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, sections II.4, III.5; Radhakrishnan,
// Hindmarsh 1993, Description and Use of LSODE, section 2.4 (estimates by extrapolation); Mulder, van Leer 1985;
// Kelley, Keyes 1998 (pseudo-transient continuation).
#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "core/interfaces/march_rows.hpp"
#include "core/interfaces/problem.hpp"
#include "core/interfaces/solver_state.hpp"

namespace hyperplane {

enum class TimeScheme { implicit_euler, bdf2 };

struct TimeOptions {
    Regime regime = Regime::steady;
    TimeScheme scheme = TimeScheme::implicit_euler;
    Index steps = 1;  ///< 0: as many as needed to reach end_time
    double end_time = std::numeric_limits<double>::infinity();
    double tolerance = 0.0;  ///< if above 0, steps are error-controlled
    double largest_step = std::numeric_limits<double>::infinity();
    double smallest_step = 0.0;  ///< for error-controlled steps, except the last one, which ends at end_time
    double steady_rtol = 1e-6, steady_atol = 0.0;
    bool keeps_old = false;  ///< whether the state before a step is kept in addition to u, as nonlinear problems need

    bool pseudo() const { return regime == Regime::pseudo_transient; }
    bool seeks_steady_state() const { return pseudo() && (steady_rtol > 0.0 || steady_atol > 0.0); }
    /// Whether ||F|| = norm is that of a steady state, where it is first_norm for the initial state.
    bool is_steady(double norm, double first_norm) const {
        return pseudo() && norm <= std::max(steady_rtol * first_norm, steady_atol);
    }
    bool controlled() const { return tolerance > 0.0; }
    /// Whether a step that fails is repeated.
    bool repeats() const { return controlled() || pseudo(); }
    int order() const { return scheme == TimeScheme::bdf2 ? 2 : 1; }
    /// Number of earlier states that are kept.
    Index vectors() const;
};

class TimeStepper {
public:
    TimeStepper(const Problem& problem, const TimeOptions& options, const Context& context, const IndexSpace& space);

    /// Begins the time stepping. With pseudo-transient steps, `norm` is ||F|| of the initial state.
    void begin(double norm = 0.0);
    std::optional<EndReason> ended() const { return ended_; }
    Index steps_done() const { return done_; }
    double time() const { return time_; }
    /// The norm ||F|| of the initial state, with pseudo-transient steps.
    double first_norm() const { return first_norm_; }
    /// The same norm from what save has put into a store; NaN if it is not there.
    static double first_norm_in(const SolverItems& items);
    /// Whether what save has put into a store is of an attempt, in progress or failed, and not between two steps.
    static bool is_within_step(const SolverItems& items);
    /// Begins the next attempt at a step, from u. A step in time that would end at infinity does not begin: then the
    /// run has ended.
    TimeLevel next(const Vector& u);
    /// A time level for which the time derivative at u is zero, so that the residual is that of the steady problem.
    TimeLevel at_rest(const Vector& u) const;

    /// Decides about an attempt that has been solved. Returns true if u is accepted; otherwise u is set back to the
    /// state before the step. The decision is written to `row`. With pseudo-transient steps, `norm` is ||F|| of u;
    /// `work` is overwritten.
    bool judge(Vector& u, double norm, Vector& work, StepRow& row);
    /// The estimated local error of the first step over ||u||, if `u` solves an attempt at the second of
    /// error-controlled steps and judge has not been called yet; `work` is overwritten. Nothing judges that step
    /// itself.
    std::optional<double> error_of_first(const Vector& u, Vector& work) const;
    /// Reports that the attempt failed. u is set back to the state before the step if that is kept. Returns true if a
    /// shorter attempt follows; otherwise the run ends with `reason`.
    bool reject(Vector& u, EndReason reason);

    /// Saves everything but u, within an attempt or between two steps.
    void save(StateStore& store) const;
    /// Restores what was saved; called in place of begin.
    void resume(const StateStore& store);
    /// After `resume`: gives up the attempt in progress, if there is one. The next one begins from the state before the
    /// step, to which u is set, with the length that the first attempt had; if `other_length`, with the problem's.
    void begin_again(Vector& u, bool other_length);
    /// The time level of the attempt in progress, with u as its state; none between two steps.
    std::optional<TimeLevel> under_way(const Vector& u) const;
    /// The row of the attempt in progress, with what is known before it is solved.
    StepRow row() const;

private:
    double length_from(const Vector& u) const;
    double time_after(double dt) const;
    /// The shortest error-controlled step: smallest_step, or what rounding needs for the time to advance.
    double least_length() const;
    /// Number of earlier states that are kept and known in the attempt in progress.
    Index known() const;
    std::optional<double> estimate(const Vector& u, Vector& work) const;
    void accept();
    bool shorten(double factor, Vector& u, EndReason reason);

    const Problem& problem_;
    TimeOptions options_;
    std::array<Vector, 3> before_;  ///< old, older, oldest; TimeOptions::vectors() of them are allocated
    std::optional<EndReason> ended_;

    Index done_ = 0;                        ///< number of accepted steps
    Index attempt_ = 0;                     ///< number of the attempt in progress; 0 between two steps
    Index given_up_ = 0;                    ///< attempts at this step before the run began it again
    double time_ = 0.0;                     ///< time after the accepted steps
    double dt_ = 0.0;                       ///< length of the attempt in progress
    double proposed_ = 0.0;                 ///< length of the next error-controlled step; 0: none yet
    double growth_ = 1.0;                   ///< g
    double first_norm_ = 0.0;               ///< ||F_0||
    std::array<double, 2> dt_before_{};     ///< lengths of the last two accepted steps
    double run_time_ = 0.0, run_dt_ = 0.0;  ///< begin of the current series of equal steps, and their length
    double held_length_ = 0.0;              ///< the longest step while held_left_ > 0, half of what failed last
    Index held_left_ = 0;                   ///< accepted steps until it no longer holds
    Index run_steps_ = 0;                   ///< accepted steps in that series, so that times do not add up rounding
};

}  // namespace hyperplane
