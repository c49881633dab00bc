// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/simulation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <utility>

#include "apps/base/log.hpp"
#include "apps/base/signals.hpp"
#include "apps/run/advice.hpp"
#include "apps/run/announcements.hpp"
#include "apps/run/beginning.hpp"
#include "apps/run/blow_up.hpp"
#include "apps/run/initial_state.hpp"
#include "apps/run/kernels.hpp"
#include "apps/run/long_work.hpp"
#include "apps/run/memory_reserve.hpp"
#include "apps/run/part_times.hpp"
#include "apps/run/preparation.hpp"
#include "apps/run/results.hpp"
#include "core/counted.hpp"
#include "core/profile.hpp"
#include "core/ranks/cuts.hpp"
#include "io/costs.hpp"
#include "precond/factors/pivot_error.hpp"

namespace hyperplane {
namespace {

/// A signal has come before a linear solve began, in which it would have been seen.
struct StoppedInSetup {};

constexpr Index most_warnings = 5;  // of steps that are repeated; the others are counted

}  // namespace

Simulation::Simulation(const Case& a_case, RecordWriter& record, Progress progress)
    : case_(a_case),
      record_(record),
      checkpoints_(a_case, record),
      series_(a_case, record),
      solves_(a_case, record, outcome_, checkpoints_, progress, [this](Index iterations, const SolverItems& krylov) {
          keep_costs();
          checkpoints_.write(state(true, iterations, krylov));
      }) {}

void Simulation::resume(Continued from) {
    RecordData& before = from.record;
    outcome_.resumed = true;
    anew_ = from.anew, other_length_ = from.other_length;
    outcome_.steps = before.steps;
    outcome_.newton = before.newton;
    outcome_.diagnostics = before.diagnostics;
    for (const StepRow& row : before.steps) record_.add_step(row);
    for (const NewtonRow& row : before.newton) record_.add_newton(row);
    record_.set_diagnostics(before.diagnostics);
    snapshots_before_ = before.snapshots;
    record_.set_parts_before(before.parts, before.state.step, fmt::format("{}", fmt::join(from.changed, "; ")));
    outcome_.timers.add(before.timers);
    outcome_.peak = before.peak_total;
    outcome_.peak_by_label = before.peak_by_label;
    solves_.begin_after_timers();
    for (std::size_t s = 0; s < before.solves.size(); ++s) {
        const SolveRow& row = before.solves[s];
        if (row.report.reason == StopReason::interrupted) {  // this run completes or repeats it
            if (!anew_ && before.state.solver.count("run/seconds") == 0)
                solves_.add_time_before(row.setup_seconds, row.solve_seconds);
            continue;
        }
        record_.add_solve(row, before.histories[s]);
        outcome_.solves.push_back(row);
    }
    before_ = std::move(before.state);
}

Outcome Simulation::run() {
    const MemoryPlan plan = case_.memory_plan();
    outcome_.predicted = plan.total();
    outcome_.predicted_most = plan.total() + plan.more;
    if (case_.parameters.boolean("output", "profile"))
        case_.context.set_profile(
            std::make_shared<Profile>(case_.context.backend() == Backend::cuda ? &case_.context.stream() : nullptr));
    for (const Preparation& part : case_.problem->preparation()) outcome_.timers.add(timer_of(part), part.seconds);
    try {
        march();
    } catch (const PivotError& error) {
        outcome_.code = error.code();
        newton_.reset(), stepper_.reset();  // so that their memory is free for the search for advice
        const std::string advice = to_string(advise_on_pivot(case_, error.remedies, outcome_.predicted));
        outcome_.message = error.what() + (advice.empty() ? "" : " Try " + advice + ".");
    } catch (const OutOfMemory& error) {
        outcome_.code = error.code();
        outcome_.message = error.what() + advise_on_memory(case_, true);
        end_other_ranks();
    } catch (const Error& error) {
        outcome_.code = error.code();
        outcome_.message = error.what();
        end_other_ranks();
    } catch (const std::bad_alloc&) {
        outcome_.code = ExitCode::out_of_memory;
        outcome_.message = "out of memory; held so far:\n" + case_.context.ledger().table();
        end_other_ranks();
    }
    solves_.end_line();
    if (repeated_ > most_warnings && is_first_rank(case_.context))
        logging::warn("{} attempts at steps failed and were repeated with shorter ones, the first {} as said above",
                      repeated_, most_warnings);
    warn_of_unjudged_steps();
    keep_costs();
    outcome_.parts = record_.parts();
    return outcome_;
}

void Simulation::end_other_ranks() {
    if (Communicator* ranks = case_.context.ranks()) ranks->abort(outcome_.code, outcome_.message);
}

void Simulation::keep_costs() {
    if (const MemoryLedger& ledger = case_.context.ledger(); ledger.peak() >= outcome_.peak) {
        outcome_.peak = ledger.peak();
        outcome_.peak_by_label = ledger.peak_by_label();
    }
    add_part_times(outcome_.timers, *case_.preconditioner);
    record_.set_performance(outcome_.timers, outcome_.peak_by_label, outcome_.peak, outcome_.predicted);
    const std::vector<TimerRow> timers = outcome_.timers.rows_so_far();
    record_.set_long_preparation(
        long_preparation_text(timers, costs_of(timers, outcome_.solves, 0, {}).per_iteration()));
    record_.set_triangular_solves(case_.preconditioner->solve_way());
    if (Profile* profile = case_.context.profile()) record_.set_profile(profile->rows());
}

void Simulation::march() {
    MemoryReserve memory(case_);  // this and kernels while the initial state is computed
    KernelPreparation kernels({&case_});
    allocate();
    start();
    if (const rtc::Compilation done = kernels.wait(); done.compiled > 0) {
        outcome_.timers.add("compile", done.seconds);
        logging::info("{} compiled in {:.2g} s, and kept", counted(done.compiled, "kernel"), done.seconds);
    }
    if (kernels.loading() > 0.0) outcome_.timers.add("loading", kernels.loading());
    if (const double seconds = memory.wait(); seconds > 0.0) outcome_.timers.add("memory", seconds);
    auto published = std::chrono::steady_clock::now();
    checkpoints_.begin(stepper_->steps_done());
    series_.begin(std::move(snapshots_before_), stepper_->steps_done());
    if (stepper_->steps_done() == 0 && !within_) keep_fields();
    announce_setup(case_);
    while (!stepper_->ended()) {
        if (stop_signal(case_.context) && !within_) return preempt(false);
        if (!attempt()) return;
        keep_fields();
        if (!stepper_->ended() && checkpoints_.due_after(stepper_->steps_done())) {
            keep_costs();
            checkpoints_.write(state(false, 0, {}));
        }
        if (const auto now = std::chrono::steady_clock::now(); now - published > std::chrono::seconds(5)) {
            keep_costs();
            record_.publish();
            published = now;
        }
    }
    end(*stepper_->ended());
    const double time = stepper_->time();
    if (has_good_state(case_, outcome_)) series_.add(u_, stepper_->steps_done(), time, outcome_);
    newton_.reset(), stepper_.reset();  // their memory is released before advice is sought and the output allocates
    add_advice();
    warn_of_unprepared_kernels();
    write_results(case_, u_, time, record_, outcome_);
}

void Simulation::keep_fields() {
    if (series_.due_after(stepper_->steps_done())) series_.add(u_, stepper_->steps_done(), stepper_->time(), outcome_);
}

void Simulation::allocate() {
    newton_.emplace(*case_.problem, case_.newton, *case_.preconditioner, case_.context, case_.space, outcome_.timers);
    u_ = case_.make_vector("state");
    stepper_.emplace(*case_.problem, case_.time, case_.context, case_.space);
}

void Simulation::start() {
    if (!before_) {
        set_initial_state(case_, u_);
        if (const auto bad = find_not_finite(case_.shape(), u_))
            refuse_initial_state(case_.parameters, describe(*bad, case_.shape().grid));
        if (!case_.shape().linear)
            if (const auto bad = case_.problem->bad_state(u_))
                throw UsageError(
                    fmt::format("the initial state is not possible: {}", describe(*bad, case_.shape().grid)));
        const double norm = case_.time.pseudo() ? newton_->residual_norm(u_, stepper_->at_rest(u_)) : 0.0;
        if (!std::isfinite(norm)) refuse_initial_state(case_.parameters, fmt::format("its ||F|| is {:g}", norm));
        stepper_->begin(norm);
        add_diagnostics();
        for (const DiagnosticSeries& series : outcome_.diagnostics.series)
            if (const double value = series.values.back(); !std::isfinite(value))
                refuse_initial_state(case_.parameters, fmt::format("its {} is {:g}", series.name, value));
        return;
    }
    RunState before = *std::exchange(before_, std::nullopt);
    before.u.restore(u_, case_.shape().order());
    SolverState store;
    SolverItems krylov;
    for (auto& [name, values] : before.solver) {
        const bool ours = name.starts_with("time/") || name.starts_with("newton/") || name.starts_with("run/");
        ours ? store.put_saved(name, values) : void(krylov[name] = values);
    }
    stepper_->resume(store);
    if (anew_) return stepper_->begin_again(u_, other_length_);
    within_ = store.get("run/within").at(0) != 0.0;
    if (before.solver.count("run/seconds"))
        solves_.add_time_before(store.get("run/seconds").at(0), store.get("run/seconds").at(1));
    newton_->resume(store, u_, within_ ? *stepper_->under_way(u_) : TimeLevel{}, within_);
    solves_.resume(std::move(krylov), before.iterations);
}

bool Simulation::attempt() {
    const bool within = std::exchange(within_, false);
    const TimeLevel level = within ? *stepper_->under_way(u_) : stepper_->next(u_);
    if (stepper_->ended()) return true;  // no attempt can begin
    StepRow row = stepper_->row();
    if (case_.shape().regime == Regime::transient)
        row.cfl = largest_of_ranks(case_.context, case_.problem->courant_number(*level.old, row.dt));
    try {
        if (!within) newton_->begin(u_, level);
        if (!solve_step(level, row)) return false;
        conclude(row);
    } catch (const SetupError& error) {
        if (!case_.time.repeats()) {
            outcome_.code = error.code();
            stepper_->reject(u_, EndReason::step_not_solved);
            // A rank may be alone with its pivot, and all of them have to take part in keeping a state.
            if (stepper_->steps_done() > 0 && !case_.context.ranks()) keep_state();
            throw;
        }
        failure_code_ = error.code();
        fail(row, EndReason::too_many_rejections, error.what());
    }
    record_.add_step(row);
    outcome_.steps.push_back(row);
    return true;
}

bool Simulation::solve_step(const TimeLevel& level, StepRow& row) {
    while (newton_->going()) {
        if (stop_signal(case_.context)) return preempt(true), false;
        try {
            newton_step(level, row);
        } catch (const StoppedInSetup&) {  // nothing that the state has was changed
            return preempt(true), false;
        }
        if (!newton_->going() && newton_->reason() == NewtonReason::interrupted) return preempt(true), false;
    }
    row.newton_steps = newton_->taken();
    row.newton_reason = newton_->reason();
    if (case_.newton.judged) row.first_residual = newton_->first_norm(), row.residual = newton_->norm();
    return true;
}

NewtonStep Simulation::newton_step(const TimeLevel& level, const StepRow& row) {
    const March march = march_at(row);
    std::optional<LongWorkOf> before_solve;
    if (has_large_setup(case_)) {
        const LongWork::Say say = [this](const std::string& text) {
            solves_.end_line();  // of the progress, which rests meanwhile
            logging::info("{}", text);
        };
        before_solve.emplace(case_.context, setup_text(case_), is_first_rank(case_.context) ? say : LongWork::Say(),
                             [this](const char* scope) {
                                 if (case_.context.ranks() && !begun_by_all_ranks(scope)) return;
                                 if (stop_signal(case_.context) != 0) throw StoppedInSetup();
                             });
    }
    NewtonStep done = newton_->step(u_, level, [&](const Newton::LinearTask& task) {
        before_solve.reset();
        return solves_.solve(task, march);
    });
    linear_reason_ = done.linear.reason;
    linear_report_ = done.linear;
    if (case_.shape().linear || linear_reason_ == StopReason::interrupted) return done;
    done.row.step = row.step;
    done.row.attempt = row.attempt;
    record_.add_newton(done.row);
    outcome_.newton.push_back(done.row);
    return done;
}

double Simulation::to_steady() const {
    if (!case_.time.pseudo()) return not_known;
    for (auto step = outcome_.steps.rbegin(); step != outcome_.steps.rend(); ++step)
        if (step->accepted) return step->steady_residual / stepper_->first_norm();
    return 1.0;
}

March Simulation::march_at(const StepRow& row) const {
    return {.step = row.step,
            .attempt = row.attempt,
            .steps = case_.steps(),
            .at_most = case_.time.seeks_steady_state(),
            .time = row.time,
            .dt = row.dt,
            .end_time = case_.time.end_time,
            .cfl = case_.time.pseudo() ? row.cfl : not_known,
            .to_steady = to_steady(),
            .newton = newton_->taken() + 1,
            .norm = newton_->norm(),
            .first_norm = newton_->first_norm(),
            .linear = case_.shape().linear,
            .judged = case_.newton.judged};
}

void Simulation::conclude(StepRow& row) {
    const SystemShape& shape = case_.shape();
    if (!solved(row.newton_reason)) {
        const bool linear = row.newton_reason == NewtonReason::linear_solve;
        std::string why = linear ? fmt::format("{}: {}", to_string(linear_reason_), explain(linear_report_))
                                 : fmt::format("{}: {}", to_string(row.newton_reason), explain(row.newton_reason));
        why += culprit(row.newton_reason);
        failure_code_ = linear ? exit_code(linear_reason_) : exit_code(row.newton_reason);
        return fail(row, EndReason::step_not_solved, why);
    }
    if (!shape.linear)
        if (const auto bad = find_bad_state(*case_.problem, u_)) {
            failure_code_ = ExitCode::diverged;
            return fail(row, EndReason::forbidden_state, describe(*bad, shape.grid));
        }
    const double norm = case_.time.pseudo() ? newton_->residual_norm(u_, stepper_->at_rest(u_)) : 0.0;
    warn_of_first_step();
    if (stepper_->judge(u_, norm, newton_->work(), row)) return add_diagnostics();
    failure_code_ = ExitCode::diverged;
    failure_ = fmt::format("step {}, {:g} long: the estimated error of {:.3g} is above time.tolerance", row.step,
                           row.dt, row.error_estimate);
}

void Simulation::add_advice() {
    if (outcome_.code == ExitCode::ok || converged(linear_reason_)) return;
    const std::string advice = to_string(advise(case_, linear_report_, solves_.history()));
    if (!advice.empty()) outcome_.message += "; try " + advice;
}

std::string Simulation::culprit(NewtonReason reason) {
    const Problem& problem = *case_.problem;
    const bool linear = reason == NewtonReason::linear_solve, judged = case_.newton.judged;
    if (reason == NewtonReason::not_finite || (linear && linear_reason_ == StopReason::not_finite)) {
        auto bad = find_bad_state(problem, linear || !judged ? u_ : newton_->refused_state());
        if (!bad) bad = find_not_finite(problem.shape(), newton_->refused_residual(), "F of ");
        return bad ? "; " + describe(*bad, problem.shape().grid) : "";
    }
    if (linear || !judged) return "";
    const auto bad = find_bad_state(problem, newton_->uncut_state(u_));
    return bad ? "; after Newton's whole correction " + describe(*bad, problem.shape().grid) : "";
}

void Simulation::fail(const StepRow& row, EndReason reason, const std::string& why) {
    failure_ = case_.shape().regime == Regime::steady ? why : fmt::format("step {}: {}", row.step, why);
    if (!stepper_->reject(u_, reason)) return;
    if (++repeated_ > most_warnings || !is_first_rank(case_.context)) return;
    solves_.end_line();
    logging::warn("{}; repeated with a step a quarter as long", failure_);
}

void Simulation::add_diagnostics() {
    const std::vector<Diagnostic> row = case_.problem->diagnostics(u_);
    if (row.empty()) return;
    outcome_.diagnostics.add(stepper_->steps_done(), stepper_->time(), row);
    record_.add_diagnostics(stepper_->steps_done(), stepper_->time(), row);
}

bool Simulation::reached_largest_cfl() const {
    const double largest = case_.problem->cfl_range().last;
    return std::any_of(outcome_.steps.begin(), outcome_.steps.end(),
                       [&](const StepRow& row) { return row.cfl >= largest * (1.0 - 1e-9); });
}

void Simulation::end(EndReason reason) {
    outcome_.end = to_string(reason);
    outcome_.code = exit_code(reason);
    outcome_.message = fmt::format("{}: {}", to_string(reason), explain(reason));
    const bool no_step = reason == EndReason::time_not_finite;  // whatever became of the steps before
    const bool failed = outcome_.code == ExitCode::diverged && !no_step;
    if (failed) outcome_.code = failure_code_;
    if (reason == EndReason::steps_used_up && reached_largest_cfl())
        outcome_.message += ", or raise time.cfl_max, which the steps have reached";
    const bool steady = case_.shape().regime == Regime::steady;
    if (case_.shape().linear && (steady || (failed && !case_.time.controlled()))) {  // the last solve says how it ended
        outcome_.message = fmt::format("{}: {}", to_string(linear_reason_), explain(linear_report_));
    } else if (failed) {
        outcome_.message = fmt::format("{} ({})", failure_, to_string(reason));
    }
    const std::string& kept = case_.parameters.text("output", "state");
    const bool keep = kept == "always" || (kept == "auto" && case_.shape().regime != Regime::steady);
    if ((outcome_.code != ExitCode::ok || keep) && stepper_->steps_done() > 0) keep_state();
}

}  // namespace hyperplane
