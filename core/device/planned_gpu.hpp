// SPDX-License-Identifier: BSD-3-Clause
// A GPU that is not there, for plans of what a run on one would hold.
#pragma once

#include "core/device/device.hpp"

namespace hyperplane::device {

/// The ordinal of a stream on a GPU that is not there: its memory is the host's, and whatever needs the GPU, such as a
/// kernel, throws DeviceError.
inline constexpr int planned_ordinal = -1;

/// The properties of that GPU are those of NVIDIA's H100 and H200, which have these multiprocessors and this shared
/// memory.
inline Properties planned_properties() {
    Properties gpu;
    gpu.name = "a GPU that is not here";
    gpu.major = 9;
    gpu.multiprocessors = 132;
    gpu.shared_per_block = Index(227) << 10;
    gpu.ordinal = planned_ordinal;
    return gpu;
}

/// Whether a stream's GPU is one that is not there.
inline bool is_planned(const Properties& gpu) {
    return gpu.ordinal == planned_ordinal;
}

}  // namespace hyperplane::device
