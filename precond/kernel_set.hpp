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

class MatrixShape;

/// Sets with the same name and grid are the same kernels.
struct KernelSet {
    std::string family;  ///< which kernels, such as "wavefront"
    Layout layout;
    Stencil stencil;  ///< the entries that the kernels read
    int dof;
    bool symmetric;
    FactorStorage storage;
    std::function<rtc::Programs()> programs;  ///< what NVRTC compiles; only if the program is built with CUDA

    std::string name() const;
};

/// The kernels for a general matrix of this shape.
std::vector<KernelSet> kernels_of_general(const std::string& name, const MatrixShape& a, FactorStorage storage,
                                          std::function<rtc::Programs()> programs);

/// The texts of this room's kernels, which CMake embeds (embed_kernels in cmake/cuda.cmake), and those of core.
namespace rtc {
const Texts& precond_texts();
}

/// The text of a kernel of this room, whose path begins with "precond/".
inline rtc::Source precond_source(const char* path) {
    return {rtc::precond_texts(), path};
}

}  // namespace hyperplane
