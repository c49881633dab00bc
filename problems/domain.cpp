// SPDX-License-Identifier: BSD-3-Clause
#include "problems/domain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/error.hpp"

namespace hyperplane {
namespace {

/// One value for all axes, or one for each.
template <class T>
std::array<T, 3> for_three_axes(const Parameters& parameters, const char* key, const std::vector<T>& values) {
    if (values.size() == 1) return {values[0], values[0], values[0]};
    if (values.size() == 3) return {values[0], values[1], values[2]};
    throw UsageError(
        fmt::format("{}: expected one number or three, got {}", parameters.where("grid", key), values.size()));
}

std::array<bool, 3> periodic_flags(const Parameters& parameters) {
    std::array<bool, 3> periodic{false, false, false};
    const std::string& text = parameters.text("grid", "periodic");
    if (text == "none") return periodic;
    for (char c : text) {
        if (c == ' ' || c == ',') continue;
        if (c < 'x' || c > 'z')
            throw UsageError(fmt::format("{}: expected none or axes such as 'x y', got '{}'",
                                         parameters.where("grid", "periodic"), text));
        if (periodic[c - 'x'])
            throw UsageError(fmt::format("{}: names the axis {} twice, got '{}'; name each axis once",
                                         parameters.where("grid", "periodic"), c, text));
        periodic[c - 'x'] = true;
    }
    return periodic;
}

void check_extent(const Parameters& parameters, const Domain& domain, int axis, int fewest) {
    const int n = domain.extent(axis);
    if (domain.grid.periodic[axis] && n < 3)
        throw UsageError(fmt::format("{}: {} along periodic axis {} are too few for any stencil; give 3 or more",
                                     parameters.where("grid", "cells"), n, "xyz"[axis]));
    if (domain.centring == Centring::node_keep && domain.bounded(axis) && n < fewest)
        throw UsageError(
            fmt::format("{}: both points along {} lie on the boundary; give 3 or more, or 1 for a flat axis",
                        parameters.where("grid", "cells"), "xyz"[axis]));
}

}  // namespace

double Domain::mean_spacing() const {
    double product = 1.0, first = 0.0;
    int axes = 0;
    bool equal = true;  // if so, the mean is exactly that spacing
    for (int axis = 0; axis < 3; ++axis) {
        if (flat(axis)) continue;
        if (axes++ == 0) first = grid.spacing[axis];
        equal = equal && grid.spacing[axis] == first;
        product *= grid.spacing[axis];
    }
    return equal ? first : axes == 2 ? std::sqrt(product) : std::cbrt(product);
}

std::string OwnLengths::text() const {
    if (lengths == std::array<double, 3>{}) return "";
    const bool cube = lengths[0] == lengths[1] && lengths[1] == lengths[2];
    return cube ? fmt::format("{}", lengths[0]) : fmt::format("{} {} {}", lengths[0], lengths[1], lengths[2]);
}

std::array<double, 3> default_lengths(const Parameters& parameters, const std::vector<OwnLengths>& own) {
    for (const OwnLengths& row : own)
        if (parameters.text("problem", row.with.key) == row.with.value) return row.lengths;
    return {1.0, 1.0, 1.0};
}

ParameterTable grid_parameters() {
    return {
        {.section = "grid",
         .key = "cells",
         .type = ParameterType::integers,
         .default_value = "32",
         .description =
             "points that carry unknowns along x, y and z, or one number for all three; 1 makes an axis flat. "
             "Where boundary nodes are kept as rows they count, where they are dropped only interior nodes do",
         .minimum = Bound{1},
         .maximum = Bound{most_points_a_side}},
        {.section = "grid",
         .key = "lengths",
         .type = ParameterType::reals,
         .default_value = "1",
         .description = "lengths of the domain along x, y and z, or one number for all three",
         .unit = "domain units",
         .minimum = Bound{0, true}},
        {.section = "grid",
         .key = "periodic",
         .type = ParameterType::text,
         .default_value = "none",
         .description = "axes along which the domain closes on itself: none, or any of x y z"},
    };
}

ParameterSpec boundary_rows_parameter() {
    return {.section = "problem",
            .key = "boundary_rows",
            .type = ParameterType::choice,
            .default_value = "keep",
            .description =
                "keep: boundary nodes are rows u = g of the system, and grid.cells counts them; drop: only "
                "interior nodes are rows, and grid.cells counts those",
            .choices = {"keep", "drop"}};
}

Centring node_centring(const Parameters& parameters) {
    return parameters.text("problem", "boundary_rows") == "keep" ? Centring::node_keep : Centring::node_drop;
}

Domain make_domain(const Parameters& parameters, Centring centring, const std::array<double, 3>& default_lengths,
                   int fewest) {
    Domain domain;
    domain.centring = centring;
    const auto cells = for_three_axes(parameters, "cells", parameters.integers("grid", "cells"));
    domain.lengths = parameters.is_given("grid", "lengths")
                         ? for_three_axes(parameters, "lengths", parameters.reals("grid", "lengths"))
                         : default_lengths;
    Grid& grid = domain.grid;
    grid.nx = int(cells[0]);
    grid.ny = int(cells[1]);
    grid.nz = int(cells[2]);
    grid.periodic = periodic_flags(parameters);
    grid.cell_centred = centring == Centring::cell;
    if (grid.points() == 1)
        throw UsageError(parameters.where("grid", "cells") +
                         ": one point alone has no neighbours; give some axis 2 or more");
    for (int axis = 0; axis < 3; ++axis) {
        check_extent(parameters, domain, axis, fewest);
        const double length = domain.lengths[axis];
        const int n = domain.extent(axis);
        double& h = grid.spacing[axis];
        double& origin = grid.origin[axis];
        if (domain.flat(axis)) {
            h = length;
            origin = length / 2;
        } else if (centring == Centring::cell) {
            h = length / n;
            origin = h / 2;
        } else if (grid.periodic[axis]) {
            h = length / n;
            origin = 0.0;
        } else {
            h = length / (centring == Centring::node_keep ? n - 1 : n + 1);
            origin = centring == Centring::node_keep ? 0.0 : h;
        }
    }
    if (!domain.has_boundary() && parameters.has("problem", "boundary_rows") &&
        parameters.is_given("problem", "boundary_rows"))
        throw RefusedKey(parameters, "problem", "boundary_rows", ": all axes are flat or periodic; remove the key");
    return domain;
}

std::string periodic_axes(const Grid& grid) {
    std::string text;
    for (int axis = 0; axis < 3; ++axis)
        if (grid.periodic[axis]) text += fmt::format("{}{}", text.empty() ? "" : ", ", "xyz"[axis]);
    return text;
}

}  // namespace hyperplane
