// SPDX-License-Identifier: BSD-3-Clause
// Every problem in all its variants, for tests of every problem.
#pragma once

#include <ostream>

#include "core/interfaces/input_files.hpp"
#include "problems/system.hpp"

namespace hyperplane::test {

struct Variant {
    std::string label, problem;
    Keys keys;
    bool fills_stencil = true;  ///< whether every offset of the stencil is used somewhere
    bool is_derivative =
        true;  ///< whether the matrix is the derivative of the residual, not that of a defect correction

    friend void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.label; }
};

/// Input files: a matrix on 5 x 4 x 3 points that is neither symmetric nor of a ready-made stencil, and a coefficient
/// K.
inline InputFiles files() {
    InputFiles made;
    made.matrix = [](const std::string&, FileSymmetry) {
        const Grid grid{.nx = 5, .ny = 4, .nz = 3};
        InputMatrix input;
        input.csr.rows = 2 * grid.points();
        input.csr.row_begin = {0};
        for (Index row = 0; row < input.csr.rows; ++row) {
            for (Index column = 0; column < input.csr.rows; ++column) {
                const Int3 o = grid.point(column / 2) + -grid.point(row / 2);
                const bool held =
                    o == Int3{0, 0, 0} || o == Int3{2, -1, 1} || o == Int3{-2, 1, -1} || o == Int3{0, 1, 0};
                if (!held) continue;
                input.csr.column.push_back(column);
                input.csr.value.push_back(column == row ? 5.0 : 0.1 * double((3 * row + 7 * column) % 11) + 0.05);
            }
            input.csr.row_begin.push_back(Index(input.csr.column.size()));
        }
        return input;
    };
    made.vector = [](const std::string&) { return std::vector<double>(120, 0.5); };
    made.doubles = [](const std::string&, Index count) {
        std::vector<double> k(count);
        for (Index at = 0; at < count; ++at) k[at] = 1.0 + double(at % 17);
        return k;
    };
    return made;
}

inline std::vector<Variant> gas_variants() {
    return {
        {"gas_pulse", "euler", {{"grid.cells", "6 5 4"}}, false},
        {"gas_pulse_wide", "euler", {{"grid.cells", "5"}, {"problem.preconditioner_jacobian", "same"}}},
        {"gas_rusanov", "euler", {{"grid.cells", "6 5 4"}, {"problem.flux", "rusanov"}}, false},
        {"gas_kappa", "euler", {{"grid.cells", "5 4 3"}, {"problem.reconstruction", "kappa"}}, false},
        {"gas_first_order", "euler", {{"grid.cells", "5 4 3"}, {"problem.reconstruction", "first_order"}}},
        {"gas_walls",
         "euler",
         {{"grid.cells", "5 4 3"}, {"problem.case", "blast"}, {"grid.lengths", "1 0.7 0.5"}},
         false},
        {"gas_two_cells_walls", "euler", {{"grid.cells", "2 3 2"}, {"problem.case", "blast"}}, false},
        {"gas_two_cells_outflow", "euler", {{"grid.cells", "2 3 2"}}, false},
        {"gas_farfield", "euler", {{"grid.cells", "5 4 3"}, {"problem.boundary", "farfield"}}, false},
        {"gas_mixed", "euler", {{"grid.cells", "5"}, {"grid.periodic", "y"}, {"problem.boundary_z", "wall"}}},
        {"gas_array", "euler", {{"grid.cells", "6 5 7"}, {"problem.case", "taylor_green"}}},
        {"gas_vortex", "euler", {{"grid.cells", "7 6 1"}, {"problem.case", "vortex"}}, false},
        {"gas_tube", "euler", {{"grid.cells", "9 1 1"}, {"problem.case", "sod"}, {"problem.boundary", "exact"}}, false},
        {"gas_tube_x_z", "euler", {{"grid.cells", "3 1 7"}, {"problem.case", "sod"}}, false},
    };
}

