// SPDX-License-Identifier: BSD-3-Clause
// Newton's method for F(u) = 0, the system of a time step or of a steady problem.
//
//     f = F(u)
//     until ||f|| <= max(rtol ||f_0||, atol)
//         A = F'(u);  where a refresh is due, set up M from A or from the problem's own preconditioner matrix
//         solve A du = -f to ||f + A du|| <= eta ||f||                                              inexactly
//         s = the longest admissible step, halved until ||F(u + s du)|| <= (1 - t s (1 - eta)) ||f||  backtracking
//         u = u + s du,  f = F(u)
//
// with t = 1e-4. The forcing term eta is fixed, or follows choice 2 of Eisenstat and Walker,
//     eta_k = g (||f_k|| / ||f_k-1||)^2, at least g eta_k-1^2 if that is above 0.1, at most 0.9,
// with g = 0.9 and eta_0 = 0.3. It is at least the fixed one, and at least 0.5 max(rtol ||f_0||, atol) / ||f||, so that
// the last Newton step does not solve more exactly than the tolerance needs.
//
// Where no s lowers ||f|| enough although ||du|| <= 1e-13 ||u||, f is at the level of rounding, and the solve has
// ended: along so short a correction F is linear, and exact arithmetic would lower ||f|| to eta ||f||. Such is the f_0
// of a run in time that has come to rest, which no factor rtol lowers. Where A is ill-conditioned, du may be longer
// then; so f is at that level, too, where ||F|| is at least doubled by moving each value of u by a few units in its
// last place. The last step allowed is judged so, too, if it lowers ||f|| by less than half of what exact arithmetic
// would.
//
// A linear problem, or a linearised one, takes one step without a line search, and ||F|| does not decide about it.
//
// Sources: Eisenstat, Walker 1994 (line search) and 1996 (forcing terms); Kelley, Solving Nonlinear Equations with
// Newton's Method, section 3.2 (the bound by the tolerance).
#pragma once

#include <functional>
#include <optional>

#include "core/interfaces/linear_system.hpp"
#include "core/interfaces/march_rows.hpp"
#include "core/interfaces/solver.hpp"
#include "core/timer.hpp"

namespace hyperplane {

/// When the preconditioner is set up anew.
struct RefreshRule {
    Index every = 1;     ///< number of linear solves that share one set-up; 0 if `grown`
    bool grown = false;  ///< when a solve took over 2 n + 5 iterations, n those of the first solve with this set-up
};

enum class Forcing { fixed, eisenstat_walker };

struct NewtonOptions {
    bool judged = true;  ///< whether ||F|| decides; if not, a nonlinear solve is one step
    double rtol = 1e-6, atol = 0.0;
    Index max_iterations = 20;
    Forcing forcing = Forcing::fixed;
    double linear_rtol = 1e-2;     ///< the fixed eta, and the lower bound of other ones
    int line_search_halvings = 5;  ///< 0: the longest admissible step is taken
    RefreshRule refresh = {};
    bool reaches_back_twice = false;  ///< whether TimeLevel::older is given in some steps, as bdf2 does
};

/// The result of a Newton step: its row of the record, without the number of the time step, and its linear solve.
struct NewtonStep {
    NewtonRow row;
    SolveReport linear;
};

class Newton {
public:
    /// The system A du = b, to be solved from the given du to ||b - A du|| <= rtol ||b|| with M as preconditioner.
    struct LinearTask {
        const LinearOperator &a, &m;  ///< for the solver; constants are projected out where A is singular
        const LinearSystem& system;   ///< b, and the matrices themselves
        Vector& du;
        double rtol;
        const SetupReport& setup;  ///< of M
        bool refreshed;            ///< whether M was set up for this system
        Index newton;              ///< number of the Newton step, from 0
    };
    using SolveLinear = std::function<SolveReport(const LinearTask&)>;

    /// Numbers of vectors held in addition to the system: du, the trial state, and the states of the last set-up.
    struct Vectors {
        Index correction = 1, trial = 0, setup = 0;
        Index count() const { return correction + trial + setup; }
    };
    static Vectors vectors(const SystemShape& shape, const NewtonOptions& options);

    /// Keeps references to all arguments but the options; `timers` receives the scopes assemble and setup.
    Newton(const Problem& problem, const NewtonOptions& options, Preconditioner& preconditioner, const Context& context,
           const IndexSpace& space, TimerTree& timers);

    /// Begins a nonlinear solve from u.
    void begin(const Vector& u, const TimeLevel& level);
    bool going() const { return !reason_; }
    /// Takes one Newton step: u becomes the next iterate, or remains if the step fails or is interrupted. `level` is
    /// the one given to begin. Throws SetupError if the preconditioner cannot be set up.
    NewtonStep step(Vector& u, const TimeLevel& level, const SolveLinear& solve);
    NewtonReason reason() const { return *reason_; }
    /// Number of Newton steps taken.
    Index taken() const { return taken_; }
    double first_norm() const { return first_norm_; }
    double norm() const { return norm_; }

    /// ||F(u)||; b of the system becomes -F. A caller must not ask within a nonlinear solve.
    double residual_norm(const Vector& u, const TimeLevel& level);
    /// After line_search or not_finite: the state that was not accepted, and F or -F of it. After linear_solve,
    /// refused_residual() is -F of the newest iterate.
    const Vector& refused_state() const { return trial_; }
    const Vector& refused_residual() const { return system_.b; }

    /// After a solve that failed: the state that the last correction leads to with s = 1. u is the newest iterate;
    /// work() is overwritten.
    const Vector& uncut_state(const Vector& u);

    /// Saves what continuing needs in addition to u and level, within a nonlinear solve or between two.
    void save(StateStore& store) const;
    /// Restores that state, with u and level as they were. If it was saved `within` a nonlinear solve, this replaces
    /// begin.
    void resume(const StateStore& store, const Vector& u, const TimeLevel& level, bool within);

    /// A vector that may be overwritten between two solves.
    Vector& work() { return du_; }

private:
    double forcing_term() const;
    bool refresh_due() const;
    void set_up(const Vector& u, const TimeLevel& level);
    void refresh(const Vector& u, const TimeLevel& level, NewtonStep& done);
    SolveReport solve_linear(NewtonStep& done, const SolveLinear& solve);
    void follow(Vector& u, const TimeLevel& level, NewtonStep& done);
    void judge();
    /// Whether rounding is what keeps ||F|| from falling along the correction du of u. Overwrites the trial state, and
    /// b of the system.
    bool within_rounding(const Vector& u, const TimeLevel& level);

    const Problem& problem_;
    NewtonOptions options_;
    Preconditioner& preconditioner_;
    Context context_;
    TimerTree& timers_;
    LinearSystem system_;
    Vector du_, trial_;

    std::optional<NewtonReason> reason_;
    Index taken_ = 0;
    double first_norm_ = 0.0, norm_ = 0.0, norm_before_ = 0.0, forcing_before_ = 0.0;

    /// The set-up in use. u, old and older are kept if a continued run must repeat the set-up.
    struct SetupState {
        Vector u, old, older;
        TimeLevel level;
        SetupReport report;
        bool done = false;
        Index solves = 0, first_iterations = 0, last_iterations = 0;
    } setup_;
    bool solving_ = false;        ///< a linear solve is in progress or was interrupted
    bool setup_decided_ = false;  ///< the next step continues an interrupted linear solve, with its set-up
};

}  // namespace hyperplane
