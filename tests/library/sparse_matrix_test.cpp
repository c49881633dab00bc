// SPDX-License-Identifier: BSD-3-Clause
// The public library with matrices in compressed rows. The matrices are those of the reference, whose residuals judge
// the solutions.
#include "hyperplane/sparse_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "hyperplane/linear_solver.hpp"
#include "library/on_both.hpp"
#include "reference/block_matrix.hpp"
#include "reference/stencils.hpp"

namespace hyperplane {
namespace {

using SparseKeys = std::map<std::string, std::string>;

/// The arrays of a program, with row pointers of both widths.
struct Compressed {
    std::vector<std::int64_t> row_begin{0};
    std::vector<std::int32_t> narrow{0}, columns;
    std::vector<double> values;
    int block = 1;

    SparseMatrix view() const { return {row_begin, columns, values, block}; }
    SparseMatrix narrow_view() const { return {narrow, columns, values, block}; }
};

Compressed compressed(const reference::BlockMatrix& a) {
    Compressed made;
    made.block = a.dof;
    for (const auto& row : a.rows) {
        for (const auto& [column, block] : row) {
            made.columns.push_back(column);
            for (int r = 0; r < a.dof; ++r)
                for (int c = 0; c < a.dof; ++c) made.values.push_back(block(r, c));
        }
        made.row_begin.push_back(std::int64_t(made.columns.size()));
        made.narrow.push_back(std::int32_t(made.columns.size()));
    }
    return made;
}

const std::vector<reference::Offset> seven{{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                                           {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};

reference::BlockMatrix symmetric_system(int dof, std::uint64_t seed = 1) {
    return reference::assembled(reference::random_spd_matrix({17, 9, 5}, seven, dof, seed));
}

reference::BlockMatrix unsymmetric_system(int dof) {
    return reference::assembled(reference::random_matrix({17, 9, 5}, seven, dof, 3));
}

double length(const std::vector<double>& x) {
    double sum = 0.0;
    for (const double value : x) sum += value * value;
    return std::sqrt(sum);
}

void expect_solution(const reference::BlockMatrix& a, const SparseMatrix& handed_over, const SparseKeys& keys) {
    const std::vector<double> b = reference::Random(7).vector(a.unknowns());
    LinearSolver solver(handed_over, {.keys = keys, .threads = 2});
    std::vector<double> x(b.size(), 0.0);
    const SolveResult result = solver.solve(b, x);
    const double residual = length(reference::exact_residual(a, b, x));
    EXPECT_TRUE(result.converged) << result.explanation;
    EXPECT_LE(residual, 1.001e-8 * length(b));
    EXPECT_NEAR(result.residual, residual, 1e-3 * residual);
    EXPECT_GT(result.iterations, 1);
}

std::string refused(const std::function<void()>& call) {
    try {
        call();
    } catch (const UsageError& error) {
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
}

void expect_part(const std::string& part, const std::string& text) {
    EXPECT_NE(text.find(part), text.npos) << "'" << part << "' is not in: " << text;
}

TEST(SparseMatrix, IsSolvedWithEveryPreconditionerThatTakesOne) {
    for (const int dof : {1, 3}) {
        const reference::BlockMatrix symmetric = symmetric_system(dof), unsymmetric = unsymmetric_system(dof);
        const Compressed a = compressed(symmetric), other = compressed(unsymmetric);
        for (const char* preconditioner : {"sync_free_ilu", "jacobi_sweeps", "par_ilu", "jacobi", "none"}) {
            SCOPED_TRACE(preconditioner);
            expect_solution(symmetric, a.view(), {{"solver.name", "cg"}, {"preconditioner.name", preconditioner}});
            expect_solution(unsymmetric, other.narrow_view(), {{"preconditioner.name", preconditioner}});
        }
    }
}

TEST(SparseMatrix, IsScaledForItsPreconditioner) {
    const reference::BlockMatrix a = unsymmetric_system(1);
    const Compressed handed_over = compressed(a);
    for (const char* scaling : {"row", "matching"})
        expect_solution(a, handed_over.view(), {{"preconditioner.name", "sync_free_ilu"}, {"scaling.name", scaling}});
}

/// A system whose equations stand in other rows, so that its diagonal has zeros.
reference::BlockMatrix with_moved_rows(const reference::BlockMatrix& a) {
    reference::BlockMatrix moved = a;
    const std::size_t rows = a.rows.size();
    for (std::size_t row = 0; row < rows; ++row) moved.rows[(row * 7 + 3) % rows] = a.rows[row];
    return moved;
}

TEST(SparseMatrix, HasItsRowsMatched) {
    for (const int dof : {1, 3}) {
        const reference::BlockMatrix a = with_moved_rows(unsymmetric_system(dof));
        const Compressed handed_over = compressed(a);
        SparseKeys keys{{"preconditioner.name", "sync_free_ilu"}};
        EXPECT_THROW(LinearSolver(handed_over.view(), {.keys = keys}), SetupError);
        keys["ordering.rows"] = "matching";
        expect_solution(a, handed_over.view(), keys);
        keys["scaling.name"] = "matching";
        expect_solution(a, handed_over.narrow_view(), keys);
    }
    // Where the matching finds a symmetric matrix again, cg takes it.
    const reference::BlockMatrix hidden = with_moved_rows(symmetric_system(1));
    expect_solution(hidden, compressed(hidden).view(),
                    {{"solver.name", "cg"}, {"preconditioner.name", "jacobi"}, {"rows", "matching"}});
}

/// A permutation of three rows: the largest entries are those of rows 1, 2, 0 in columns 0, 1, 2.
TEST(SparseMatrix, KeepsTheRowsThatItsFirstValuesMatch) {
    const std::vector<std::int64_t> row_begin{0, 2, 4, 6};
    const std::vector<std::int32_t> columns{1, 2, 0, 2, 0, 1};
    std::vector<double> values{1.0, 8.0, 4.0, 0.5, 0.25, 2.0};
    const SparseMatrix a{row_begin, columns, values};
    LinearSolver solver(a, {.keys = {{"preconditioner.name", "jacobi"}, {"ordering.rows", "matching"}}});
    const std::vector<double> r{1.0, 2.0, 3.0};
    std::vector<double> z(3);
    solver.precondition(r, z);
    EXPECT_EQ(z, (std::vector<double>{2.0 / 4.0, 3.0 / 2.0, 1.0 / 8.0}));
    values = {50.0, 1.0, 1.0, 50.0, 50.0, 1.0};
    solver.update(a);
    solver.precondition(r, z);
    EXPECT_EQ(z, (std::vector<double>{2.0, 3.0, 1.0}));
    std::vector<double> x(3, 0.0);
    EXPECT_TRUE(solver.solve(std::vector<double>{51.0, 51.0, 51.0}, x).converged);
    for (const double value : x) EXPECT_NEAR(value, 1.0, 1e-6);

    values = {1.0, 8.0, 0.0, 0.5, 0.25, 2.0};  // zero where the first values had the second row's largest
    try {
        solver.update(a);
        ADD_FAILURE() << "a diagonal with a zero was inverted";
    } catch (const SetupError& error) {
        expect_part("ordering.rows = matching chose its row by earlier values of the matrix", error.what());
    }

    values = {0.0, 8.0, 0.0, 0.5, 0.25, 2.0};
    for (const char* key : {"ordering.rows", "scaling.name"}) {
        try {
            const LinearSolver solver(a, {.keys = {{key, "matching"}}});
            ADD_FAILURE() << key;
        } catch (const SetupError& error) {
            expect_part(std::string(key) + " = matching: no column is left for 1 of 3 rows, the first of which is row",
                        error.what());
        }
    }
}

TEST(SparseMatrix, HasItsValuesReadWhereTheyAre) {
    const Compressed a = compressed(symmetric_system(8));
    LinearSolver solver(a.view(), {.keys = {{"preconditioner.name", "none"}, {"restart", "5"}}});
    const std::vector<double> b(a.block * (a.row_begin.size() - 1), 1.0);
    std::vector<double> x(b.size(), 0.0);
    (void)solver.solve(b, x);
    EXPECT_LT(solver.peak_memory(), std::int64_t(a.values.size() * sizeof(double)) / 2);
}

TEST(SparseMatrix, GivesTheSameBitsForAnyNumberOfThreadsAndWidthOfPointers) {
    const Compressed a = compressed(symmetric_system(2));
    const std::vector<double> b = reference::Random(5).vector(17 * 9 * 5 * 2);
    std::vector<std::vector<double>> solutions;
    for (const int threads : {1, 2, 3}) {
        LinearSolver solver(
            threads == 2 ? a.narrow_view() : a.view(),
            {.keys = {{"solver.name", "cg"}, {"preconditioner.name", "sync_free_ilu"}}, .threads = threads});
        solutions.emplace_back(b.size(), 0.0);
        (void)solver.solve(b, solutions.back());
    }
    EXPECT_EQ(solutions[0], solutions[1]);
    EXPECT_EQ(solutions[0], solutions[2]);
}

TEST(SparseMatrix, UpdateIsTheSameAsANewSolver) {
    const SparseKeys keys{{"solver.name", "cg"}, {"preconditioner.name", "sync_free_ilu"}, {"fill_level", "1"}};
    const Compressed first = compressed(symmetric_system(2, 1)), second = compressed(symmetric_system(2, 2));
    const std::vector<double> b = reference::Random(5).vector(17 * 9 * 5 * 2);
    std::vector<double> x(b.size(), 0.0), y(b.size(), 0.0);
    LinearSolver updated(first.view(), {.keys = keys});
    (void)updated.solve(b, x);
    updated.update(second.view());
    x.assign(b.size(), 0.0);
    const SolveResult result = updated.solve(b, x);
    LinearSolver fresh(second.view(), {.keys = keys});
    EXPECT_EQ(fresh.solve(b, y).history, result.history);
    EXPECT_EQ(x, y);
}

TEST(SparseMatrix, UpdateRefusesAnotherMatrix) {
    const Compressed a = compressed(symmetric_system(2)), of_other_blocks = compressed(symmetric_system(1));
    Compressed of_other_pattern = a, unsymmetric = a;
    of_other_pattern.columns.back() = 0;
    unsymmetric.values[1] += 1.0;
    LinearSolver solver(a.view(), {.keys = {{"preconditioner.name", "jacobi"}}});
    expect_part("another pattern", refused([&] { solver.update(of_other_blocks.view()); }));
    expect_part("another pattern", refused([&] { solver.update(of_other_pattern.view()); }));
    expect_part("another shape", refused([&] { solver.update(StencilMatrix({.extents = {17, 9, 5}})); }));
    expect_part("was symmetric to the last bit, and is not any more",
                refused([&] { solver.update(unsymmetric.view()); }));
    std::vector<double> x(17 * 9 * 5 * 2, 0.0);
    expect_part("the last update failed", refused([&] { (void)solver.solve(x, x); }));
    solver.update(a.view());
    EXPECT_NO_THROW((void)solver.solve(x, x));
}

TEST(SparseMatrix, IsSymmetricIfItsValuesAreSo) {
    const Compressed a = compressed(unsymmetric_system(1));
    expect_part("solver.name = cg needs a symmetric matrix, and that of SparseMatrix is not", refused([&] {
                    LinearSolver(a.view(), {.keys = {{"solver.name", "cg"}, {"preconditioner.name", "jacobi"}}});
                }));
    expect_part("preconditioner.name = struct_ilu takes matrices on a grid alone, and this one is general; use",
                refused([&] {
                    LinearSolver(a.view(), {.keys = {{"preconditioner.name", "struct_ilu"}}});
                }));
    EXPECT_NO_THROW(LinearSolver(a.view(), {}));  // by sync_free_ilu
}

TEST(SparseMatrix, IsRefusedWithTheFirstRowThatIsWrong) {
    const auto refusal_of = [](const Compressed& wrong) {
        return refused([&] { LinearSolver(wrong.view(), {.keys = {{"preconditioner.name", "none"}}}); });
    };
    const Compressed good = compressed(symmetric_system(1));
    Compressed wrong = good;
    wrong.block = 33;
    expect_part("block is 33", refusal_of(wrong));
    wrong = good, wrong.row_begin.resize(1);
    expect_part("has no rows", refusal_of(wrong));
    wrong = good, wrong.row_begin[0] = 1;
    expect_part("begins with 1", refusal_of(wrong));
    wrong = good, wrong.columns.pop_back();
    expect_part("but there are", refusal_of(wrong));
    wrong = good, wrong.values.pop_back();
    expect_part("blocks of 1 x 1 have", refusal_of(wrong));
    wrong = good, wrong.row_begin[3] = 2;
    expect_part("row_begin[3] is 2, after", refusal_of(wrong));
    wrong = good, wrong.columns[good.row_begin[5]] = -1;
    expect_part("row 5 (counted from 0) has a block in column -1", refusal_of(wrong));
    wrong = good, std::swap(wrong.columns[good.row_begin[7]], wrong.columns[good.row_begin[7] + 1]);
    expect_part("row 7 (counted from 0) has column", refusal_of(wrong));
}

TEST(SparseMatrix, PreconditionerIsApplied) {
    const Compressed a{{0, 1, 2}, {}, {0, 1}, {2.0, -4.0}, 1};
    LinearSolver solver(a.view(), {.keys = {{"preconditioner.name", "jacobi"}}});
    const std::vector<double> r{1.0, 1.0}, longer(3, 1.0);
    std::vector<double> z(2, 0.0);
    solver.precondition(r, z);
    EXPECT_EQ(z, (std::vector<double>{0.5, -0.25}));
    expect_part("LinearSolver::precondition: r has 3 elements, the matrix 2 rows",
                refused([&] { solver.precondition(longer, z); }));
}

TEST(SparseMatrix, SolveEndsWhenTheProgramSaysSo) {
    const Compressed a = compressed(symmetric_system(1));
    int left = 5;
    LinearSolver solver(a.view(),
                        {.keys = {{"preconditioner.name", "none"}}, .interrupted = [&] { return --left == 0; }});
    const std::vector<double> b(17 * 9 * 5, 1.0);
    std::vector<double> x(b.size(), 0.0);
    const SolveResult result = solver.solve(b, x);
    EXPECT_EQ(result.reason, "interrupted");
    EXPECT_FALSE(result.converged);
    EXPECT_LE(result.iterations, 5);
    expect_part("the function SolverSettings::interrupted asked to stop", result.explanation);
}

TEST(SparseMatrix, KeysDoWithoutTheirSection) {
    const Compressed a = compressed(symmetric_system(1));
    const auto message = [&](const SparseKeys& keys) {
        return refused([&] { LinearSolver(a.view(), {.keys = keys}); });
    };
    expect_part("SolverSettings::keys: solver.rtol: 2 is out of range",
                message({{"rtol", "2"}, {"preconditioner.name", "jacobi"}}));
    expect_part("the key 'name' is one of solver.name and preconditioner.name", message({{"name", "cg"}}));
    expect_part("'solver.rtol' is given twice, as solver.rtol",
                message({{"rtol", "1e-3"}, {"solver.rtol", "1e-4"}, {"preconditioner.name", "jacobi"}}));
}

TEST(SparseMatrixOnDevice, TakesAsManyIterationsAsOnTheCpu) {
    const Compressed a = compressed(symmetric_system(2));
    const std::vector<double> b = reference::Random(5).vector(17 * 9 * 5 * 2);
    testing_support::expect_the_cpus_iterations_on_a_gpu(a.view(), b,
                                                         {{"solver.name", "cg"}, {"preconditioner.name", "jacobi"}});
}

}  // namespace
}  // namespace hyperplane
