// SPDX-License-Identifier: BSD-3-Clause
// Keys that are out of range or contradict each other are refused, and the message says why.
#include "problems/system.hpp"

namespace hyperplane::test {
namespace {

struct Case {
    const char* problem;
    Keys keys;
    std::vector<const char*> words;  ///< the message contains each of them
};

TEST(Refusal, SaysWhatContradictsAndWhatToDo) {
    const Case cases[] = {
        {"poisson", {{"grid.cells", "1"}}, {"grid.cells", "no neighbours"}},
        {"poisson", {{"grid.cells", "2 5 5"}}, {"along x", "boundary"}},
        {"poisson", {{"grid.cells", "4 5"}}, {"grid.cells", "one number or three"}},
        {"poisson", {{"grid.cells", "0"}}, {"out of range"}},
        {"poisson", {{"grid.lengths", "1 0 1"}}, {"out of range"}},
        {"poisson", {{"grid.cells", "5 2 5"}, {"grid.periodic", "y"}}, {"periodic axis y", "3 or more"}},
        {"poisson", {{"grid.cells", "5 5 1"}, {"grid.periodic", "z"}}, {"periodic axis z"}},
        {"poisson", {{"grid.periodic", "w"}}, {"grid.periodic", "x y"}},
        {"poisson", {{"grid.periodic", "x"}, {"problem.right_hand_side", "manuexp"}}, {"manuexp is not periodic", "x"}},
        {"poisson", {{"grid.periodic", "x y z"}, {"problem.right_hand_side", "ones"}}, {"up to a constant", "random"}},
        {"poisson", {{"problem.coefficient", "checker"}}, {"discretisation = cell"}},
        {"poisson", {{"problem.boundary_condition", "neumann"}}, {"discretisation = cell"}},
        {"poisson", {{"problem.contrast", "10"}}, {"problem.contrast", "checker or inclusions"}},
        {"poisson", {{"problem.coefficient_scale", "1 2 3"}}, {"aniso", "remove the key"}},
        {"poisson", {{"problem.stencil", "box27"}, {"grid.cells", "5 6 5"}}, {"equal spacings"}},
        {"poisson",
         {{"problem.stencil", "box27"}, {"problem.coefficient", "aniso"}, {"problem.coefficient_scale", "1 2 1"}},
         {"isotropic"}},
        {"poisson", {{"problem.box27_weights", "q1"}}, {"stencil = box27"}},
        {"poisson", {{"problem.stencil", "box27"}, {"problem.discretisation", "cell"}}, {"discretisation = node"}},
        {"poisson", {{"problem.boundary_rows", "drop"}, {"problem.discretisation", "cell"}}, {"no boundary rows"}},
        {"poisson", {{"problem.discretisation", "cell"}, {"problem.coefficient", "file"}}, {"coefficient_file"}},
        {"poisson",
         {{"problem.discretisation", "cell"}, {"problem.coefficient", "white"}, {"problem.right_hand_side", "manuexp"}},
         {"const or aniso"}},
        {"poisson",
         {{"problem.discretisation", "cell"}, {"problem.boundary_condition", "zdirichlet"}, {"grid.cells", "5 5 1"}},
         {"axis z is flat"}},
        {"poisson", {{"time.steps", "3"}}, {"time.steps", "poisson is steady"}},
        {"convection_diffusion", {{"problem.viscosity", "-1"}}, {"viscosity", "out of range"}},
        {"convection_diffusion",
         {{"problem.viscosity", "1"}, {"problem.peclet", "2"}},
         {"viscosity", "peclet", "contradicts"}},
        {"convection_diffusion", {{"time.cfl", "0"}}, {"out of range"}},
        {"convection_diffusion", {{"time.cfl", "1"}, {"time.time_step", "1"}}, {"time.cfl", "time.time_step"}},
        {"convection_diffusion", {{"problem.regime", "steady"}, {"time.cfl", "1"}}, {"time.cfl", "steady"}},
        {"convection_diffusion", {{"problem.wind", "recirc"}, {"grid.lengths", "1 2 1"}}, {"divergence-free"}},
        {"convection_diffusion", {{"grid.periodic", "x"}}, {"rotate is not periodic"}},
        {"convection_diffusion", {{"problem.wind_velocity", "1 0 0"}}, {"wind = const"}},
        {"convection_diffusion", {{"problem.wind", "const"}, {"problem.wind_velocity", "0 0 0"}}, {"wind is zero"}},
        {"convection_diffusion", {{"problem.right_hand_side", "manuexp"}}, {"regime = steady"}},
        {"convection_diffusion",
         {{"problem.wind", "abc"}, {"grid.periodic", "xyz"}, {"problem.boundary_rows", "keep"}},
         {"boundary_rows", "periodic", "remove the key"}},
        {"convection_diffusion",
         {{"problem.wind", "abc"}, {"grid.periodic", "xyz"}, {"problem.boundary_value", "zero"}},
         {"boundary_value", "periodic", "remove the key"}},
        {"convection_diffusion",
         {{"problem.regime", "steady"}, {"problem.right_hand_side", "manuexp"}, {"problem.boundary_value", "zero"}},
         {"boundary_value", "manuexp"}},
        {"convection_diffusion",
         {{"problem.initial_condition", "zero"}, {"problem.gaussian_sharpness", "1"}},
         {"gaussian_sharpness", "remove"}},
        {"navier_stokes", {{"problem.reynolds", "-1"}}, {"reynolds", "out of range"}},
        {"navier_stokes", {{"time.cfl", "0"}}, {"time.cfl", "out of range"}},
        {"navier_stokes", {{"grid.periodic", "x"}}, {"grid.periodic", "walls"}},
        {"navier_stokes", {{"grid.cells", "5 2 5"}}, {"2 nodes along y", "3 or more"}},
        {"navier_stokes", {{"grid.cells", "5 5 1"}}, {"1 nodes along z", "plane flow"}},
        {"navier_stokes",
         {{"grid.cells", "5 5 2"}, {"problem.case", "ethier_steinman"}},
         {"grid.cells", "three dimensions"}},
        {"navier_stokes",
         {{"problem.case", "ethier_steinman"}, {"problem.regime", "pseudo_transient"}},
         {"regime", "decays in time"}},
        {"navier_stokes", {{"grid.cells", "5 5 2"}, {"problem.symmetry", "y"}}, {"symmetry", "three dimensions"}},
        {"navier_stokes", {{"problem.case", "kovasznay"}, {"problem.symmetry", "y"}}, {"symmetry", "take none"}},
        {"navier_stokes", {{"problem.stretching", "1 2"}}, {"stretching", "one number or three"}},
        {"navier_stokes",
         {{"problem.case", "kovasznay"}, {"problem.stretching", "1"}},
         {"stretching", "no flow is steady"}},
        {"navier_stokes", {{"problem.stretching", "-1"}}, {"stretching", "out of range"}},
        {"euler", {{"time.cfl", "-1"}}, {"time.cfl", "out of range"}},
        {"euler", {{"problem.heat_capacity_ratio", "1"}}, {"heat_capacity_ratio", "out of range"}},
        {"euler", {{"grid.cells", "4 8 8"}, {"grid.periodic", "x"}}, {"grid.cells", "periodic axis x", "5 or more"}},
        {"euler", {{"grid.cells", "1 8 8"}, {"problem.case", "vortex"}}, {"grid.cells", "x-y plane"}},
        {"euler", {{"grid.periodic", "x"}, {"problem.case", "sod"}}, {"grid.periodic", "tube along x"}},
        {"euler", {{"grid.periodic", "x"}, {"problem.case", "taylor_green"}}, {"grid.periodic", "every axis"}},
        {"euler", {{"problem.mach", "0.2"}}, {"problem.mach", "case = pulse does not use it"}},
        {"euler",
         {{"problem.case", "vortex"}, {"problem.vortex_strength", "10"}, {"problem.heat_capacity_ratio", "1.9"}},
         {"vortex_strength", "negative"}},
        {"euler", {{"problem.boundary", "exact"}}, {"problem.boundary", "not known", "farfield"}},
        {"euler", {{"grid.cells", "8 8 1"}, {"problem.boundary_z", "wall"}}, {"boundary_z", "axis z is flat"}},
        {"euler",
         {{"problem.case", "taylor_green"}, {"problem.boundary", "wall"}},
         {"problem.boundary", "flat or periodic", "remove the key"}},
        {"euler",
         {{"grid.cells", "8 1 1"}, {"problem.boundary_x", "wall"}, {"problem.boundary", "wall"}},
         {"problem.boundary", "of their own", "remove the key"}},
        {"euler", {{"problem.kappa", "0"}}, {"problem.kappa", "reconstruction = kappa"}},
        {"euler",
         {{"problem.reconstruction", "kappa"}, {"problem.limiter_epsilon", "1"}},
         {"limiter_epsilon", "van_albada"}},
        {"euler",
         {{"problem.reconstruction", "first_order"}, {"problem.jacobian", "upwind2"}},
         {"problem.jacobian", "no slopes"}},
        {"artificial_compressibility", {{"problem.reynolds", "0"}}, {"reynolds", "out of range"}},
        {"artificial_compressibility", {{"grid.periodic", "z"}}, {"grid.periodic", "walls"}},
        {"artificial_compressibility", {{"grid.cells", "1 5 5"}}, {"grid.cells", "2 cells or more"}},
        {"artificial_compressibility", {{"problem.sets", "9"}}, {"sets", "out of range"}},
        {"artificial_compressibility", {{"problem.sets", "8"}, {"problem.scalars", "1"}}, {"33 unknowns", "32"}},
        {"artificial_compressibility",
         {{"problem.sets", "3"}, {"problem.artificial_compressibility", "1 2"}},
         {"one for each of 3 sets", "got 2"}},
        {"artificial_compressibility", {{"problem.scalar_diffusivity", "1 1"}}, {"no scalars", "remove"}},
        {"cahn_hilliard", {{"problem.epsilon_u", "0"}}, {"epsilon_u", "out of range"}},
        {"cahn_hilliard", {{"time.cfl", "1"}}, {"time.cfl", "time.time_step"}},
        {"cahn_hilliard",
         {{"problem.spacing", "0.1"}, {"grid.lengths", "1"}},
         {"spacing", "grid.lengths", "one of them"}},
        {"cahn_hilliard",
         {{"grid.cells", "4 8 8"}, {"grid.periodic", "x"}, {"problem.initial_condition", "random"}},
         {"grid.cells", "periodic axis x", "5 or more"}},
        {"cahn_hilliard", {{"grid.periodic", "y"}}, {"initial_condition", "smooth is not periodic along y", "random"}},
        {"cahn_hilliard", {{"problem.fields", "one"}, {"problem.epsilon_v", "0.1"}}, {"epsilon_v", "no v"}},
        {"cahn_hilliard", {{"problem.seed", "2"}}, {"problem.seed", "random"}},
        {"cahn_hilliard", {{"problem.starting_steps", "2"}}, {"starting_steps", "scheme = avf"}},
        {"cahn_hilliard",
         {{"problem.right_hand_side", "manufactured"}, {"problem.initial_condition", "random"}},
         {"initial_condition", "remove"}},
        {"block_laplacian", {{"grid.periodic", "x y z"}}, {"singular"}},
        {"matrix_market", {{"problem.matrix", "a"}}, {"grid.cells"}},
    };
    for (const Case& wrong : cases) {
        const std::string message = refusal(wrong.problem, wrong.keys);
        EXPECT_NE(message, "") << wrong.problem << " " << wrong.keys.back().first << " was accepted";
        for (const char* word : wrong.words)
            EXPECT_NE(message.find(word), std::string::npos) << "no '" << word << "' in: " << message;
    }
}

TEST(Refusal, NamesTheCellOfACoefficientThatIsNotPositive) {
    InputFiles files;
    files.doubles = [](const std::string&, Index count) {
        std::vector<double> k(count, 1.0);
        k[27 + 5] = -2.0;
        return k;
    };
    const std::string message = refusal("poisson",
                                        {{"grid.cells", "3"},
                                         {"problem.discretisation", "cell"},
                                         {"problem.coefficient", "file"},
                                         {"problem.coefficient_file", "k"}},
                                        files);
    EXPECT_NE(message.find("ky = -2 at cell (2, 1, 0)"), std::string::npos) << message;
}

TEST(Registry, KnowsAliasesAndDescribesEveryKey) {
    EXPECT_EQ(find_row(problems(), "problem", "cd").name, "convection_diffusion");
    EXPECT_EQ(find_row(problems(), "problem", "convdiff").name, "convection_diffusion");
    EXPECT_EQ(find_row(problems(), "problem", "bsr3").name, "block_laplacian");
    for (const auto& row : problems()) {
        ParameterTable table = common_problem_parameters();
        table.insert(table.end(), row.parameters.begin(), row.parameters.end());
        for (const ParameterSpec& spec : table) {
            EXPECT_GT(spec.description.size(), 10u) << spec.name();
            EXPECT_NE(spec.description.back(), '.') << spec.name();
            if (spec.default_value.empty()) continue;
            EXPECT_FALSE(check_value(spec, spec.default_value)) << spec.name();
        }
    }
}

}  // namespace
}  // namespace hyperplane::test
