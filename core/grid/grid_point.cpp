// SPDX-License-Identifier: BSD-3-Clause
#include "core/grid/grid_point.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace hyperplane {

rtc::Definitions grid_point_definitions(const Layout& layout, std::span<const Int3> offsets) {
    std::vector<int> x, y, z;
    for (const Int3 o : offsets) x.push_back(o.x), y.push_back(o.y), z.push_back(o.z);
    return {{"NATURAL", layout.kind() == LayoutKind::natural ? "1" : "0"},
            {"LEVEL_Y", std::to_string(layout.levels().y)},
            {"LEVEL_Z", std::to_string(layout.levels().z)},
            {"OFFSET_X", rtc::array_of(x)},
            {"OFFSET_Y", rtc::array_of(y)},
            {"OFFSET_Z", rtc::array_of(z)}};
}

void check_entries(std::size_t entries, std::size_t room) {
    if (entries > room)
        throw UsageError(
            fmt::format("a GPU's kernels take stencils of up to {} entries, this one has {}", room, entries));
}

void slot_deltas(const Layout& layout, std::span<const Int3> offsets, std::span<int> deltas) {
    check_entries(offsets.size(), deltas.size());
    for (std::size_t e = 0; e < offsets.size(); ++e) deltas[e] = int(layout.slot_delta(offsets[e]));
}

}  // namespace hyperplane
