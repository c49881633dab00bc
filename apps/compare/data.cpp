// SPDX-License-Identifier: BSD-3-Clause
#include "apps/compare/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "apps/base/build_info.hpp"
#include "apps/base/environment.hpp"
#include "apps/compare/text.hpp"
#include "apps/deck/identity.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/run/dropped_couplings.hpp"
#include "apps/run/fingerprint.hpp"
#include "apps/run/preparation.hpp"
#include "apps/run/verdict.hpp"

namespace hyperplane {
namespace {

std::string criterion_text(Parameters parameters, const SystemShape& shape) {
    set_regime_defaults(parameters, shape);
    const auto text = [&](const char* key) { return parameters.text("solver", key); };
    const std::string relative = text("rtol") + " ||b||";
    return fmt::format(
        "||b - A x|| <= {}, at most {} iterations, from x0 = 0",
        parameters.real("solver", "atol") > 0.0 ? fmt::format("max({}, {})", relative, text("atol")) : relative,
        text("max_iterations"));
}

std::map<std::string, std::string> system_text(const Comparison& comparison, const Parameters& parameters,
                                               const CompareRules& rules) {
    const SystemShape& shape = comparison.shape();
    const Grid& grid = shape.grid;
    std::map<std::string, std::string> text = {
        {"problem", parameters.text("problem", "name")},
        {"unknowns", fmt::format("{}", grid.points() * shape.dof)},
        {"stencil", shape.stencil.name()},
        {"criterion", criterion_text(parameters, shape)},
        {"device", comparison.device()},
        {"turns", fmt::format("{}", rules.turns)},
        {"host", host_name()},
        {"memory", comparison.one_at_a_time() ? "holds one candidate at a time, made anew for each turn"
                                              : "holds all candidates at once"},
    };
    if (!grid.plain_rows) text["cells"] = fmt::format("{} x {} x {}", grid.nx, grid.ny, grid.nz);
    if (const auto& of = comparison.fingerprints()) {
        text.insert({{"fingerprint", in_hex(of->all())},
                     {"fingerprint_a", in_hex(of->a)},
                     {"fingerprint_b", in_hex(of->b)},
                     {"fingerprint_x0", in_hex(of->x0)},
                     {"fingerprint_criterion", in_hex(of->criterion)}});
        if (shape.separate_preconditioner_matrix) text["fingerprint_p"] = in_hex(of->p);
    }
    return text;
}

ComparisonRow row_of(const Trial& trial) {
    ComparisonRow row;
    row.name = trial.name;
    row.solver = trial.solver;
    row.preconditioner = trial.preconditioner;
    row.outcome = trial.outcome;
    row.reason = trial.reason;
    row.exit_code = int(trial.code);
    row.predicted = trial.predicted;
    if (!trial.tried) {
        row.outcome = "not_tried";
        row.reason = "the comparison was stopped before this candidate was tried";
        row.exit_code = int(ExitCode::checkpointed);
    }
    if (!trial.solved) return row;
    const SolveReport& report = trial.row.report;
    row.iterations = row.iterations_least = row.iterations_most = report.iterations;
    for (const Index of_turn : trial.iterations) {
        row.iterations_least = std::min(row.iterations_least, of_turn);
        row.iterations_most = std::max(row.iterations_most, of_turn);
    }
    row.relative_residual = report.b_norm > 0.0 ? report.true_residual / report.b_norm : report.true_residual;
    row.turns = trial.converged() ? Index(trial.setup.size()) : 0;
    row.setup = trial.setup_time();
    row.solve = trial.solve_time();
    row.total = trial.total_time();
    row.per_iteration = trial.per_iteration();
    if (trial.converged() && trial.setup.empty()) {  // if stopped before its first turn, the warm-up's time
        row.setup = timing_of({trial.row.setup_seconds});
        row.solve = timing_of({trial.row.solve_seconds});
        row.total = timing_of({trial.row.setup_seconds + trial.row.solve_seconds});
        if (row.iterations > 0) row.per_iteration = trial.row.solve_seconds / double(row.iterations);
    }
    row.preconditioner_share = trial.preconditioner_share();
    row.peak = trial.peak;
    row.repeatable = trial.repeatable;
    return row;
}

/// The timers of the recording pass, the only one in which parts of a solve are timed, scaled to the medians in the
/// table.
std::vector<TimerRow> timers_of(const Trial& trial) {
    std::vector<TimerRow> rows;
    for (const Preparation& part : trial.preparation) rows.push_back({timer_of(part), part.seconds, 1, 0});
    // The warm-up alone has a symbolic part, which the later passes do not repeat.
    if (trial.symbolic_seconds > 0.0 && trial.timers.seconds(symbolic_timer) == 0.0)
        rows.push_back({symbolic_before_turns, trial.symbolic_seconds, 1, 0});
    for (const TimerRow& row : trial.timers.rows())
        if (!row.name.starts_with(preparation_timers)) rows.push_back(row);
    for (TimerRow& row : rows) {
        const bool setup = row.name.starts_with("setup"), solve = row.name.starts_with("solve");
        const double recorded = trial.timers.seconds(setup ? "setup" : "solve"),
                     median = setup ? trial.row.setup_seconds : trial.row.solve_seconds;
        if ((setup || solve) && recorded > 0.0) row.seconds *= median / recorded;
    }
    return rows;
}

RecordData record_of(const Trial& trial, const Candidate& candidate, const Comparison& comparison, const Deck& deck,
                     const std::string& path) {
    const SystemShape& shape = comparison.shape();
    RecordData record =
        begin_record(path, {.code_version = build_info().version,
                            .git_sha = build_info().git_sha,
                            .deck_file = deck.file,
                            .deck_source = deck.source,
                            .deck_resolved = to_ini(candidate.parameters),
                            .deck_folder = absolute_folder_of(deck),
                            .overrides = candidate.overrides,
                            .environment = environment(comparison.context(), comparison.device(), trial.varies),
                            .grid = shape.grid,
                            .layout = trial.layout,
                            .stencil = shape.stencil.name(),
                            .dof = shape.dof,
                            .symmetric = trial.symmetric,
                            .pattern = trial.pattern,
                            .given_pattern = trial.given_pattern});
    const ExitCode code = trial.tried ? trial.code : ExitCode::checkpointed;
    if (!trial.dropped.empty()) record.environment[dropped_couplings_item] = trial.dropped;
    record.status = status_of(code);
    record.exit_code = int(code);
    record.parts.back().ended = record.status;
    record.message = trial.reason;
    record.peak_by_label = trial.peak_by_label;
    record.peak_total = trial.peak;
    record.predicted_total = trial.predicted;
    record.timers = timers_of(trial);
    if (trial.solved) {
        record.solves = {trial.row};
        record.histories = {trial.history};
    }
    return record;
}

/// Number of turns in which `best` was faster. Turns are compared in pairs, so that a slow phase of the machine affects
/// both.
Index turns_behind(const Trial& trial, const Trial& best) {
    Index behind = 0;
    for (std::size_t t = 0; t < std::min(trial.setup.size(), best.setup.size()); ++t)
        behind += best.setup[t] + best.solve[t] < trial.setup[t] + trial.solve[t];
    return behind;
}

/// The order of rows; within a kind by time.
auto rank(const Trial& trial, Index turns_done) {
    const bool converged = trial.tried && trial.converged();
    const int kind = converged && Index(trial.setup.size()) >= turns_done ? 0 : converged ? 1 : trial.solved ? 2 : 3;
    return std::tuple(kind, trial.total_time().median);
}

}  // namespace

std::vector<std::size_t> order_of_rows(const std::vector<Trial>& trials, Index turns_done) {
    std::vector<std::size_t> order(trials.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return rank(trials[a], turns_done) < rank(trials[b], turns_done);
    });
    return order;
}

