// SPDX-License-Identifier: BSD-3-Clause
// Newton's method for F(u) = 0, the system of a time step or of a steady problem.
//
//     f = F(u)
//     until ||f|| <= max(rtol ||f_0||, atol)
//         A = F'(u);  M is set up from it, or from the problem's other matrix, where that is due
//         solve A du = -f to ||f + A du|| <= eta ||f||                                              inexactly
//         s = the longest admissible step, halved until ||F(u + s du)|| <= (1 - t s (1 - eta)) ||f||  backtracking
//         u = u + s du,  f = F(u)
//
// with t = 1e-4. Forcing terms eta are fixed, or by choice 2 of Eisenstat and Walker,
//     eta_k = g (||f_k|| / ||f_k-1||)^2, at least g eta_k-1^2 where that is above 0.1, at most 0.9,
// with g = 0.9, eta_0 = 0.3, and never tighter than half of what the last Newton step needs, nor than the fixed one.
//
// A linear problem, or a linearised one, takes one step of s = 1 and is not judged by ||F||.
//
// Sources: Eisenstat, Walker 1994 (line search) and 1996 (forcing terms); Kelley, Solving Nonlinear Equations with
// Newton's Method, section 3.2 (what the last step needs).
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
    Index every = 1;     ///< linear solves that share one set-up; 0: as `grown` says
    bool grown = false;  ///< when a solve took more than twice the iterations of the first with this set-up, and 5 more
};

enum class Forcing { fixed, eisenstat_walker };

struct NewtonOptions {
    bool judged = true;  ///< false: one step, whatever ||F|| is after it
    double rtol = 1e-6, atol = 0.0;
    Index max_iterations = 20;
    Forcing forcing = Forcing::fixed;
    double linear_rtol = 1e-2;     ///< the fixed eta, and the tightest
    int line_search_halvings = 5;  ///< 0: the admissible step is taken as it is
    RefreshRule refresh = {};
};

/// What a Newton step did: its row, without the time step it belongs to, and its linear solve.
struct NewtonStep {
    NewtonRow row;
    SolveReport linear;
};

class Newton {
public:
    /// A du = b, to be solved from the du given to ||b - A du|| <= rtol ||b|| with M as preconditioner.
    struct LinearTask {
        const LinearOperator &a, &m;  ///< as the solver must see them
        const LinearSystem& system;   ///< b, and the matrices themselves
        Vector& du;
        double rtol;
        const SetupReport& setup;  ///< of M
        bool refreshed;            ///< M was set up for it
        Index newton;
    };
    using SolveLinear = std::function<SolveReport(const LinearTask&)>;

    /// Vectors held besides the system, in the order of their labels: du, trial, and the state of the last set-up.
    struct Vectors {
        Index correction = 1, trial = 0, setup = 0;
        Index count() const { return correction + trial + setup; }
    };
    static Vectors vectors(const SystemShape& shape, const NewtonOptions& options);

    /// Refers to all but the options; `timers` gets assemble and setup.
    Newton(const Problem& problem, const NewtonOptions& options, Preconditioner& preconditioner, const Context& context,
           const Layout& layout, TimerTree& timers);

    /// A nonlinear solve from u begins.
    void begin(const Vector& u, const TimeLevel& level);
    bool going() const { return !reason_; }
    /// u becomes the next iterate, or stays where the step fails or is interrupted. `level` is begin's. Throws
    /// SetupError.
    NewtonStep step(Vector& u, const TimeLevel& level, const SolveLinear& solve);
    NewtonReason reason() const { return *reason_; }
    /// Newton steps taken.
    Index taken() const { return taken_; }
    double first_norm() const { return first_norm_; }
    double norm() const { return norm_; }

    /// ||F(u)||; not within a solve.
    double residual_norm(const Vector& u, const TimeLevel& level);
    /// The state that could not be accepted, after line_search or not_finite, and F or -F of it; after linear_solve the
    /// latter is -F of the newest iterate.
    const Vector& refused_state() const { return trial_; }
    const Vector& refused_residual() const { return system_.b; }

    /// After a solve that failed: the state that the newest correction, not cut short, leads to. u is the newest
    /// iterate; work() is overwritten.
    const Vector& uncut_state(const Vector& u);

    /// What going on needs besides u and level, within a nonlinear solve or between two.
    void save(StateStore& store) const;
    /// In place of begin where `within` a solve; u and level as they were when it was saved.
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
    double evaluate(const Vector& u, const TimeLevel& level);
    void judge();

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

    /// The set-up in use. Its state is kept where a run that goes on must repeat it.
    struct SetupState {
        Vector u, old;
        TimeLevel level;
        SetupReport report;
        bool done = false;
        Index solves = 0, first_iterations = 0, last_iterations = 0;
    } setup_;
    bool solving_ = false;        ///< within a linear solve, or one that was broken off
    bool setup_decided_ = false;  ///< a solve that was broken off goes on with the set-up it had
};

}  // namespace hyperplane
