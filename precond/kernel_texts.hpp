// SPDX-License-Identifier: BSD-3-Clause
// The texts of this room's kernels, which CMake embeds (embed_kernels in cmake/cuda.cmake).
#pragma once

#include "core/device/rtc.hpp"

namespace hyperplane::rtc {

/// The texts of precond and of core.
const Texts& precond_texts();

}  // namespace hyperplane::rtc
