// SPDX-License-Identifier: BSD-3-Clause
// The HDF5 record of a run, schema 2 (docs/record.md lists every group, attribute and dataset).
//
// A record is built in memory and written to disk only as whole files (io/atomic_file.hpp): each `publish` replaces
// FILE.part; `finish` writes FILE and removes FILE.part. So a run that is killed leaves a readable FILE.part with
// status = running, never a FILE that looks finished; one whose FILE does not fit on the disk leaves FILE.part with
// status = failed.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/interfaces/history.hpp"
#include "core/interfaces/march_rows.hpp"
#include "core/interfaces/preconditioner.hpp"
#include "core/interfaces/problem.hpp"
#include "core/interfaces/solver.hpp"
#include "core/interfaces/solver_state.hpp"
#include "core/profile.hpp"
#include "core/timer.hpp"
#include "io/output_guard.hpp"

namespace hyperplane {

inline constexpr int record_schema_version = 2;  ///< written; 1, with text of variable length, is read, too

/// What is known when a run begins.
struct RecordHeader {
    std::string code_version, git_sha;
    std::string deck_file, deck_source, deck_resolved;
    std::string deck_folder;                         ///< folder of the files that the deck names, an absolute path
    std::vector<std::string> overrides;              ///< "section.key=value"
    std::map<std::string, std::string> environment;  ///< backend, device, host, threads, compiler, slurm_job, ...
    Grid grid;
    std::string layout, stencil;
    int dof = 1;
    bool symmetric = false;  ///< the first matrix equals its transpose; false in records of programs before 0.2.0
    std::optional<PatternStatistics> pattern = std::nullopt;        ///< of a general matrix
    std::optional<PatternStatistics> given_pattern = std::nullopt;  ///< the same before its rows were ordered
};

/// A row of /solves.
struct SolveRow {
    Index step = 0, newton = 0;
    Index unknowns = 0, stored_entries = 0;
    SolveReport report;
    SetupReport setup;
    double setup_seconds = 0.0, solve_seconds = 0.0;
};

/// A part of a run: from where a process began or continued it to where that process ended.
struct PartRow {
    std::string started;  ///< "2026-03-01T12:00:00Z"
    std::string host, device;
    Index threads = 0;
    std::string git_sha;  ///< commit of the program
    Index step = 0;       ///< time steps completed when it began
    double seconds =
        std::numeric_limits<double>::quiet_NaN();  ///< wall time until the record was written; NaN: unknown
    std::string changed = {};  ///< keys that have other values than in the part before, as deck_differences
    std::string ended = {};    ///< a record's status, or "died": a later part continued from its checkpoint
};

/// A file of fields of a series, output.fields_every.
struct SnapshotRow {
    Index step = 0;  ///< time steps completed; 0: the initial state
    double time = 0.0;
    std::string file;  ///< relative to the record's folder
};

/// A scalar at the initial state and after every step.
struct DiagnosticSeries {
    std::string name, unit, description;
    std::vector<double> values;
};

/// Diagnostics of the states that a run went through.
struct DiagnosticTable {
    std::vector<Index> step;  ///< time steps completed; 0: the initial state
    std::vector<double> time;
    std::vector<DiagnosticSeries> series;  ///< each as long as step

    /// Adds the diagnostics after `at` steps, at the time `when`. The first row fixes the names.
    void add(Index at, double when, const std::vector<Diagnostic>& row);
};

/// The state from which a run can be continued, or the last good state of a run that failed.
struct RunState {
    Index step = 0;        ///< steps completed
    double time = 0.0;     ///< at the end of the last completed step
    Index newton = 0;      ///< Newton steps completed in the current time step
    Index iterations = 0;  ///< iterations of the current linear solve
    SavedValues u = {};    ///< newest Newton iterate of the current time step; natural order, dof fastest
    /// The states of time stepping, Newton's method and, within a solve, the Krylov method, by item
    /// (core/interfaces/solver_state.hpp).
    SolverItems solver = {};

    /// All its arrays, always in the same order.
    std::vector<const SavedValues*> arrays() const;
};

class RecordWriter {
public:
    /// Publishes a record with this header. Throws FileError if FILE or FILE.part cannot be written, or exist and may
    /// not be replaced.
    RecordWriter(const std::string& path, const RecordHeader& header, Overwrite overwrite = Overwrite::own);
    /// A record that is kept in memory and never written: that of a rank which is not the first.
    static RecordWriter in_memory(const RecordHeader& header);
    ~RecordWriter();
    RecordWriter(RecordWriter&&) noexcept;

