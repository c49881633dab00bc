// SPDX-License-Identifier: BSD-3-Clause
#include "io/record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "core/with_place.hpp"
#include "io/atomic_file.hpp"
#include "io/hdf5.hpp"
#include "io/record_schema.hpp"
#include "io/sealed_file.hpp"

namespace hyperplane {
namespace {

constexpr int not_ended = -1;  // exit_code of a run that has not ended

std::vector<char> image_of(RecordData& record, const std::string& path) {
    const hdf5::Quiet quiet;
    const hdf5::Id file = hdf5::create_in_memory();
    transfer_record(hdf5::Group::root(file, hdf5::Mode::write, path), record);
    return hdf5::image_of(file);
}

bool is_in_memory(const RunState& state) {
    const std::vector<const SavedValues*> arrays = state.arrays();
    return std::all_of(arrays.begin(), arrays.end(), [](const SavedValues* values) { return values->in_memory(); });
}

Index bytes_of(const SavedValues& values) {
    return values.size() * Index(sizeof(double));
}

/// The most bytes that an image of a record takes.
Index most_bytes_of(RecordData& record, const std::string& path) {
    constexpr Index bytes_of_groups = 64 * 1024, bytes_of_name = 1024;
    record.has_state = false;
    Index bytes = Index(image_of(record, path).size()) + bytes_of_groups;
    record.has_state = true;
    for (const SavedValues* values : record.state.arrays()) bytes += bytes_of_name + bytes_of(*values);
    return bytes;
}

/// Writes a record, of which nothing but values of its state may be elsewhere than in memory.
void write_record(RecordData& record, const std::string& path, const Seal& seal, Overwrite overwrite) {
    if (!record.has_state || is_in_memory(record.state))
        return write_sealed(path, image_of(record, path), seal, overwrite);
    const auto write_structure = [&](const std::string& name) {
        return with_place(path, [&] {
            const hdf5::Quiet quiet;
            Places places;
            const hdf5::Id file = hdf5::create_on_disk(name, seal_bytes);
            transfer_record(hdf5::Group::root(file, hdf5::Mode::write, path), record, &places);
            hdf5::check(H5Fflush(file, H5F_SCOPE_GLOBAL), "write the file's structure");
            return places;
        });
    };
    write_sealed(path, most_bytes_of(record, path), write_structure, seal, overwrite);
}

/// Moves values that are not in memory to a file without a name, which ends with them.
void keep_on_disk(RunState& state, const std::string& path, Overwrite overwrite) {
    const auto file = std::make_shared<AtomicFile>(path, FileKind::record, overwrite);
    Index at = 0;
    const auto move = [&](SavedValues& values) {
        if (values.in_memory()) return;
        const Index begin = at;
        file->reserve(begin + bytes_of(values));
        values.for_each_piece([&](Index /*first*/, const std::vector<double>& piece) {
            file->write(piece.data(), Index(piece.size() * sizeof(double)), at);
            at += Index(piece.size() * sizeof(double));
        });
        values = {values.size(), [file, begin](Index first, Index count, double* to) {
                      file->read(to, count * Index(sizeof(double)), begin + first * Index(sizeof(double)));
                  }};
    };
    move(state.u);
    for (auto& [name, values] : state.solver) move(values);
}

}  // namespace

void DiagnosticTable::add(Index at, double when, const std::vector<Diagnostic>& row) {
    if (series.empty())
        for (const Diagnostic& d : row) series.push_back({d.name, d.unit, d.description, {}});
    step.push_back(at);
    time.push_back(when);
    for (std::size_t k = 0; k < row.size(); ++k) series.at(k).values.push_back(row[k].value);
}

std::vector<const SavedValues*> RunState::arrays() const {
    std::vector<const SavedValues*> all{&u};
    for (const auto& [name, values] : solver) all.push_back(&values);
    return all;
}

struct RecordWriter::Impl {
    RecordData data;
    Overwrite overwrite;
    bool written = true;
    std::string not_kept = {};  ///< why the state could not be kept; empty: it was
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    std::string part() const { return data.path + ".part"; }
    /// Sets how the run ended.
    void end(const std::string& status, ExitCode exit_code, const std::string& message) {
        close_part(status);
        data.status = status;
        data.exit_code = int(exit_code);
        data.message = message;
    }
    /// Replaces FILE.part, which says that the run goes on, by what is known without the state, if there is room.
    void tell_failure(ExitCode exit_code, const std::string& message) {
        end("failed", exit_code, message);
        data.has_state = false;
        data.state = {};
        try {
            write_record(data, part(), {FileKind::record}, overwrite);
        } catch (const FileError&) {
            // It stays as it was.
        }
    }
    /// Sets how long the newest part has taken, and how it ended.
    void close_part(const std::string& ended) {
        data.parts.back().seconds = seconds_since(begin);
        data.parts.back().ended = ended;
    }
};

std::vector<std::string> changes_of_parts(const std::vector<PartRow>& parts) {
    std::vector<std::string> lines;
    for (const PartRow& part : parts)
        if (!part.changed.empty()) lines.push_back(fmt::format("from step {} on {}", part.step + 1, part.changed));
    return lines;
}

PartRow only_part(const RecordData& record) {
    const auto get = [&](const char* key) {
        const auto at = record.environment.find(key);
        return at == record.environment.end() ? std::string() : at->second;
    };
    PartRow part{.started = get("started"), .host = get("host"), .device = get("device"), .git_sha = record.git_sha};
    part.threads = std::atoll(get("threads").c_str());
    part.ended = record.status;
    return part;
}

RecordData begin_record(const std::string& path, const RecordHeader& header) {
    RecordData d;
    static_cast<RecordHeader&>(d) = header;
    d.schema_version = record_schema_version;
    d.path = path;
    d.status = "running";
    d.exit_code = not_ended;
    d.parts = {only_part(d)};
    return d;
}

RecordWriter::RecordWriter(const std::string& path, const RecordHeader& header, Overwrite overwrite)
    : impl_(new Impl{begin_record(path, header), overwrite}) {
    // If the file cannot be written, that is an error now and not after the solve.
    require_writable(path, FileKind::record, overwrite);
    publish();
}

RecordWriter RecordWriter::in_memory(const RecordHeader& header) {
    RecordWriter record;
    record.impl_.reset(new Impl{begin_record("", header), Overwrite::own, false});
    return record;
}

RecordWriter::RecordWriter() = default;
RecordWriter::~RecordWriter() = default;
RecordWriter::RecordWriter(RecordWriter&&) noexcept = default;

void RecordWriter::add_step(const StepRow& row) {
    impl_->data.steps.push_back(row);
}

void RecordWriter::add_newton(const NewtonRow& row) {
    impl_->data.newton.push_back(row);
}

void RecordWriter::add_diagnostics(Index step, double time, const std::vector<Diagnostic>& row) {
    impl_->data.diagnostics.add(step, time, row);
}

void RecordWriter::set_diagnostics(const DiagnosticTable& table) {
    impl_->data.diagnostics = table;
}

void RecordWriter::set_snapshots(const std::vector<SnapshotRow>& rows) {
    impl_->data.snapshots = rows;
}

void RecordWriter::add_solve(const SolveRow& row, const std::vector<HistoryEntry>& history) {
    impl_->data.solves.push_back(row);
    impl_->data.histories.push_back(history);
}

void RecordWriter::set_verification(const std::vector<ErrorNorm>& norms) {
    impl_->data.verification = norms;
}

const std::vector<PartRow>& RecordWriter::parts() const {
    return impl_->data.parts;
}

void RecordWriter::set_parts_before(std::vector<PartRow> parts, Index step, const std::string& changed) {
    if (!parts.empty() && parts.back().ended == "running") parts.back().ended = "died";
    PartRow now = impl_->data.parts.back();
    now.step = step;
    now.changed = changed;
    parts.push_back(now);
    impl_->data.parts = std::move(parts);
}

void RecordWriter::set_performance(const TimerTree& timers, const std::map<std::string, Index>& peak_by_label,
                                   Index peak_total, Index predicted_total) {
    impl_->data.timers = timers.rows_so_far();
    impl_->data.peak_by_label = peak_by_label;
    impl_->data.peak_total = peak_total;
    impl_->data.predicted_total = predicted_total;
}

void RecordWriter::set_long_preparation(const std::string& sentence) {
    impl_->data.long_preparation = sentence;
}

void RecordWriter::set_triangular_solves(const std::string& way) {
    impl_->data.triangular_solves = way;
}

void RecordWriter::set_profile(const std::vector<ProfileRow>& rows) {
    impl_->data.profile = rows;
}

void RecordWriter::set_memory_limit(double rate) {
    impl_->data.memory_limit = rate;
}

void RecordWriter::set_state(const RunState& state) {
    RecordData& d = impl_->data;
    d.has_state = impl_->written;
    d.state = impl_->written ? state : RunState{};
    SavedValues::read_on_first_rank(state.arrays(), [&] {
        if (!impl_->written) return;
        try {
            keep_on_disk(d.state, d.path, impl_->overwrite);
        } catch (const FileError& error) {
            impl_->not_kept = error.what();
            d.has_state = false;
            d.state = {};
        }
    });
}

void RecordWriter::write_checkpoint(const std::string& path, Index sequence, const RunState& state,
                                    Overwrite overwrite) const {
    impl_->close_part("running");
    RecordData record = impl_->data;
    record.state = state;
    record.has_state = true;
    write_record(record, path, {FileKind::checkpoint, sequence}, overwrite);
}

void RecordWriter::publish() {
    if (!impl_->written) return;
    impl_->close_part("running");
    write_record(impl_->data, impl_->part(), {FileKind::record}, impl_->overwrite);
}

bool RecordWriter::has_state() const {
    return impl_->data.has_state;
}

void RecordWriter::leave_in_part(ExitCode exit_code, const std::string& message) {
    if (impl_->written) impl_->tell_failure(exit_code, message);
}

void RecordWriter::finish(const std::string& status, ExitCode exit_code, const std::string& message,
                          const std::string& file) {
    if (!impl_->written) return;
    impl_->end(status, exit_code, message);
    try {
        if (!impl_->not_kept.empty()) throw FileError(impl_->not_kept);
        write_record(impl_->data, file.empty() ? impl_->data.path : file, {FileKind::record}, impl_->overwrite);
    } catch (const FileError& error) {
        impl_->tell_failure(ExitCode::file,
                            fmt::format("{}; the record could not be written: {}", message, error.what()));
        throw;
    }
    unlink(impl_->part().c_str());
}

RecordData read_record(const std::string& path) {
    return read_proven(path, [&](bool sealed) {
        const hdf5::Quiet quiet;
        RecordData record;
        record.path = path;
        const hdf5::Id file = hdf5::open_to_read(path);
        const hdf5::Group root = hdf5::Group::root(file, hdf5::Mode::read, path);
        if (root.has("candidates"))
            throw FileError(path + ": holds a comparison, not the record of a run (hyperplane info shows it)");
        if (root.has("VTKHDF"))
            throw FileError(path +
                            ": holds fields for ParaView, not the record of a run; hyperplane plot NAME.h5, the record "
                            "beside it, draws them");
        if (root.has_attribute("study_schema_version"))
            throw FileError(path +
                            ": holds the collected cases of a study, not the record of a run (hyperplane info "
                            "shows them); name the record of one of its cases");
        transfer_record(root, record);
        if (!sealed) {  // only what a child process has read before is safe to read
            record.state.u = record.state.u.all();
            for (auto& [name, values] : record.state.solver) values = values.all();
        }
        return record;
    });
}

}  // namespace hyperplane
