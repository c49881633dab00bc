// SPDX-License-Identifier: BSD-3-Clause
#include "apps/deck/schema.hpp"

#include <map>

#include "core/graph/orderings.hpp"
#include "precond/multigrid/multigrid.hpp"
#include "precond/registry.hpp"
#include "precond/scaling/scaled.hpp"
#include "problems/registry.hpp"
#include "solvers/march_parameters.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

ParameterTable device_parameters() {
    return {
        {.section = "device",
         .key = "backend",
         .type = ParameterType::choice,
         .default_value = "auto",
         .description = "where assembly and solve run: cpu; cuda, an NVIDIA GPU (without one the run ends with exit "
                        "code 9); auto, a GPU if there is one, and the run says what it chose",
         .choices = {"auto", "cpu", "cuda"}},
        {.section = "device",
         .key = "gpu",
         .type = ParameterType::integer,
         .default_value = "0",
         .description =
             "number of the GPU, as hyperplane list devices shows it; several ranks take GPUs from this one on, and "
             "share them if there are fewer",
         .minimum = Bound{0}},
        {.section = "device",
         .key = "threads",
         .type = ParameterType::integer,
         .default_value = "0",
         .description = "number of OpenMP threads; 0: OpenMP's default (OMP_NUM_THREADS, else one for each core). "
                        "Results do not depend on it",
         .minimum = Bound{0},
         .maximum = Bound{4096}},
        {.section = "device",
         .key = "ranks",
         .type = ParameterType::integer,
         .default_value = "1",
         .description =
             "number of ranks that each have a part of the grid, cut along z: threads of one process, on CPUs "
             "or a GPU each. Results do not depend on it. mpirun and srun start ranks as processes instead",
         .minimum = Bound{1},
         .maximum = Bound{65536}},
        {.section = "device",
         .key = "between_hosts",
         .type = ParameterType::choice,
         .default_value = "auto",
         .description = "how ranks on GPUs of several hosts exchange values: nccl, from GPU to GPU; messages, through "
                        "the hosts' memory and MPI, slower; auto, NCCL where every host has libnccl.so.2, and the run "
                        "says what it took. Results do not depend on it",
         .choices = {"auto", "nccl", "messages"}},
        {.section = "device",
         .key = "layout",
         .type = ParameterType::choice,
         .default_value = "auto",
         .description = "how points are ordered in memory; auto: as the preconditioner prefers",
         .choices = {"auto", "natural", "hyperplane"}},
        {.section = "device",
         .key = "memory_limit",
         .type = ParameterType::real,
         .default_value = "",
         .description =
             "the most memory that the run, or each of its ranks, may hold, on a GPU the GPU's memory; a run "
             "that needs more ends with exit code 6. Unset: what is available",
         .unit = "MiB",
         .minimum = Bound{0, true}},
    };
}

ParameterTable initial_parameters() {
    return {
        {.section = "initial",
         .key = "file",
         .type = ParameterType::path,
         .default_value = "",
         .description = "a record or checkpoint of the same problem, in whose state the run begins, at time 0 "
                        "(output.state); unset: the problem's own initial state"},
        {.section = "initial",
         .key = "interpolate",
         .type = ParameterType::boolean,
         .default_value = "false",
         .description = "whether that state may be of another grid of the same box, and is interpolated linearly"},
    };
}

ParameterTable matrix_form_parameters() {
    return {
        {.section = "matrix",
         .key = "format",
         .type = ParameterType::choice,
         .default_value = "auto",
         .description =
             "the kind of matrix that is solved with: structured, on the grid, without indices; general, block rows of "
             "any pattern, which any problem on a grid can be turned into (couplings that wrap become entries like "
             "others); auto, general for problem = matrix and structured for all others",
         .choices = {"auto", "structured", "general"}},
    };
}

