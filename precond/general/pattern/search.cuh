// SPDX-License-Identifier: BSD-3-Clause
// The look-up of a column in a row of a pattern.
#pragma once

namespace hyperplane {

/// The place of a column in [begin, end), or -1.
__device__ __forceinline__ long long find(const int* column, long long begin, long long end, int wanted) {
    while (begin < end) {
        const long long middle = begin + (end - begin) / 2;
        const int there = __ldg(column + middle);
        if (there == wanted) return middle;
        if (there < wanted)
            begin = middle + 1;
        else
            end = middle;
    }
    return -1;
}

}  // namespace hyperplane
