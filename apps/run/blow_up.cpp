// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/blow_up.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "core/error.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/blas1.hpp"

namespace hyperplane {
namespace {

/// Names the key of the largest number in [problem], as the end of a sentence, or else initial.file; empty if no
/// number there is so large that its square or fourth power would be infinite.
std::string key_of_huge_number(const Parameters& parameters) {
    double largest = 1e70;
    std::string found;
    for (const Parameters::Value& value : parameters.all()) {
        const ParameterSpec& spec = value.spec;
        if (spec.section != "problem" || spec.type != ParameterType::real || value.text.empty()) continue;
        if (const double size = std::abs(parameters.real(spec.section, spec.key)); size > largest) {
            largest = size;
            found = fmt::format("; {} = {} is too large", parameters.where(spec.section, spec.key), value.text);
        }
    }
    if (!found.empty() || !parameters.is_set("initial", "file")) return found;
    return "; it comes from " + parameters.where("initial", "file");
}

}  // namespace

std::optional<BadState> find_not_finite(const SystemShape& shape, const Vector& x, const std::string& prefix) {
    if (all_finite(x)) return std::nullopt;
    Vector copy;
    const Vector& host = on_host(x, copy);
    const IndexSpace& space = host.space();
    std::array<double, 3> first{double(space.all_block_rows()), 0.0, 0.0};  // row in the given order, component, value
    for (Index row = 0; row < space.block_rows(); ++row) {
        const Index place = space.first_block_row() + row, given = shape.order() ? shape.order()->given[place] : place;
        for (int c = 0; c < shape.dof && double(given) < first[0]; ++c)
            if (const double value = host.data()[host.first(c) + space.slot(row) * host.step()]; !std::isfinite(value))
                first = {double(given), double(c), value};
    }
    const std::vector<double> all = gathered(x.context(), {first.begin(), first.end()});
    std::size_t least = 0;
    for (std::size_t at = 0; at < all.size(); at += first.size())
        if (all[at] < all[least]) least = at;
    return BadState{shape.grid.point(Index(all[least])), prefix + shape.components.at(std::size_t(all[least + 1])),
                    all[least + 2]};
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

void refuse_initial_state(const Parameters& parameters, const std::string& why) {
    throw UsageError(fmt::format("the initial state is not finite: {}{}", why, key_of_huge_number(parameters)));
}

}  // namespace hyperplane
