#include "apps/simulation.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <new>
#include <ratio>
#include <utility>

#include "apps/signals.hpp"
#include "core/blas1.hpp"
#include "io/vtkhdf.hpp"

namespace hyperplane {

void Simulation::resume(RecordData before) {
    start_ = std::move(before.state);
    outcome_.resumed = true;
    for (const RecordData::Step& step : before.steps) record_.add_step(step.step, step.time, step.dt);
    for (std::size_t s = 0; s < before.solves.size(); ++s) {
        const SolveRow& row = before.solves[s];
        if (row.report.reason == StopReason::interrupted) {  // this run ends it, and its row will tell of all of it
            setup_before_ += row.setup_seconds;
            solve_before_ += row.solve_seconds;
            continue;
        }
        record_.add_solve(row, before.histories[s]);
        outcome_.solves.push_back(row);
    }
}

Outcome Simulation::run() {
    outcome_.predicted = case_.memory_plan().total();
    try {
        march();
    } catch (const Error& error) {
        outcome_.code = error.code();
        outcome_.message = error.what();
    } catch (const std::bad_alloc&) {
        outcome_.code = ExitCode::out_of_memory;
        outcome_.message = "out of memory; held so far:\n" + case_.context.ledger().table();
    }
    const MemoryLedger& ledger = case_.context.ledger();
    outcome_.peak = ledger.peak();
    outcome_.peak_by_label = ledger.peak_by_label();
    record_.set_performance(outcome_.timers, outcome_.peak_by_label, outcome_.peak, outcome_.predicted);
    return outcome_;
}

void Simulation::march() {
    allocate();
    auto published = std::chrono::steady_clock::now();
    checkpoint_step_ = start_.step;
    checkpoint_time_ = published;
    for (Index step = start_.step + 1; step <= case_.steps(); ++step) {
        if (!advance(step)) break;
        if (step < case_.steps() && (steps_call_for_checkpoint(step) || clock_calls_for_checkpoint()))
            checkpoint(step + 1, 0, {});
        if (const auto now = std::chrono::steady_clock::now(); now - published > std::chrono::seconds(5)) {
            record_.publish();
            published = now;
        }
    }
    if (outcome_.code != ExitCode::ok && outcome_.code != ExitCode::not_converged) return;
    system_.reset();  // given back before the output takes its own
    Vector copy;
    const Vector& u = on_host(u_, copy);
    verify(u);
    if (case_.parameters.boolean("output", "fields")) write_fields(u);
}

void Simulation::allocate() {
    system_.emplace(make_system(case_));
    u_ = case_.make_vector("state");
    du_ = case_.make_vector("correction");
    if (start_.u.empty())
        case_.problem->initial_state(u_);
    else
        from_natural(start_.u, u_);
}

SetupReport Simulation::set_up(const TimeLevel& level) {
    {
        TimerScope scope(outcome_.timers, "assemble");
        assemble(case_, u_, level, *system_);
        case_.context.synchronize();
    }
    TimerScope scope(outcome_.timers, "setup");
    const SetupReport report = case_.preconditioner->setup(system_->preconditioned());
    case_.context.synchronize();
    return report;
}

SolverItems Simulation::solve(SolveRow& row, History& history) {
    set_zero(du_);
    SolverState state;
    for (const auto& [name, values] : std::exchange(start_.solver, {})) state.put(name, values);
    history.set_observer([this](const HistoryEntry& entry) { progress_.show(entry); });
    history.set_interrupt([this] { return stop_signal() != 0 || clock_calls_for_checkpoint(); });
    progress_.begin(case_.steps() > 1 ? fmt::format("step {} of {}", row.step, case_.steps()) : "");

    const SolverOperators operators(case_, system_->a);
    const TimedOperator a(operators.a(), outcome_.timers, "solve/spmv");
    const TimedOperator m(operators.m(), outcome_.timers, "solve/preconditioner");
    TimerScope scope(outcome_.timers, "solve");
    while (true) {
        SolverState reached;
        const StateStore* from = state.items().empty() ? nullptr : &state;
        row.report = case_.solver->solve(a, m, system_->b, du_, history, {.save = &reached, .from = from});
        state = std::move(reached);
        if (row.report.reason != StopReason::interrupted || stop_signal()) break;
        checkpoint(row.step, row.report.iterations, state.items());
    }
    progress_.end(row.report.b_norm > 0.0 ? row.report.true_residual / row.report.b_norm : row.report.true_residual);
    return row.report.reason == StopReason::interrupted ? state.items() : SolverItems{};
}

double Simulation::time_after(Index step) const {
    return case_.shape().regime != Regime::steady ? double(step) * case_.problem->time_step(u_) : 0.0;
}

bool Simulation::advance(Index step) {
    const TimeLevel level = level_from(case_, step, time_after(step - 1), u_);
    if (stop_signal()) {
        preempt(step, start_.iterations, std::exchange(start_.solver, {}));
        return false;
    }
    const StructMatrix& a = system_->a;
    SolveRow row;
    row.step = step;
    row.unknowns = a.unknowns();
    row.stored_entries = a.bytes() / Index(sizeof(double));
    const double setup_before = outcome_.timers.seconds("setup"), solve_before = outcome_.timers.seconds("solve");
    row.setup = set_up(level);
    if (row.setup.pivots_modified > 0)
        spdlog::warn("{}: {} pivots modified, shift {:g}", case_.name("preconditioner"), row.setup.pivots_modified,
                     row.setup.shift);
    History history;
    SolverItems state = solve(row, history);
    start_.iterations = 0;
    row.setup_seconds = outcome_.timers.seconds("setup") - setup_before + std::exchange(setup_before_, 0.0);
    row.solve_seconds = outcome_.timers.seconds("solve") - solve_before + std::exchange(solve_before_, 0.0);
    record_.add_solve(row, history.entries());
    outcome_.solves.push_back(row);

    const StopReason reason = row.report.reason;
    if (reason == StopReason::interrupted) {
        preempt(step, row.report.iterations, std::move(state));
        return false;
    }
    outcome_.code = exit_code(reason);
    outcome_.message = fmt::format("{}: {}", to_string(reason), explain(reason));
    if (converged(reason) || reason == StopReason::max_iterations) axpy(1.0, du_, u_);
    if (!converged(reason)) return false;
    record_.add_step(step, level.time, level.dt);
    return true;
}

void Simulation::preempt(Index step, Index iterations, SolverItems solver) {
    outcome_.code = ExitCode::checkpointed;
    outcome_.message =
        fmt::format("stopped by signal {} in step {} after {} iterations; run the same deck again to go on",
                    stop_signal(), step, iterations);
    record_.set_state({.step = step - 1,
                       .time = time_after(step - 1),
                       .iterations = iterations,
                       .u = to_natural(u_),
                       .solver = std::move(solver)});
}

bool Simulation::steps_call_for_checkpoint(Index step) const {
    const Index every = case_.parameters.integer("output", "checkpoint_every");
    return every > 0 && step - checkpoint_step_ >= every;
}

bool Simulation::clock_calls_for_checkpoint() const {
    using Minutes = std::chrono::duration<double, std::ratio<60>>;
    return case_.parameters.is_set("output", "checkpoint_minutes") &&
           std::chrono::steady_clock::now() - checkpoint_time_ >=
               Minutes(case_.parameters.real("output", "checkpoint_minutes"));
}

void Simulation::checkpoint(Index step, Index iterations, SolverItems solver) {
    slots_.write(record_, {.step = step - 1,
                           .time = time_after(step - 1),
                           .iterations = iterations,
                           .u = to_natural(u_),
                           .solver = std::move(solver)});
    spdlog::debug("checkpoint in step {}, iteration {}", step, iterations);
    checkpoint_step_ = step - 1;
    checkpoint_time_ = std::chrono::steady_clock::now();
}

void Simulation::verify(const Vector& u) {
    outcome_.errors = case_.problem->errors(u, time_after(case_.steps()));
    record_.set_verification(outcome_.errors);
}

void Simulation::write_fields(const Vector& u) {
    TimerScope scope(outcome_.timers, "output");
    outcome_.fields_file = std::filesystem::path(case_.record_path()).replace_extension(".vtkhdf").string();
    std::vector<NamedField> fields;
    for (int c = 0; c < case_.shape().dof; ++c) fields.push_back({case_.shape().components.at(c), natural_order(u, c)});
    write_vtkhdf(outcome_.fields_file, case_.shape().grid, fields);
}

}  // namespace hyperplane
