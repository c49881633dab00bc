// SPDX-License-Identifier: BSD-3-Clause
// The HDF5 file of a comparison (docs/compare.md lists every group, attribute and dataset).
//
//   /             what was compared, and the table: a row for each candidate, as `hyperplane compare` sorts them
//   /candidates   a group for each candidate: the whole record of its recording pass (io/record.hpp)
#pragma once

#include "io/record.hpp"

namespace hyperplane {

/// A row of the table. Times are those of the counted turns.
struct ComparisonRow {
    std::string name;                    ///< "cg+struct_ilu:fill_level=1"
    std::string solver, preconditioner;  ///< as the user named them
    std::string outcome;   ///< a stop reason, or refused, setup_failed, out_of_memory, given_up, not_tried
    std::string reason;    ///< a sentence that says why it failed; empty if it converged
    int exit_code = 0;     ///< the exit code of a run with this candidate alone
    Index iterations = 0;  ///< of the recording pass
    Index iterations_least = 0, iterations_most = 0;  ///< of the recording pass and the turns
    double relative_residual = 0.0;                   ///< ||b - A x|| / ||b|| at the end
    Index turns = 0;  ///< 0: it did not converge in the warm-up, and the times are those of the warm-up
    Timing setup, solve, total;
    double per_iteration = 0.0;         ///< median of solve / iterations of the turns
    double preconditioner_share = 0.0;  ///< share of the solve's time in the recording pass; NaN: not timed
    Index peak = 0, predicted = 0;      ///< bytes of a run of this candidate alone
    double ratio = 0.0;                 ///< total.median / the baseline's; 0 if one of them failed
    Index pays_off_from = 0;  ///< solves from which on it beats the baseline (apps/compare/text.hpp); 0: never
    Index beaten = 0;         ///< number of turns in which the best candidate was faster
    int repeatable = 1;       ///< 0: its passes differed in iterations or residual

    bool converged() const { return exit_code == 0; }
};

/// A counted turn of a candidate, with the seconds of its set-up and of its solve, and the solve's iterations.
struct TurnRow {
    std::string name;
    Index turn = 0;  ///< from 0
    double setup = 0.0, solve = 0.0;
    Index iterations = 0;  ///< 0 in files of a program that did not keep them
};

/// A pair that cannot work together.
struct LeftOut {
    std::string name, reason;
};

struct ComparisonData {
    int schema_version = record_schema_version;
    std::string path, code_version, git_sha, deck_file;
    int exit_code = 0;
    std::string baseline, best;                 ///< names of candidates; `best` is empty if none converged
    std::string recommendation;                 ///< a few lines; empty if the user did not ask for one
    std::map<std::string, std::string> system;  ///< problem, criterion, fingerprints and device, each as text
    double compile_seconds = 0.0;  ///< of the compiler of kernels; 0 in files of a program that did not keep them
    std::vector<ComparisonRow> rows;
    bool complete = true;  ///< false: it was stopped, by a signal or otherwise, and the same command continues it
    Index turns_done = 0;  ///< turns completed by all candidates that take turns
    std::string identity;  ///< hash of the candidates, their decks and the rules; equal for the same command
    std::vector<TurnRow> turns;
    std::vector<LeftOut> left_out;
    std::vector<RecordData> records;  ///< one for each row
};

/// Writes the file. Throws FileError.
void write_comparison(ComparisonData& comparison, Overwrite overwrite = Overwrite::own);
ComparisonData read_comparison(const std::string& path);
/// Whether a file holds a comparison; false if it cannot be read.
bool is_comparison(const std::string& path);

}  // namespace hyperplane
