// SPDX-License-Identifier: BSD-3-Clause
// A comparison that was stopped goes on: what its file holds becomes what the warm-ups and turns would have left.
#include <fmt/format.h>

#include <algorithm>

#include "apps/compare/compare.hpp"
#include "apps/compare/text.hpp"
#include "apps/run/fingerprint.hpp"
#include "apps/run/preparation.hpp"

namespace hyperplane {

void Comparison::resume(const ComparisonData& earlier) {
    build_all();
    for (std::size_t at = 0; at < trials_.size(); ++at)
        for (std::size_t row = 0; row < earlier.rows.size(); ++row)
            if (earlier.rows[row].name == trials_[at].name && earlier.rows[row].outcome != "not_tried")
                resume_candidate(at, earlier.rows[row], earlier.records.at(row), earlier.turns);
    if (!last_resorts_fit()) one_at_a_time_ = true;
    turns_done_ = std::min<Index>(earlier.turns_done, rules_.turns);
    compiled_earlier_ = earlier.compile_seconds;
    for (BuiltCandidate& one : built_)
        if (one.a_case) {
            system_for(*one.a_case);
            break;
        }
    if (has_system(earlier) && fingerprints_ && earlier.system.at("fingerprint") != in_hex(fingerprints_->all()))
        throw UsageError(fmt::format(
            "{} holds an unfinished comparison on another linear system than that of this deck; --fresh starts over",
            earlier.path));
}

void Comparison::resume_candidate(std::size_t at, const ComparisonRow& row, const RecordData& record,
                                  const std::vector<TurnRow>& turns) {
    const Choice& preconditioner = candidates_[at].preconditioner;
    Trial& trial = trials_[at];
    if (preconditioner.last_resort && row.converged()) build_one(at, available());
    if (row.converged() && !built_[at].a_case) {  // such as for lack of memory; the trial says why
        trial.tried = true;
        return;
    }
    if (preconditioner.last_resort && !row.converged()) {
        trial.layout = record.layout;
        trial.symmetric = record.symmetric;
        trial.pattern = record.pattern;
        trial.given_pattern = record.given_pattern;
        trial.predicted = row.predicted;
    }
    take_over(row, record, turns, trial);
    if (!trial.converged())
        built_[at] = {};
    else if (preconditioner.after_failure || preconditioner.last_resort)
        compile_kernels({at});
}

void Comparison::take_over(const ComparisonRow& row, const RecordData& record, const std::vector<TurnRow>& turns,
                           Trial& trial) {
    trial.tried = true;
    trial.outcome = row.outcome;
    trial.reason = row.reason;
    trial.code = ExitCode(row.exit_code);
    trial.repeatable = row.repeatable != 0;
    trial.peak = row.peak;
    trial.peak_by_label = record.peak_by_label;
    trial.solved = !record.solves.empty();
    if (!trial.solved) return;
    trial.row = record.solves.front();
    trial.history = record.histories.front();
    trial.timers.add(record.timers);
    trial.symbolic_seconds =
        std::max(trial.timers.seconds(symbolic_before_turns), trial.timers.seconds(symbolic_timer));
    for (const TurnRow& turn : turns)
        if (turn.name == row.name) {
            trial.setup.push_back(turn.setup);
            trial.solve.push_back(turn.solve);
            trial.iterations.push_back(turn.iterations > 0 ? turn.iterations : trial.row.report.iterations);
        }
    if (!trial.converged()) {  // only the warm-up was timed
        trial.setup = {trial.row.setup_seconds};
        trial.solve = {trial.row.solve_seconds};
        trial.iterations = {trial.row.report.iterations};
    } else {
        best_total_ = std::min(best_total_, trial.row.setup_seconds + trial.row.solve_seconds);
    }
}

}  // namespace hyperplane