ParameterTable output_parameters() {
    return {
        {.section = "output",
         .key = "file",
         .type = ParameterType::path,
         .default_value = "",
         .description = "the HDF5 record; unset: the deck's name with .h5, in the current directory"},
        {.section = "output",
         .key = "fields",
         .type = ParameterType::boolean,
         .default_value = "false",
         .description = "also write the final state as VTKHDF for ParaView, beside the record with .vtkhdf"},
        {.section = "output",
         .key = "fields_every",
         .type = ParameterType::integer,
         .default_value = "0",
         .description = "time steps between states whose fields are kept for ParaView, the initial and the last state "
                        "besides: a file each in the folder NAME_series, and NAME_series.vtkhdf shows them as one "
                        "series in time. 0: none",
         .minimum = Bound{0}},
        {.section = "output",
         .key = "state",
         .type = ParameterType::choice,
         .default_value = "auto",
         .description = "whether the record keeps the final state, from which run --restart extends the run and "
                        "another one begins (initial.file); auto: where there are time steps",
         .choices = {"auto", "always", "never"}},
        {.section = "output",
         .key = "measure_limit",
         .type = ParameterType::boolean,
         .default_value = "false",
         .description = "after the run, measure the bandwidth of a copy as large as the run, so that the report can "
                        "compare the achieved bandwidth with it; takes about 50 ms"},
        {.section = "output",
         .key = "profile",
         .type = ParameterType::boolean,
         .default_value = "false",
         .description =
             "measure how long each kind of work takes, and how far it is from the memory's limit: products, the parts "
             "of the preconditioner, vector operations, sums, halos, the stages of set-ups. The record and its report "
             "have the table; NAME.profile.json beside the record shows the calls in time (Perfetto, "
             "chrome://tracing). "
             "The results have the same bits. Includes output.measure_limit"},
        {.section = "output",
         .key = "checkpoint_every",
         .type = ParameterType::integer,
         .default_value = "0",
         .description =
             "time steps between checkpoints, which are kept in two files beside the record, NAME.0.checkpoint and "
             "NAME.1.checkpoint, until the run has ended well; run --restart goes on from them. 0: none",
         .minimum = Bound{0}},
        {.section = "output",
         .key = "checkpoint_minutes",
         .type = ParameterType::real,
         .default_value = "",
         .description = "minutes between checkpoints, which are then also made within a solve, between two iterations",
         .minimum = Bound{0, true}},
    };
}

ParameterSpec expected(std::string key, ParameterType type, std::string description, double minimum) {
    return {.section = "expect",
            .key = std::move(key),
            .type = type,
            .default_value = "",
            .description = std::move(description),
            .minimum = Bound{minimum}};
}

ParameterTable expect_parameters() {
    return {
        expected("iterations", ParameterType::integer, "every linear solve takes exactly so many iterations", 0),
        expected("max_iterations", ParameterType::integer, "no linear solve takes more iterations", 0),
        expected("min_iterations", ParameterType::integer, "no linear solve takes fewer iterations", 0),
        expected("max_relative_residual", ParameterType::real,
                 "every solve ends with ||b - A x|| at most this times ||b||", 0),
        {.section = "expect",
         .key = "error_norm",
         .type = ParameterType::text,
         .default_value = "max",
         .description = "the error norm that max_error and min_error bound"},
        expected("max_error", ParameterType::real, "the error norm is at most this", 0),
        expected("min_error", ParameterType::real, "the error norm is at least this", 0),
        {.section = "expect",
         .key = "diagnostic",
         .type = ParameterType::text,
         .default_value = "",
         .description = "the diagnostic that max_diagnostic and min_diagnostic bound, for example energy"},
        {.section = "expect",
         .key = "max_diagnostic",
         .type = ParameterType::real,
         .default_value = "",
         .description = "the diagnostic is at most this at the end"},
        {.section = "expect",
         .key = "min_diagnostic",
         .type = ParameterType::real,
         .default_value = "",
         .description = "the diagnostic is at least this at the end"},
        expected("max_newton_iterations", ParameterType::integer, "no nonlinear solve takes more Newton steps", 0),
        expected("steps", ParameterType::integer, "exactly so many time steps are accepted", 0),
        expected("max_steps", ParameterType::integer, "no more time steps are accepted", 0),
        expected("max_steady_residual", ParameterType::real,
                 "||F|| after the last pseudo-transient step is at most this", 0),
        {.section = "expect",
         .key = "max_drift",
         .type = ParameterType::text,
         .default_value = "",
         .description =
             "NAME BOUND, NAME BOUND, ...: at every step each of these diagnostics differs from its initial "
             "value by at most its bound times the largest of its absolute values. A diagnostic whose exact value is "
             "zero, such as the mean of a state of mean 0, is rounding alone and meets no such bound: bound its "
             "last value by diagnostic, min_diagnostic and max_diagnostic"},
        {.section = "expect",
         .key = "never_rising",
         .type = ParameterType::text,
         .default_value = "",
         .description = "NAME, NAME, ...: diagnostics that no step increases by more than 1e-9 of their value"},
        {.section = "expect",
         .key = "end",
         .type = ParameterType::choice,
         .default_value = "",
         .description = "how the run ends; if this is a failure and it occurs, the run exits with 0",
         .choices = {"solved", "steps_taken", "end_time_reached", "steady_state", "steps_used_up", "step_not_solved",
                     "forbidden_state", "too_many_rejections", "step_too_small", "time_not_finite"}},
        {.section = "expect",
         .key = "stop_reason",
         .type = ParameterType::choice,
         .default_value = "",
         .description = "the last solve ends for this reason; if this is a failure and it occurs, the run exits with 0",
         .choices = {"converged_rtol", "converged_atol", "max_iterations", "diverged", "breakdown",
                     "indefinite_operator", "indefinite_preconditioner", "not_finite", "false_convergence",
                     "out_of_range"}},
        {.section = "expect",
         .key = "exit_code",
         .type = ParameterType::choice,
         .default_value = "",
         .description = "the exit code with which the run would end; if it does, it exits with 0",
         .choices = {"0", "3", "4", "5", "6", "7"}},
    };
}

