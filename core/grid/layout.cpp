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

void for_each_run(const Context& context, const Layout& layout, int dof, FunctionRef<void(const Run&)> body) {
    const Grid& grid = layout.grid();
    const int threads = context.threads_for(layout.slots() * dof);
    if (layout.kind() == LayoutKind::natural) {
        const Index begin = Index(grid.ny) * layout.begin_plane(), end = Index(grid.ny) * layout.end_plane();
#pragma omp parallel for schedule(static) num_threads(threads)
        for (Index line = begin; line < end; ++line) body(layout.line(int(line % grid.ny), int(line / grid.ny)));
    } else {
        const int levels = layout.level_count();
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int level = 0; level < levels; ++level)
            for (int k = layout.level_first_plane(level); k <= layout.level_last_plane(level); ++k)
                if (const Run run = layout.level_run(level, k); run.count > 0) body(run);
    }
}

}  // namespace hyperplane
