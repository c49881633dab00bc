// SPDX-License-Identifier: BSD-3-Clause
// A record in which nothing is empty but /given_pattern, which is written as /pattern is.
#pragma once

#include "io/record.hpp"

namespace hyperplane {

inline RecordHeader sample_header() {
    RecordHeader h;
    h.code_version = "0.1.0";
    h.git_sha = "abc123";
    h.deck_file = "deck.ini";
    h.deck_source = "; Übung\n[solver]\nrtol = 1e-3\n";
    h.overrides = {"solver.rtol=1e-3", "output.note="};
    h.environment = {{"backend", "cpu"}, {"slurm_job", ""}};
    h.grid.nx = 5;
    h.grid.ny = 3;
    h.grid.nz = 2;
    h.grid.spacing = {0.1, 0.2, 0.3};
    h.grid.origin = {-1.0, 0.0, 1.0};
    h.grid.periodic = {false, true, false};
    h.grid.cell_centred = true;
    h.layout = "hyperplane";
    h.stencil = "box27";
    h.dof = 4;
    h.symmetric = true;
    h.pattern = PatternStatistics{30, 150, 2, 7, 6, 5, 4, 3, 1, true};
    return h;
}

inline SolveRow sample_solve() {
    SolveRow row;
    row.step = 1;
    row.newton = 2;
    row.unknowns = 120;
    row.stored_entries = 12960;
    row.report = {StopReason::false_convergence, 33, 2.5, 1e-9, 1e-3, 2};
    row.setup.pivots_modified = 20;
    row.setup.values_flushed = 3;
    row.setup.warning = "a key has no effect";
    row.setup.modified = {{{0, 0, 0}, 0, 0.0}, {{1, 2, 0}, 3, -1e-20}};
    row.setup.shift = 0.05;
    row.setup.smallest_pivot_ratio = 1e-3;
    row.setup.smallest_pivot_cell = {4, 2, 1};
    row.setup.factor_bytes = 200;
    row.setup_seconds = 0.125;
    row.solve_seconds = 0.5;
    return row;
}

inline void fill_sample(RecordWriter& writer) {
    writer.add_step({.step = 1, .time = 0.1, .dt = 0.1, .accepted = true});
    writer.add_step({.step = 2,
                     .attempt = 3,
                     .time = 0.2,
                     .dt = 0.1,
                     .cfl = 40.0,
                     .error_estimate = 1e-4,
                     .steady_residual = 0.5,
                     .newton_steps = 4,
                     .newton_reason = NewtonReason::line_search,
                     .first_residual = 2.0,
                     .residual = 1.0});
    writer.set_snapshots({{0, 0.0, "a_series/step_00000000.vtkhdf"}, {2, 0.2, "a_series/step_00000002.vtkhdf"}});
    writer.add_newton({.step = 2,
                       .attempt = 3,
                       .newton = 1,
                       .refreshed = true,
                       .forcing = 0.3,
                       .before = 2.0,
                       .after = 1.0,
                       .length = 0.5,
                       .halvings = 1});
    for (Index step : {0, 1, 2})
        writer.add_diagnostics(step, 0.1 * double(step),
                               {{"mass", 3.0, "sum of u", "kg"}, {"energy", double(10 - step) / 10, "E"}});
    writer.add_solve({}, {{0, 1.0, 1.0, 0.0}, {1, 0.5, std::numeric_limits<double>::quiet_NaN(), 0.5}});
    writer.add_solve(sample_solve(), {});
    writer.add_solve({}, {{7, 0.25, 0.25, 1.5}});
    writer.set_parts_before({{.started = "2026-03-01T12:00:00Z",
                              .host = "node1",
                              .device = "cpu, 2 threads",
                              .threads = 2,
                              .git_sha = "abc122",
                              .seconds = 9.5,
                              .ended = "running"}},
                            1, "solver.rtol is 1e-6, was 1e-8");
    writer.set_verification({{"max", 1e-5}});
    TimerTree timers;
    timers.add("solve", 3.0);
    timers.add("solve/spmv", 2.0, 4000000000);
    writer.set_performance(timers, {{"matrix", 100}, {"factors", 200}}, 300, 301);
    writer.set_profile({{"solve", 3.0, 1, 0}, {"solve/spmv", 2.0, 7, 4000000000}});
    writer.set_memory_limit(45.5);
    writer.set_long_preparation("set-up took as long as 12 iterations");
    writer.set_triangular_solves("levels");
    writer.set_state({2, 0.2, 3, 11, {1.0, -0.0, 3.5}, {{"cg/x", {4.0, -0.0}}, {"cg/rho", {0.5}}, {"empty", {}}}});
}

}  // namespace hyperplane
