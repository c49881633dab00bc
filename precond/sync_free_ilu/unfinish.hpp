// SPDX-License-Identifier: BSD-3-Clause
// Values before a factorisation that polls them; unfinish.cuh is the kernel's text.
#pragma once

#include <algorithm>

#include "core/device/rtc.hpp"
#include "precond/general/pattern/on_gpu.hpp"
#include "precond/sync_free_ilu/table_arguments.hpp"

namespace hyperplane {

inline constexpr const char* unfinish_text = "precond/sync_free_ilu/unfinish.cuh";

/// Makes `count` values unfinished.
inline void unfinish(const rtc::Kernel<UnfinishArguments>& kernel, double* values, Index count) {
    constexpr Index of_block = 4 * slices::threads;
    kernel.launch({unsigned(std::min<Index>((count + of_block - 1) / of_block, 1 << 16))}, slices::threads, 0,
                  {reinterpret_cast<long long*>(values), count});
}

}  // namespace hyperplane
