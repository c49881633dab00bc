// SPDX-License-Identifier: BSD-3-Clause
// Kernels that NVRTC compiles together for one system, so that they can be compiled without a device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/device/rtc.hpp"
#include "core/grid/layout.hpp"
#include "core/grid/stencil.hpp"
#include "precond/factors/storage.hpp"

namespace hyperplane {

/// Sets of one name and one grid are the same kernels.
struct KernelSet {
    std::string family;  ///< which kernels, as "wavefront"
    Layout layout;
    Stencil stencil;  ///< the entries that the kernels read
    int dof;
    bool symmetric;
    FactorStorage storage;
    /// For an architecture, as "sm_90"; only where the program is built with CUDA.
    std::function<std::vector<rtc::KernelResources>(const std::string& architecture)> compile;

    std::string name() const;
};

}  // namespace hyperplane
