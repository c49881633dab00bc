// SPDX-License-Identifier: BSD-3-Clause
#include "apps/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <new>

#include "apps/base/signals.hpp"
#include "apps/run/fingerprint.hpp"
#include "apps/run/linear_system.hpp"
#include "apps/run/part_times.hpp"
#include "apps/run/preparation.hpp"
#include "core/counted.hpp"
#include "core/interfaces/given_order.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/random.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/blas1.hpp"

namespace hyperplane {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double least_patience = 1.0;  // seconds

std::uint64_t fingerprint(const StopCriteria& criteria) {
    // All members are named, so that a new one does not compile until it is decided whether it belongs here.
    const auto& [rtol, atol, max_iterations, divergence_tolerance, true_residual_every] = criteria;
    static_cast<void>(true_residual_every);  // it changes what is shown, not where a solve ends
    std::uint64_t bits = 0;
    for (double value : {rtol, atol, double(max_iterations), divergence_tolerance})
        bits = scramble(bits ^ std::bit_cast<std::uint64_t>(value)) + 1;
    return bits;
}

std::string outcome_of(ExitCode code) {
    switch (code) {
        case ExitCode::usage: return "refused";
        case ExitCode::preconditioner: return "setup_failed";
        case ExitCode::out_of_memory: return "out_of_memory";
        case ExitCode::no_device: return "no_device";
        default: return "failed";
    }
}

/// Seconds of a piece of work, which all ranks begin together: those of the slowest rank, on all of them. They are the
/// host's, as a user sees them, with what the host does between kernels; time_call of bench has a GPU's own.
double seconds_of_slowest(const Context& context, const std::function<void()>& work) {
    context.synchronize();
    gathered(context, {});
    const auto begin = Clock::now();
    work();
    context.synchronize();
    return largest_of_ranks(context, seconds_since(begin));
}

std::vector<const Parameters*> parameters_of(const std::vector<Candidate>& candidates) {
    std::vector<const Parameters*> all;
    for (const Candidate& candidate : candidates) all.push_back(&candidate.parameters);
    return all;
}

}  // namespace

Comparison::Comparison(const Deck& deck, const Parameters& parameters, const std::vector<Candidate>& candidates,
                       const CompareRules& rules, CompareProgress& progress, const std::shared_ptr<Communicator>& ranks)
    : deck_(deck),
      candidates_(candidates),
      rules_(rules),
      progress_(progress),
      foundation_(build_foundation(deck, parameters, ranks, parameters_of(candidates))),
      problem_memory_(foundation_.context.ledger().by_label()) {}

void Comparison::stop_if_told() const {
    if (stop_signal(context())) throw Stopped();
}

void Comparison::run(const std::function<void()>& progress) {
    progressed_ = progress;
    if (built_.empty()) build_all();
    try {
        warm_ups();
        turns();
        recordings();
        complete_ = true;
    } catch (const Stopped&) {
        // A turn that not all have taken does not count: a slow phase of the machine must affect all.
        for (Trial& trial : trials_) {
            if (!trial.converged()) continue;
            trial.setup.resize(std::min(trial.setup.size(), std::size_t(turns_done_)));
            trial.iterations.resize(trial.setup.size());
            trial.solve.resize(trial.setup.size());
        }
    }
    progress_.clear();
}

void Comparison::warm_ups() {
    const std::size_t count = candidates_.size();
    for (std::size_t at = 0; at < count; ++at) {
        Trial& trial = trials_[at];
        if (trial.tried) continue;
        stop_if_told();
        decide_after_failure(at);
        decide_last_resort(at);
        progress_.show(fmt::format("warm-up {} of {}: {}", at + 1, count, candidates_[at].name));
        warm_up(at);
        trial.tried = true;
        progress_.note(fmt::format("warm-up {} of {}: {}: {}{}", at + 1, count, trial.name, trial.outcome,
                                   trial.solved ? ", " + counted(trial.row.report.iterations, "iteration") : ""));
        progressed_();
    }
}

