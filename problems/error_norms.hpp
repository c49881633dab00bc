// SPDX-License-Identifier: BSD-3-Clause
// Norms of the difference to an exact solution, computed on the host.
#pragma once

#include <cmath>
#include <vector>

#include "core/interfaces/problem.hpp"

namespace hyperplane {

/// The norms "max" and "rms" of u - exact over all points and unknowns. u lies in the host's memory; the results have
/// the same bits for any number of threads.
template <class Exact>
std::vector<ErrorNorm> error_norms(const Vector& u, const Grid& grid, const Exact& exact) {
    const Index lines = Index(grid.ny) * grid.nz;
    std::vector<double> largest(lines, 0.0), squares(lines, 0.0);
#pragma omp parallel for schedule(static) num_threads(u.context().threads_for(grid.points()))
    for (Index line = 0; line < lines; ++line)
        for (int i = 0; i < grid.nx; ++i) {
            const Int3 p{i, int(line % grid.ny), int(line / grid.ny)};
            for (int c = 0; c < u.dof(); ++c) {
                const double error = u(p, c) - exact(p);
                largest[line] = std::fmax(largest[line], std::abs(error));
                squares[line] += error * error;
            }
        }
    double max = 0.0, sum = 0.0;
    for (Index line = 0; line < lines; ++line) {
        max = std::fmax(max, largest[line]);
        sum += squares[line];
    }
    return {{"max", max}, {"rms", std::sqrt(sum / double(u.size()))}};
}

/// Norms of the error of one component; l1 and rms are means over the points.
struct FieldError {
    double max, l1, rms;
};

/// Norms of component c of u minus exact(p). u lies in the host's memory; the results have the same bits for any number
/// of threads.
template <class Exact>
FieldError field_error(const Vector& u, const Grid& grid, int c, const Exact& exact) {
    const Index lines = Index(grid.ny) * grid.nz;
    std::vector<FieldError> of_line(lines, {0.0, 0.0, 0.0});
#pragma omp parallel for schedule(static) num_threads(u.context().threads_for(grid.points()))
    for (Index line = 0; line < lines; ++line)
        for (int i = 0; i < grid.nx; ++i) {
            const Int3 p{i, int(line % grid.ny), int(line / grid.ny)};
            const double error = std::abs(u(p, c) - exact(p));
            of_line[line].max = std::fmax(of_line[line].max, error);
            of_line[line].l1 += error;
            of_line[line].rms += error * error;
        }
    FieldError all{0.0, 0.0, 0.0};
    for (const FieldError& line : of_line) {
        all.max = std::fmax(all.max, line.max);
        all.l1 += line.l1;
        all.rms += line.rms;
    }
    const double points = double(grid.points());
    return {all.max, all.l1 / points, std::sqrt(all.rms / points)};
}

}  // namespace hyperplane
