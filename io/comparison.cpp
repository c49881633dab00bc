// SPDX-License-Identifier: BSD-3-Clause
#include "io/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/hdf5.hpp"
#include "io/record_schema.hpp"
#include "io/sealed_file.hpp"

namespace hyperplane {
namespace {

using hdf5::Group;
using Row = ComparisonRow;

constexpr const char* contents = "comparison";

/// A candidate's name as the name of a group, in which '/' must not occur.
std::string group_name(std::string name) {
    std::replace(name.begin(), name.end(), '/', '|');
    return name;
}

void transfer_timing(const Group& g, std::vector<Row>& rows, const std::string& name, const char* what,
                     Timing Row::*timing) {
    const auto column = [&](const char* suffix, const char* which, double Timing::*part) {
        const std::string text = fmt::format("{}: {} of the turns", what, which);
        g.column(name + suffix, {"s", text.c_str()}, rows, [=](Row& row) -> double& { return row.*timing.*part; });
    };
    column("_seconds", "median", &Timing::median);
    column("_least", "least", &Timing::least);
    column("_most", "most", &Timing::most);
}

void transfer_rows(const Group& g, std::vector<Row>& rows) {
    const auto column = [&](const char* name, const char* units, const char* text, auto member) {
        g.column(name, {units, text}, rows, member);
    };
    column("name", "1", "candidate, SOLVER+PRECONDITIONER; its record is /candidates/NAME", &Row::name);
    column("solver", "1", "as the user named it", &Row::solver);
    column("preconditioner", "1", "as the user named it", &Row::preconditioner);
    column("outcome", "1", "stop reason, or refused, setup_failed, out_of_memory, given_up, not_tried", &Row::outcome);
    column("reason", "1", "why it failed, empty if it converged", &Row::reason);
    column("exit_code", "1", "exit code of a run with it alone", &Row::exit_code);
    column("iterations", "1", "iterations of the Krylov method in the recording pass", &Row::iterations);
    if (g.transfers("iterations_least")) {
        column("iterations_least", "1", "least of the recording pass and the turns", &Row::iterations_least);
        column("iterations_most", "1", "most of the recording pass and the turns", &Row::iterations_most);
    } else {
        for (Row& row : rows) row.iterations_least = row.iterations_most = row.iterations;
    }
    column("relative_residual", "1", "||b - A x|| / ||b|| at the end", &Row::relative_residual);
    column("turns", "1", "turns counted; 0: it did not converge in the warm-up, whose times are given", &Row::turns);
    transfer_timing(g, rows, "setup", "set-up", &Row::setup);
    transfer_timing(g, rows, "solve", "Krylov method", &Row::solve);
    transfer_timing(g, rows, "total", "set-up and solve", &Row::total);
    column("per_iteration", "s", "median of solve / iterations of the turns", &Row::per_iteration);
    column("preconditioner_share", "1", "of the solve, in the recording pass; NaN on a GPU, which does not time it",
           &Row::preconditioner_share);
    column("peak", "B", "most memory a run of it alone holds, measured", &Row::peak);
    column("predicted", "B", "the same, as `hyperplane check` predicts it", &Row::predicted);
    column("ratio", "1", "median of the total / the baseline's, 0 if either failed", &Row::ratio);
    if (g.transfers("pays_off_from_solves"))
        column("pays_off_from_solves", "1",
               "solves with one set-up from which on it takes less time in all than the baseline, 0: never",
               &Row::pays_off_from);
    column("beaten", "1", "turns in which the best was faster", &Row::beaten);
    column("repeatable", "1", "0: passes differed in iterations or residual", &Row::repeatable);
}

/// The data from which a stopped comparison continues. Files of programs before 0.2.0 are always complete.
void transfer_progress(const Group& root, ComparisonData& data) {
    if (!root.transfers("turns")) return;
    int complete = data.complete;
    root.attribute("complete", complete);
    data.complete = complete != 0;
    root.attribute("identity", data.identity);
    const Group g = root.group("turns");
    g.scalar("done", {"1", "turns completed by all candidates that take turns"}, data.turns_done);
    g.column("name", {"1", "candidate"}, data.turns, &TurnRow::name);
    g.column("turn", {"1", "its turn, from 0"}, data.turns, &TurnRow::turn);
    g.column("setup_seconds", {"s", "set-up"}, data.turns, &TurnRow::setup);
    g.column("solve_seconds", {"s", "Krylov method"}, data.turns, &TurnRow::solve);
    if (g.transfers("iterations"))
        g.column("iterations", {"1", "iterations of the Krylov method"}, data.turns, &TurnRow::iterations);
}

void transfer(const Group& root, ComparisonData& data) {
    std::string kind = contents;
    root.attribute("contents", kind);
    if (kind != contents) root.wrong("contents", fmt::format("is '{}', not '{}'", kind, contents));
    transfer_origin(root, data.schema_version, data.code_version, data.git_sha);
    root.attribute("deck", data.deck_file);
    root.attribute("exit_code", data.exit_code);
    root.attribute("baseline", data.baseline);
    root.attribute("best", data.best);
    root.attribute("recommendation", data.recommendation);
    root.group("system").attributes(data.system);
    if (root.transfers("compile_seconds"))
        root.scalar("compile_seconds", {"s", "in which kernels were compiled, in all calls together"},
                    data.compile_seconds);
    transfer_rows(root.group("table"), data.rows);
    transfer_progress(root, data);
    const Group left_out = root.group("left_out");
    left_out.column("name", {"1", "pair that cannot work together"}, data.left_out, &LeftOut::name);
    left_out.column("reason", {"1", "why"}, data.left_out, &LeftOut::reason);
    const Group candidates = root.group("candidates");
    data.records.resize(data.rows.size());
    for (std::size_t at = 0; at < data.rows.size(); ++at) {
        data.records[at].path = data.path;
        transfer_record(candidates.group(group_name(data.rows[at].name)), data.records[at]);
    }
}

}  // namespace

void write_comparison(ComparisonData& comparison, Overwrite overwrite) {
    const hdf5::Quiet quiet;
    std::vector<char> image;
    {
        const hdf5::Id file = hdf5::create_in_memory();
        transfer(Group::root(file, hdf5::Mode::write, comparison.path), comparison);
        image = hdf5::image_of(file);
    }
    write_sealed(comparison.path, image, {FileKind::comparison}, overwrite);
}

ComparisonData read_comparison(const std::string& path) {
    return read_proven(path, [&](bool /*sealed*/) {
        const hdf5::Quiet quiet;
        ComparisonData comparison;
        comparison.path = path;
        const hdf5::Id file = hdf5::open_to_read(path);
        transfer(Group::root(file, hdf5::Mode::read, path), comparison);
        return comparison;
    });
}

bool is_comparison(const std::string& path) {
    return is_of_kind(path, FileKind::comparison, [&] {
        const hdf5::Quiet quiet;
        const hdf5::Id file = hdf5::open_to_read(path);
        return Group::root(file, hdf5::Mode::read, path).has("candidates");
    });
}

}  // namespace hyperplane