void Comparison::decide_after_failure(std::size_t at) {
    const Choice& variant = candidates_[at].preconditioner;
    if (!variant.after_failure || !trials_[at].converged()) return;
    const bool failed = std::any_of(trials_.begin(), trials_.begin() + std::ptrdiff_t(at), [&](const Trial& trial) {
        return trial.preconditioner == variant.name && trial.symmetric && trial.code == ExitCode::preconditioner;
    });
    if (failed)
        compile_kernels({at});
    else
        fail(at, ExitCode::usage,
             fmt::format("it is for symmetric matrices for which the set-up of {} fails", variant.name));
}

void Comparison::turns() {
    const std::size_t count = candidates_.size();
    if (std::none_of(trials_.begin(), trials_.end(), [](const Trial& trial) { return trial.converged(); })) return;
    while (turns_done_ < rules_.turns) {
        for (std::size_t shift = 0; shift < count; ++shift) {
            const std::size_t at = (shift + std::size_t(turns_done_)) % count;
            if (!trials_[at].converged() || (turns_done_ > 0 && !in_the_field(at))) continue;
            stop_if_told();
            progress_.show(fmt::format("turn {} of {}: {}", turns_done_ + 1, rules_.turns, candidates_[at].name));
            take_turn(at);
        }
        ++turns_done_;
        progress_.note(fmt::format("turn {} of {} done", turns_done_, rules_.turns));
        progressed_();
    }
}

void Comparison::recordings() {
    const std::size_t count = candidates_.size();
    for (std::size_t at = 0; at < count; ++at) {
        if (!trials_[at].converged()) continue;
        stop_if_told();
        progress_.show(fmt::format("recording {} of {}: {}", at + 1, count, candidates_[at].name));
        record(at);
    }
}

void Comparison::fail(std::size_t at, ExitCode code, const std::string& reason) {
    trials_[at].code = code;
    trials_[at].reason = reason;
    trials_[at].outcome = outcome_of(code);
    built_[at] = {};
}

void Comparison::attempt(std::size_t at, const std::function<void()>& work) {
    ExitCode code = ExitCode::ok;
    std::string reason;
    try {
        work();
        return;
    } catch (const RanksAborted&) {
        throw;
    } catch (const Error& error) {
        code = error.code();
        reason = error.what();
    } catch (const std::bad_alloc&) {
        code = ExitCode::out_of_memory;
        reason = "out of memory; held so far:\n" + foundation_.context.ledger().table();
    }
    const bool alone =
        context().ranks() && code == ExitCode::out_of_memory;  // other ranks may go on and wait for this one
    if (code == ExitCode::internal || alone) throw Error(code, reason);
    fail(at, code, reason);
}

Comparison::Prepared& Comparison::system_for(const Case& a_case) {
    for (const auto& there : systems_)
        if (there->problem == a_case.problem && there->space == a_case.space) return *there;
    if (one_at_a_time_) systems_.clear();
    const MemoryLedger& ledger = foundation_.context.ledger();
    const Bytes before = ledger.by_label();
    systems_.push_back(std::make_unique<Prepared>(Prepared{a_case.problem,
                                                           a_case.space,
                                                           make_system(a_case),
                                                           a_case.make_vector("state"),
                                                           a_case.make_vector("correction"),
                                                           {}}));
    Prepared& made = *systems_.back();
    assemble_first(a_case, made.u, made.system);
    // Before any candidate is timed: otherwise products with A would be faster from the first candidate on that finds
    // them.
    if (const auto* a = dynamic_cast<const StructMatrix*>(made.system.a.get())) a->find_equal_lines();
    // The mean subtracted from b is a sum, whose last bits depend on the order of slots: all index spaces get the first
    // one's b. On several ranks all of them have the natural order. Such a matrix is of a grid, so its equations have
    // the order of the unknowns.
    if (shape().constant_null_space && !context().ranks()) {
        if (b_.empty())
            b_ = in_given_order(a_case.shape(), made.system.b);
        else
            from_given_order(a_case.shape(), b_, made.system.b);
    }
    made.memory = beyond(ledger.by_label(), before);
    const RowOrder* const order = a_case.shape().order();
    const SystemFingerprints found{fingerprint(*made.system.a), made.system.p ? fingerprint(*made.system.p) : 0,
                                   fingerprint_of_equations(made.system.b, order), fingerprint(made.du, order),
                                   fingerprint(a_case.criteria)};
    if (!fingerprints_) fingerprints_ = found;
    if (found != *fingerprints_)
        throw Error(ExitCode::internal, "two memory layouts hold different systems, so nothing can be compared");
    return made;
}

