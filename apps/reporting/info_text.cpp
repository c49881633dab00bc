// SPDX-License-Identifier: BSD-3-Clause
#include "apps/reporting/info_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/base/backend.hpp"
#include "apps/run/dropped_couplings.hpp"
#include "apps/run/part_times.hpp"
#include "apps/run/pattern_text.hpp"
#include "apps/run/preparation.hpp"
#include "apps/run/profile.hpp"
#include "apps/run/progress.hpp"
#include "apps/run/verdict.hpp"
#include "core/counted.hpp"
#include "core/graph/orderings.hpp"
#include "io/costs.hpp"
#include "io/deck.hpp"

namespace hyperplane {
namespace {

std::string info_line(const std::string& label, const std::string& text) {
    return fmt::format("{:<13} {}\n", label, text);
}

/// The values of the resolved deck by "section.key".
std::map<std::string, std::string> values_of(const RecordData& record) {
    std::map<std::string, std::string> values;
    for (const DeckEntry& entry : parse_deck(record.deck_resolved, record.path).entries)
        values[entry.name()] = entry.value;
    return values;
}

std::string value_of(const std::map<std::string, std::string>& values, const std::string& name) {
    const auto at = values.find(name);
    return at == values.end() ? "?" : at->second;
}

/// "multicolor (colours = hashed)"; records of before a key have no value of it.
std::string ordering_of(const std::map<std::string, std::string>& values) {
    return order_text(value_of(values, "ordering.name"), [&](const std::string& key) {
        const auto at = values.find("ordering." + key);
        return at == values.end() ? std::string() : at->second;
    });
}

std::string solves_text(const RecordData& record) {
    Index least = record.solves[0].report.iterations, most = least, all = 0, pivots = 0;
    for (const SolveRow& row : record.solves) {
        least = std::min(least, row.report.iterations), most = std::max(most, row.report.iterations);
        all += row.report.iterations;
        pivots += row.setup.pivots_modified;
    }
    std::string text = counted(all, "iteration");
    if (record.solves.size() > 1)
        text += fmt::format(" in {} solves, {} each", record.solves.size(), range_text(least, most));
    if (pivots > 0) text += fmt::format("; {} modified", counted(pivots, "pivot"));
    return text;
}

/// Accepted and rejected steps, Newton steps, and the range of their lengths; empty for a steady linear problem.
std::string steps_text(const RecordData& record) {
    if (record.steps.size() < 2 && record.newton.empty()) return "";
    Index accepted = 0, least = 0, most = 0, newton = 0;
    double shortest = INFINITY, longest = 0.0, slowest = INFINITY, fastest = 0.0, reached = 0.0;
    for (const StepRow& row : record.steps) {
        newton += row.newton_steps;  // record.newton also has steps whose correction was not taken
        if (!row.accepted) continue;
        reached = row.time;
        least = accepted++ == 0 ? row.newton_steps : std::min(least, row.newton_steps);
        most = std::max(most, row.newton_steps);
        shortest = std::min(shortest, row.dt), longest = std::max(longest, row.dt);
        if (std::isfinite(row.cfl)) slowest = std::min(slowest, row.cfl), fastest = std::max(fastest, row.cfl);
    }
    std::string text = fmt::format("{} accepted", accepted);
    if (const Index rejected = Index(record.steps.size()) - accepted) text += fmt::format(", {} rejected", rejected);
    if (!record.newton.empty() && accepted > 0)
        text += fmt::format("; {} Newton steps, {} a step", newton, range_text(least, most));
    if (accepted > 0 && std::isfinite(longest))
        text += fmt::format("; t = {:.6g}, dt {:.3g}{}", reached, shortest,
                            longest > shortest ? fmt::format(" to {:.3g}", longest) : "");
    if (fastest > 0.0)
        text += fmt::format("; Courant number {:.3g}{}", slowest,
                            fastest > slowest ? fmt::format(" to {:.3g}", fastest) : "");
    return text;
}

std::string residual_text(const RecordData& record) {
    const SolveReport& last = record.solves.back().report;
    std::string text =
        fmt::format("{:.3e} of ||b|| (true)", last.true_residual / (last.b_norm > 0.0 ? last.b_norm : 1.0));
    if (!record.steps.empty() && std::isfinite(record.steps.back().residual))
        text += fmt::format("; ||F|| {:.3e}, began with {:.3e}", record.steps.back().residual,
                            record.steps.back().first_residual);
    return text;
}

std::string state_text(const RecordData& record) {
    std::string text = fmt::format("{} completed, t = {:.6g}", counted(record.state.step, "step"), record.state.time);
    if (record.state.iterations > 0 || record.state.newton > 0)
        text += fmt::format("; within step {}: {} Newton steps, {}", record.state.step + 1, record.state.newton,
                            counted(record.state.iterations, "iteration"));
    return text + (record.exit_code < 0 || record.status == "failed" ? "; --restart goes on from here" : "");
}

std::string case_line(const CollectedCase& row) {
    return fmt::format("{:>5}  {:<9} {:>10} {:>11} {:>11} {:>12}  {}\n", row.number, row.status,
                       row.iterations < 0 ? "" : fmt::format("{}", row.iterations),
                       std::isnan(row.setup_seconds) ? "" : fmt::format("{:.3g}", row.setup_seconds),
                       std::isnan(row.solve_seconds) ? "" : fmt::format("{:.3g}", row.solve_seconds),
                       row.memory_peak < 0 ? "" : fmt::format("{:.1f}", double(row.memory_peak) / (1 << 20)), row.name);
}

}  // namespace

std::string info_text(const RecordData& record, bool all) {
    const auto values = values_of(record);
    std::string text = info_line("file", record.path);
    text += info_line("program", fmt::format("hyperplane {} ({}), {}", record.code_version, record.git_sha,
                                             record.parts.empty() ? "" : record.parts.front().started));
    text += info_line("problem", fmt::format("{}, deck {}", value_of(values, "problem.name"), record.deck_file));
    text += info_line("grid", grid_text(record.grid, record.stencil == "general", record.stencil, record.dof));
    if (record.pattern) text += info_line("matrix", pattern_text(*record.pattern, record.dof, record.symmetric));
    if (record.given_pattern)
        text += info_line("ordering", fmt::format("{}; in the given order {}", ordering_of(values),
                                                  bandwidth_text(*record.given_pattern)));
    text += info_line("method", fmt::format("{} with {}, {} layout", value_of(values, "solver.name"),
                                            value_of(values, "preconditioner.name"), record.layout));
    if (const std::string dropped = dropped_couplings(record); !dropped.empty())
        text += info_line("couplings", fmt::format("between ranks are dropped (scope = rank): {}", dropped));
    if (!record.overrides.empty()) text += info_line("--set", fmt::format("{}", fmt::join(record.overrides, ", ")));
    for (const std::string& changed : changes_of_parts(record.parts)) text += info_line("other keys", changed);
    text += info_line("ended", record.message.empty() ? record.status : record.message);
    if (record.has_state) text += info_line("state", state_text(record));
    if (!record.solves.empty()) {
        text += info_line("iterations", solves_text(record));
        text += info_line("residual", residual_text(record));
    }
    if (const std::string steps = steps_text(record); !steps.empty()) text += info_line("steps", steps);
    if (!record.snapshots.empty())
        text += info_line("fields",
                          fmt::format("{} to t = {:.6g}, in {}", counted(Index(record.snapshots.size()), "state"),
                                      record.snapshots.back().time,
                                      record.snapshots.back().file.substr(0, record.snapshots.back().file.find('/'))));
    for (const DiagnosticSeries& series : record.diagnostics.series)
        if (!series.values.empty())
            text += info_line(series.name,
                              fmt::format("{:.10g}, began with {:.10g}", series.values.back(), series.values.front()));
    for (const ErrorNorm& norm : record.verification)
        text += info_line("error", fmt::format("{} {:.4e}", norm.name, norm.value));
    for (const std::string& warning : setup_warnings(record.solves)) text += info_line("warning", warning);
    if (!record.triangular_solves.empty()) text += info_line("triangles", triangles_text(record.triangular_solves));
    const Costs costs = costs_of(record);
    if (const std::string before = preparation_text(record.timers); !before.empty())
        text += info_line("before", before);
    if (const std::string many = long_preparation_text(record.timers, costs.per_iteration()); !many.empty())
        text += info_line("", many);
    text += info_line("time", costs.text());
    if (const std::string parts = part_times_text(record.timers); !parts.empty())
        text += info_line("applications", parts);
    text += info_line("place", costs.parts > 1 ? fmt::format("{} parts: {}", costs.parts, costs.places) : costs.places);
    text += info_line("memory", fmt::format("{} at the peak, {} predicted", in_mib(record.peak_total),
                                            in_mib(record.predicted_total)));
    text += info_line("verdict", fmt::format("{} (exit code {})", record.status, record.exit_code));
    return record.profile.empty() ? text
                                  : text + "\n" + profile_table(record.profile, record.memory_limit, all ? 0.0 : 0.01);
}

std::string info_text(const CollectedStudy& study, bool all) {
    std::map<std::string, int> counts;
    std::vector<const CollectedCase*> done;
    double setup = 0.0, solve = 0.0;
    Index iterations = 0, memory = 0;
    for (const CollectedCase& row : study.cases) {
        ++counts[row.status];
        if (row.exit_code != 0) continue;
        done.push_back(&row);
        setup += row.setup_seconds, solve += row.solve_seconds, iterations += row.iterations;
        memory = std::max(memory, row.memory_peak);
    }
    std::vector<std::string> told;
    for (const auto& [status, count] : counts) told.push_back(fmt::format("{} {}", count, status));
    std::string text =
        info_line("file", study.path) +
        info_line("study", fmt::format("{}, collected by hyperplane {}", study.study, study.code_version)) +
        info_line("cases", fmt::format("{}: {}", study.cases.size(), fmt::join(told, ", ")));
    text += info_line("iterations", fmt::format("{} of the cases that ended well", iterations));
    text += info_line("time", fmt::format("set-up {}, solve {}", duration_text(setup), duration_text(solve)));
    text += info_line("memory", fmt::format("{} at most", in_mib(memory)));
    const auto total = [](const CollectedCase* row) { return row->setup_seconds + row->solve_seconds; };
    std::sort(done.begin(), done.end(), [&](auto* a, auto* b) { return total(a) < total(b); });
    const auto told_of = [&](const CollectedCase* row) {
        return fmt::format("{}: {:.3g} s, {}", row->name, total(row), counted(row->iterations, "iteration"));
    };
    if (!done.empty()) text += info_line("fastest", told_of(done.front()));
    if (done.size() > 1) text += info_line("slowest", told_of(done.back()));
    if (!all) return text + info_line("", "--all lists each case");
    text += fmt::format("\n{:>5}  {:<9} {:>10} {:>11} {:>11} {:>12}  {}\n", "case", "status", "iterations",
                        "set-up [s]", "solve [s]", "memory [MiB]", "name");
    for (const CollectedCase& row : study.cases) text += case_line(row);
    return text;
}

}  // namespace hyperplane
