// SPDX-License-Identifier: BSD-3-Clause
#include "io/record_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace hyperplane {
namespace {

using hdf5::Group;

void transfer_deck(const Group& g, RecordData& r) {
    g.attribute("file", r.deck_file);
    if (g.transfers_attribute("folder")) g.attribute("folder", r.deck_folder);
    g.scalar("source", {"1", "the deck as it was read"}, r.deck_source);
    g.scalar("resolved",
             {"1",
              "every key that applied, with its value and where it came from, as a deck; one that is unset, or means "
              "nothing beside the others, as a comment"},
             r.deck_resolved);
    g.dataset("overrides", {"1", "--set arguments, section.key=value, in their order"}, r.overrides);
}

void transfer_grid(const Group& g, RecordData& r) {
    Grid& grid = r.grid;
    int cells[] = {grid.nx, grid.ny, grid.nz};
    double spacing[] = {grid.spacing[0], grid.spacing[1], grid.spacing[2]};
    double origin[] = {grid.origin[0], grid.origin[1], grid.origin[2]};
    int periodic[] = {grid.periodic[0], grid.periodic[1], grid.periodic[2]};
    int cell_centred = grid.cell_centred, symmetric = r.symmetric;
    g.attribute("extents", cells);
    g.attribute("spacing", spacing);
    g.attribute("origin", origin);
    g.attribute("periodic", periodic);
    g.attribute("cell_centred", cell_centred);
    g.attribute("dof", r.dof);
    g.attribute("stencil", r.stencil);
    g.attribute("layout", r.layout);
    if (g.transfers_attribute("symmetric")) g.attribute("symmetric", symmetric);
    grid.nx = cells[0], grid.ny = cells[1], grid.nz = cells[2];
    for (int d = 0; d < 3; ++d) {
        grid.spacing[d] = spacing[d];
        grid.origin[d] = origin[d];
        grid.periodic[d] = periodic[d] != 0;
    }
    grid.cell_centred = cell_centred != 0;
    r.symmetric = symmetric != 0;
}

void transfer_pattern(const Group& root, const char* name, std::optional<PatternStatistics>& pattern) {
    if (!root.transfers(name, pattern.has_value())) return;
    if (!pattern) pattern.emplace();
    const Group g = root.group(name);
    PatternStatistics& s = *pattern;
    Index symmetric = s.symmetric;
    g.scalar("rows", {"1", "block rows"}, s.rows);
    g.scalar("blocks", {"1", "blocks that are stored"}, s.blocks);
    g.scalar("shortest_row", {"1", "fewest blocks of a row"}, s.shortest);
    g.scalar("longest_row", {"1", "most blocks of a row"}, s.longest);
    g.scalar("lower_bandwidth", {"1", "largest i - j of a block (i, j)"}, s.lower_bandwidth);
    g.scalar("upper_bandwidth", {"1", "largest j - i of a block (i, j)"}, s.upper_bandwidth);
    g.scalar("lower_levels", {"1", "levels of the rows by the blocks below the diagonal"}, s.lower_levels);
    g.scalar("upper_levels", {"1", "levels of the rows by the blocks above the diagonal"}, s.upper_levels);
    g.scalar("missing_diagonals", {"1", "rows without a diagonal block"}, s.missing_diagonals);
    g.scalar("symmetric_pattern", {"1", "1 if with (i, j) also (j, i) is stored"}, symmetric);
    s.symmetric = symmetric != 0;
}

/// Transfers a column of 0 and 1.
template <class Row, class Field>
void transfer_flag(const Group& g, const char* name, const char* text, std::vector<Row>& rows, Field field) {
    std::vector<int> values;
    for (Row& row : rows) values.push_back(std::invoke(field, row));
    g.dataset(name, {"1", text}, values);
    if (g.writing()) return;
    if (values.size() != rows.size()) g.wrong(name, "has another number of rows than its neighbours");
    for (std::size_t at = 0; at < rows.size(); ++at) std::invoke(field, rows[at]) = values[at] != 0;
}

/// Transfers a column of reasons as their names; Reason::interrupted must be the last enumerator.
template <class Reason, class Row, class Field>
void transfer_reasons(const Group& g, const char* name, const char* text, std::vector<Row>& rows, Field field) {
    std::vector<std::string> names;
    for (Row& row : rows) names.push_back(to_string(std::invoke(field, row)));
    g.dataset(name, {"1", text}, names);
    if (g.writing()) return;
    if (names.size() != rows.size()) g.wrong(name, "has another number of rows than its neighbours");
    for (std::size_t at = 0; at < names.size(); ++at) {
        int reason = 0;
        while (reason <= int(Reason::interrupted) && names[at] != to_string(Reason(reason))) ++reason;
        if (reason > int(Reason::interrupted)) g.wrong(name, fmt::format("holds '{}'", names[at]));
        std::invoke(field, rows[at]) = Reason(reason);
    }
}

void transfer_steps(const Group& g, std::vector<StepRow>& steps) {
    const auto count = [&](const char* name, const char* text, auto field) {
        g.column(name, {"1", text}, steps, field);
    };
    count("step", "number of the time step, from 1", &StepRow::step);
    count("time", "time at the end of the step", &StepRow::time);
    count("dt", "length of the step", &StepRow::dt);
    if (!g.transfers("attempt")) {  // older programs recorded accepted steps alone
        for (StepRow& row : steps) row.accepted = true;
        return;
    }
    count("attempt", "number of the attempt at this step, from 1", &StepRow::attempt);
    transfer_flag(g, "accepted", "1 where the attempt was accepted, 0 where the step was repeated or the run ended",
                  steps, &StepRow::accepted);
    count("cfl", "Courant number of the step, as time.cfl means it; NaN where no velocity is known", &StepRow::cfl);
    count("error_estimate", "||e|| / ||u||, e the estimated error of a controlled step, else NaN",
          &StepRow::error_estimate);
    count("steady_residual", "||F|| without the time term after a pseudo-transient step, else NaN",
          &StepRow::steady_residual);
    count("newton_steps", "Newton steps taken", &StepRow::newton_steps);
    transfer_reasons<NewtonReason>(g, "newton_reason", "why Newton's method ended", steps, &StepRow::newton_reason);
    count("first_residual", "||F|| at the first guess, NaN where it is not judged", &StepRow::first_residual);
    count("residual", "||F|| at the end, NaN where it is not judged", &StepRow::residual);
}

void transfer_newton(const Group& g, std::vector<NewtonRow>& rows) {
    const auto count = [&](const char* name, const char* text, auto field) {
        g.column(name, {"1", text}, rows, field);
    };
    count("step", "time step", &NewtonRow::step);
    count("attempt", "attempt at it", &NewtonRow::attempt);
    count("newton", "Newton step of the attempt, from 0", &NewtonRow::newton);
    transfer_flag(g, "refreshed", "1 where the preconditioner was set up for this step", rows, &NewtonRow::refreshed);
    count("forcing", "relative tolerance of the linear solve", &NewtonRow::forcing);
    count("residual_before", "||F|| before the step", &NewtonRow::before);
    count("residual_after", "||F|| after it", &NewtonRow::after);
    count("step_length", "s in u + s du; 0: no step could be taken", &NewtonRow::length);
    count("halvings", "of s by the line search", &NewtonRow::halvings);
}

void transfer_diagnostics(const Group& g, DiagnosticTable& table) {
    std::vector<std::string> names;
    for (const DiagnosticSeries& series : table.series) names.push_back(series.name);
    g.dataset("name", {"1", "names of the datasets of this group, in their order"}, names);
    g.dataset("step", {"1", "time steps completed, 0 for the initial state"}, table.step);
    g.dataset("time", {"1", "time of the state"}, table.time);
    if (!g.writing()) table.series.resize(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
        DiagnosticSeries& series = table.series[k];
        series.name = names[k];
        if (!g.writing()) g.label(names[k], series.unit, series.description);
        g.dataset(names[k], {series.unit.c_str(), series.description.c_str()}, series.values);
        if (series.values.size() != table.step.size()) g.wrong(names[k], "has another number of rows than step");
    }
}

void transfer_snapshots(const Group& g, std::vector<SnapshotRow>& rows) {
    g.column("step", {"1", "time steps completed, 0 for the initial state"}, rows, &SnapshotRow::step);
    g.column("time", {"1", "time of the state"}, rows, &SnapshotRow::time);
    g.column("file", {"1", "its fields as VTKHDF; relative to the record's folder"}, rows, &SnapshotRow::file);
}

void transfer_solves(const Group& g, std::vector<SolveRow>& solves) {
    const auto count = [&](const char* name, const char* text, auto field) {
        g.column(name, {"1", text}, solves, field);
    };
    count("step", "time step of the solve", &SolveRow::step);
    count("newton", "Newton step of the solve within its time step", &SolveRow::newton);
    count("unknowns", "rows of the system", &SolveRow::unknowns);
    count("stored_entries", "matrix coefficients held in memory", &SolveRow::stored_entries);
    count("iterations", "iterations of the Krylov method", [](SolveRow& s) -> Index& { return s.report.iterations; });
    transfer_reasons<StopReason>(g, "stop_reason", "why the solve ended", solves,
                                 [](SolveRow& s) -> StopReason& { return s.report.reason; });
    count("b_norm", "||b||", [](SolveRow& s) -> double& { return s.report.b_norm; });
    count("res_recurrence", "||r|| at the end as the recurrence knows it",
          [](SolveRow& s) -> double& { return s.report.recurrence_residual; });
    count("res_true", "||b - A x|| at the end", [](SolveRow& s) -> double& { return s.report.true_residual; });
    count("restarts_from_true", "restarts because the recurrence had drifted from the true residual",
          [](SolveRow& s) -> int& { return s.report.restarts_from_true; });
    g.column("setup_seconds", {"s", "wall time of the preconditioner's set-up"}, solves, &SolveRow::setup_seconds);
    g.column("solve_seconds", {"s", "wall time of the Krylov method"}, solves, &SolveRow::solve_seconds);
    count("pivots_modified", "pivots that the pivot policy changed",
          [](SolveRow& s) -> Index& { return s.setup.pivots_modified; });
    count("shift", "alpha in the factored A + alpha diag(A)", [](SolveRow& s) -> double& { return s.setup.shift; });
    count("smallest_pivot_ratio", "min |pivot| / |diagonal of A|",
          [](SolveRow& s) -> double& { return s.setup.smallest_pivot_ratio; });
    count("smallest_pivot_i", "cell of that pivot", [](SolveRow& s) -> int& { return s.setup.smallest_pivot_cell.x; });
    count("smallest_pivot_j", "cell of that pivot", [](SolveRow& s) -> int& { return s.setup.smallest_pivot_cell.y; });
    count("smallest_pivot_k", "cell of that pivot", [](SolveRow& s) -> int& { return s.setup.smallest_pivot_cell.z; });
    g.column("factor_bytes", {"B", "memory of the factors, beyond the matrix"}, solves,
             [](SolveRow& s) -> Index& { return s.setup.factor_bytes; });
    if (g.transfers("values_flushed"))
        count("values_flushed", "values of the factors that became zero in reduced precision",
              [](SolveRow& s) -> Index& { return s.setup.values_flushed; });
    const auto warns = [](const SolveRow& s) { return !s.setup.warning.empty(); };
    if (g.transfers("warning", std::any_of(solves.begin(), solves.end(), warns)))
        g.column("warning", {"1", "which keys of the preconditioner had no effect, and why"}, solves,
                 [](SolveRow& s) -> std::string& { return s.setup.warning; });
}

/// A modified pivot, and the solve in whose set-up it occurred.
struct PivotRow {
    Index solve;
    PivotEvent event;
};

void transfer_pivots(const Group& g, std::vector<SolveRow>& solves) {
    std::vector<PivotRow> pivots;
    for (std::size_t s = 0; s < solves.size(); ++s)
        for (const PivotEvent& event : solves[s].setup.modified) pivots.push_back({Index(s), event});
    g.column("solve", {"1", "row of /solves"}, pivots, &PivotRow::solve);
    g.column("i", {"1", "cell"}, pivots, [](PivotRow& p) -> int& { return p.event.cell.x; });
    g.column("j", {"1", "cell"}, pivots, [](PivotRow& p) -> int& { return p.event.cell.y; });
    g.column("k", {"1", "cell"}, pivots, [](PivotRow& p) -> int& { return p.event.cell.z; });
    g.column("component", {"1", "row inside the cell's block"}, pivots,
             [](PivotRow& p) -> int& { return p.event.component; });
    g.column("value", {"1", "the pivot before it was changed"}, pivots,
             [](PivotRow& p) -> double& { return p.event.value; });
    if (g.writing()) return;
    for (const PivotRow& pivot : pivots) {
        if (pivot.solve < 0 || pivot.solve >= Index(solves.size())) g.wrong("solve", "names no row of /solves");
        solves[std::size_t(pivot.solve)].setup.modified.push_back(pivot.event);
    }
}

void transfer_history(const Group& g, RecordData& r) {
    std::vector<Index> offset{0};
    std::vector<HistoryEntry> all;
    for (const auto& history : r.histories) {
        all.insert(all.end(), history.begin(), history.end());
        offset.push_back(Index(all.size()));
    }
    g.dataset("offset", {"1", "solve s has the rows offset[s] to offset[s + 1] - 1"}, offset);
    g.column("iteration", {"1", "iteration, 0 before the first"}, all, &HistoryEntry::iteration);
    g.column("rel_res_recurrence", {"1", "||r|| / ||b|| as the recurrence knows it"}, all, &HistoryEntry::recurrence);
    g.column("rel_res_true", {"1", "||b - A x|| / ||b||, NaN where it was not computed"}, all, &HistoryEntry::truth);
    g.column("seconds", {"s", "since the solve began"}, all, &HistoryEntry::seconds);
    if (g.writing()) return;
    const bool sorted = std::is_sorted(offset.begin(), offset.end());
    if (offset.size() != r.solves.size() + 1 || !sorted || offset.front() != 0 || offset.back() != Index(all.size()))
        g.wrong("offset", "does not divide the history into solves");
    for (std::size_t s = 0; s + 1 < offset.size(); ++s)
        r.histories.emplace_back(all.begin() + offset[s], all.begin() + offset[s + 1]);
}

void transfer_verification(const Group& g, std::vector<ErrorNorm>& norms) {
    g.column("name", {"1", "error norm or observed order"}, norms, &ErrorNorm::name);
    g.column("value", {"1", "its value for the final state"}, norms, &ErrorNorm::value);
}

void transfer_parts(const Group& g, std::vector<PartRow>& parts) {
    g.column("started", {"1", "when the part began or went on, UTC"}, parts, &PartRow::started);
    g.column("host", {"1", "where it ran"}, parts, &PartRow::host);
    g.column("device", {"1", "processor with its threads, or GPU"}, parts, &PartRow::device);
    g.column("threads", {"1", "of OpenMP"}, parts, &PartRow::threads);
    g.column("git_sha", {"1", "of the program that ran it"}, parts, &PartRow::git_sha);
    g.column("step", {"1", "time steps completed when it began"}, parts, &PartRow::step);
    g.column("seconds", {"s", "wall time until the record was written; NaN where not known"}, parts, &PartRow::seconds);
    if (g.transfers("changed"))
        g.column("changed", {"1", "keys that have other values than in the part before; empty: none"}, parts,
                 &PartRow::changed);
    g.column("ended", {"1", "ok, failed, preempted, running; died: a later part went on from its checkpoint"}, parts,
             &PartRow::ended);
}

void transfer_timers(const Group& g, std::vector<TimerRow>& timers) {
    g.column("name", {"1", "part of the run; parts nest by '/'"}, timers, &TimerRow::name);
    g.column("seconds", {"s", "wall time of all calls"}, timers, &TimerRow::seconds);
    g.column("calls", {"1", "how often it was called"}, timers, &TimerRow::calls);
    g.column("bytes", {"B", "fewest bytes all calls must move, 0 where not known"}, timers, &TimerRow::bytes);
    if (!g.writing()) return;
    std::vector<double> rates;
    for (const TimerRow& row : timers) rates.push_back(row.seconds > 0 ? double(row.bytes) / row.seconds * 1e-9 : 0.0);
    g.dataset("bandwidth", {"GB/s", "bytes / seconds: what the memory had to deliver"}, rates);
}

void transfer_profile(const Group& g, std::vector<ProfileRow>& profile) {
    g.column("name", {"1", "kind of work; kinds nest by '/'"}, profile, &ProfileRow::name);
    g.column("seconds", {"s", "time of all calls, on a GPU between events of its stream"}, profile,
             &ProfileRow::seconds);
    g.column("calls", {"1", "how often it was called"}, profile, &ProfileRow::calls);
    g.column("bytes", {"B", "fewest bytes all calls must move, 0 where not known"}, profile, &ProfileRow::bytes);
}

void transfer_memory(const Group& g, RecordData& r) {
    using Row = std::pair<std::string, Index>;
    std::vector<Row> rows(r.peak_by_label.begin(), r.peak_by_label.end());
    g.column("label", {"1", "what the memory is for"}, rows, &Row::first);
    g.column("peak", {"B", "held when the total was largest"}, rows, &Row::second);
    g.scalar("peak_total", {"B", "most that was held at once"}, r.peak_total);
    g.scalar("predicted_total", {"B", "what `hyperplane check` predicts"}, r.predicted_total);
    if (!g.writing()) r.peak_by_label = {rows.begin(), rows.end()};
}

}  // namespace

