// SPDX-License-Identifier: BSD-3-Clause
// Where arrays of other programs lie.
#pragma once

#include <optional>

namespace hyperplane::device {

/// Number of the GPU in whose memory an address lies; nothing for the host's memory and in a program without CUDA.
std::optional<int> place_of(const void* memory);
/// Waits for all work that this process has given to a GPU, in whatever stream. Throws DeviceError if any of it failed.
void wait_for_all_work(int ordinal);

}  // namespace hyperplane::device
