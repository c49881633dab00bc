// SPDX-License-Identifier: BSD-3-Clause
#include "io/record.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>

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

void write_record(RecordData& record, const std::string& path, Overwrite overwrite) {
    write_sealed(path, image_of(record, path), {FileKind::record}, overwrite);
}

}  // namespace

void DiagnosticTable::add(Index at, double when, const std::vector<Diagnostic>& row) {
    if (series.empty())
        for (const Diagnostic& d : row) series.push_back({d.name, d.unit, d.description, {}});
    step.push_back(at);
    time.push_back(when);
    for (std::size_t k = 0; k < row.size(); ++k) series.at(k).values.push_back(row[k].value);
}

struct RecordWriter::Impl {
    RecordData data;
    Overwrite overwrite;
    bool written = true;
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    std::string part() const { return data.path + ".part"; }
    /// Sets how long the newest part has taken, and how it ended.
    void close_part(const std::string& ended) {
        data.parts.back().seconds = seconds_since(begin);
        data.parts.back().ended = ended;
    }
};

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
    d.schema_version = record_schema_version;
    d.path = path;
    d.code_version = header.code_version;
    d.git_sha = header.git_sha;
    d.status = "running";
    d.exit_code = not_ended;
    d.deck_file = header.deck_file;
    d.deck_folder = header.deck_folder;
    d.deck_source = header.deck_source;
    d.deck_resolved = header.deck_resolved;
    d.overrides = header.overrides;
    d.environment = header.environment;
    d.grid = header.grid;
    d.layout = header.layout;
    d.stencil = header.stencil;
    d.dof = header.dof;
    d.symmetric = header.symmetric;
    d.pattern = header.pattern;
    d.given_pattern = header.given_pattern;
    d.parts = {only_part(d)};
    return d;
}

RecordWriter::RecordWriter(const std::string& path, const RecordHeader& header, Overwrite overwrite)
    : impl_(new Impl{begin_record(path, header), overwrite}) {
    // If the file cannot be written, that is an error now and not after the solve.
    { const AtomicFile possible(path, FileKind::record, overwrite); }
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

void RecordWriter::set_parts_before(std::vector<PartRow> parts, Index step) {
    if (!parts.empty() && parts.back().ended == "running") parts.back().ended = "died";
    PartRow now = impl_->data.parts.back();
    now.step = step;
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

void RecordWriter::set_profile(const std::vector<ProfileRow>& rows) {
    impl_->data.profile = rows;
}

void RecordWriter::set_memory_limit(double rate) {
    impl_->data.memory_limit = rate;
}

void RecordWriter::set_state(const RunState& state) {
    impl_->data.state = state;
    impl_->data.has_state = true;
}

std::vector<char> RecordWriter::image(const RunState& state) const {
    impl_->close_part("running");
    RecordData record = impl_->data;
    record.state = state;
    record.has_state = true;
    return image_of(record, record.path);
}

void RecordWriter::publish() {
    if (!impl_->written) return;
    impl_->close_part("running");
    write_record(impl_->data, impl_->part(), impl_->overwrite);
}

void RecordWriter::finish(const std::string& status, ExitCode exit_code, const std::string& message) {
    if (!impl_->written) return;
    RecordData& d = impl_->data;
    impl_->close_part(status);
    d.status = status;
    d.exit_code = int(exit_code);
    d.message = message;
    write_record(d, d.path, impl_->overwrite);
    unlink(impl_->part().c_str());
}

RecordData read_record(const std::string& path) {
    return read_proven(path, [&] {
        const hdf5::Quiet quiet;
        RecordData record;
        record.path = path;
        const hdf5::Id file = hdf5::open_to_read(path);
        const hdf5::Group root = hdf5::Group::root(file, hdf5::Mode::read, path);
        if (root.has_group("candidates"))
            throw FileError(path + ": holds a comparison, not the record of a run (hyperplane info shows it)");
        transfer_record(root, record);
        return record;
    });
}

}  // namespace hyperplane
