// SPDX-License-Identifier: BSD-3-Clause
// Records by which the thread blocks of one launch of a kernel hand each other values. A record carries the launch's
// epoch, its number: no record of an earlier launch has it, so nothing need be reset between launches
// (core/device/epochs.cuh).
#pragma once

namespace hyperplane {

/// A value, and the epoch of the launch that has stored it. Both are stored and loaded by one instruction.
struct alignas(16) EpochRecord {
    double value;
    unsigned long long epoch;
};

/// The state of all launches of a kernel whose thread blocks take parts of the work by tickets.
struct TicketState {
    unsigned ticket, done;     ///< numbers of parts that have been taken, and that are complete
    unsigned long long epoch;  ///< of the launch, from 1
};

static_assert(sizeof(EpochRecord) == 16 && sizeof(TicketState) == 16);

}  // namespace hyperplane
