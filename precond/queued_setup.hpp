// SPDX-License-Identifier: BSD-3-Clause
// Set-ups whose work is queued on a GPU first, and whose outcome the host reads later. So the host waits for the GPU
// once for many of them, such as those of multigrid's grids.
#pragma once

#include "core/interfaces/preconditioner.hpp"
#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// The interface of a preconditioner whose set-up may be queued.
class QueuedSetup {
public:
    virtual ~QueuedSetup() = default;
    /// Whether queue_setup() would queue a set-up for `a`.
    virtual bool can_queue_setup(const StructMatrix& a) const = 0;
    /// Allocates what queue_setup(a) needs and keeps, so that it does so while the GPU is at work on the values of `a`.
    virtual void provide(const StructMatrix& a) = 0;
    /// Queues Preconditioner::setup(a) without waiting for the GPU. Returns false, and does nothing, where that cannot
    /// be done. Applications may be queued at once; what they compute means nothing if finish_setup() throws.
    virtual bool queue_setup(const StructMatrix& a) = 0;

    struct Finished {
        SetupReport report;
        /// Whether the factorisation had to be repeated with a shift, so that applications queued before were of
        /// another one.
        bool repeated = false;
    };
    /// Waits for the set-up that was queued; reports, or throws, what Preconditioner::setup would.
    virtual Finished finish_setup() = 0;
};

}  // namespace hyperplane