inline std::vector<Variant> mixture_variants() {
    return {
        {"mixture", "cahn_hilliard", {{"grid.cells", "6 5 4"}}},
        {"mixture_two_cells", "cahn_hilliard", {{"grid.cells", "2 3 2"}}, false},
        {"mixture_unequal",
         "ch",
         {{"grid.cells", "5 4 3"}, {"grid.lengths", "0.2 0.1 0.3"}, {"problem.coupling_b1", "2"}}},
        {"mixture_avf", "ch", {{"grid.cells", "5 4 3"}, {"problem.scheme", "avf"}, {"time.time_step", "1e-3"}}},
        {"mixture_periodic",
         "ch",
         {{"grid.cells", "5 6 7"}, {"grid.periodic", "x y z"}, {"problem.initial_condition", "random"}}},
        {"mixture_manufactured", "ch", {{"grid.cells", "5 4 3"}, {"problem.right_hand_side", "manufactured"}}},
        {"mixture_plane", "ch", {{"grid.cells", "6 5 1"}}, false},
        {"mixture_line_z", "ch", {{"grid.cells", "1 1 9"}}, false},
        {"mixture_one", "ch", {{"grid.cells", "6 5 4"}, {"problem.fields", "one"}, {"problem.sigma", "5"}}},
        {"mixture_one_wall",
         "ch",
         {{"grid.cells", "9 1 1"}, {"problem.fields", "one"}, {"problem.initial_condition", "wall"}},
         false},
        {"mixture_one_manufactured",
         "ch",
         {{"grid.cells", "5 4 3"},
          {"problem.fields", "one"},
          {"problem.scheme", "avf"},
          {"problem.right_hand_side", "manufactured"}}},
    };
}