Comparison::Pass Comparison::pass(std::size_t at, History& history, TimerTree* timers) {
    const Case& a_case = *built_[at].a_case;
    Prepared& prepared = system_for(a_case);
    const SolverOperators operators = operators_of(a_case, *prepared.system.a);
    std::optional<TimedOperator> a, m;
    if (timers) {
        a.emplace(operators.a(), *timers, "solve/spmv");
        m.emplace(operators.m(), *timers, "solve/preconditioner");
    }
    set_zero(prepared.du);
    Pass done;
    done.setup_seconds =
        seconds_of_slowest(a_case.context, [&] { done.setup = set_up(*a_case.preconditioner, prepared.system); });
    done.setup_seconds += of_first_rank(context(), done.setup.planned_seconds);
    done.solve_seconds = seconds_of_slowest(a_case.context, [&] {
        done.report = a_case.solver->solve(a ? *a : operators.a(), m ? *m : operators.m(), prepared.system.b,
                                           prepared.du, history);
    });
    if (done.report.reason == StopReason::interrupted) stop_if_told();
    built_[at].warm = true;
    return done;
}

Comparison::Pass Comparison::recorded_pass(std::size_t at, History& history) {
    history.set_observer([this](const HistoryEntry& entry) { progress_.show(entry); });
    TimerTree timers, of_earlier_passes;
    Preconditioner& preconditioner = *built_[at].a_case->preconditioner;
    add_part_times(of_earlier_passes, preconditioner);
    const Pass done = pass(at, history, &timers);
    timers.add("setup", done.setup_seconds);
    add_parts_of_setup(timers, done.setup);
    timers.add("solve", done.solve_seconds);
    add_part_times(timers, preconditioner);
    trials_[at].timers = std::move(timers);
    return done;
}

void Comparison::warm_up(std::size_t at) {
    if (!built_[at].a_case) return;
    attempt(at, [&] {
        Trial& trial = trials_[at];
        MemoryLedger& ledger = foundation_.context.ledger();
        const Prepared& prepared = system_for(*built_[at].a_case);
        const Bytes before = ledger.by_label();
        ledger.forget_peak();
        foundation_.context.return_released();
        const double patience = std::max(least_patience, rules_.patience * best_total_);
        History history;
        // Set at the first iteration: kernels may be compiled before it, which must not count.
        std::optional<Clock::time_point> begin;
        history.set_interrupt([&] {
            if (!begin) begin = Clock::now();
            if (stop_signal(context())) return true;
            return of_first_rank(context(), seconds_since(*begin) > patience) != 0.0;
        });
        const Pass done = recorded_pass(at, history);
        trial.symbolic_seconds = done.setup.symbolic_seconds;
        trial.peak_by_label = beyond(ledger.peak_by_label(), before);
        add(prepared.memory, trial.peak_by_label);
        add(problem_memory_, trial.peak_by_label);
        add(form_memory_.at(prepared.problem.get()), trial.peak_by_label);
        trial.peak = total(trial.peak_by_label);
        keep(at, done, history);

        const StopReason reason = done.report.reason;
        trial.outcome = to_string(reason);
        if (converged(reason)) {
            best_total_ = std::min(best_total_, done.total());
        } else {
            trial.code = exit_code(reason);
            trial.reason = explain(done.report);
            trial.setup = {done.setup_seconds};
            trial.solve = {done.solve_seconds};
            trial.iterations = {done.report.iterations};
        }
        if (reason == StopReason::interrupted) {
            trial.outcome = "given_up";
            trial.code = ExitCode::not_converged;
            trial.reason = fmt::format("it took more than {:.3g} s, {:g} times as long as the best candidate before it",
                                       patience, rules_.patience);
        }
    });
    release(at);
}