std::string identity_of(const std::vector<Candidate>& candidates, const CompareRules& rules, bool automatic) {
    std::string text = fmt::format("{} turns{}", rules.turns, automatic ? ", automatic" : "");
    for (const Candidate& candidate : candidates)
        text += fmt::format("; {} {}", candidate.name, deck_hash(candidate.parameters, {"output", "expect"}));
    return text;
}

ComparisonData summarise(const Comparison& comparison, const Deck& deck, const std::vector<Candidate>& candidates,
                         const CompareRules& rules, const ComparisonSetting& setting) {
    ComparisonData data;
    data.path = setting.path;
    data.code_version = build_info().version;
    data.git_sha = build_info().git_sha;
    data.deck_file = deck.file;
    data.baseline = setting.baseline;
    data.complete = comparison.complete();
    data.turns_done = comparison.turns_done();
    data.compile_seconds = comparison.compile_seconds();
    data.identity = identity_of(candidates, rules, setting.automatic);
    data.system = system_text(comparison, candidates.front().parameters, rules);

    const std::vector<Trial>& trials = comparison.trials();
    std::vector<std::size_t> order = order_of_rows(trials, data.turns_done);
    if (setting.automatic) {
        const auto unfit = [&](const Trial& trial) {
            return (trial.outcome == "refused" || trial.outcome == "no_device") && !trial.solved;
        };
        for (const Trial& trial : trials)
            if (unfit(trial)) data.left_out.push_back({trial.name, trial.reason});
        std::erase_if(order, [&](std::size_t at) { return unfit(trials[at]); });
    }
    double baseline = 0.0;
    for (std::size_t at : order) {
        data.rows.push_back(row_of(trials[at]));
        for (std::size_t turn = 0; trials[at].converged() && turn < trials[at].setup.size(); ++turn)
            data.turns.push_back({trials[at].name, Index(turn), trials[at].setup[turn], trials[at].solve[turn],
                                  trials[at].iterations[turn]});
        if (trials[at].converged()) data.rows.back().beaten = turns_behind(trials[at], trials[order.front()]);
        data.records.push_back(record_of(trials[at], candidates[at], comparison, deck, setting.path));
        if (trials[at].name == setting.baseline && trials[at].converged()) baseline = data.rows.back().total.median;
    }
    for (ComparisonRow& row : data.rows)
        if (row.converged() && baseline > 0.0) row.ratio = row.total.median / baseline;
    for (std::size_t at = 0; at < data.rows.size(); ++at) {
        data.rows[at].pays_off_from = solves_to_pay_off(data, at).value_or(0);
        data.records[at].long_preparation = long_preparation_text(data.records[at].timers, data.rows[at].per_iteration);
    }
    const bool any = !data.rows.empty() && data.rows.front().converged();
    if (any && data.rows.front().turns > 0) data.best = data.rows.front().name;
    data.exit_code = int(!data.complete ? ExitCode::checkpointed : any ? ExitCode::ok : ExitCode::not_converged);
    if (setting.automatic && data.complete) data.recommendation = recommend(data);
    return data;
}

}  // namespace hyperplane
