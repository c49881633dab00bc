// SPDX-License-Identifier: BSD-3-Clause
// Sums over the points of a grid, and norms of the difference to an exact solution, computed on the host.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/interfaces/problem.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/plane_sums.hpp"

namespace hyperplane {

template <std::size_t n>
struct PointSums {
    double max = 0.0;
    std::array<double, n> sum{};
};

/// Calls add(p, sums) for every point p, which adds to sums.sum and raises sums.max, and returns what comes of all
/// points: line by line, then plane by plane, with the same bits for any number of threads and ranks. u lies in the
/// host's memory and has the grid.
template <std::size_t n, class Add>
PointSums<n> sum_over_points(const Vector& u, const Add& add) {
    const Layout& layout = u.layout();
    const Index ny = layout.grid().ny, lines = ny * layout.planes(), first = ny * layout.begin_plane();
    std::vector<double> largest(lines), partial(n * lines);
#pragma omp parallel for schedule(static) num_threads(u.context().threads_for(layout.slots()))
    for (Index line = 0; line < lines; ++line) {
        PointSums<n> of_line;
        for (int i = 0; i < layout.grid().nx; ++i) add(Int3{i, int(line % ny), int((first + line) / ny)}, of_line);
        largest[line] = of_line.max;
        std::copy(of_line.sum.begin(), of_line.sum.end(), partial.begin() + n * line);
    }
    PointSums<n> all;
    for (const double of_line : largest) all.max = std::fmax(all.max, of_line);
    all.max = largest_of_ranks(u.context(), all.max);
    PlaneSums::of_lines(layout).add_up(u.context(), partial, n, all.sum.data());
    return all;
}

/// The names of what error_norms() returns, where a solution is known.
inline std::vector<std::string> names_of_error_norms(bool known) {
    return known ? std::vector<std::string>{"max", "rms"} : std::vector<std::string>{};
}

/// The norms "max" and "rms" of u - exact over all points and unknowns.
template <class Exact>
std::vector<ErrorNorm> error_norms(const Vector& u, const Grid& grid, const Exact& exact) {
    const auto found = sum_over_points<1>(u, [&](Int3 p, PointSums<1>& sums) {
        for (int c = 0; c < u.dof(); ++c) {
            const double error = u(p, c) - exact(p);
            sums.max = std::fmax(sums.max, std::abs(error));
            sums.sum[0] += error * error;
        }
    });
    return {{"max", found.max}, {"rms", std::sqrt(found.sum[0] / double(grid.points() * u.dof()))}};
}

/// Norms of the error of one component; l1 and rms are means over the points.
struct FieldError {
    double max, l1, rms;
};

/// Norms of component c of u minus exact(p).
template <class Exact>
FieldError field_error(const Vector& u, const Grid& grid, int c, const Exact& exact) {
    const auto found = sum_over_points<2>(u, [&](Int3 p, PointSums<2>& sums) {
        const double error = std::abs(u(p, c) - exact(p));
        sums.max = std::fmax(sums.max, error);
        sums.sum[0] += error;
        sums.sum[1] += error * error;
    });
    const double points = double(grid.points());
    return {found.max, found.sum[0] / points, std::sqrt(found.sum[1] / points)};
}

/// Adds a field with each unknown's error, unknown c minus exact(c, point, time): `error` if there is one unknown,
/// otherwise NAME_error.
template <class Exact>
void add_error_fields(std::vector<Field>& all, const std::vector<std::string>& components, const Exact& exact) {
    for (int c = 0; c < int(components.size()); ++c)
        all.push_back({.name = components.size() == 1 ? "error" : components[c] + "_error",
                       .description = components[c] + " minus the exact solution",
                       .at = [c, exact](const double* unknowns, Int3 p, double time, double* values) {
                           values[0] = unknowns[c] - exact(c, p, time);
                       }});
}

}  // namespace hyperplane
