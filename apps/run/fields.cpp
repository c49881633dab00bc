// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "apps/base/log.hpp"
#include "core/counted.hpp"
#include "core/interfaces/saved_values.hpp"
#include "core/ranks/cuts.hpp"
#include "io/vtkhdf.hpp"

namespace hyperplane {
namespace {

namespace fs = std::filesystem;

constexpr Index most_at_once = 1 << 16;  // values of which a mean is summed

/// A state by block row in the given order, which the matrix's may differ from.
class GivenState {
public:
    /// For a state in the host's memory. Where ranks have parts of it, every rank must make one.
    GivenState(const Case& a_case, const Vector& u)
        : u_(u), order_(a_case.shape().order()), points_at_once_(vtkhdf_points_at_once(a_case.shape().grid)) {
        if (u.space().is_part()) parts_ = SavedValues::view_of(u, order_);
    }
    const Context& context() const { return u_.context(); }
    const SavedValues& parts() const { return parts_; }
    /// Before unknowns of these block rows are read, on the first rank within SavedValues::read_on_first_rank.
    void fetch(Index first, Index count) const {
        if (!parts_.is_part()) return;
        if (some_.size() == 0) some_ = Buffer<double>(context(), "fields", points_at_once_ * u_.dof());
        first_ = first;
        parts_.read(first * u_.dof(), count * u_.dof(), some_.data());
    }
    /// Copies the unknowns of a block row.
    void read(Index row, double* unknowns) const {
        if (parts_.is_part()) {
            std::copy_n(some_.data() + (row - first_) * u_.dof(), u_.dof(), unknowns);
            return;
        }
        const Index slot = u_.space().slot(order_ ? order_->place[row] : row) * u_.step();
        for (int c = 0; c < u_.dof(); ++c) unknowns[c] = u_.data()[u_.first(c) + slot];
    }

private:
    const Vector& u_;
    const RowOrder* order_;
    Index points_at_once_;
    SavedValues parts_;            ///< of all ranks in the given order
    mutable Buffer<double> some_;  ///< of the parts, on the first rank
    mutable Index first_ = 0;      ///< the block row at which it begins
};

using FieldValues = std::function<void(Index first, Index count, double* values)>;

/// The mean of a field of numbers over the points, summed in their order, so that it does not depend on layout, threads
/// or ranks. Each part is summed relative to the field's first value, whose size may exceed that of the differences.
double mean_of(const FieldValues& field, Index points, Index at_once) {
    std::vector<double> part(std::size_t(std::min({points, at_once, most_at_once})));
    double begin = 0.0, sum = 0.0;
    for (Index first = 0; first < points; first += Index(part.size())) {
        const Index count = std::min(Index(part.size()), points - first);
        field(first, count, part.data());
        if (first == 0) begin = part[0];
        double of_part = 0.0;
        for (Index at = 0; at < count; ++at) of_part += part[std::size_t(at)] - begin;
        sum += of_part;
    }
    return begin + sum / double(points);
}

/// A field from which its mean is subtracted.
FieldValues less_mean(FieldValues field, const Grid& grid) {
    const double mean = mean_of(field, grid.points(), vtkhdf_points_at_once(grid));
    return [field = std::move(field), mean](Index first, Index count, double* values) {
        field(first, count, values);
        for (Index at = 0; at < count; ++at) values[at] -= mean;
    };
}

/// Whether a field is the difference from the exact solution.
bool is_error(const std::string& field) {
    return field == "error" || field.ends_with("_error");
}

/// The fields of a problem as its files have them. `state` may be null for their names and sizes alone.
std::vector<NamedField> named_fields(const Case& a_case, const GivenState* state, double time) {
    const Problem& problem = *a_case.problem;
    std::vector<NamedField> all;
    for (Field& field : problem.fields()) {
        if (is_error(field.name) && !a_case.solution_belongs()) continue;
        const Grid grid = problem.shape().grid;
        const int components = field.components;
        FieldValues values = [state, grid, components, time, at = std::move(field.at)](Index first, Index count,
                                                                                       double* values) {
            state->fetch(first, count);
#pragma omp parallel for schedule(static) num_threads(state->context().threads_for(count))
            for (Index row = first; row < first + count; ++row) {
                std::array<double, max_dof> unknowns{};
                state->read(row, unknowns.data());
                at(unknowns.data(), grid.point(row), time, values + (row - first) * components);
            }
        };
        if (state && field.less_mean) values = less_mean(std::move(values), grid);
        all.push_back({field.name, components, field.unit, field.description, std::move(values)});
    }
    return all;
}

Index bytes_below(const std::string& folder) {
    Index bytes = 0;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
        if (entry.is_regular_file(none) && is_own(entry.path().string(), FileKind::fields))
            bytes += Index(entry.file_size(none));
    return bytes;
}

std::string folder_of_file(const std::string& path) {
    const std::string folder = fs::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

}  // namespace

Index FieldsOnDisk::of(Index files, Index bytes_each) {
    constexpr Index most = std::numeric_limits<Index>::max();
    return bytes_each > 0 && files > most / bytes_each ? most : files * bytes_each;
}

FieldsOnDisk fields_on_disk(const Case& a_case) {
    constexpr Index most_files = std::numeric_limits<Index>::max();
    const std::vector<NamedField> fields = named_fields(a_case, nullptr, 0.0);
    const Grid& grid = a_case.shape().grid;
    const Index every = a_case.parameters.integer("output", "fields_every");
    FieldsOnDisk needs{.at_most = a_case.time.seeks_steady_state() || a_case.time.controlled(),
                       .bytes_each = vtkhdf_bytes(grid, fields),
                       .memory = vtkhdf_memory(grid, fields)};
    if (a_case.space.is_part())  // the unknowns of as many points
        needs.memory += vtkhdf_points_at_once(grid) * a_case.shape().dof * Index(sizeof(double));
    if (const auto steps = a_case.steps(); steps && every > 0)
        needs.files = 1 + std::min(*steps > 0 ? (*steps - 1) / every + 1 : 0, most_files - 1);
    return needs;
}

Index room_for_fields(const Case& a_case) {
    std::error_code failed;
    const fs::space_info space = fs::space(folder_of_file(a_case.record_path()), failed);
    const Index free = failed ? std::numeric_limits<Index>::max() / 2 : Index(space.available);
    return free + bytes_below(a_case.series_folder());
}

Index bytes_at_end(const Case& a_case) {
    const std::string& kept = a_case.parameters.text("output", "state");
    const bool state = kept == "always" || (kept == "auto" && a_case.shape().regime != Regime::steady);
    const Index vector = a_case.unknowns() * Index(sizeof(double));
    Index bytes = 32 * 1024;  // of the shortest records, without a state
    if (state) bytes += (1 + a_case.time.vectors()) * vector;
    if (a_case.parameters.boolean("output", "fields")) bytes += fields_on_disk(a_case).bytes_each;
    return bytes;
}

void check_room_on_disk(const Case& a_case, Index written) {
    const Index room = room_for_fields(a_case), at_end = bytes_at_end(a_case);
    const FieldsOnDisk needs = fields_on_disk(a_case);
    const bool has_series = a_case.parameters.integer("output", "fields_every") > 0;
    const Index missing = needs.at_most || !needs.files ? 1 : std::max<Index>(0, *needs.files - written);
    const Index series = has_series ? FieldsOnDisk::of(missing, needs.bytes_each) : 0;
    if (series > room)
        throw FileError(
            fmt::format("output.fields_every: {} files of {} are {}, and the disk of {} has {} left; raise "
                        "the key, or set output.file to a name on another disk",
                        missing, in_mib(needs.bytes_each), in_mib(series), a_case.record_path(), in_mib(room)));
    if (at_end <= room - series) return;
    const bool nearly = in_mib(at_end + series) == in_mib(room);
    const auto size = [&](Index bytes) { return nearly ? fmt::format("{} bytes", bytes) : in_mib(bytes); };
    throw FileError(
        fmt::format("{}: record, state and final fields take at least {}{}, and that disk has {} left; set "
                    "output.file to a name on another disk, or do without output.fields or output.state",
                    a_case.record_path(), size(at_end),
                    has_series ? fmt::format(", and the series of fields {}", size(series)) : "", size(room)));
}

void write_fields(const Case& a_case, const Vector& u, double time, const std::string& path) {
    const GivenState state(a_case, u);
    SavedValues::read_on_first_rank({&state.parts()}, [&] {
        if (!is_first_rank(a_case.context)) return;
        write_vtkhdf(path, a_case.shape().grid, named_fields(a_case, &state, time), u.context(), a_case.overwrite);
    });
}

FieldSeries::FieldSeries(const Case& a_case, RecordWriter& record)
    : case_(a_case), record_(record), every_(a_case.parameters.integer("output", "fields_every")) {}

std::string FieldSeries::path_of(Index step) const {
    return fmt::format("{}/step_{:08}.vtkhdf", case_.series_folder(), step);
}

void FieldSeries::begin(std::vector<SnapshotRow> before, Index step) {
    if (every_ == 0) {
        record_.set_snapshots(before);
        return;
    }
    for (SnapshotRow& row : before) {
        if (row.step == step && step % every_ != 0) continue;
        if (fs::exists(path_of(row.step)))
            rows_.push_back(std::move(row));
        else if (is_first_rank(case_.context))
            logging::warn("{} is missing, and the series goes on without it", path_of(row.step));
    }
    if (!is_first_rank(case_.context)) return;
    std::error_code failed;
    fs::create_directories(case_.series_folder(), failed);
    if (failed) throw FileError(fmt::format("{}: cannot be made: {}", case_.series_folder(), failed.message()));
    remove_others();
    if (!rows_.empty()) show();
}

void FieldSeries::remove_others() const {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(case_.series_folder(), none)) {
        const std::string path = entry.path().string();
        const bool kept =
            std::any_of(rows_.begin(), rows_.end(), [&](const SnapshotRow& row) { return path == path_of(row.step); });
        if (!kept && entry.path().extension() == ".vtkhdf") remove_own(path, FileKind::fields);
    }
}

bool FieldSeries::due_after(Index step) const {
    return every_ > 0 && step % every_ == 0 && (rows_.empty() || rows_.back().step != step);
}

void FieldSeries::add(const Vector& u, Index step, double time, Outcome& outcome) {
    if (every_ == 0 || (!rows_.empty() && rows_.back().step == step)) return;
    TimerScope scope(outcome.timers, "output");
    Vector copy;
    write_fields(case_, on_host(u, copy), time, path_of(step));
    rows_.push_back({step, time,
                     fmt::format("{}/{}", fs::path(case_.series_folder()).filename().string(),
                                 fs::path(path_of(step)).filename().string())});
    show();
    outcome.series_file = case_.series_path();
}

void FieldSeries::show() const {
    if (!is_first_rank(case_.context)) return;
    std::vector<TimedFile> files;
    for (const SnapshotRow& row : rows_) files.push_back({row.time, row.file});
    write_vtkhdf_series(case_.series_path(), case_.shape().grid, named_fields(case_, nullptr, 0.0), files,
                        case_.overwrite);
    record_.set_snapshots(rows_);
}

}  // namespace hyperplane