void transfer_origin(const Group& root, int& schema_version, std::string& code_version, std::string& git_sha) {
    if (root.writing()) schema_version = record_schema_version;
    root.attribute("schema_version", schema_version);
    if (schema_version > record_schema_version)
        throw FileError(fmt::format(
            "{}: /schema_version is {}, and this program reads 1 to {}; a newer program wrote it, and reads it",
            root.file_name(), schema_version, record_schema_version));
    if (schema_version < 1)
        root.wrong("schema_version",
                   fmt::format("is {}, this program reads 1 to {}", schema_version, record_schema_version));
    root.attribute("code_version", code_version);
    root.attribute("git_sha", git_sha);
}

void transfer_record(const Group& root, RecordData& r, Places* places) {
    transfer_origin(root, r.schema_version, r.code_version, r.git_sha);
    root.attribute("status", r.status);
    root.attribute("message", r.message);
    root.attribute("exit_code", r.exit_code);
    transfer_deck(root.group("deck"), r);
    root.group("environment").attributes(r.environment);
    transfer_grid(root.group("grid"), r);
    transfer_pattern(root, "pattern", r.pattern);
    transfer_pattern(root, "given_pattern", r.given_pattern);
    transfer_steps(root.group("steps"), r.steps);
    if (root.transfers("newton", !r.newton.empty())) transfer_newton(root.group("newton"), r.newton);
    if (root.transfers("diagnostics", !r.diagnostics.series.empty()))
        transfer_diagnostics(root.group("diagnostics"), r.diagnostics);
    if (root.transfers("fields", !r.snapshots.empty())) transfer_snapshots(root.group("fields"), r.snapshots);
    const Group solves = root.group("solves");
    transfer_solves(solves, r.solves);
    transfer_pivots(solves.group("pivots"), r.solves);
    transfer_history(root.group("history"), r);
    transfer_verification(root.group("verification"), r.verification);
    if (root.transfers("parts"))
        transfer_parts(root.group("parts"), r.parts);
    else
        r.parts = {only_part(r)};
    const Group perf = root.group("perf");
    transfer_timers(perf.group("timers"), r.timers);
    if (perf.transfers_attribute("long_preparation", !r.long_preparation.empty()))
        perf.attribute("long_preparation", r.long_preparation);
    if (perf.transfers_attribute("triangular_solves", !r.triangular_solves.empty()))
        perf.attribute("triangular_solves", r.triangular_solves);
    if (perf.transfers("profile", !r.profile.empty())) transfer_profile(perf.group("profile"), r.profile);
    transfer_memory(perf.group("memory"), r);
    if (perf.transfers("limits", r.memory_limit > 0.0))
        perf.group("limits").scalar("memory", {"GB/s", "read plus write rate of a copy as large as the run"},
                                    r.memory_limit);
    if (!root.writing()) r.has_state = root.has("state");
    if (!r.has_state) return;
    const FileIdentity file = root.writing() ? FileIdentity{} : FileIdentity::of(root.file_name());
    transfer_state(root.group("state"), r.state, file, places);
}

}  // namespace hyperplane
