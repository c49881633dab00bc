// SPDX-License-Identifier: BSD-3-Clause
// When a run makes checkpoints: [output] checkpoint_every and checkpoint_minutes.
#pragma once

#include <chrono>

#include "apps/run/case.hpp"
#include "io/checkpoint.hpp"

namespace hyperplane {

class Checkpoints {
public:
    Checkpoints(const Case& a_case, RecordWriter& record)
        : case_(a_case), record_(record), slots_(a_case.record_path(), a_case.overwrite) {}

    /// Called when the run begins, after `step` completed steps.
    void begin(Index step);
    bool due_after(Index step) const;
    /// Whether a checkpoint is due by the first rank's clock; the answer is the same on all ranks, which must all ask.
    bool due_by_clock() const;
    /// Every rank must call it.
    void write(const RunState& state);

private:
    using Clock = std::chrono::steady_clock;
    const Case& case_;
    RecordWriter& record_;
    CheckpointSlots slots_;
    Index step_ = 0;          ///< step of the newest checkpoint, or at which this run began
    Clock::time_point time_;  ///< time of the newest checkpoint, or at which this run began
};

}  // namespace hyperplane
