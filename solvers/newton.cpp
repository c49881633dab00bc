// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/newton.hpp"

#include <algorithm>
#include <cmath>

#include "core/profile.hpp"
#include "core/vector/blas1.hpp"

namespace hyperplane {
namespace {

constexpr double sufficient_decrease = 1e-4;                                     // t
constexpr double first_forcing = 0.3, most_forcing = 0.9, forcing_factor = 0.9;  // eta_0, the largest eta, g
constexpr double grown_factor = 2.0, grown_offset = 5.0;
constexpr double rounding = 1e-13;       // of ||u||: corrections that rounding errors in F lead to
constexpr double rounded_factor = 0.7;   // which no power of two is
constexpr double rounding_errors = 8.0;  // times those that the factor and its inverse make

}  // namespace

Newton::Vectors Newton::vectors(const SystemShape& shape, const NewtonOptions& options) {
    Vectors held;
    const bool reused = options.refresh.grown || options.refresh.every != 1;
    if (!shape.linear && options.judged) held.trial = 1;
    if (!shape.linear && reused) {
        held.setup = 1;
        if (shape.regime != Regime::steady)
            held.setup += (options.judged ? 1 : 0) + (options.reaches_back_twice ? 1 : 0);
    }
    return held;
}

Newton::Newton(const Problem& problem, const NewtonOptions& options, Preconditioner& preconditioner,
               const Context& context, const IndexSpace& space, TimerTree& timers)
    : problem_(problem),
      options_(options),
      preconditioner_(preconditioner),
      context_(context),
      timers_(timers),
      system_(make_system(problem.shape(), context, space)) {
    const SystemShape& shape = problem.shape();
    options_.judged = options.judged && !shape.linear;
    const Vectors held = vectors(shape, options_);
    const auto make = [&](const char* label) { return Vector(context, space, shape.dof, label); };
    du_ = make("correction");
    if (held.trial > 0) trial_ = make("trial state");
    if (held.setup > 0) setup_.u = make("state of the set-up");
    if (const Index before = held.setup - 1; before > 0) {
        if (options_.judged) setup_.old = make("state of the set-up");
        if (options_.reaches_back_twice) setup_.older = make("state of the set-up");
    }
}

double Newton::residual_norm(const Vector& u, const TimeLevel& level) {
    TimerScope scope(timers_, "assemble");
    const ProfileScope work(context_, "assemble");
    assemble_right_hand_side(problem_, u, level, system_);
    return norm2(system_.b);
}

void Newton::begin(const Vector& u, const TimeLevel& level) {
    reason_.reset();
    taken_ = 0;
    forcing_before_ = 0.0;
    setup_decided_ = solving_ = false;
    if (!options_.judged) return;
    norm_before_ = first_norm_ = norm_ = residual_norm(u, level);
    judge();
}

void Newton::judge() {
    if (!std::isfinite(norm_))
        reason_ = NewtonReason::not_finite;
    else if (norm_ <= options_.rtol * first_norm_)
        reason_ = NewtonReason::converged_rtol;
    else if (norm_ <= options_.atol)
        reason_ = NewtonReason::converged_atol;
    else if (taken_ >= options_.max_iterations)
        reason_ = NewtonReason::max_iterations;
}

/// Choice 2 with its safeguards, and Kelley's bound, which keeps eta above what reaching the tolerance needs.
double Newton::forcing_term() const {
    if (options_.forcing == Forcing::fixed || !options_.judged) return options_.linear_rtol;
    double eta = first_forcing;
    if (taken_ > 0) {
        const double ratio = norm_ / norm_before_, kept = forcing_factor * forcing_before_ * forcing_before_;
        eta = forcing_factor * ratio * ratio;
        if (kept > 0.1) eta = std::max(eta, kept);
    }
    const double target = std::max(options_.rtol * first_norm_, options_.atol);
    return std::clamp(std::max(eta, 0.5 * target / norm_), options_.linear_rtol, most_forcing);
}

bool Newton::within_rounding(const Vector& u, const TimeLevel& level) {
    // F is linear along so short a correction, apart from rounding errors, and the linear solve lowers its norm.
    if (norm2(du_) <= rounding * norm2(u)) return true;
    // trial = u + 8 (r(r(0.7 u) / 0.7) - u), where r rounds
    copy(u, trial_);
    scale(rounded_factor, trial_);
    scale(rounding_errors / rounded_factor, trial_);
    axpy(1.0 - rounding_errors, u, trial_);
    return residual_norm(trial_, level) >= 2.0 * norm_;
}

bool Newton::refresh_due() const {
    if (!setup_.done) return true;
    if (options_.refresh.grown)
        return double(setup_.last_iterations) > grown_factor * double(setup_.first_iterations) + grown_offset;
    return setup_.solves >= options_.refresh.every;
}

void Newton::set_up(const Vector& u, const TimeLevel& level) {
    {
        TimerScope scope(timers_, "assemble");
        const ProfileScope work(context_, "assemble");
        assemble_preconditioned(problem_, u, level, system_);
        context_.synchronize();
    }
    {
        TimerScope scope(timers_, "setup");
        const ProfileScope work(context_, "setup");
        setup_.report = hyperplane::set_up(preconditioner_, system_);
        context_.synchronize();
    }
    timers_.add({{"setup", setup_.report.planned_seconds, 0}});
    setup_.level = level;
    setup_.done = true;
    setup_.solves = 0;
}

void Newton::refresh(const Vector& u, const TimeLevel& level, NewtonStep& done) {
    set_up(u, level);
    if (setup_.u.size() > 0) copy(u, setup_.u);
    if (setup_.old.size() > 0) copy(*level.old, setup_.old);
    if (setup_.older.size() > 0 && level.older) copy(*level.older, setup_.older);
    done.row.refreshed = true;
}

SolveReport Newton::solve_linear(NewtonStep& done, const SolveLinear& solve) {
    const SolverOperators operators(problem_.shape(), context_, *system_.a, preconditioner_);
    if (!done.row.refreshed) preconditioner_.follow_matrix();
    set_zero(du_);
    solving_ = true;
    const SolveReport report = solve({operators.a(), operators.m(), system_, du_, done.row.forcing, setup_.report,
                                      done.row.refreshed, done.row.newton});
    if (report.reason == StopReason::interrupted) return report;
    solving_ = false;
    setup_.last_iterations = report.iterations;
    if (setup_.solves == 0) setup_.first_iterations = report.iterations;
    ++setup_.solves;
    return report;
}

NewtonStep Newton::step(Vector& u, const TimeLevel& level, const SolveLinear& solve) {
    NewtonStep done{.row = {.newton = taken_, .forcing = forcing_term()}, .linear = {}};
    if (options_.judged) done.row.before = norm_;
    {
        TimerScope scope(timers_, "assemble");
        const ProfileScope work(context_, "assemble");
        assemble_operator(problem_, u, level, system_);
        if (!options_.judged) assemble_right_hand_side(problem_, u, level, system_);
        context_.synchronize();
    }
    if (std::exchange(setup_decided_, false))
        done.row.refreshed = setup_.solves == 0;  // the interrupted solve was the first with this set-up
    else if (refresh_due())
        refresh(u, level, done);
    done.linear = solve_linear(done, solve);
    const bool failed = !converged(done.linear.reason) && done.linear.reason != StopReason::interrupted;
    if (failed && !done.row.refreshed) {  // perhaps because the set-up is old
        refresh(u, level, done);
        done.linear = solve_linear(done, solve);
    }
    if (done.linear.reason == StopReason::interrupted) {
        reason_ = NewtonReason::interrupted;
    } else if (converged(done.linear.reason)) {
        follow(u, level, done);
    } else {
        reason_ = NewtonReason::linear_solve;
        // For a steady linear problem, u is updated with the solution so far. In a time step it stays as it was, since
        // a run can go on from there with other keys.
        const SystemShape& shape = problem_.shape();
        if (shape.linear && shape.regime == Regime::steady && done.linear.reason == StopReason::max_iterations)
            axpy(1.0, du_, u);
    }
    return done;
}

void Newton::follow(Vector& u, const TimeLevel& level, NewtonStep& done) {
    done.row.length = problem_.shape().linear ? 1.0 : problem_.admissible_step(u, du_);
    if (!options_.judged) {
        axpy(done.row.length, du_, u);
        ++taken_;
        reason_ = done.row.length > 0.0 ? NewtonReason::step_taken : NewtonReason::not_finite;
        return;
    }
    for (;; ++done.row.halvings, done.row.length /= 2) {
        if (!(done.row.length > 0.0)) {
            reason_ = NewtonReason::not_finite;
            return;
        }
        add(u, done.row.length, du_, trial_);
        done.row.after = residual_norm(trial_, level);
        const double allowed = (1.0 - sufficient_decrease * done.row.length * (1.0 - done.row.forcing)) * norm_;
        if (std::isfinite(done.row.after) && (options_.line_search_halvings == 0 || done.row.after <= allowed)) break;
        if (done.row.halvings == options_.line_search_halvings) {
            if (!std::isfinite(done.row.after)) {
                reason_ = NewtonReason::not_finite;
            } else if (within_rounding(u, level)) {
                reason_ = NewtonReason::converged_rounding;
            } else {
                reason_ = NewtonReason::line_search;
                add(u, done.row.length, du_, trial_);
                residual_norm(trial_, level);
            }
            done.row.length = 0.0;
            return;
        }
    }
    std::swap(u, trial_);
    ++taken_;
    norm_before_ = norm_;
    norm_ = done.row.after;
    forcing_before_ = done.row.forcing;
    judge();
    const double half_promised = (1.0 - 0.5 * done.row.length * (1.0 - done.row.forcing)) * norm_before_;
    if (reason_ != NewtonReason::max_iterations || norm_ <= half_promised) return;
    if (within_rounding(u, level))
        reason_ = NewtonReason::converged_rounding;
    else
        add(u, -done.row.length, du_, trial_);
}

const Vector& Newton::uncut_state(const Vector& u) {
    axpy(1.0, reason_ == NewtonReason::max_iterations ? trial_ : u, du_);  // trial_ is the previous iterate then
    return du_;
}

void Newton::save(StateStore& store) const {
    const TimeLevel& at = setup_.level;
    store.put("newton/solve", std::vector<double>{double(taken_), first_norm_, norm_, norm_before_, forcing_before_});
    store.put("newton/setup",
              std::vector<double>{setup_.done ? 1.0 : 0.0, double(setup_.solves), double(setup_.first_iterations),
                                  double(setup_.last_iterations), double(at.step), at.time, at.dt, at.rate[0],
                                  at.rate[1], at.rate[2], at.pseudo ? 1.0 : 0.0, solving_ ? 1.0 : 0.0});
    if (setup_.u.size() > 0) store.put("newton/setup_u", setup_.u);
    if (setup_.old.size() > 0) store.put("newton/setup_old", setup_.old);
    if (setup_.older.size() > 0 && at.rate[2] != 0.0) store.put("newton/setup_older", setup_.older);
}

void Newton::resume(const StateStore& store, const Vector& u, const TimeLevel& level, bool within) {
    const std::vector<double> setup = store.get("newton/setup"), solve = store.get("newton/solve");
    reason_.reset();
    taken_ = Index(solve.at(0));
    solving_ = within && setup.at(11) != 0.0;
    if (setup.at(0) != 0.0 && (options_.refresh.grown || options_.refresh.every != 1)) {
        if (setup_.u.size() > 0) store.get("newton/setup_u", setup_.u);
        if (setup_.old.size() > 0) store.get("newton/setup_old", setup_.old);
        TimeLevel at{.step = Index(setup.at(4)),
                     .time = setup.at(5),
                     .dt = setup.at(6),
                     .rate = {setup.at(7), setup.at(8), setup.at(9)},
                     .pseudo = setup.at(10) != 0.0};
        const Vector& state = setup_.u.size() > 0 ? setup_.u : u;
        if (at.dt != std::numeric_limits<double>::infinity()) at.old = setup_.old.size() > 0 ? &setup_.old : &state;
        if (setup_.older.size() > 0 && at.rate[2] != 0.0) {
            store.get("newton/setup_older", setup_.older);
            at.older = &setup_.older;
        }
        if (!system_.p) assemble_operator(problem_, state, at, system_);
        set_up(state, at);
        setup_.solves = Index(setup.at(1));
        setup_.first_iterations = Index(setup.at(2));
        setup_.last_iterations = Index(setup.at(3));
        setup_decided_ = solving_;
    }
    if (!within || !options_.judged) return;
    first_norm_ = solve.at(1);
    norm_before_ = solve.at(3);
    forcing_before_ = solve.at(4);
    norm_ = residual_norm(u, level);
}

}  // namespace hyperplane