inline std::vector<Variant> variants() {
    const char* cells = "7 5 4";
    std::vector<Variant> all{
        {"manuexp", "poisson", {{"grid.cells", cells}, {"grid.lengths", "1 0.5 2"}}},
        {"manupoly_drop",
         "poisson",
         {{"grid.cells", cells}, {"problem.right_hand_side", "manupoly"}, {"problem.boundary_rows", "drop"}}},
        {"zero", "poisson", {{"grid.cells", cells}, {"problem.right_hand_side", "zero"}}},
        {"xones", "poisson", {{"grid.cells", cells}, {"problem.right_hand_side", "xones"}}},
        {"aniso_nodes",
         "poisson",
         {{"grid.cells", cells}, {"problem.coefficient", "aniso"}, {"problem.coefficient_scale", "1 3 0.1"}}},
        {"periodic_nodes", "poisson", {{"grid.cells", cells}, {"grid.periodic", "x z"}}},
        {"periodic_everywhere", "poisson", {{"grid.cells", cells}, {"grid.periodic", "x y z"}}},
        {"periodic_box27",
         "poisson",
         {{"grid.cells", "6"},
          {"grid.lengths", "1 0.8333333333333333 1"},
          {"grid.periodic", "x z"},
          {"problem.stencil", "box27"}}},
        {"cells_manusin",
         "poisson",
         {{"grid.cells", cells}, {"problem.discretisation", "cell"}, {"problem.right_hand_side", "manusin"}}},
        {"cells_file",
         "poisson",
         {{"grid.cells", cells},
          {"problem.discretisation", "cell"},
          {"problem.coefficient", "file"},
          {"problem.coefficient_file", "k.bin"}}},
        {"cells_zdirichlet",
         "poisson",
         {{"grid.cells", cells}, {"problem.discretisation", "cell"}, {"problem.boundary_condition", "zdirichlet"}}},
        {"cells_neumann",
         "poisson",
         {{"grid.cells", cells}, {"problem.discretisation", "cell"}, {"problem.boundary_condition", "neumann"}}},
        {"cells_periodic",
         "poisson",
         {{"grid.cells", cells},
          {"grid.periodic", "y"},
          {"problem.discretisation", "cell"},
          {"problem.coefficient", "white"}}},
        {"block_full", "block_laplacian", {{"grid.cells", cells}}},
        {"block_three_temperature",
         "block_laplacian",
         {{"grid.cells", cells}, {"problem.coupling", "three_temperature"}, {"problem.right_hand_side", "random"}}},
        {"block_periodic",
         "block_laplacian",
         {{"grid.cells", cells}, {"grid.periodic", "x"}, {"problem.right_hand_side", "xones"}}},
        {"matrix_market",
         "matrix_market",
         {{"grid.cells", "5 4 3"}, {"problem.matrix", "a.mtx"}, {"problem.dof", "2"}},
         false},
        {"matrix_market_rhs",
         "matrix_market",
         {{"grid.cells", "5 4 3"}, {"problem.matrix", "a.mtx"}, {"problem.dof", "2"}, {"problem.right_hand_side", "b"}},
         false},
        {"transient", "convection_diffusion", {{"grid.cells", cells}, {"grid.lengths", "1 1 0.5"}}},
        {"transient_periodic_abc",
         "cd",
         {{"grid.cells", cells}, {"grid.periodic", "x y z"}, {"problem.wind", "abc"}, {"time.time_step", "0.1"}}},
        {"hot_wall",
         "convdiff",
         {{"grid.cells", cells},
          {"problem.wind", "recirc"},
          {"problem.regime", "steady"},
          {"problem.boundary_rows", "drop"}}},
    };
    for (const char* more : {"cavity", "stretched", "half", "plane", "kovasznay", "ethier_steinman"}) {
        const std::string name = more;
        Variant flow{"flow_" + name, "navier_stokes", {{"grid.cells", name == "plane" ? "6 5 2" : "5 4 3"}}};
        if (name == "kovasznay" || name == "ethier_steinman") flow.keys.push_back({"problem.case", more});
        if (name == "stretched") flow.keys.push_back({"problem.stretching", "1 2 0.5"});
        if (name == "half") flow.keys.push_back({"problem.symmetry", "y"});
        all.push_back(std::move(flow));
    }
    const std::string ac = "artificial_compressibility";
    for (const char* cells_of : {"5 4 3", "4 5 1", "2 3 2"}) {
        const bool fills = cells_of[4] != '1';
        const std::string name = fills ? cells_of[0] == '5' ? "volumes" : "volumes_few" : "volumes_plane";
        all.push_back({name, ac, {{"grid.cells", cells_of}}, fills, false});
    }
    all.push_back({"volumes_first_order",
                   ac,
                   {{"grid.cells", "5 4 3"}, {"grid.lengths", "1 2 0.5"}, {"problem.reconstruction", "first_order"}},
                   true,
                   false});
    all.push_back({"volumes_6",
                   ac,
                   {{"grid.cells", "4 3 3"}, {"problem.scalars", "2"}, {"problem.coupling", "householder"}},
                   true,
                   false});
    all.push_back({"volumes_12",
                   ac,
                   {{"grid.cells", "3 3 2"}, {"problem.sets", "3"}, {"problem.step_factor", "1 2 0.5"}},
                   true,
                   false});
    all.push_back({"volumes_16",
                   ac,
                   {{"grid.cells", "3 3 2"}, {"problem.sets", "4"}, {"problem.coupling", "householder"}},
                   true,
                   false});
    for (const auto& more : {gas_variants(), mixture_variants()}) all.insert(all.end(), more.begin(), more.end());
    for (const char* weights : {"hpcg", "mehr"})
        all.push_back({std::string("box27_") + weights,
                       "poisson",
                       {{"grid.cells", "5"}, {"problem.stencil", "box27"}, {"problem.box27_weights", weights}}});
    all.push_back({"box27_q1",
                   "poisson",
                   {{"grid.cells", "5"}, {"problem.stencil", "box27"}, {"problem.box27_weights", "q1"}},
                   false});
    for (const char* k : {"lognormal", "white", "checker", "inclusions", "spe10like"})
        all.push_back({std::string("cells_") + k,
                       "poisson",
                       {{"grid.cells", cells}, {"problem.discretisation", "cell"}, {"problem.coefficient", k}}});
    for (const char* wind : {"const", "rotate", "recirc", "abc"})
        for (const char* scheme : {"upwind", "central", "sg"})
            all.push_back({std::string("steady_") + wind + "_" + scheme,
                           "convection_diffusion",
                           {{"grid.cells", cells},
                            {"problem.wind", wind},
                            {"problem.scheme", scheme},
                            {"problem.regime", "steady"},
                            {"problem.viscosity", "0.05"}}});
    for (const char* flat : {"1 1 9", "9 1 1", "7 5 1", "1 6 5", "7 5 3"})
        for (const char* name : {"poisson", "poisson cell", "convection_diffusion", "block_laplacian"}) {
            const bool cell = std::string(name) == "poisson cell";
            Variant variant{std::string(name) + " " + flat, cell ? "poisson" : name, {{"grid.cells", flat}}, false};
            if (cell) variant.keys.push_back({"problem.discretisation", "cell"});
            if (variant.problem == "convection_diffusion") variant.keys.push_back({"problem.wind", "abc"});
            for (char& c : variant.label)
                if (c == ' ') c = '_';
            all.push_back(std::move(variant));
        }
    for (const char* flat : {"1 1 9", "9 1 1", "7 7 1"})
        for (const char* weights : {"hpcg", "q1", "mehr"}) {
            Variant variant{std::string("box27_") + weights + " " + flat,
                            "poisson",
                            {{"grid.cells", flat}, {"problem.stencil", "box27"}, {"problem.box27_weights", weights}},
                            false};
            for (char& c : variant.label)
                if (c == ' ') c = '_';
            all.push_back(std::move(variant));
        }
    return all;
}

}  // namespace hyperplane::test
