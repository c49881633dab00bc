// SPDX-License-Identifier: BSD-3-Clause
// A comparison: several solvers and preconditioners for the same linear system.
//
//   A, b, x0 = 0 and the stop criterion are fixed; every layout's copy of A and b has the same fingerprint
//   warm-up        each candidate once, timed and recorded, not counted
//   timed turns    each candidate once a turn, set-up and solve; turns begin with another candidate each
//                  time, so that a machine that slows down or speeds up does so for all
//   recording      each candidate once more, with timers in the solve, for history and shares
//
// A candidate that fails becomes a row with its reason; one that did not converge in the warm-up takes no turns, and
// its times are those of the warm-up. If the memory holds all candidates, they stay set up; otherwise each is
// constructed again, and warmed up again, for each of its turns.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/compare/bytes.hpp"
#include "apps/compare/candidates.hpp"
#include "apps/compare/progress.hpp"
#include "apps/run/build_case.hpp"
#include "core/timer.hpp"
#include "io/comparison.hpp"

namespace hyperplane {

/// The results of a candidate.
struct Trial {
    std::string name;
    std::string solver, preconditioner;      ///< as in the candidate's text
    std::string layout, varies;              ///< PreconditionerTraits::varies
    std::string dropped;                     ///< dropped_couplings of its case, on the first rank
    std::string outcome = "converged_rtol";  ///< a stop reason, or given_up, setup_failed, refused, out_of_memory
    std::string reason;                      ///< a sentence that says why it failed; empty if it converged
    ExitCode code = ExitCode::ok;
    bool tried = false;                    ///< its warm-up has ended, or it cannot begin
    bool solved = false;                   ///< a solve has ended, which `row` and the next members describe
    SolveRow row;                          ///< its times are medians
    std::vector<HistoryEntry> history;     ///< of the recording pass
    std::vector<Preparation> preparation;  ///< of its form of the problem
    std::optional<PatternStatistics> pattern, given_pattern;
    bool symmetric = false;            ///< its matrix equals its transpose
    double symbolic_seconds = 0.0;     ///< of its first set-up; 0 if not told
    TimerTree timers;                  ///< of the recording pass: setup, solve, solve/spmv, solve/preconditioner
    std::vector<double> setup, solve;  ///< seconds of each counted turn
    std::vector<Index> iterations;     ///< of each counted turn
    bool repeatable = true;            ///< every pass had the same number of iterations and the same residual
    Bytes peak_by_label;
    /// Bytes that a run of this candidate alone holds, from when its problem has been constructed until its first solve
    /// has ended.
    Index peak = 0, predicted = 0;

    bool converged() const { return code == ExitCode::ok; }
    Timing setup_time() const { return timing_of(setup); }
    Timing solve_time() const { return timing_of(solve); }
    Timing total_time() const;
    double per_iteration() const;         ///< seconds, the median of the turns; 0 without iterations
    double preconditioner_share() const;  ///< of the solve's time; NaN on a GPU, where parts are not timed
};

/// Fingerprints of the system that all candidates share.
struct SystemFingerprints {
    std::uint64_t a = 0, p = 0, b = 0, x0 = 0, criterion = 0;
    std::uint64_t all() const;
    friend bool operator==(const SystemFingerprints&, const SystemFingerprints&) = default;
};

struct CompareRules {
    int turns = 5;
    /// In the warm-up, a candidate is given up after this many times the best one's time, but not before a second.
    double patience = std::numeric_limits<double>::infinity();
    /// From the second turn on, a candidate whose fastest pass takes this many times as long as the best one's takes no
    /// turns.
    double field = std::numeric_limits<double>::infinity();
};

class Comparison {
public:
    /// `parameters` are those of the deck with its own components. With `ranks` the object belongs to one of several
    /// ranks. All of them must call the functions below; the first rank decides for all what depends on times.
    Comparison(const Deck& deck, const Parameters& parameters, const std::vector<Candidate>& candidates,
               const CompareRules& rules, CompareProgress& progress,
               const std::shared_ptr<Communicator>& ranks = nullptr);

    /// Takes over what an earlier call of the same comparison has finished; to be called before run(). Throws
    /// UsageError if that was for another system.
    void resume(const ComparisonData& earlier);
    /// Runs to the end or until a signal; what has been finished stays. `progress` is called whenever something has
    /// been finished.
    void run(const std::function<void()>& progress);
    bool complete() const { return complete_; }
    Index turns_done() const { return turns_done_; }
    /// Seconds in which kernels were compiled, with those of an earlier call.
    double compile_seconds() const;
    const std::vector<Trial>& trials() const { return trials_; }  ///< in the candidates' order
    /// Nothing until a candidate gets as far as the system.
    const std::optional<SystemFingerprints>& fingerprints() const { return fingerprints_; }
    std::vector<std::string> warnings() const { return foundation_.problem->warnings(); }
    const SystemShape& shape() const { return foundation_.problem->shape(); }
    const Context& context() const { return foundation_.context; }
    std::string device() const { return describe(foundation_.context); }
    /// Whether the memory could not hold all candidates at once.
    bool one_at_a_time() const { return one_at_a_time_; }

private:
    /// A candidate for which memory may be allocated.
    struct BuiltCandidate {
        std::optional<Case> a_case;  ///< none if it was refused
        bool warm = false;           ///< it has been set up before, and its memory is allocated
    };
    /// The system of one form of the problem in one index space.
    struct Prepared {
        std::shared_ptr<const Problem> problem;
        IndexSpace space;
        LinearSystem system;
        Vector u, du;
        Bytes memory;
    };
    struct Pass {
        SetupReport setup;
        SolveReport report;
        double setup_seconds = 0.0, solve_seconds = 0.0;
        double total() const { return setup_seconds + solve_seconds; }
    };