    void add_step(const StepRow& row);
    void add_newton(const NewtonRow& row);
    void add_solve(const SolveRow& row, const std::vector<HistoryEntry>& history);
    void add_diagnostics(Index step, double time, const std::vector<Diagnostic>& row);
    void set_diagnostics(const DiagnosticTable& table);
    /// The files of fields that exist so far.
    void set_snapshots(const std::vector<SnapshotRow>& rows);
    /// Error norms of the final state and observed orders, by name.
    void set_verification(const std::vector<ErrorNorm>& norms);
    /// Earlier parts, and the part that this object records.
    const std::vector<PartRow>& parts() const;
    /// Says that the run is continued after these parts and after `step` time steps, with keys that have changed.
    void set_parts_before(std::vector<PartRow> parts, Index step, const std::string& changed = "");
    /// `peak_by_label` is in bytes. Timers that are running count with their current values.
    void set_performance(const TimerTree& timers, const std::map<std::string, Index>& peak_by_label, Index peak_total,
                         Index predicted_total);
    /// Sets the sentence that reading, ordering and setting up a general matrix took as long as many iterations; empty
    /// if they did not.
    void set_long_preparation(const std::string& sentence);
    /// Sets how the triangular solves with a general matrix's factors went: sync_free, levels or natural_order; empty
    /// if they go one way alone.
    void set_triangular_solves(const std::string& way);
    /// Sets the kinds of work of this part of the run (core/profile.hpp).
    void set_profile(const std::vector<ProfileRow>& rows);
    /// Sets the bandwidth of the memory in GB/s, with which that of the timers can be compared.
    void set_memory_limit(double rate);
    /// Where ranks have parts of the state, every rank must call it; the first one keeps it in an unnamed file in the
    /// record's folder. If the disk is too full for that, `finish` will throw the FileError.
    void set_state(const RunState& state);
    /// Writes the record so far, with `state`, to a checkpoint. If ranks have parts of the state, it must be called
    /// within SavedValues::read_on_first_rank. Throws FileError.
    void write_checkpoint(const std::string& path, Index sequence, const RunState& state, Overwrite overwrite) const;
    /// Replaces FILE.part; the status stays "running". If it throws FileError, the earlier FILE.part is as before.
    void publish();
    /// Sets status (ok | failed | preempted), a message and the exit code, writes FILE and removes FILE.part. If it
    /// throws FileError, FILE is as before, and FILE.part says that the run failed, without the state, or is as before
    /// where there is no room for that either. If another `file` is named, that is written in place of FILE.
    void finish(const std::string& status, ExitCode exit_code, const std::string& message,
                const std::string& file = "");
    /// Whether a state has been kept, from which another run may go on.
    bool has_state() const;
    /// Tells in FILE.part that the run failed and how, without a state, and leaves FILE as it is.
    void leave_in_part(ExitCode exit_code, const std::string& message);

private:
    RecordWriter();

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The contents of a record. Reading throws a FileError that names what is missing if the file is not a record.
struct RecordData : RecordHeader {
    int schema_version = 0;
    std::string path, status, message;
    int exit_code = 0;  ///< -1: the run has not ended
    std::vector<StepRow> steps;
    std::vector<NewtonRow> newton;
    std::vector<SolveRow> solves;
    std::vector<std::vector<HistoryEntry>> histories;  ///< one for each solve
    DiagnosticTable diagnostics;
    std::vector<SnapshotRow> snapshots;
    std::vector<ErrorNorm> verification;
    std::vector<PartRow> parts;       ///< in the order of time; at least one
    std::vector<TimerRow> timers;     ///< of all parts together; for memory, the largest of any part
    std::string long_preparation;     ///< as in RecordWriter::set_long_preparation
    std::string triangular_solves;    ///< as in RecordWriter::set_triangular_solves
    std::vector<ProfileRow> profile;  ///< of the newest part; empty without output.profile
    std::map<std::string, Index> peak_by_label;
    Index peak_total = 0, predicted_total = 0;
    double memory_limit = 0.0;  ///< GB/s; 0: not measured
    bool has_state = false;
    RunState state;
};

/// For each part that went on with other values of keys, when and which: "from step 4 on solver.rtol is 1e-6, was
/// 1e-8".
std::vector<std::string> changes_of_parts(const std::vector<PartRow>& parts);

/// The newest part, from environment and status; nothing else is known of parts in records of programs before 0.2.0.
PartRow only_part(const RecordData& record);

/// The record of a run that has just begun.
RecordData begin_record(const std::string& path, const RecordHeader& header);

/// The values of the state stay in the file until they are needed.
RecordData read_record(const std::string& path);

}  // namespace hyperplane
