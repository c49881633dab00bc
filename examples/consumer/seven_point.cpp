// SPDX-License-Identifier: BSD-3-Clause
// Heat conduction, -div(k grad u) = f on the unit cube with u = 0 around it, by finite volumes on the cells' centres:
// a program that assembles its own seven-point matrix and has Hyperplane solve it.
//
//   seven_point [CELLS [SOLVER [PRECONDITIONER]]]     default: 32 cg struct_ilu
//
// The flux through a face between cells p and q is h T (u_p - u_q) with the harmonic mean T = 2 k_p k_q / (k_p + k_q),
// at the boundary h 2 k_p u_p, so that A is symmetric. The solution is chosen, u = sin(pi x) sin(pi y) sin(pi z) for
// constant k, and the error has to fall with h^2.
#include <hyperplane/linear_solver.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

namespace {

using std::numbers::pi;

/// Conductivity of a cell: 1, and `inside` in a box in the middle.
double conductivity(const std::array<int, 3>& cell, int cells, double inside) {
    bool in_box = true;
    for (const int at : cell) in_box = in_box && 3 * at >= cells && 3 * at < 2 * cells;
    return in_box ? inside : 1.0;
}

hyperplane::StencilMatrix assemble(int cells, double inside) {
    hyperplane::StencilMatrix a({.extents = {cells, cells, cells}, .symmetric = true});
    const auto& offsets = a.shape().offsets;  // (0, 0, 0) first, then the six neighbours
    const double h = 1.0 / cells;
    const auto diagonal = a.coefficients(0);
    for (int k = 0; k < cells; ++k)
        for (int j = 0; j < cells; ++j)
            for (int i = 0; i < cells; ++i) {
                const auto p = a.number(i, j, k);
                const double here = conductivity({i, j, k}, cells, inside);
                for (int side = 1; side < 7; ++side) {
                    const std::array<int, 3> other{i + offsets[side][0], j + offsets[side][1], k + offsets[side][2]};
                    bool exists = true;
                    for (const int at : other) exists = exists && at >= 0 && at < cells;
                    const double there = exists ? conductivity(other, cells, inside) : 0.0;
                    const double through = exists ? h * 2.0 * here * there / (here + there) : h * 2.0 * here;
                    diagonal[p] += through;
                    if (exists) a.coefficients(side)[p] = -through;
                }
            }
    return a;
}

/// Largest error against the exact solution for k = 1.
double largest_error(int cells, const std::vector<double>& u) {
    double largest = 0.0;
    std::size_t p = 0;
    const auto wave = [&](int at) { return std::sin(pi * (at + 0.5) / cells); };
    for (int k = 0; k < cells; ++k)
        for (int j = 0; j < cells; ++j)
            for (int i = 0; i < cells; ++i)
                largest = std::fmax(largest, std::fabs(u[p++] - wave(i) * wave(j) * wave(k)));
    return largest;
}

std::vector<double> heat_sources(int cells) {
    std::vector<double> f;
    const double volume = 1.0 / (double(cells) * cells * cells);
    const auto wave = [&](int at) { return std::sin(pi * (at + 0.5) / cells); };
    for (int k = 0; k < cells; ++k)
        for (int j = 0; j < cells; ++j)
            for (int i = 0; i < cells; ++i) f.push_back(3.0 * pi * pi * wave(i) * wave(j) * wave(k) * volume);
    return f;
}

void show(const char* what, const hyperplane::SolveResult& result) {
    std::printf("%s: %s after %lld iterations, ||b - A x|| = %.2e ||b||\n", what, result.reason.c_str(),
                static_cast<long long>(result.iterations), result.residual / result.right_hand_side);
}

int run(int cells, const std::string& solver, const std::string& preconditioner) {
    const std::vector<double> f = heat_sources(cells);
    hyperplane::LinearSolver system(
        assemble(cells, 1.0),
        {.keys = {{"solver.name", solver}, {"solver.rtol", "1e-10"}, {"preconditioner.name", preconditioner}}});
    std::printf("hyperplane %s: %s with %s, %d^3 cells\n", hyperplane::version(), system.solver().c_str(),
                system.preconditioner().c_str(), cells);

    std::vector<double> u(f.size(), 0.0);
    const hyperplane::SolveResult constant = system.solve(f, u);
    show("k = 1", constant);
    std::printf("largest error: %.3e\n", largest_error(cells, u));

    // Other values of a matrix of the same shape; the solve begins with the u of the one before.
    system.update(assemble(cells, 1000.0));
    const hyperplane::SolveResult box = system.solve(f, u);
    show("k = 1000 in a box", box);
    return constant.converged && box.converged ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int count, char** words) {
    try {
        return run(count > 1 ? std::atoi(words[1]) : 32, count > 2 ? words[2] : "cg",
                   count > 3 ? words[3] : "struct_ilu");
    } catch (const hyperplane::Error& error) {
        std::fprintf(stderr, "seven_point: %s\n", error.what());
        return static_cast<int>(error.code());
    }
}
