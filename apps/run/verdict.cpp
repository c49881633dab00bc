// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/run/pattern_text.hpp"
#include "apps/run/preparation.hpp"
#include "core/counted.hpp"

namespace hyperplane {
namespace {

std::string line(const std::string& label, const std::string& text) {
    return fmt::format("{:<13} {}\n", label, text);
}

/// The line that describes the pattern of a general matrix; it is empty on a grid.
std::string line_of_pattern(const SystemShape& shape) {
    return shape.pattern ? line("matrix", pattern_text(*shape.statistics(), shape.dof, shape.symmetric)) : "";
}

/// What the matrix was in the given order; empty if it is solved in that.
std::string line_of_order(const RowOrder* order) {
    if (!order) return "";
    const std::string moved = order->matches_rows()
                                  ? fmt::format(", {} of {} moved", order->moved(), counted(order->rows(), "block row"))
                                  : "";
    return line("ordering",
                fmt::format("{}{}; in the given order {}", order->name, moved, bandwidth_text(order->before)));
}

Costs costs_of(const Outcome& outcome) {
    return costs_of(outcome.timers.rows(), outcome.solves, outcome.peak, outcome.parts);
}

/// The bandwidth of a timer in GB/s; 0 if its bytes or its time are unknown.
double gigabytes_a_second(const TimerTree& timers, const std::string& name) {
    for (const TimerRow& row : timers.rows())
        if (row.name == name && row.seconds > 0.0) return double(row.bytes) / row.seconds * 1e-9;
    return 0.0;
}

std::string iterations_text(const Outcome& outcome) {
    if (outcome.solves.size() == 1) return counted(outcome.solves[0].report.iterations, "iteration");
    const auto [low, high] = std::minmax_element(outcome.solves.begin(), outcome.solves.end(), [](auto& a, auto& b) {
        return a.report.iterations < b.report.iterations;
    });
    return fmt::format("{} in {} solves, {} each", counted(costs_of(outcome).iterations, "iteration"),
                       outcome.solves.size(), range_text(low->report.iterations, high->report.iterations));
}

/// The line with the numbers of time steps and Newton steps; empty if both are one.
std::string line_of_steps(const Case& a_case, const Outcome& outcome) {
    if (a_case.shape().linear && outcome.steps.size() < 2) return "";
    Index accepted = 0, newton = 0;
    for (const StepRow& row : outcome.steps) accepted += row.accepted, newton += row.newton_steps;
    std::string text = fmt::format("{} accepted", accepted);
    if (const Index rejected = Index(outcome.steps.size()) - accepted) text += fmt::format(", {} rejected", rejected);
    if (!a_case.shape().linear) text += fmt::format(", {} Newton steps", newton);
    const auto reached =
        std::find_if(outcome.steps.rbegin(), outcome.steps.rend(), [](const StepRow& row) { return row.accepted; });
    if (reached == outcome.steps.rend() && a_case.shape().regime == Regime::transient) text += "; t = 0";
    if (reached != outcome.steps.rend()) {
        const StepRow& last = *reached;
        if (a_case.time.pseudo())
            text += fmt::format("; CFL {:.4g}, ||F|| {:.3e} at the end", last.cfl, last.steady_residual);
        else if (a_case.shape().regime == Regime::transient)
            text += fmt::format("; t = {:.6g}{}", last.time,
                                std::isfinite(last.cfl) ? fmt::format(", Courant number {:.4g}", last.cfl) : "");
    }
    std::string lines = line("steps", text);
    for (const DiagnosticSeries& series : outcome.diagnostics.series)
        lines +=
            line(series.name, fmt::format("{:.10g}, began with {:.10g}", series.values.back(), series.values.front()));
    return lines;
}

/// What the ranks of a run leave out of the preconditioner; empty if nothing.
std::string scope_text(const std::string& dropped) {
    if (dropped.empty()) return "";
    return fmt::format(
        "; couplings between ranks are dropped (scope = rank), {}, which costs iterations: one rank or scope = global "
        "says how many",
        dropped);
}

/// Whose memory is told on several ranks.
std::string rank_of_memory(const Case& a_case) {
    const Communicator* const ranks = a_case.context.ranks();
    if (!ranks) return "";
    return fmt::format(", of the first of {} ranks; check --ranks {} predicts that of the largest one", ranks->size(),
                       ranks->size());
}

std::string residual_text(const SolveReport& report) {
    const double scale = report.b_norm > 0.0 ? report.b_norm : 1.0;
    return fmt::format("{:.3e} of ||b|| (true), {:.3e} (recurrence)", report.true_residual / scale,
                       report.recurrence_residual / scale);
}

std::string time_text(const Outcome& outcome) {
    const Costs costs = costs_of(outcome);
    std::string text = costs.text();
    if (costs.compile > 0.0) text += fmt::format("; before, kernels compiled in {:.2g} s (kept)", costs.compile);
    const double loading = outcome.timers.seconds("loading"), memory = outcome.timers.seconds("memory");
    if (loading > 0.0 || memory > 0.0)
        text +=
            fmt::format("; beside the assembly, kernels loaded in {:.2g} s, memory taken in {:.2g} s", loading, memory);
    return text;
}

std::string judgement_text(const Judgement& judgement) {
    if (judgement.checked == 0) return "";
    if (judgement.unmet.empty()) return line("[expect]", fmt::format("all {} met", judgement.checked));
    std::string text;
    for (const std::string& unmet : judgement.unmet) text += line("[expect]", "NOT MET: " + unmet);
    return text;
}

}  // namespace

std::vector<std::string> setup_warnings(const std::vector<SolveRow>& solves) {
    std::vector<std::string> all;
    for (const SolveRow& row : solves)
        if (const std::string& one = row.setup.warning;
            !one.empty() && std::find(all.begin(), all.end(), one) == all.end())
            all.push_back(one);
    return all;
}

std::string status_of(ExitCode code) {
    if (code == ExitCode::ok) return "ok";
    return code == ExitCode::checkpointed ? "preempted" : "failed";
}

std::string verdict_text(const Case& a_case, const Outcome& outcome, const Judgement& judgement) {
    const char* varies = a_case.plan.traits.varies;
    const Costs costs = costs_of(outcome);
    const SystemShape& shape = a_case.shape();
    const std::string grid = grid_text(shape.grid, shape.grid.plain_rows, shape.stencil.name(), shape.dof);
    std::string text = line("problem", a_case.name("problem")) + line("grid", grid) + line_of_pattern(shape) +
                       line_of_order(shape.order()) +
                       line("method", fmt::format("{} with {}, {} layout, {}{}{}", a_case.name("solver"),
                                                  a_case.name("preconditioner"), a_case.space.name(), a_case.device,
                                                  scope_text(outcome.dropped),
                                                  *varies ? fmt::format("; not deterministic: {}", varies) : ""));
    if (const std::string way = a_case.preconditioner->solve_way(); !way.empty())
        text += line("triangles", triangles_text(way));
    for (const std::string& warning : setup_warnings(outcome.solves)) text += line("warning", warning);
    for (const std::string& changed : changes_of_parts(outcome.parts)) text += line("other keys", changed);
    text += line("ended", outcome.message);
    if (outcome.kept_steps > 0)
        text +=
            line("state", fmt::format("{} completed; run --restart goes on from there, also with other keys that say "
                                      "how a step is solved and how long it is",
                                      counted(outcome.kept_steps, "step")));
    if (!outcome.solves.empty()) {
        text += line("iterations", iterations_text(outcome));
        text += line("residual", residual_text(outcome.solves.back().report));
    }
    text += line_of_steps(a_case, outcome);
    if (!a_case.solution_belongs() && !a_case.problem->error_names().empty())
        text += line("error",
                     "not given: the exact solution is that of the problem's own initial state, and the run "
                     "begins in that of initial.file");
    for (const ErrorNorm& norm : outcome.errors) text += line("error", fmt::format("{} {:.4e}", norm.name, norm.value));
    if (const std::string before = preparation_text(outcome.timers.rows()); !before.empty())
        text += line("before", before);
    if (const std::string many = long_preparation_text(outcome.timers.rows(), costs.per_iteration()); !many.empty())
        text += line("", many);
    text += line("time", time_text(outcome));
    if (costs.parts > 1) text += line("parts", fmt::format("{}: {}", costs.parts, costs.places));
    if (gigabytes_a_second(outcome.timers, "solve/preconditioner") > 0.0)  // on a GPU products are not timed singly
        text += line("speed", fmt::format("SpMV {:.1f} GB/s, preconditioner {:.1f} GB/s",
                                          gigabytes_a_second(outcome.timers, "solve/spmv"),
                                          gigabytes_a_second(outcome.timers, "solve/preconditioner")));
    const bool range = outcome.predicted_most > outcome.predicted;
    text +=
        line("memory", fmt::format("{} at the peak, {} predicted{}{}", in_mib(outcome.peak), in_mib(outcome.predicted),
                                   range ? fmt::format(", {} at most", in_mib(outcome.predicted_most)) : "",
                                   rank_of_memory(a_case)));
    text += line("record", !judgement.recorded
                               ? "could not be written"
                               : a_case.record_path() +
                                     (outcome.fields_file.empty() ? "" : ", fields " + outcome.fields_file) +
                                     (outcome.series_file.empty() ? "" : ", series of fields " + outcome.series_file) +
                                     (a_case.context.profile() ? ", profile " + a_case.profile_path() : ""));
    return text + judgement_text(judgement) +
           line("verdict", fmt::format("{} (exit code {})", status_of(judgement.code), int(judgement.code)));
}

nlohmann::json verdict_json(const Case& a_case, const Outcome& outcome, const Judgement& judgement) {
    const SystemShape& shape = a_case.shape();
    const Costs costs = costs_of(outcome);
    nlohmann::json json = {
        {"status", status_of(judgement.code)},
        {"exit_code", int(judgement.code)},
        {"message", outcome.message},
        {"problem", a_case.name("problem")},
        {"cells", {shape.grid.nx, shape.grid.ny, shape.grid.nz}},
        {"dof", shape.dof},
        {"unknowns", a_case.unknowns()},
        {"stencil", shape.stencil.name()},
        {"solver", a_case.name("solver")},
        {"preconditioner", a_case.name("preconditioner")},
        {"layout", a_case.space.name()},
        {"device", a_case.device},
        {"record", a_case.record_path()},
        {"fields", outcome.fields_file},
        {"series", outcome.series_file},
        {"profile", a_case.context.profile() ? a_case.profile_path() : ""},
        {"resumed", outcome.resumed},
        {"iterations", costs.iterations},
        {"costs", to_json(costs)},
        {"parts", to_json(outcome.parts)},
        {"memory", {{"peak", outcome.peak}, {"predicted", outcome.predicted}, {"by_label", outcome.peak_by_label}}},
        {"expect", {{"checked", judgement.checked}, {"unmet", judgement.unmet}}},
    };
    if (shape.pattern) json["pattern"] = to_json(*shape.statistics());
    if (shape.order()) json["given_pattern"] = to_json(*shape.given_statistics());
    if (shape.order() && shape.order()->matches_rows()) json["rows_moved"] = shape.order()->moved();
    for (const auto& [name, seconds] : a_case.problem->preparation()) json["preparation"][name] = seconds;
    if (!outcome.dropped.empty()) json["dropped_couplings"] = outcome.dropped;
    if (const std::string way = a_case.preconditioner->solve_way(); !way.empty()) json["triangular_solves"] = way;
    if (const auto iterations = preparation_in_iterations(outcome.timers.rows(), costs.per_iteration()))
        json["preparation_in_iterations"] = *iterations;
    for (const SolveRow& row : outcome.solves)
        json["solves"].push_back({{"step", row.step},
                                  {"newton", row.newton},
                                  {"iterations", row.report.iterations},
                                  {"stop_reason", to_string(row.report.reason)},
                                  {"b_norm", row.report.b_norm},
                                  {"recurrence_residual", row.report.recurrence_residual},
                                  {"true_residual", row.report.true_residual},
                                  {"pivots_modified", row.setup.pivots_modified},
                                  {"values_flushed", row.setup.values_flushed},
                                  {"warning", row.setup.warning},
                                  {"setup_seconds", row.setup_seconds},
                                  {"symbolic_seconds", row.setup.symbolic_seconds},
                                  {"numeric_seconds", row.setup.numeric_seconds},
                                  {"solve_seconds", row.solve_seconds}});
    json["end"] = outcome.end;
    for (const StepRow& row : outcome.steps)
        json["steps"].push_back({{"step", row.step},
                                 {"attempt", row.attempt},
                                 {"accepted", row.accepted},
                                 {"time", row.time},
                                 {"dt", row.dt},
                                 {"cfl", row.cfl},
                                 {"error_estimate", row.error_estimate},
                                 {"steady_residual", row.steady_residual},
                                 {"newton_steps", row.newton_steps},
                                 {"newton_reason", to_string(row.newton_reason)},
                                 {"residual", row.residual}});
    for (const DiagnosticSeries& series : outcome.diagnostics.series)
        json["diagnostics"][series.name] = {{"first", series.values.front()}, {"last", series.values.back()}};
    for (const ErrorNorm& norm : outcome.errors) json["errors"][norm.name] = norm.value;
    for (const TimerRow& row : outcome.timers.rows())
        json["timers"][row.name] = {{"seconds", row.seconds}, {"calls", row.calls}, {"bytes", row.bytes}};
    return json;
}

nlohmann::json to_json(const PatternStatistics& s) {
    return {{"rows", s.rows},
            {"blocks", s.blocks},
            {"shortest_row", s.shortest},
            {"longest_row", s.longest},
            {"lower_bandwidth", s.lower_bandwidth},
            {"upper_bandwidth", s.upper_bandwidth},
            {"lower_levels", s.lower_levels},
            {"upper_levels", s.upper_levels},
            {"missing_diagonals", s.missing_diagonals},
            {"symmetric_pattern", s.symmetric}};
}

nlohmann::json to_json(const Costs& costs) {
    return {{"assembly_seconds", costs.assembly},
            {"compile_seconds", costs.compile},
            {"setup_seconds", costs.setup},
            {"solve_seconds", costs.solve},
            {"iterations", costs.iterations},
            {"seconds_per_iteration", costs.per_iteration()},
            {"memory_peak", costs.memory},
            {"parts", costs.parts},
            {"places", costs.places}};
}

nlohmann::json to_json(const std::vector<PartRow>& parts) {
    nlohmann::json json = nlohmann::json::array();
    for (const PartRow& part : parts)
        json.push_back({{"started", part.started},
                        {"host", part.host},
                        {"device", part.device},
                        {"threads", part.threads},
                        {"git_sha", part.git_sha},
                        {"step", part.step},
                        {"seconds", part.seconds},
                        {"changed", part.changed},
                        {"ended", part.ended}});
    return json;
}

nlohmann::json to_json(const Timing& timing) {
    return {{"median", timing.median}, {"least", timing.least}, {"most", timing.most}};
}

}  // namespace hyperplane