void append(ParameterTable& table, const ParameterTable& more) {
    table.insert(table.end(), more.begin(), more.end());
}

template <class Rows>
void add_components(DeckSchema& schema, const std::string& section, const Rows& rows) {
    for (const auto& row : rows) schema.components.push_back({section, row.name, row.aliases, row.parameters});
}

}  // namespace

ParameterTable program_parameters() {
    ParameterTable table = matrix_form_parameters();
    append(table, device_parameters());
    append(table, initial_parameters());
    append(table, output_parameters());
    append(table, expect_parameters());
    return table;
}

DeckSchema deck_schema() {
    DeckSchema schema;
    schema.common = common_problem_parameters();
    append(schema.common, march_parameters());
    append(schema.common, newton_parameters());
    append(schema.common, common_solver_parameters());
    append(schema.common, common_preconditioner_parameters());
    append(schema.common, common_ordering_parameters());
    append(schema.common, common_scaling_parameters());
    append(schema.common, program_parameters());
    // The default preconditioner follows the kind of the matrix, the box the problem.
    const auto general = [&](const char* key, const std::string& value) {
        schema.other_defaults.push_back(
            {"preconditioner.name", default_preconditioner(MatrixKind::general), key, value});
    };
    general("matrix.format", "general");
    for (const auto& row : problems()) {
        if (!row.has_grid) general("problem.name", row.name);
        for (const OwnLengths& own : row.lengths)
            schema.other_defaults.push_back(
                {"grid.lengths", own.text(), "problem." + own.with.key, own.with.value, row.name});
    }
    schema.decided_defaults = {"grid.lengths"};
    add_components(schema, "problem", problems());
    add_components(schema, "solver", solvers());
    add_components(schema, "preconditioner", preconditioners());
    add_components(schema, "ordering", orderings());
    add_components(schema, "scaling", scalings());
    for (const auto& row : preconditioners())
        if (const std::string why = why_no_smoother(row); why.empty())
            schema.components.push_back({"smoother", row.name, row.aliases, smoother_parameters(row)});
        else
            schema.refused.push_back({"smoother", row.name, refusal_as_smoother(row.name, why)});
    return schema;
}

std::string explain_section(const std::string& section) {
    static const std::map<std::string, std::string> explained = {
        {"problem", "The PDE, or the matrix, to solve. Which keys apply depends on problem.name."},
        {"grid", "The structured grid."},
        {"initial", "The state in which the run begins, where it is not the problem's own."},
        {"time", "Time steps, of transient problems and towards steady states."},
        {"newton", "Newton's method, for nonlinear problems."},
        {"solver", "The Krylov method and when it stops: ||b - A x|| <= max(rtol ||b||, atol), the true residual."},
        {"preconditioner", "The preconditioner of the Krylov method."},
        {"smoother",
         "The smoother of preconditioner multigrid, and of no other: any other preconditioner that takes matrices on a "
         "grid, with its keys as in [preconditioner]. There, pivot_policy is boost, pivot_tolerance 1e-10 and "
         "pivot_boost 1 by default: pivots that cannot be used are replaced by the matrix's diagonal. par_ilu, which "
         "boosts pivots of general matrices alone, has pivot_policy = shift by default, and the defaults of "
         "pivot_tolerance and pivot_boost that it has in [preconditioner]. pivot_tolerance is relative to the largest "
         "entry of a point's block: where the unknowns "
         "of a point are in units so different that pivots of one are below 1e-10 of those of another, they are "
         "replaced as well, the run warns that pivots were modified, and that unknown is hardly smoothed; set "
         "pivot_tolerance to 0 there, or change the units."},
        {"matrix", "The form in which the problem's matrices are kept."},
        {"ordering",
         "The order in which the block rows of a general matrix are solved. Solutions, fields and states are written "
         "in "
         "the order of the file or of the grid, and messages count rows in that order, too."},
        {"scaling",
         "How the general matrix that the preconditioner is built from is scaled. The Krylov method works with the "
         "matrix "
         "itself, so residuals and solution keep their scale."},
        {"device", "The device of the run, the memory layout, and how much memory it may hold."},
        {"output", "What is written."},
        {"expect", "What must hold at the end of the run, or else its exit code is 8. This makes a deck a test."},
        {"sweep",
         "What a study varies: section.key = VALUE, VALUE, ..., where a value may also be a range: 0..3, 1..2 step "
         "0.25, "
         "1e-8..1e-2 factor 100. A value in double quotes may hold commas. With this section a deck is a study "
         "(hyperplane help study, docs/study.md)."},
        {"slurm", "How hyperplane study submit asks Slurm for the cases of a study."},
    };
    const auto at = explained.find(section);
    return at == explained.end() ? "" : at->second;
}

}  // namespace hyperplane
