// SPDX-License-Identifier: BSD-3-Clause
// Machine code that is loaded onto a GPU before its kernels are launched.
#pragma once

#include "core/device/rtc.hpp"

namespace hyperplane::rtc {

/// Loads all kernels of these programs onto a GPU, after prepare(). CUDA would load each one at its first launch, and
/// wait for what the GPU is at work on.
void load(const Programs& programs, const device::Properties& device);

}  // namespace hyperplane::rtc
