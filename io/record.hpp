// SPDX-License-Identifier: BSD-3-Clause
// The HDF5 record of a run, schema 1 (docs/record.md lists every group, attribute and dataset).
//
// A record grows in memory and reaches the disk only as whole files (io/atomic_file.hpp): each
// publish replaces FILE.part, finish writes FILE and removes FILE.part. So a killed run leaves a
// FILE.part that opens and says status = running, never a FILE that looks finished.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/interfaces/history.hpp"
#include "core/interfaces/linear_operator.hpp"
#include "core/interfaces/march_rows.hpp"
#include "core/interfaces/problem.hpp"
#include "core/interfaces/solver.hpp"
#include "core/timer.hpp"
#include "io/output_guard.hpp"

namespace hyperplane {

inline constexpr int record_schema_version = 1;

/// What is known when a run begins.
struct RecordHeader {
    std::string code_version, git_sha;
    std::string deck_file, deck_source, deck_resolved;
    std::string deck_folder;                         ///< where the files lie that the deck names; an absolute path
    std::vector<std::string> overrides;              ///< "section.key=value"
    std::map<std::string, std::string> environment;  ///< backend, device, host, threads, compiler, slurm_job, ...
    Grid grid;
    std::string layout, stencil;
    int dof = 1;
};

/// A row of /solves.
struct SolveRow {
    Index step = 0, newton = 0;
    Index unknowns = 0, stored_entries = 0;
    SolveReport report;
    SetupReport setup;
    double setup_seconds = 0.0, solve_seconds = 0.0;
};

/// A part of a run: from where it began, or went on, to where it ended or died.
struct PartRow {
    std::string started;  ///< "2026-03-01T12:00:00Z"
    std::string host, device;
    Index threads = 0;
    std::string git_sha;  ///< of the program
    Index step = 0;       ///< time steps completed when it began
    double seconds =
        std::numeric_limits<double>::quiet_NaN();  ///< wall time until the record was written; NaN: not known
    std::string ended;  ///< as a record's status; "died": a later part went on from its checkpoint
};

/// A scalar at every step, from the initial state on.
struct DiagnosticSeries {
    std::string name, unit, description;
    std::vector<double> values;
};

/// Diagnostics of the states that a run went through.
struct DiagnosticTable {
    std::vector<Index> step;  ///< 0: the initial state
    std::vector<double> time;
    std::vector<DiagnosticSeries> series;  ///< each as long as step

    /// `at` steps completed, at the time `when`. The first row fixes the names.
    void add(Index at, double when, const std::vector<Diagnostic>& row);
};

/// What a run needs to go on, or the last good state of one that failed.
struct RunState {
    Index step = 0;         ///< steps completed
    double time = 0.0;      ///< at the end of the last completed step
    Index newton = 0;       ///< Newton steps completed within the step under way
    Index iterations = 0;   ///< of the linear solve under way
    std::vector<double> u;  ///< newest Newton iterate of the step under way; natural order, dof fastest
    /// The states of time stepping, Newton's method and, within a solve, the Krylov method, by item
    /// (core/interfaces/solver_state.hpp).
    std::map<std::string, std::vector<double>> solver;
};

class RecordWriter {
public:
    /// Publishes what the header says; throws FileError when FILE or FILE.part cannot be written, or lie there and may
    /// not be replaced.
    RecordWriter(const std::string& path, const RecordHeader& header, Overwrite overwrite = Overwrite::own);
    ~RecordWriter();
    RecordWriter(RecordWriter&&) noexcept;

    void add_step(const StepRow& row);
    void add_newton(const NewtonRow& row);
    void add_solve(const SolveRow& row, const std::vector<HistoryEntry>& history);
    void add_diagnostics(Index step, double time, const std::vector<Diagnostic>& row);
    void set_diagnostics(const DiagnosticTable& table);
    /// Error norms of the final state and observed orders, by name.
    void set_verification(const std::vector<ErrorNorm>& norms);
    /// Those before, and the one that this writer is of.
    const std::vector<PartRow>& parts() const;
    /// The run goes on after these parts, and after so many time steps.
    void set_parts_before(std::vector<PartRow> parts, Index step);
    /// `peak_by_label` in bytes. Of timers that are running it takes what they show now.
    void set_performance(const TimerTree& timers, const std::map<std::string, Index>& peak_by_label, Index peak_total,
                         Index predicted_total);
    /// What the memory delivers, GB/s, to set the timers' bandwidth against.
    void set_memory_limit(double rate);
    void set_state(const RunState& state);
    /// The bytes of the record as it stands, with `state`: what a checkpoint keeps.
    std::vector<char> image(const RunState& state) const;
    /// Replaces FILE.part; status stays "running". Throws FileError, leaving the earlier FILE.part.
    void publish();
    /// Sets status (ok | failed | preempted), a message and the exit code, writes FILE and removes
    /// FILE.part. A record that is ok keeps no state. Throws FileError, leaving both as they were.
    void finish(const std::string& status, ExitCode exit_code, const std::string& message);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// A record read back; throws FileError for a file that is not one, naming what is missing.
struct RecordData {
    int schema_version = 0;
    std::string path, code_version, git_sha, status, message;
    int exit_code = 0;  ///< -1: the run has not ended
    std::string deck_file, deck_folder, deck_source, deck_resolved;
    std::vector<std::string> overrides;
    std::map<std::string, std::string> environment;
    Grid grid;
    std::string layout, stencil;
    int dof = 1;
    std::vector<StepRow> steps;
    std::vector<NewtonRow> newton;
    std::vector<SolveRow> solves;
    std::vector<std::vector<HistoryEntry>> histories;  ///< one for each solve
    DiagnosticTable diagnostics;
    std::vector<ErrorNorm> verification;
    std::vector<PartRow> parts;    ///< in their order, at least one
    std::vector<TimerRow> timers;  ///< of all parts together, as is the memory: the largest of any
    std::map<std::string, Index> peak_by_label;
    Index peak_total = 0, predicted_total = 0;
    double memory_limit = 0.0;  ///< GB/s; 0: not measured
    bool has_state = false;
    RunState state;
};

/// What environment and status say of the newest part: all that is known of records of programs before 0.2.0.
PartRow only_part(const RecordData& record);

/// The record of a run that has only begun.
RecordData begin_record(const std::string& path, const RecordHeader& header);

RecordData read_record(const std::string& path);

}  // namespace hyperplane
