// SPDX-License-Identifier: BSD-3-Clause
// Systems from files: the stencil that is found, symmetry, and matrices that do not fit the grid.
#include <cstdlib>
#include <fstream>
#include <map>

#include "problems/system.hpp"

namespace hyperplane::test {
namespace {

using Triplets = std::map<std::pair<Index, Index>, double>;  ///< (row, column), 0-based

InputFiles files_of(Index rows, const Triplets& triplets, const std::vector<double>& rhs = {}) {
    CsrMatrix csr;
    csr.rows = rows;
    csr.row_begin.assign(rows + 1, 0);
    for (const auto& [at, value] : triplets) {
        csr.column.push_back(at.second);
        csr.value.push_back(value);
        ++csr.row_begin[at.first + 1];
    }
    for (Index row = 0; row < rows; ++row) csr.row_begin[row + 1] += csr.row_begin[row];
    InputFiles files;
    files.matrix = [csr](const std::string&, FileSymmetry) { return InputMatrix{csr, false}; };
    files.vector = [rhs](const std::string&) { return rhs; };
    return files;
}

/// The matrix (-1, 2, -1) along x on a grid of n x m points.
Triplets lines(int n, int m) {
    Triplets a;
    for (int row = 0; row < n * m; ++row) {
        a[{row, row}] = 2.0;
        if (row % n > 0) a[{row, row - 1}] = -1.0;
        if (row % n < n - 1) a[{row, row + 1}] = -1.0;
    }
    return a;
}

Keys keys(const char* cells) {
    return {{"grid.cells", cells}, {"problem.matrix", "a.mtx"}};
}

TEST(MatrixMarket, TakesTheSmallestStencil) {
    const InputFiles files = files_of(20, lines(5, 4));
    const auto problem = make_problem("matrix_market", keys("5 4 1"), files);
    EXPECT_EQ(problem->shape().stencil.size(), 3);
    EXPECT_TRUE(problem->shape().symmetric);
    EXPECT_LT(solved_error(*problem), 1e-9);  // b = A 1
}

TEST(MatrixMarket, ClosesAnOffsetUnderItsMirror) {
    Triplets a = lines(5, 4);
    a[{7, 7 + 5 - 1}] = 0.5;
    const auto problem = make_problem("matrix_market", keys("5 4 1"), files_of(20, a));
    EXPECT_FALSE(problem->shape().symmetric);
    EXPECT_EQ(problem->shape().stencil.size(), 5);
    EXPECT_GE(problem->shape().stencil.find({1, -1, 0}), 0);
}

TEST(MatrixMarket, UnequalValuesAreNotSymmetric) {
    Triplets a = lines(5, 4);
    a[{1, 0}] = std::nextafter(-1.0, 0.0);
    EXPECT_FALSE(make_problem("matrix_market", keys("5 4 1"), files_of(20, a))->shape().symmetric);
}

TEST(MatrixMarket, UsesTheGivenRightHandSide) {
    Keys with = keys("5 4 1");
    with.push_back({"problem.right_hand_side", "b.mtx"});
    std::vector<double> b(20);
    for (int row = 0; row < 20; ++row) b[row] = row;
    const auto problem = make_problem("matrix_market", with, files_of(20, lines(5, 4), b));
    const System system(*problem, LayoutKind::hyperplane);
    const Vector f = system.residual(system.initial(), system.initial());
    for (int row = 0; row < 20; ++row) EXPECT_EQ(f({row % 5, row / 5, 0}), -row);
    EXPECT_TRUE(problem->errors(f, 0.0).empty());
    try {
        make_problem("matrix_market", with, files_of(20, lines(5, 4), {1, 2, 3}));
        ADD_FAILURE() << "accepted";
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("3 values"), std::string::npos) << error.what();
    }
}

TEST(MatrixMarket, NamesTheFirstEntryThatFitsNoStencil) {
    Triplets a = lines(5, 4);
    a[{2, 18}] = 1.0;  // (2, 0) to (3, 3)
    a[{9, 4}] = 1.0;
    const std::string message = refusal("matrix_market", keys("5 4 1"), files_of(20, a));
    EXPECT_NE(message.find("row 3, column 19"), std::string::npos) << message;
    EXPECT_NE(message.find("(1, 3, 0)"), std::string::npos) << message;
    EXPECT_NE(message.find("problem.dof"), std::string::npos) << message;
}

TEST(MatrixMarket, NamesBothSizesThatDisagree) {
    const std::string message = refusal("matrix_market", keys("5 5 1"), files_of(20, lines(5, 4)));
    EXPECT_NE(message.find("20 rows"), std::string::npos) << message;
    EXPECT_NE(message.find("make 25"), std::string::npos) << message;
}

/// Entries given more than once are refused, as a matrix of any pattern refuses them, unless they are to be added.
TEST(MatrixMarket, RefusesRepeatedEntriesUnlessTheyAreToBeAdded) {
    InputFiles files = files_of(20, lines(5, 4));
    files.matrix = [of = files.matrix](const std::string& path, FileSymmetry symmetry) {
        InputMatrix input = of(path, symmetry);
        input.repeated = RepeatedEntry{{6, 7}, 9, 12};
        return input;
    };
    Keys with = keys("5 4 1");
    try {
        make_problem("matrix_market", with, files);
        ADD_FAILURE() << "accepted";
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("a.mtx:12: row 7, column 8 is given already in line 9"),
                  std::string::npos);
    }
    with.push_back({"problem.repeated_entries", "add"});
    EXPECT_NO_THROW(make_problem("matrix_market", with, files));
}

