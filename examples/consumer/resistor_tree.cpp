// SPDX-License-Identifier: BSD-3-Clause
// A network of resistors of 1 ohm each, a binary tree whose leaves are grounded: a program that assembles a sparse
// matrix of its own in compressed rows and has Hyperplane solve it.
//
//   resistor_tree [DEPTH [SOLVER [PRECONDITIONER]]]     default: 16 cg sync_free_ilu
//
// Kirchhoff's law at node i with conductances g = 1 / R: sum over neighbours j of g (u_i - u_j) = current into i. With
// 1 A into the root its potential is the resistance of the tree, sum_{k = 1}^{depth} 2^-k = 1 - 2^-depth ohm.
#include <hyperplane/linear_solver.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

/// Compressed rows: the entries of row i are begin[i], ..., begin[i + 1] - 1.
struct Rows {
    std::vector<std::int32_t> begin{0}, columns;
    std::vector<double> values;
    hyperplane::SparseMatrix view() const { return {.row_begin = begin, .columns = columns, .values = values}; }
};

/// The nodes above the leaves: the parent of i is (i - 1) / 2, its children are 2 i + 1 and 2 i + 2.
Rows assemble(int depth, double conductance) {
    const int nodes = (1 << depth) - 1;
    Rows a;
    const auto add = [&](int column, double value) {
        a.columns.push_back(column);
        a.values.push_back(value);
    };
    for (int i = 0; i < nodes; ++i) {
        if (i > 0) add((i - 1) / 2, -conductance);
        add(i, (i > 0 ? 3.0 : 2.0) * conductance);
        for (const int child : {2 * i + 1, 2 * i + 2})
            if (child < nodes) add(child, -conductance);  // otherwise it is a leaf, whose potential is 0
        a.begin.push_back(std::int32_t(a.columns.size()));
    }
    return a;
}

/// Solves for the resistance of the tree, and prints how the solve ended.
double resistance(hyperplane::LinearSolver& network, int nodes) {
    std::vector<double> current(nodes, 0.0), potential(nodes, 0.0);
    current[0] = 1.0;
    const hyperplane::SolveResult result = network.solve(current, potential);
    std::printf("%s after %lld iterations, ||b - A x|| = %.2e ||b||\n", result.reason.c_str(),
                static_cast<long long>(result.iterations), result.residual / result.right_hand_side);
    return potential[0];
}

int run(int depth, const std::string& solver, const std::string& preconditioner) {
    const Rows ohm = assemble(depth, 1.0), milliohm = assemble(depth, 1000.0);
    const int nodes = int(ohm.begin.size()) - 1;
    // On a CPU the solver reads the values where they are, so they must outlive it.
    hyperplane::LinearSolver network(
        ohm.view(), {.keys = {{"solver.name", solver}, {"rtol", "1e-12"}, {"preconditioner.name", preconditioner}}});
    std::printf("%s with %s, %d nodes\n", network.solver().c_str(), network.preconditioner().c_str(), nodes);
    const double exact = 1.0 - std::ldexp(1.0, -depth), of_ohm = resistance(network, nodes);
    network.update(milliohm.view());  // other values of the same pattern
    const double of_milliohm = resistance(network, nodes);
    std::printf("resistance: %.10f ohm, %.10f milliohm; exact: %.10f\n", of_ohm, 1e3 * of_milliohm, exact);
    return std::fabs(of_ohm - exact) < 1e-9 && std::fabs(1e3 * of_milliohm - exact) < 1e-9 ? EXIT_SUCCESS
                                                                                           : EXIT_FAILURE;
}

}  // namespace

int main(int count, char** words) {
    try {
        return run(count > 1 ? std::atoi(words[1]) : 16, count > 2 ? words[2] : "cg",
                   count > 3 ? words[3] : "sync_free_ilu");
    } catch (const hyperplane::Error& error) {
        std::fprintf(stderr, "resistor_tree: %s\n", error.what());
        return static_cast<int>(error.code());
    }
}
