// SPDX-License-Identifier: BSD-3-Clause
// The fields of a run's states, as files for ParaView: of the final state (output.fields), and of states on the way as
// a series in time (output.fields_every).
//
//   NAME.h5  ->  NAME_series/step_00000000.vtkhdf, ...   whole files, one for each state of the series
//                NAME_series.vtkhdf                      shows them as one series; replaced after each of them
//
// So a run that is killed leaves a series of all states that were kept. A run that goes on keeps those up to the state
// from which it goes on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/run/case.hpp"
#include "apps/run/outcome.hpp"

namespace hyperplane {

/// Number and size of the files that the series of a case takes.
struct FieldsOnDisk {
    /// The number of files, if the number of time steps is known; if `at_most`, the most there can be.
    std::optional<Index> files = std::nullopt;
    bool at_most = false;
    Index bytes_each = 0;  ///< on the disk
    Index memory = 0;      ///< bytes while one of them is written
    Index bytes() const { return of(files.value_or(1), bytes_each); }
    /// The bytes of `files` files of `bytes_each`; the largest Index where they are more than that.
    static Index of(Index files, Index bytes_each);
};
FieldsOnDisk fields_on_disk(const Case& a_case);

/// Bytes of the disk that a run of the case can fill: what is free there, and its own earlier series.
Index room_for_fields(const Case& a_case);

/// Bytes of the disk that the record of a run takes at the least, with its final state, and the final fields.
Index bytes_at_end(const Case& a_case);

/// Throws FileError if the disk has no room for those, and for the files of the series beyond the first `written`.
void check_room_on_disk(const Case& a_case, Index written);

/// Writes the fields of a state in the host's memory to the file `path`; every rank must call it.
void write_fields(const Case& a_case, const Vector& u, double time, const std::string& path);

class FieldSeries {
public:
    FieldSeries(const Case& a_case, RecordWriter& record);

    /// Before the first state: takes over the files of the part before, and removes those of other runs of this name.
    /// `step`: the time steps completed. A file of a state that only ended the part before is left out, so that the
    /// series is that of one longer run.
    void begin(std::vector<SnapshotRow> before, Index step);
    /// Whether the state after `step` time steps belongs to the series and is not there yet.
    bool due_after(Index step) const;
    /// Writes the state, which may be on a GPU, unless it is there already.
    void add(const Vector& u, Index step, double time, Outcome& outcome);

private:
    std::string path_of(Index step) const;
    void remove_others() const;
    void show() const;

    const Case& case_;
    RecordWriter& record_;
    Index every_;
    std::vector<SnapshotRow> rows_;
};

}  // namespace hyperplane
