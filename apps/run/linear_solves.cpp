// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/linear_solves.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "apps/base/log.hpp"
#include "apps/base/signals.hpp"
#include "apps/run/linear_system.hpp"
#include "apps/run/preparation.hpp"
#include "core/counted.hpp"
#include "core/profile.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {

void LinearSolves::resume(SolverItems state, Index iterations) {
    state_ = std::move(state);
    iterations_ = iterations;
}

void LinearSolves::add_time_before(double setup, double solve) {
    setup_before_ += setup;
    solve_before_ += solve;
}

SolveReport LinearSolves::solve(const Newton::LinearTask& task, const March& march) {
    const bool speaks = is_first_rank(case_.context);
    const MatrixShape matrix = case_.shape().matrix();
    if (speaks && task.refreshed && task.setup.pivots_modified > 0) {
        progress_.end_line();
        logging::warn("{}: {} modified, shift {:g}", case_.name("preconditioner"),
                      counted(task.setup.pivots_modified, "pivot"), task.setup.shift);
    }
    if (speaks && task.refreshed && task.setup.values_flushed > 0) {
        progress_.end_line();
        const char* section = case_.parameters.has("preconditioner", "storage") ? "preconditioner" : "smoother";
        logging::warn("{}: {} values of the factors are too small for {}.storage = {} and became zero",
                      case_.name("preconditioner"), task.setup.values_flushed, section,
                      case_.parameters.text(section, "storage"));
    }
    const std::string& warning = task.setup.warning;
    if (speaks && task.refreshed && !warning.empty() && warning != warned_) {  // once for steps with the same one
        progress_.end_line();
        logging::warn("{}: {}", case_.name("preconditioner"), warning);
        warned_ = warning;
    }
    if (task.refreshed) add_parts_of_setup(outcome_.timers, task.setup);
    const TimerTree& timers = outcome_.timers;
    setup_so_far_ = timers.seconds("setup") - std::exchange(setup_seen_, timers.seconds("setup")) +
                    std::exchange(setup_before_, 0.0);
    History history;
    SolveRow row{.step = march.step,
                 .newton = task.newton,
                 .unknowns = matrix.unknowns(),
                 .stored_entries = stored_of_all_ranks(*task.system.a, matrix),
                 .report = run(task, march, history),
                 .setup = task.setup};
    row.setup_seconds = setup_so_far_;
    row.solve_seconds = solve_so_far_;
    if (row.report.reason != StopReason::interrupted) setup_so_far_ = solve_so_far_ = 0.0;
    record_.add_solve(row, history.entries());
    outcome_.solves.push_back(row);
    history_ = history.entries();
    return row.report;
}

SolveReport LinearSolves::run(const Newton::LinearTask& task, const March& march, History& history) {
    SolverState state;
    for (const auto& [name, values] : std::exchange(state_, {})) state.put_saved(name, values);
    iterations_ = 0;
    history.set_observer([this](const HistoryEntry& entry) { progress_.show(entry); });
    history.set_interrupt([this] { return stop_signal(case_.context) != 0 || checkpoints_.due_by_clock(); });
    progress_.begin(march, task.rtol);
    case_.solver->set_rtol(task.rtol);

    const TimedOperator a(task.a, outcome_.timers, "solve/spmv"), m(task.m, outcome_.timers, "solve/preconditioner");
    const double solve_before = std::exchange(solve_before_, 0.0), timed_before = outcome_.timers.seconds("solve");
    const auto begin = std::chrono::steady_clock::now();
    std::optional<TimerScope> scope(std::in_place, outcome_.timers, "solve");
    std::optional<ProfileScope> work(std::in_place, case_.context, "solve");
    SolveReport report;
    while (true) {
        SolverState reached;
        const StateStore* from = state.items().empty() ? nullptr : &state;
        report = case_.solver->solve(a, m, task.system.b, task.du, history, {.save = &reached, .from = from});
        state = std::move(reached);
        if (report.reason != StopReason::interrupted || stop_signal(case_.context)) break;
        solve_so_far_ = solve_before + seconds_since(begin);
        keep_(report.iterations, state.items());
    }
    work.reset();
    scope.reset();
    solve_so_far_ = solve_before + outcome_.timers.seconds("solve") - timed_before;
    progress_.end(report.b_norm > 0.0 ? report.true_residual / report.b_norm : report.true_residual);
    if (report.reason == StopReason::interrupted) resume(state.items(), report.iterations);
    return report;
}

}  // namespace hyperplane
