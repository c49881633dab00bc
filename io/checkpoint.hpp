// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints of a run: two slot files beside its record, written in turn, so that one is whole at any moment.
//
//   NAME.h5  ->  NAME.0.checkpoint, NAME.1.checkpoint
//
// Each is the record so far with its /state behind a seal (io/sealed_file.hpp), which counts the checkpoints and tells
// a torn or damaged slot, whose place the other one then takes.
#pragma once

#include <string>
#include <vector>

#include "io/record.hpp"

namespace hyperplane {

class CheckpointSlots {
public:
    explicit CheckpointSlots(const std::string& record_path, Overwrite overwrite = Overwrite::own);

    struct Found {
        std::vector<RecordData> valid;     ///< newest first, each with its state
        std::vector<std::string> damaged;  ///< messages "FILE: why it cannot be used"
    };
    /// Reads the slots. A slot that does not exist is neither valid nor damaged.
    Found read() const;
    /// Writes the record so far, with `state`, to the slot that is not the newest valid one. If it throws FileError,
    /// both slots are as before. If ranks have parts of the state, it must be called within
    /// SavedValues::read_on_first_rank.
    void write(const RecordWriter& record, const RunState& state);
    /// Throws FileError if a file with a slot's name may not be replaced.
    void guard() const;
    /// Removes the slots. Files with their names that are not checkpoints stay.
    void remove() const;
    /// Whether any slot exists.
    bool exist() const;
    const std::vector<std::string>& paths() const { return paths_; }

private:
    void look_for_newest();

    std::vector<std::string> paths_;
    Overwrite overwrite_;
    Index sequence_ = -1;  ///< of the newest slot; -1: not known yet, 0: there is none
    int newest_ = 1;
};

}  // namespace hyperplane
