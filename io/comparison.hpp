// SPDX-License-Identifier: BSD-3-Clause
// The HDF5 file of a comparison (docs/compare.md lists every group, attribute and dataset).
//
//   /             what was compared, and the table: a row a candidate, as `hyperplane compare` sorts it
//   /candidates   a group for each candidate, which is the whole record of its recording pass (io/record.hpp)
#pragma once

#include "io/record.hpp"

namespace hyperplane {

/// A row of the table. Seconds are of the counted turns.
struct ComparisonRow {
    std::string name;                    ///< "cg+struct_ilu:fill_level=1"
    std::string solver, preconditioner;  ///< as they were asked for
    std::string outcome;  ///< a stop reason, or refused, setup_failed, out_of_memory, given_up, not_tried
    std::string reason;   ///< why it failed, a sentence; empty where it converged
    int exit_code = 0;    ///< what a run of it alone would return
    Index iterations = 0;
    double relative_residual = 0.0;  ///< ||b - A x|| / ||b|| at the end
    Index turns = 0;                 ///< 0: it did not converge in the warm-up, whose times are given
    Timing setup, solve, total;
    double per_iteration = 0.0;         ///< solve.median / iterations
    double preconditioner_share = 0.0;  ///< of the solve, in the recording pass; NaN: not timed
    Index peak = 0, predicted = 0;      ///< bytes of a run of this candidate alone
    double ratio = 0.0;                 ///< total.median / the baseline's; 0 where either failed
    Index beaten = 0;                   ///< turns in which the best was faster
    int repeatable = 1;                 ///< 0: passes differed in iterations or residual

    bool converged() const { return exit_code == 0; }
};

/// A counted turn of a candidate: seconds of its set-up and of its solve.
struct TurnRow {
    std::string name;
    Index turn = 0;  ///< from 0
    double setup = 0.0, solve = 0.0;
};

/// A pair that cannot work together.
struct LeftOut {
    std::string name, reason;
};

struct ComparisonData {
    int schema_version = record_schema_version;
    std::string path, code_version, git_sha, deck_file;
    int exit_code = 0;
    std::string baseline, best;                 ///< names; best is empty where none converged
    std::string recommendation;                 ///< a few lines; empty where none was asked for
    std::map<std::string, std::string> system;  ///< problem, criterion, fingerprints, device: text each
    std::vector<ComparisonRow> rows;
    bool complete = true;  ///< false: a signal or worse stopped it, and the same command goes on
    Index turns_done = 0;  ///< by all candidates that take turns
    std::string identity;  ///< of the candidates, their decks and the rules; equal for the same command
    std::vector<TurnRow> turns;
    std::vector<LeftOut> left_out;
    std::vector<RecordData> records;  ///< one for each row
};

/// Throws FileError.
void write_comparison(ComparisonData& comparison, Overwrite overwrite = Overwrite::own);
ComparisonData read_comparison(const std::string& path);
/// Whether the file is one of these; false for what cannot be read.
bool is_comparison(const std::string& path);

}  // namespace hyperplane
