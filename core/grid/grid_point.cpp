// SPDX-License-Identifier: BSD-3-Clause
#include "core/grid/grid_point.hpp"

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

std::vector<int> slot_deltas(const Layout& layout, std::span<const Int3> offsets) {
    std::vector<int> deltas;
    for (const Int3 o : offsets) deltas.push_back(int(layout.slot_delta(o)));
    return deltas;
}

}  // namespace hyperplane
