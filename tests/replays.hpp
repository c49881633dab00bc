// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "core/device/device.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/ranks/messages_cuda.hpp"

namespace hyperplane {

/// A step that is repeated: as a graph, unless its ranks exchange values through their hosts' memory.
class Replay {
public:
    /// `step` must have run once. On a shared GPU it is recorded even where a run would not record it, unless
    /// `as_a_run`: for steps with kernels that fill a GPU and wait for those of other ranks.
    Replay(const Context& context, std::function<void()> step, bool as_a_run = false) : step_(std::move(step)) {
        const bool runs_record = !context.ranks() || links_of(context).records();
        if (runs_record || !(as_a_run || cuda::by_messages(context)))
            recording_ = std::make_unique<device::Recording>(context.stream(), step_);
    }
    void queue() const { recording_ ? recording_->queue() : step_(); }

private:
    std::function<void()> step_;
    std::unique_ptr<device::Recording> recording_;
};

/// Calls step() once directly and then repeats it.
template <class Step>
void run_and_replay(const Context& context, int replays, const Step& step) {
    step();
    const Replay again(context, step);
    for (int replay = 0; replay < replays; ++replay) {
        synchronise_ranks(context, true);
        again.queue();
    }
    context.synchronize();
}

}  // namespace hyperplane
