// SPDX-License-Identifier: BSD-3-Clause
// The records {value, epoch} that exact solves of neighbouring ranks on GPUs exchange (EpochRecord).
//
// Where a solve is recorded as a graph, the kernels of a rank store records straight into the memory of the rank that
// comes next, whose kernels run at the same time and wait for them. In a solve that is queued once a rank copies all
// records from the rank before it, whose kernels have stored them in its own memory, and then runs its own. Both give
// the same values. Between hosts the records are messages, and the kernels of ranks follow each other in a graph, too.
#pragma once

#include "core/device/context.hpp"
#include "core/device/epochs.hpp"
#include "precond/factors/pattern.hpp"

namespace hyperplane {

class EdgesBetweenRanks {
public:
    /// All ranks must make theirs at the same time. Where ranks share a GPU, kernels that fill it must not wait for
    /// each other, so from then on no steps of the context are recorded (RankLinks::keep_to_host_if_shared).
    EdgesBetweenRanks(const Context& context, const IluPattern& system);

    /// Calls launch(before, after) to queue the kernels of a solve, with the records from the rank that computes the
    /// grid's first planes and the place for those that the next rank needs; either is null where there is no such
    /// rank.
    template <class Launch>
    void solve(bool upper, const Launch& launch) {
        const int from = rank_beside(!upper), to = rank_beside(upper);
        const EpochRecord* const before = from >= 0 ? received_[upper].data() : nullptr;
        if (context_.stream().recording() && !by_messages_) return launch(before, to >= 0 ? there_[upper] : nullptr);
        if (from >= 0) receive(from, received_[upper]);
        launch(before, to >= 0 ? sent_.data() : nullptr);
        if (to >= 0) send(to);
    }

    /// Device memory held.
    static Index bytes(const IluPattern& system) { return 3 * count(system) * Index(sizeof(EpochRecord)); }

private:
    static Index count(const IluPattern& system) { return system.halo * system.layout.slots_of_plane() * system.dof; }
    /// The rank below or above this one; -1 if there is none.
    int rank_beside(bool below) const;
    void receive(int from, Buffer<EpochRecord>& records);
    void send(int to);

    Context context_;
    Buffer<EpochRecord> received_[2], sent_;  ///< received: in the lower solve and in the upper one
    bool by_messages_;                        ///< the ranks are on several hosts
    EpochRecord* there_[2]{};                 ///< where the next rank receives
};

}  // namespace hyperplane