void Comparison::keep(std::size_t at, const Pass& pass, const History& history) {
    Trial& trial = trials_[at];
    const SystemMatrix& a = *system_for(*built_[at].a_case).system.a;
    trial.solved = true;
    trial.history = history.entries();
    trial.row.step = 1;
    const MatrixShape matrix = shape().matrix();
    trial.row.unknowns = matrix.unknowns();
    trial.row.stored_entries = context().ranks() ? stored_of_all_ranks(a, matrix) : a.bytes() / Index(sizeof(double));
    trial.row.report = pass.report;
    trial.row.setup = pass.setup;
    trial.row.setup_seconds = pass.setup_seconds;
    trial.row.solve_seconds = pass.solve_seconds;
}

History Comparison::until_signal() const {
    History history;
    history.set_interrupt([this] { return stop_signal(context()) != 0; });
    return history;
}

void Comparison::take_turn(std::size_t at) {
    attempt(at, [&] {
        Trial& trial = trials_[at];
        if (!built_[at].warm) {
            History unused = until_signal();
            check_repeated(at, pass(at, unused, nullptr).report);
        }
        History history = until_signal();
        const Pass done = pass(at, history, nullptr);
        check_repeated(at, done.report);
        trial.setup.push_back(done.setup_seconds);
        trial.solve.push_back(done.solve_seconds);
        trial.iterations.push_back(done.report.iterations);
    });
    release(at);
}

void Comparison::record(std::size_t at) {
    attempt(at, [&] {
        Trial& trial = trials_[at];
        if (!built_[at].warm) {
            History unused = until_signal();
            pass(at, unused, nullptr);
        }
        History history = until_signal();
        const Pass done = recorded_pass(at, history);
        check_repeated(at, done.report);
        keep(at, done, history);
        trial.row.setup_seconds = trial.setup_time().median;
        trial.row.solve_seconds = trial.solve_time().median;
    });
    release(at);
}

/// If a pass does not converge although others did, the candidate has failed.
void Comparison::check_repeated(std::size_t at, const SolveReport& report) {
    Trial& trial = trials_[at];
    const SolveReport& first = trial.row.report;
    if (report.iterations != first.iterations || report.true_residual != first.true_residual) trial.repeatable = false;
    if (!converged(report.reason))
        throw Error(exit_code(report.reason), fmt::format("it converged once, but in a later pass: {}: {}",
                                                          to_string(report.reason), explain(report)));
}

/// Seconds of the candidate's fastest pass, or warm-up, so that one slow turn does not exclude it.
double Comparison::fastest(std::size_t at) const {
    const Trial& trial = trials_[at];
    double least = trial.row.setup_seconds + trial.row.solve_seconds;
    for (std::size_t turn = 0; turn < trial.setup.size(); ++turn)
        least = std::min(least, trial.setup[turn] + trial.solve[turn]);
    return least;
}

bool Comparison::in_the_field(std::size_t at) const {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t other = 0; other < trials_.size(); ++other)
        if (trials_[other].converged()) best = std::min(best, fastest(other));
    return of_first_rank(context(), fastest(at) <= rules_.field * best) != 0.0;
}

/// Releases the candidate's memory if it cannot be kept or is not needed again.
void Comparison::release(std::size_t at) {
    BuiltCandidate& one = built_[at];
    if (!one.a_case) return;
    if (!trials_[at].converged()) {
        one = {};
    } else if (one_at_a_time_) {
        one = {};  // before the next one is planned, which needs memory as well
        attempt(at, [&] { one = {build(at), false}; });
    }
}

}  // namespace hyperplane
