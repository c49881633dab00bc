// SPDX-License-Identifier: BSD-3-Clause
#include "core/grid/layout.hpp"

#include <algorithm>

namespace hyperplane {
std::string to_string(LayoutKind kind) {
    return kind == LayoutKind::natural ? "natural" : "hyperplane";
}

int Layout::level_first_plane(int level) const {
    return std::max(0, ceil_div(level - (grid_.nx - 1) - levels_.y * (grid_.ny - 1), levels_.z));
}

int Layout::level_last_plane(int level) const {
    return std::min(grid_.nz - 1, level / levels_.z);
}

Run Layout::level_run(int level, int k) const {
    const int rest = level - levels_.z * k;  // i + y j
    const int first = std::max(0, ceil_div(rest - (grid_.nx - 1), levels_.y));
    const int last = rest < 0 ? -1 : std::min(grid_.ny - 1, rest / levels_.y);
    const Int3 p{rest - levels_.y * first, first, k};
    return {p, std::max(0, last - first + 1), slot(p)};
}

}  // namespace hyperplane
