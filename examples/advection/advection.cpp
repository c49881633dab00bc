// SPDX-License-Identifier: BSD-3-Clause
// Advection with the wind, u_t + a . grad u = 0 on the periodic unit cube: a PDE of one's own, in time, whose systems
// Hyperplane solves.
//
//   advection [CELLS [SOLVER [PRECONDITIONER]]]     default: 24 gmres struct_ilu
//
// Central differences D and the trapezoidal rule (Crank and Nicolson) give one system a step, the same for all steps:
//
//   (I + dt/2 a . D) u_new = (I - dt/2 a . D) u_old
//
// A wave, sin(2 pi (x + y + z - (a_x + a_y + a_z) t)), moves on unchanged. With dt in proportion to h, the error at
// t = 0.5 has to fall with h^2.
#include <hyperplane/linear_solver.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

namespace {

constexpr std::array<double, 3> wind{1.0, 0.5, -0.25};
constexpr double end_time = 0.5;

/// A point's number in natural order; the grid is periodic.
struct Grid {
    int cells;
    std::size_t number(std::array<int, 3> at) const {
        for (int& place : at) place = (place + cells) % cells;
        return std::size_t(at[0]) + std::size_t(cells) * (std::size_t(at[1]) + std::size_t(cells) * std::size_t(at[2]));
    }
    std::size_t points() const { return std::size_t(cells) * cells * cells; }
    /// Calls what({i, j, k}) for every point, in natural order.
    template <class What>
    void each(const What& what) const {
        for (int k = 0; k < cells; ++k)
            for (int j = 0; j < cells; ++j)
                for (int i = 0; i < cells; ++i) what(std::array<int, 3>{i, j, k});
    }
};

/// The coefficient of the neighbour at `offset` in dt/2 a . D.
double coupling(const std::array<int, 3>& offset, double dt, double h) {
    double sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) sum += 0.5 * dt * wind[axis] * offset[axis] / (2.0 * h);
    return sum;
}

/// I + dt/2 a . D
hyperplane::StencilMatrix assemble(const Grid& grid, double dt) {
    const int n = grid.cells;
    hyperplane::StencilMatrix a({.extents = {n, n, n}, .periodic = {true, true, true}});
    const auto& offsets = a.shape().offsets;
    for (int side = 0; side < int(offsets.size()); ++side) {
        const double value = side == 0 ? 1.0 : coupling(offsets[side], dt, 1.0 / n);
        for (double& coefficient : a.coefficients(side)) coefficient = value;
    }
    return a;
}

/// (I - dt/2 a . D) u
std::vector<double> right_hand_side(const Grid& grid, const std::vector<double>& u, double dt) {
    std::vector<double> b(u);
    for (const auto& offset : hyperplane::StencilShape{}.offsets) {
        const double value = coupling(offset, dt, 1.0 / grid.cells);
        grid.each([&](const std::array<int, 3>& p) {
            b[grid.number(p)] -= value * u[grid.number({p[0] + offset[0], p[1] + offset[1], p[2] + offset[2]})];
        });
    }
    return b;
}

std::vector<double> wave(const Grid& grid, double time) {
    std::vector<double> u;
    u.reserve(grid.points());
    const double moved = (wind[0] + wind[1] + wind[2]) * time;
    grid.each([&](const std::array<int, 3>& p) {
        u.push_back(std::sin(2.0 * std::numbers::pi * (double(p[0] + p[1] + p[2]) / grid.cells - moved)));
    });
    return u;
}

int run(int cells, const std::string& solver, const std::string& preconditioner) {
    const Grid grid{cells};
    const int steps = cells;
    const double dt = end_time / steps;
    hyperplane::LinearSolver system(
        assemble(grid, dt),
        {.keys = {{"solver.name", solver}, {"solver.rtol", "1e-10"}, {"preconditioner.name", preconditioner}}});

    std::vector<double> u = wave(grid, 0.0);
    std::int64_t iterations = 0;
    for (int step = 1; step <= steps; ++step) {
        const std::vector<double> b = right_hand_side(grid, u, dt);
        const hyperplane::SolveResult result = system.solve(b, u);  // begins with the u of the step before
        if (!result.converged) {
            std::fprintf(stderr, "advection: step %d: %s\n", step, result.explanation.c_str());
            return EXIT_FAILURE;
        }
        iterations += result.iterations;
    }

    const std::vector<double> exact = wave(grid, end_time);
    double largest = 0.0;
    for (std::size_t p = 0; p < u.size(); ++p) largest = std::fmax(largest, std::fabs(u[p] - exact[p]));
    std::printf("%s with %s, %d^3 cells: %d steps, %lld iterations, largest error %.3e\n", system.solver().c_str(),
                system.preconditioner().c_str(), cells, steps, static_cast<long long>(iterations), largest);
    return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** words) {
    try {
        return run(count > 1 ? std::atoi(words[1]) : 24, count > 2 ? words[2] : "gmres",
                   count > 3 ? words[3] : "struct_ilu");
    } catch (const hyperplane::Error& error) {
        std::fprintf(stderr, "advection: %s\n", error.what());
        return static_cast<int>(error.code());
    }
}
