// SPDX-License-Identifier: BSD-3-Clause
// Time stepping: how long each step is, what a time derivative is made of in it, what becomes of a step that is done.
//
// Implicit Euler, or BDF2 with steps of any length whose first step is implicit Euler's. Lengths are
//
//   those of the problem   its deck's time step or Courant number; a step without solution ends the run
//
//   error-controlled       an estimate e of the local error stays below tolerance ||u||. u_p extrapolates the q + 1
//                          states before (q the order); all lie on a smooth curve, so for steps d_n, d_n-1, ...
//                              e = (u - u_p) / (rate[0] (d_n + .. + d_n-q))
//                          The step is then changed by 0.9 (tolerance ||u|| / ||e||)^(1 / (q + 1)), between 0.2 and 2.
//                          Until there are q + 1 states that lie on it, steps have their first length. None is shorter
//                          than smallest_step; one that fails at that length ends the run.
//
//   pseudo-transient       switched evolution relaxation: the problem's step times g, where g_0 = 1 and
//                              g_n = clip(||F_0|| / ||F_n||, g_n-1, 2 g_n-1), at most cfl_max / cfl
//                          until ||F_n|| <= max(steady_rtol ||F_0||, steady_atol)
//
// The last two repeat a step that fails with a quarter of its length, and end after 10 attempts.
//
// Sources: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, sections II.4, III.5; Radhakrishnan,
// Hindmarsh 1993, Description and Use of LSODE, section 2.4 (estimates by extrapolation); Mulder, van Leer 1985;
// Kelley, Keyes 1998 (pseudo-transient continuation).
#pragma once

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
    Index steps = 1;  ///< 0: as many as end_time takes
    double end_time = std::numeric_limits<double>::infinity();
    double tolerance = 0.0;  ///< above 0: steps are error-controlled
    double largest_step = std::numeric_limits<double>::infinity();
    double smallest_step = 0.0;  ///< of error-controlled steps, but for the one that meets end_time
    double steady_rtol = 1e-6, steady_atol = 0.0;
    bool keeps_old = false;  ///< the state before a step is held beside u: always, but for linear problems

    bool pseudo() const { return regime == Regime::pseudo_transient; }
    bool seeks_steady_state() const { return pseudo() && (steady_rtol > 0.0 || steady_atol > 0.0); }
    bool controlled() const { return tolerance > 0.0; }
    /// Whether a step that fails is repeated.
    bool repeats() const { return controlled() || pseudo(); }
    int order() const { return scheme == TimeScheme::bdf2 ? 2 : 1; }
    /// Vectors of earlier states that are held.
    Index vectors() const;
};

class TimeStepper {
public:
    TimeStepper(const Problem& problem, const TimeOptions& options, const Context& context, const Layout& layout);

    /// The run begins; of a pseudo-transient one `norm` is ||F|| of the initial state.
    void begin(double norm = 0.0);
    std::optional<EndReason> ended() const { return ended_; }
    Index steps_done() const { return done_; }
    double time() const { return time_; }
    /// The next attempt, from u.
    TimeLevel next(const Vector& u);
    /// The level whose residual at u is that of the steady problem.
    TimeLevel at_rest(const Vector& u) const;

    /// The attempt is solved; true where u is accepted, else u is again the state before. `row` gets what is decided.
    /// Of a pseudo-transient run `norm` is ||F|| of u; `work` is overwritten.
    bool judge(Vector& u, double norm, Vector& work, StepRow& row);
    /// The attempt failed; u is again the state before, where that is held. True where a shorter attempt follows, else
    /// the run ends with `reason`.
    bool reject(Vector& u, EndReason reason);

    /// All but u, within an attempt or between two steps.
    void save(StateStore& store) const;
    /// In place of begin.
    void resume(const StateStore& store);
    /// The level of the attempt under way, u being its state; none between two steps.
    std::optional<TimeLevel> under_way(const Vector& u) const;
    /// The attempt under way, as far as it is known before it is solved.
    StepRow row() const;

private:
    double length_from(const Vector& u) const;
    double time_after(double dt) const;
    /// Of an error-controlled step; no step is so short that time would not advance.
    double least_length() const;
    /// States before the step under way that are held.
    Index known() const;
    std::optional<double> estimate(const Vector& u, Vector& work) const;
    void accept();
    bool shorten(double factor, Vector& u, EndReason reason);

    const Problem& problem_;
    TimeOptions options_;
    std::array<Vector, 3> before_;  ///< old, older, oldest; as many as the options hold
    std::optional<EndReason> ended_;

    Index done_ = 0;                        ///< steps accepted
    Index attempt_ = 0;                     ///< of the step under way; 0: none is
    double time_ = 0.0;                     ///< after them
    double dt_ = 0.0;                       ///< of the attempt under way
    double proposed_ = 0.0;                 ///< the controlled step to come; 0: none yet
    double growth_ = 1.0;                   ///< g
    double first_norm_ = 0.0;               ///< ||F_0||
    std::array<double, 2> dt_before_{};     ///< of the last steps accepted
    double run_time_ = 0.0, run_dt_ = 0.0;  ///< where the run of equal steps under way began, and their length
    Index run_steps_ = 0;
};

}  // namespace hyperplane
