// SPDX-License-Identifier: BSD-3-Clause
// The look-up of a column in a row of a pattern, for host and nvcc. Kernel texts that search on their way have a loop
// of their own, which ends as soon as it meets the column (precond/general/pattern/search.cuh).
#pragma once

#include "core/host_device.hpp"
#include "core/types.hpp"

namespace hyperplane {

/// The place of a column in [begin, end), whose columns ascend, or -1.
HYPERPLANE_HD inline Index find_column(const int* column, Index begin, Index end, int wanted) {
    const Index last = end;
    while (begin < end) {
        const Index middle = begin + (end - begin) / 2;
        if (column[middle] < wanted)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < last && column[begin] == wanted ? begin : -1;
}

}  // namespace hyperplane
