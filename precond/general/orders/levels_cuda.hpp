// SPDX-License-Identifier: BSD-3-Clause
// The levels of rows, found on a GPU; levels.cuh is the kernel's text.
#pragma once

#include "core/device/rtc.hpp"
#include "precond/general/orders/levels.hpp"

namespace hyperplane {

/// The level of each row of a triangle, counted from 1.
struct RowDepths {
    Buffer<int> depth;  ///< in a GPU's memory
    Index levels = 0;
};

/// Those of both triangles of a pattern in the memory of a GPU's context. They are the levels of levels_of_both.
struct BothDepths {
    RowDepths lower, upper;
};
/// `diagonal`, if given, has the place of each row's diagonal block, and no row is without one.
BothDepths depths_on_gpu(const Context& gpu, const BlockPattern& pattern, const std::string& label,
                         const Buffer<Index>* diagonal = nullptr);
/// What NVRTC compiles.
rtc::Programs level_programs();

}  // namespace hyperplane
