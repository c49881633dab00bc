// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/device.hpp"
#include "core/ranks/links_cuda.hpp"

namespace hyperplane {

/// Calls step() once directly and then `replays` times as a graph.
template <class Step>
void run_and_replay(const Context& context, int replays, const Step& step) {
    step();
    const device::Recording recording(context.stream(), step);
    for (int replay = 0; replay < replays; ++replay) {
        meet_ranks(context, true);
        recording.queue();
    }
    context.synchronize();
}

}  // namespace hyperplane