    /// Thrown when a signal has arrived: nothing of the current pass counts.
    struct Stopped {};
    void stop_if_told() const;
    void warm_ups();
    void turns();
    void recordings();
    void resume_candidate(std::size_t at, const ComparisonRow& row, const RecordData& record,
                          const std::vector<TurnRow>& turns);
    void take_over(const ComparisonRow& row, const RecordData& record, const std::vector<TurnRow>& turns, Trial& trial);

    Case build(std::size_t at) const;
    void build_all();
    /// The bytes that may still be taken.
    Index available() const;
    /// Builds a candidate, or fails it where that cannot be done or it needs more than the `available` bytes.
    void build_one(std::size_t at, Index available);
    /// Writes what is known of a candidate before its set-up to its trial.
    void describe_built(std::size_t at, const Case& a_case);
    /// Says in the log what a user should know before the set-up, such as that it takes long.
    void warn_of(const Trial& trial, const Case& a_case);
    /// The bytes that ranks hold together in one memory if this rank holds `mine`: in that of the host, or of the GPU,
    /// whose ranks hold the most.
    Index in_one_memory(Index mine) const;
    /// The bytes of the rank that holds most, as device.memory_limit counts.
    Index most_of_a_rank(Index mine) const;
    /// Compiles the kernels of these candidates at once, so that no turn contains the compiler's time.
    void compile_kernels(const std::vector<std::size_t>& of);
    void warm_up(std::size_t at);
    /// Decides about a candidate that is tried only where another one has failed (Choice::after_failure): leaves it out
    /// where that has not, otherwise compiles its kernels.
    void decide_after_failure(std::size_t at);
    /// Decides about a candidate that is tried only where none before it, with another preconditioner, has converged
    /// (Choice::last_resort). It is built only then, since planning its factors may take as long as a set-up.
    void decide_last_resort(std::size_t at);
    /// Builds it beside those that have converged with the same preconditioner or, where the memory does not hold them
    /// together, with one candidate at a time from then on.
    void build_last_resort(std::size_t at);
    /// Whether the memory holds all last resorts that are built, and not set up yet.
    bool last_resorts_fit() const;
    /// The bytes of the case's system if that is in memory, which what the case needs contains once more.
    Index held_for(const Case& a_case) const;
    /// The history of a solve that ends when a signal arrives.
    History until_signal() const;
    void take_turn(std::size_t at);
    void record(std::size_t at);
    double fastest(std::size_t at) const;
    bool in_the_field(std::size_t at) const;
    /// Sets up and solves from x = 0. With `timers` the operators are timed, too.
    Pass pass(std::size_t at, History& history, TimerTree* timers);
    Pass recorded_pass(std::size_t at, History& history);
    void keep(std::size_t at, const Pass& pass, const History& history);
    void check_repeated(std::size_t at, const SolveReport& report);
    void release(std::size_t at);
    Prepared& system_for(const Case& a_case);
    /// Records why a candidate failed; it takes no further part.
    void fail(std::size_t at, ExitCode code, const std::string& reason);
    /// Calls `work`; an Error becomes the outcome of the trial. If one of several ranks runs out of memory, the
    /// comparison ends on all of them.
    void attempt(std::size_t at, const std::function<void()>& work);

    const Deck& deck_;
    const std::vector<Candidate>& candidates_;
    CompareRules rules_;
    CompareProgress& progress_;
    Foundation foundation_;
    Bytes problem_memory_;                         ///< of the problem as the deck describes it
    std::map<const Problem*, Bytes> form_memory_;  ///< what each form and order needs besides
    std::optional<SystemFingerprints> fingerprints_;
    std::vector<std::unique_ptr<Prepared>> systems_;  ///< one for each form, order and layout
    std::vector<double> b_;                           ///< b in the given order, if A is singular
    std::vector<BuiltCandidate> built_;
    std::vector<Trial> trials_;
    std::set<std::string> warned_of_;  ///< preconditioners, which several candidates may have
    bool one_at_a_time_ = false, complete_ = false;
    Index turns_done_ = 0;
    double compiled_earlier_ = 0.0;  ///< seconds of the call that was stopped
    std::function<void()> progressed_;
    double best_total_ = std::numeric_limits<double>::infinity();  ///< smallest time of a warm-up, in seconds
};

}  // namespace hyperplane
