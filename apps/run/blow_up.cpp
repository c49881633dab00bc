// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/blow_up.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/vector/blas1.hpp"

namespace hyperplane {

std::optional<BadState> find_not_finite(const SystemShape& shape, const Vector& x, const std::string& prefix) {
    if (all_finite(x)) return std::nullopt;
    Vector copy;
    const Vector& host = on_host(x, copy);
    for (Index row = 0; row < shape.grid.points(); ++row)
        for (int c = 0; c < shape.dof; ++c)
            if (const double value = host.data()[host.first(c) + host.space().slot(row) * host.step()];
                !std::isfinite(value))
                return BadState{shape.grid.point(row), prefix + shape.components.at(c), value};
    return std::nullopt;
}

std::optional<BadState> find_bad_state(const Problem& problem, const Vector& u) {
    if (auto found = find_not_finite(problem.shape(), u)) return found;
    return problem.bad_state(u);
}

std::string describe(const BadState& bad, const Grid& grid) {
    if (grid.plain_rows) return fmt::format("{} is {:g} in block row {}", bad.quantity, bad.value, bad.point.x + 1);
    return fmt::format("{} is {:g} at {} ({}, {}, {})", bad.quantity, bad.value, grid.cell_centred ? "cell" : "point",
                       bad.point.x, bad.point.y, bad.point.z);
}

}  // namespace hyperplane
