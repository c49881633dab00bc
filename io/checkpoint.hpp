// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints of a run: two slots beside its record, written in turn, so that one is whole at any moment.
//
//   NAME.h5  ->  NAME.0.checkpoint, NAME.1.checkpoint
//
//   byte 0     magic, sequence number, bytes and CRC-32 of the image, CRC-32 of all these
//   byte 512   the record so far with its /state, an HDF5 file; HDF5 looks for its beginning there, so
//              that any of its tools opens a slot
//
// The CRC tells a torn or damaged slot, whose place the other one then takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/record.hpp"

namespace hyperplane {

class CheckpointSlots {
public:
    explicit CheckpointSlots(const std::string& record_path, Overwrite overwrite = Overwrite::own);

    struct Found {
        std::vector<RecordData> valid;     ///< newest first, each with its state
        std::vector<std::string> damaged;  ///< "FILE: why it cannot be used"
    };
    /// What the slots hold; a slot that does not exist is neither.
    Found read() const;
    /// Keeps the record as it stands with `state`, in the slot that is not the newest valid one. Throws FileError,
    /// leaving both slots as they were.
    void write(const RecordWriter& record, const RunState& state);
    /// Throws FileError where what lies in a slot's place may not be replaced.
    void guard() const;
    /// Removes the slots; what lies in their places and is no checkpoint stays.
    void remove() const;
    /// Whether any slot exists.
    bool exist() const;

private:
    void look_for_newest();

    std::vector<std::string> paths_;
    Overwrite overwrite_;
    Index sequence_ = -1;  ///< of the newest slot; -1: not known yet, 0: there is none
    int newest_ = 1;
};

}  // namespace hyperplane