/// A coupling of the last point of a line with the first is offset +1 if x is periodic, and does not fit otherwise.
TEST(MatrixMarket, WrapsAlongPeriodicAxes) {
    Triplets a = lines(7, 3);
    a[{6, 0}] = a[{0, 6}] = -1.0;
    Keys periodic = keys("7 3 1");
    EXPECT_NE(refusal("matrix_market", periodic, files_of(21, a)).find("row 1, column 7"), std::string::npos);
    periodic.push_back({"grid.periodic", "x"});
    const auto problem = make_problem("matrix_market", periodic, files_of(21, a));
    EXPECT_EQ(problem->shape().stencil.size(), 3);
    EXPECT_EQ(System(*problem).matrix().at({6, 0, 0}, 2), -1.0);
}

/// Reads "rows columns entries" and triplets, and adds the mirrored ones if `symmetric`.
InputFiles shared_file(const std::string& name, bool symmetric) {
    const char* folder = std::getenv("HYPERPLANE_SHARED_DATA");
    std::ifstream in(std::string(folder ? folder : ".") + "/" + name);
    Index rows = 0, columns = 0, entries = 0;
    if (!(in >> rows >> columns >> entries)) return {};
    Triplets a;
    Index row, column;
    double value;
    while (in >> row >> column >> value) {
        a[{row - 1, column - 1}] = value;
        if (symmetric) a[{column - 1, row - 1}] = value;
    }
    return files_of(rows, a);
}

TEST(MatrixMarket, RealSystemsAreSevenPointStars) {
    const InputFiles oil = shared_file("orsreg_1.mtx", false), poisson = shared_file("nos7.mtx", true);
    if (!oil.matrix || !poisson.matrix) GTEST_SKIP() << "no orsreg_1.mtx and nos7.mtx in $HYPERPLANE_SHARED_DATA";
    const auto a = make_problem("matrix_market", keys("21 21 5"), oil);
    EXPECT_EQ(a->shape().stencil.name(), "star7");
    EXPECT_FALSE(a->shape().symmetric);
    const auto b = make_problem("matrix_market", keys("9"), poisson);
    EXPECT_EQ(b->shape().stencil.name(), "star7");
    EXPECT_TRUE(b->shape().symmetric);
}

}  // namespace
}  // namespace hyperplane::test
