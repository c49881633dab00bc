// What holds for every problem and variant: the matrix is the derivative of the residual, on the
// declared stencil, the same in both layouts, symmetric to the last bit where declared so.
#include "core/input_files.hpp"
#include "problems/system.hpp"
#include "several_threads.hpp"

namespace hyperplane::test {
namespace {

struct Variant {
    std::string label, problem;
    Keys keys;
    bool fills_stencil = true;  ///< every offset of the stencil is used somewhere

    friend void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.label; }
};

/// A system of 5 x 4 x 3 points whose matrix is neither symmetric nor of a ready-made stencil, and a K.
InputFiles files() {
    InputFiles made;
    made.matrix = [](const std::string&) {
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

std::vector<Variant> variants() {
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

class EveryProblem : public testing::TestWithParam<Variant> {
protected:
    std::unique_ptr<Problem> problem_ = make_problem(GetParam().problem, GetParam().keys, files());
    TimeLevel level_{problem_->time_step(), problem_->time_step()};
    System system_{*problem_, LayoutKind::natural, level_};
};

TEST_P(EveryProblem, MatrixIsTheDerivativeOfTheResidualOnTheDeclaredStencil) {
    const SystemShape& shape = problem_->shape();
    const CsrMatrix csr = system_.matrix().to_csr();
    double scale = 0.0;
    for (double value : csr.value) scale = std::fmax(scale, std::abs(value));
    ASSERT_GT(scale, 0.0);
    std::vector<double> dense(csr.rows * csr.rows, 0.0);
    for (Index row = 0; row < csr.rows; ++row)
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at)
            dense[row * csr.rows + csr.column[at]] = csr.value[at];
    const auto natural = [&](Index row) { return std::pair{shape.grid.point(row / shape.dof), int(row % shape.dof)}; };
    const Vector old = system_.random(3);
    for (Index column = 0; column < csr.rows; ++column) {
        const auto [at, c] = natural(column);
        Vector plus = system_.random(5), minus = system_.random(5);
        plus(at, c) += 0.5;
        minus(at, c) -= 0.5;
        const Vector f_plus = system_.residual(plus, old), f_minus = system_.residual(minus, old);
        for (Index row = 0; row < csr.rows; ++row) {
            const auto [p, r] = natural(row);
            ASSERT_NEAR(f_plus(p, r) - f_minus(p, r), dense[row * csr.rows + column], 1e-12 * scale)
                << "row " << row << " column " << column;
        }
    }
}

TEST_P(EveryProblem, UsesEveryOffsetAndNoneOutsideTheGrid) {
    const StructMatrix a = system_.matrix();
    for (int e = 0; e < a.stencil().size(); ++e) {
        bool used = false;
        for (Index row = 0; row < a.grid().points(); ++row) {
            const Int3 p = a.grid().point(row);
            const bool inside = a.grid().contains(a.grid().wrapped(p + a.stencil()[e]));
            for (int r = 0; r < a.dof(); ++r)
                for (int c = 0; c < a.dof(); ++c) {
                    const double value = a.values(e, r, c)[system_.layout.slot(p)];
                    used = used || value != 0.0;
                    ASSERT_TRUE(inside || value == 0.0) << "entry " << e;
                }
        }
        EXPECT_TRUE(used || !GetParam().fills_stencil) << "entry " << e;
    }
}

/// The matrix to the last bit; sums of a residual may be contracted differently in each layout's loop.
TEST_P(EveryProblem, BothLayoutsGiveTheSameSystem) {
    const System other(*problem_, LayoutKind::hyperplane, level_);
    EXPECT_EQ(system_.matrix().to_csr().value, other.matrix().to_csr().value);
    const Vector f = system_.residual(system_.random(1), system_.random(2));
    const Vector g = other.residual(other.random(1), other.random(2));
    double scale = 1.0;
    for (Index at = 0; at < f.size(); ++at) scale = std::fmax(scale, std::abs(f.data()[at]));
    const Vector u = system_.initial(), v = other.initial();
    for (Index row = 0; row < system_.layout.slots(); ++row)
        for (int c = 0; c < f.dof(); ++c) {
            const Int3 p = system_.layout.grid().point(row);
            ASSERT_NEAR(f(p, c), g(p, c), 1e-14 * scale);
            ASSERT_EQ(u(p, c), v(p, c));
        }
}

TEST_P(EveryProblem, NumberOfThreadsDoesNotMatter) {
    std::vector<double> results[2];
    for (int threads : {1, 3}) {
        const SeveralThreads several(threads);
        const auto problem = make_problem(GetParam().problem, GetParam().keys, files());
        const System system(*problem, LayoutKind::hyperplane, level_);
        std::vector<double>& result = results[threads / 2];
        result = system.matrix().to_csr().value;
        const Vector f = system.residual(system.random(1), system.random(2));
        result.insert(result.end(), f.data(), f.data() + f.size());
        for (const ErrorNorm& norm : problem->errors(f, 0.0)) result.push_back(norm.value);
    }
    EXPECT_EQ(results[0], results[1]);
}

TEST_P(EveryProblem, IsSymmetricToTheLastBitExactlyWhereDeclared) {
    const CsrMatrix full = system_.matrix(MatrixStorage::full).to_csr();
    std::vector<double> dense(full.rows * full.rows, 0.0);
    for (Index row = 0; row < full.rows; ++row)
        for (Index at = full.row_begin[row]; at < full.row_begin[row + 1]; ++at)
            dense[row * full.rows + full.column[at]] = full.value[at];
    bool symmetric = true;
    for (Index row = 0; row < full.rows; ++row)
        for (Index column = 0; column < row; ++column)
            symmetric = symmetric && dense[row * full.rows + column] == dense[column * full.rows + row];
    EXPECT_EQ(symmetric, problem_->shape().symmetric);
    if (symmetric) {
        EXPECT_EQ(full.value, system_.matrix(MatrixStorage::lower).to_csr().value);
    }
}

TEST_P(EveryProblem, ConstantsAreInTheNullSpaceExactlyWhereDeclared) {
    const StructMatrix a = system_.matrix();
    Vector one = system_.vector(), image = system_.vector();
    for (Index at = 0; at < one.size(); ++at) one.data()[at] = 1.0;
    a.apply(one, image);
    double largest = 0.0, diagonal = 0.0;
    for (Index at = 0; at < one.size(); ++at) largest = std::fmax(largest, std::abs(image.data()[at]));
    for (Index at = 0; at < system_.layout.slots(); ++at)
        diagonal = std::fmax(diagonal, std::abs(a.values(a.stencil().diagonal())[at]));
    if (problem_->shape().constant_null_space) {
        EXPECT_LE(largest, 1e-14 * diagonal);
    } else {
        EXPECT_GT(largest, 1e-6 * diagonal);
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, EveryProblem, testing::ValuesIn(variants()),
                         [](const auto& info) { return info.param.label; });

}  // namespace
}  // namespace hyperplane::test
