// SPDX-License-Identifier: BSD-3-Clause
// Makes values `unfinished` before a factorisation that polls them (precond/sync_free_ilu/polled.cuh).

#include "precond/sync_free_ilu/table_arguments.hpp"

namespace hyperplane {

extern "C" __global__ void __launch_bounds__(128) unfinish_values(const __grid_constant__ UnfinishArguments a) {
    const long long stride = (long long)gridDim.x * 128;
    for (long long at = (long long)blockIdx.x * 128 + threadIdx.x; at < a.count; at += stride)
        a.values[at] = unfinished;
}

}  // namespace hyperplane
