// SPDX-License-Identifier: BSD-3-Clause
// Properties of every problem and variant: the matrix is the derivative of the residual, fits the declared stencil, is
// the same in both layouts, and is symmetric to the last bit if it is declared symmetric.
#include "core/ranks/cuts.hpp"
#include "on_ranks.hpp"
#include "problems/variants.hpp"
#include "several_threads.hpp"

namespace hyperplane::test {
namespace {

TEST(DefaultLengths, AreThoseThatTheTableNames) {
    const std::vector<std::pair<std::string, Keys>> cases = {
        {"poisson", {{"problem.coefficient", "spe10like"}, {"problem.discretisation", "cell"}}},
        {"euler", {{"problem.case", "vortex"}}},
        {"euler", {{"problem.case", "taylor_green"}}}};
    std::size_t named = 0;
    for (const ProblemRow& row : problems())
        for (const OwnLengths& own : row.lengths) named += own.text().empty() ? 0 : 1;
    EXPECT_EQ(named, cases.size());
    for (const auto& [name, keys] : cases) {
        Keys with = keys;
        with.emplace_back("grid.cells", "7 6 5");
        const Grid found = make_problem(name, with)->shape().grid;
        const auto& rows = find_row(problems(), "problem", name).lengths;
        const auto own = std::find_if(rows.begin(), rows.end(),
                                      [&](const OwnLengths& one) { return one.with.value == with.front().second; });
        ASSERT_NE(own, rows.end());
        const std::string text = own->text();
        with.emplace_back("grid.lengths", text.c_str());
        EXPECT_EQ(make_problem(name, with)->shape().grid.spacing, found.spacing) << name << ' ' << text;
    }
    EXPECT_DOUBLE_EQ(make_problem("euler", {{"problem.case", "vortex"}, {"grid.cells", "8"}})->shape().grid.spacing[0],
                     1.25);
    EXPECT_DOUBLE_EQ(make_problem("cahn_hilliard", {{"grid.cells", "6 5 4"}})->shape().grid.spacing[1], 0.016);
}

class EveryProblem : public testing::TestWithParam<Variant> {
protected:
    std::unique_ptr<Problem> problem_ = make_problem(GetParam().problem, GetParam().keys, files());
    System system_{*problem_};
};

TEST_P(EveryProblem, MatrixIsTheDerivativeOfTheResidualOnTheDeclaredStencil) {
    if (!GetParam().is_derivative) return;  // tested in artificial_compressibility_test.cpp instead
    const SystemShape& shape = problem_->shape();
    const CsrMatrix csr = system_.matrix(system_.random(5), system_.random(3)).to_csr();
    const double step = shape.linear ? 0.5 : 1e-5, tolerance = shape.linear ? 1e-12 : 1e-6;
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
        plus(at, c) += step;
        minus(at, c) -= step;
        const Vector f_plus = system_.residual(plus, old), f_minus = system_.residual(minus, old);
        for (Index row = 0; row < csr.rows; ++row) {
            const auto [p, r] = natural(row);
            ASSERT_NEAR((f_plus(p, r) - f_minus(p, r)) / (2 * step), dense[row * csr.rows + column], tolerance * scale)
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

/// Both layouts give the same system to the last bit.
TEST_P(EveryProblem, BothLayoutsGiveTheSameSystem) {
    const System other(*problem_, LayoutKind::hyperplane);
    EXPECT_EQ(system_.matrix().to_csr().value, other.matrix().to_csr().value);
    const Vector f = system_.residual(system_.random(1), system_.random(2));
    const Vector g = other.residual(other.random(1), other.random(2));
    const Vector u = system_.initial(), v = other.initial();
    for (Index row = 0; row < system_.layout.slots(); ++row)
        for (int c = 0; c < f.dof(); ++c) {
            const Int3 p = system_.layout.grid().point(row);
            ASSERT_EQ(f(p, c), g(p, c));
            ASSERT_EQ(u(p, c), v(p, c));
        }
}

TEST_P(EveryProblem, NumberOfThreadsDoesNotMatter) {
    std::vector<double> results[2];
    for (int threads : {1, 3}) {
        const Context context = Context::cpu();
        const SeveralThreads several(context, threads);
        const auto problem = make_problem(GetParam().problem, GetParam().keys, files(), context);
        const System system(*problem, LayoutKind::hyperplane, context);
        std::vector<double>& result = results[threads / 2];
        result = system.matrix().to_csr().value;
        const Vector f = system.residual(system.random(1), system.random(2));
        result.insert(result.end(), f.data(), f.data() + f.size());
        for (const ErrorNorm& norm : problem->errors(f, 0.0)) result.push_back(norm.value);
    }
    EXPECT_EQ(results[0], results[1]);
}

/// Of all ranks: the initial state, its residual, and the scalars that the problem makes of it.
std::vector<double> beginning(const Variant& variant, const Context& context) {
    const auto problem = make_problem(variant.problem, variant.keys, files(), context);
    const SystemShape& shape = problem->shape();
    const Layout whole(LayoutKind::natural, shape.grid, shape.stencil.level_map());
    const Layout layout = part_of(context, whole, shape.matrix().halo());
    Vector u(context, layout, shape.dof, "u"), f(context, layout, shape.dof, "f");
    problem->initial_state(u);
    exchange_halo(u);
    TimeLevel level;
    if (shape.regime != Regime::steady) level = implicit_euler(1, 0.01, 0.01, u);
    problem->residual(u, level, f);
    std::vector<double> mine;
    for (const Vector* x : {&u, &f})
        for (Index slot = 0; slot < layout.slots(); ++slot)
            for (int c = 0; c < shape.dof; ++c) mine.push_back((*x)(layout.point(slot), c));
    const Index count = Index(mine.size()) / 2;
    std::vector<double> all = on_first_rank(context, {mine.begin(), mine.begin() + count});
    const std::vector<double> residuals = on_first_rank(context, {mine.begin() + count, mine.end()});
    all.insert(all.end(), residuals.begin(), residuals.end());
    std::vector<std::string> names;
    for (const Diagnostic& diagnostic : problem->diagnostics(u)) {
        all.push_back(diagnostic.value);
        names.push_back(diagnostic.name);
    }
    EXPECT_EQ(names, problem->diagnostic_names()) << variant.problem;
    names.clear();
    for (const ErrorNorm& norm : problem->errors(u, 0.0)) {
        all.push_back(norm.value);
        names.push_back(norm.name);
    }
    EXPECT_EQ(names, problem->error_names()) << variant.problem;
    return all;
}

/// Every problem that is cut between ranks, in a column whose parts have all the planes that they need.
std::vector<Variant> columns() {
    const std::pair<const char*, const char*> cells{"grid.cells", "4 3 9"};
    return {
        {"nodes", "poisson", {cells}},
        {"cells",
         "poisson",
         {cells,
          {"problem.discretisation", "cell"},
          {"problem.coefficient", "white"},
          {"problem.right_hand_side", "random"}}},
        {"blocks", "block_laplacian", {cells, {"problem.right_hand_side", "random"}}},
        {"transport", "convection_diffusion", {cells, {"problem.initial_condition", "random"}}},
        {"volumes", "artificial_compressibility", {cells}},
        {"elements", "navier_stokes", {cells}},
        {"elements_exact", "navier_stokes", {cells, {"problem.case", "ethier_steinman"}}},
        {"gas", "euler", {cells, {"problem.case", "blast"}}},
        {"mixture", "cahn_hilliard", {cells, {"problem.sigma", "0"}, {"problem.initial_condition", "random"}}},
        {"mixture_one", "cahn_hilliard", {cells, {"problem.fields", "one"}, {"problem.initial_condition", "random"}}},
        {"mixture_smooth", "cahn_hilliard", {cells, {"problem.fields", "one"}}},
    };
}

class EveryProblemOnRanks : public testing::TestWithParam<Variant> {};

TEST_P(EveryProblemOnRanks, BeginsWithTheBitsOfOneRank) {
    const auto compute = [](const Context& context) { return beginning(GetParam(), context); };
    const std::vector<double> one = on_first_of(1, compute);
    for (int ranks : {2, 3}) EXPECT_EQ(on_first_of(ranks, compute), one) << ranks << " ranks";
}

INSTANTIATE_TEST_SUITE_P(Columns, EveryProblemOnRanks, testing::ValuesIn(columns()),
                         [](const auto& info) { return info.param.label; });

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
