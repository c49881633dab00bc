#include "core/layout.hpp"

#include <algorithm>

namespace hyperplane {
namespace {

int ceil_div(int a, int b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
int floor_div(int a, int b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// Narrows [begin, end) to the positions t with 0 <= first + step t < extent.
void clip(RunNeighbours& range, int first, int step, int extent) {
    if (step == 0) {
        if (first < 0 || first >= extent) range.end = range.begin;
    } else if (step == 1) {  // the two common steps, spared their divisions
        range.begin = std::max(range.begin, -first);
        range.end = std::min(range.end, extent - first);
    } else if (step == -1) {
        range.begin = std::max(range.begin, first - (extent - 1));
        range.end = std::min(range.end, first + 1);
    } else if (step > 0) {
        range.begin = std::max(range.begin, ceil_div(-first, step));
        range.end = std::min(range.end, floor_div(extent - 1 - first, step) + 1);
    } else {
        range.begin = std::max(range.begin, ceil_div(first - (extent - 1), -step));
        range.end = std::min(range.end, floor_div(first, -step) + 1);
    }
}

}  // namespace

std::string to_string(LayoutKind kind) { return kind == LayoutKind::natural ? "natural" : "hyperplane"; }

int Layout::level_first_plane(int level) const {
    return std::max(0, ceil_div(level - (grid_.nx - 1) - levels_.y * (grid_.ny - 1), levels_.z));
}

int Layout::level_last_plane(int level) const { return std::min(grid_.nz - 1, level / levels_.z); }

Run Layout::level_run(int level, int k) const {
    const int rest = level - levels_.z * k;  // i + y j
    const int first = std::max(0, ceil_div(rest - (grid_.nx - 1), levels_.y));
    const int last = rest < 0 ? -1 : std::min(grid_.ny - 1, rest / levels_.y);
    const Int3 p{rest - levels_.y * first, first, k};
    return {p, std::max(0, last - first + 1), slot(p)};
}

RunNeighbours Layout::neighbours(const Run& run, Int3 offset) const {
    const Int3 p = run.first + offset;
    const Int3 s = step();
    RunNeighbours range{0, run.count, slot(p)};
    clip(range, p.x, s.x, grid_.nx);
    clip(range, p.y, s.y, grid_.ny);
    clip(range, p.z, s.z, grid_.nz);
    range.end = std::max(range.begin, range.end);
    return range;
}

}  // namespace hyperplane
