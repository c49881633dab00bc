// SPDX-License-Identifier: BSD-3-Clause
// The levels of rows, found on a GPU; levels.cuh is the kernel's text.
#pragma once

#include "core/device/rtc.hpp"
#include "precond/graph/levels.hpp"

namespace hyperplane {

/// The levels of both triangles of a pattern in the memory of a GPU's context. The GPU finds the level of each row, the
/// host sorts the rows; the result is that of levels_of_both. Holds four bytes a row of the GPU's memory meanwhile.
BothLevels levels_on_gpu(const Context& gpu, const BlockPattern& pattern, const std::string& label);
/// What NVRTC compiles.
rtc::Programs level_programs();

}  // namespace hyperplane
