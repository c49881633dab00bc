// SPDX-License-Identifier: BSD-3-Clause
// The box on which a problem is posed: its grid, its boundary nodes, and the keys of [grid].
//
//   nodes, boundary rows kept      o---o---o---o---o     n points, h = L / (n - 1), first at 0
//   nodes, boundary rows dropped   .---o---o---o---.     n points, h = L / (n + 1), first at h
//   cells                          |-o-|-o-|-o-|-o-|     n points, h = L / n,       first at h / 2
//   nodes, periodic axis           o---o---o---o---.     n points, h = L / n,       first at 0
//
// An axis of one point is flat: the equation has no term along it, and the point lies at L / 2.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/grid/grid.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

enum class Centring { node_keep, node_drop, cell };

using Position = std::array<double, 3>;

/// The box and its grid, small enough that formulas hold it by value.
struct Domain {
    Grid grid;
    std::array<double, 3> lengths{1.0, 1.0, 1.0};
    Centring centring = Centring::node_keep;

    HYPERPLANE_HD static int component(Int3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }
    HYPERPLANE_HD int extent(int axis) const { return axis == 0 ? grid.nx : axis == 1 ? grid.ny : grid.nz; }
    HYPERPLANE_HD bool flat(int axis) const { return extent(axis) == 1; }
    /// True if an axis ends at a boundary, that is, if it is neither flat nor periodic.
    HYPERPLANE_HD bool bounded(int axis) const { return !flat(axis) && !grid.periodic[axis]; }
    HYPERPLANE_HD bool has_boundary() const { return bounded(0) || bounded(1) || bounded(2); }

    /// True for a node on the boundary; if boundary rows are dropped, such nodes lie one step outside the grid.
    HYPERPLANE_HD bool on_boundary(Int3 p) const {
        const int margin = centring == Centring::node_keep ? 0 : 1;
        for (int axis = 0; axis < 3; ++axis) {
            const int at = component(p, axis);
            if (bounded(axis) && (at <= -margin || at >= extent(axis) - 1 + margin)) return true;
        }
        return false;
    }
    HYPERPLANE_HD Position position(Int3 p) const {
        return {grid.origin[0] + p.x * grid.spacing[0], grid.origin[1] + p.y * grid.spacing[1],
                grid.origin[2] + p.z * grid.spacing[2]};
    }
    /// Geometric mean of the spacings along the axes that are not flat.
    double mean_spacing() const;
};

/// The default of grid.lengths of problems whose box is another one than the unit cube, where a key of [problem] has a
/// certain value.
struct OwnLengths {
    Condition with;
    std::array<double, 3> lengths{};  ///< zeros: they follow from other keys
    std::string meaning = "";         ///< in words, where numbers do not say it

    /// As a deck has them; empty if they follow from other keys.
    std::string text() const;
};

/// Those of `own` whose condition holds, otherwise those of the unit cube.
std::array<double, 3> default_lengths(const Parameters& parameters, const std::vector<OwnLengths>& own);

/// The largest number of points along an axis, as grid.cells.
constexpr int most_points_a_side = 100000;

/// Keys of section [grid]: cells, lengths, periodic.
ParameterTable grid_parameters();

/// The key problem.boundary_rows = keep | drop of problems on nodes, and its value.
ParameterSpec boundary_rows_parameter();
Centring node_centring(const Parameters& parameters);

/// The domain of [grid], with `default_lengths` if grid.lengths is not given. Throws UsageError if no axis has two
/// points, if a bounded axis with kept boundary rows has fewer than `fewest` nodes, or if a periodic axis has fewer
/// than three points.
Domain make_domain(const Parameters& parameters, Centring centring,
                   const std::array<double, 3>& default_lengths = {1.0, 1.0, 1.0}, int fewest = 3);

/// The names of the periodic axes, such as "x, y and z", for messages.
std::string periodic_axes(const Grid& grid);

}  // namespace hyperplane
