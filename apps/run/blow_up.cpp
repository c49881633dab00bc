// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/blow_up.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "core/ranks/cuts.hpp"
#include "core/vector/blas1.hpp"

namespace hyperplane {

std::optional<BadState> find_not_finite(const SystemShape& shape, const Vector& x, const std::string& prefix) {
    if (all_finite(x)) return std::nullopt;
    Vector copy;
    const Vector& host = on_host(x, copy);
    const IndexSpace& space = host.space();
    const std::array<double, 3> none{-1.0, 0.0, 0.0};
    const auto first = [&] {  // row, component and value
        for (Index row = 0; row < space.block_rows(); ++row) {
            const Index place = shape.order() ? shape.order()->place[row] : row;
            for (int c = 0; c < shape.dof; ++c)
                if (const double value = host.data()[host.first(c) + space.slot(place) * host.step()];
                    !std::isfinite(value))
                    return std::array<double, 3>{double(space.first_block_row() + row), double(c), value};
        }
        return none;
    }();
    const std::vector<double> all = gathered(x.context(), {first.begin(), first.end()});
    for (std::size_t at = 0; at < all.size(); at += 3)
        if (all[at] >= 0.0)
            return BadState{shape.grid.point(Index(all[at])), prefix + shape.components.at(std::size_t(all[at + 1])),
                            all[at + 2]};
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
