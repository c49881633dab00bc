// SPDX-License-Identifier: BSD-3-Clause
// The record of how Jacobi sweeps on one triangle come near to its exact solve, beside the same in dense matrices.
#include "precond/general/sweeps/convergence.hpp"

#include <cmath>

#include "core/error.hpp"
#include "on_device.hpp"
#include "reference/block_matrix.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

/// A triangle with ones on its diagonal: `lower` or upper, in rows that `place` exchanges.
struct DenseTriangle {
    int rows;
    std::vector<double> values;
    double& at(int row, int column) { return values[row * rows + column]; }
    double at(int row, int column) const { return values[row * rows + column]; }

    DenseTriangle(int n, int entries, bool lower, const std::vector<int>& place = {})
        : rows(n), values(std::size_t(n) * n, 0.0) {
        reference::Random random(7);
        const auto placed = [&](int row) { return place.empty() ? row : place[row]; };
        for (int row = 0; row < n; ++row) {
            at(placed(row), placed(row)) = 1.0;
            for (int k = 1; k <= entries; ++k)
                if (const int column = lower ? row - k * k : row + k * k; column >= 0 && column < n)
                    at(placed(row), placed(column)) = 0.4 * random();
        }
    }
    CsrMatrix csr() const {
        CsrMatrix a;
        a.rows = rows;
        a.row_begin.push_back(0);
        for (int row = 0; row < rows; ++row) {
            for (int column = 0; column < rows; ++column)
                if (at(row, column) != 0.0) a.column.push_back(column), a.value.push_back(at(row, column));
            a.row_begin.push_back(Index(a.column.size()));
        }
        return a;
    }
    double rest(int row, const std::vector<double>& x) const {
        double rest = 1.0;
        for (int column = 0; column < rows; ++column)
            if (column != row) rest -= at(row, column) * x[column];
        return rest;
    }
    /// As many sweeps as rows are exact.
    std::vector<double> solution() const {
        std::vector<double> x(std::size_t(rows), 0.0);
        for (int sweep = 0; sweep < rows; ++sweep) x = swept(x);
        return x;
    }
    std::vector<double> swept(const std::vector<double>& x) const {
        std::vector<double> out(x.size());
        for (int row = 0; row < rows; ++row) out[row] = rest(row, x);
        return out;
    }
    /// Blocks of so many rows one after the other, each from the values that the ones before have written.
    std::vector<double> swept_by_blocks(std::vector<double> x, int of, bool ascending) const {
        const int blocks = (rows + of - 1) / of;
        for (int turn = 0; turn < blocks; ++turn) {
            const int block = ascending ? turn : blocks - 1 - turn;
            const std::vector<double> before = x;
            for (int row = block * of; row < std::min(rows, (block + 1) * of); ++row) x[row] = rest(row, before);
        }
        return x;
    }
};

double norm_of(const std::vector<double>& x) {
    double sum = 0.0;
    for (const double value : x) sum += value * value;
    return std::sqrt(sum);
}

/// `sweep` makes x_(k+1) of x_k.
template <class Sweep>
void expect_convergence(const SweepConvergence& found, const DenseTriangle& t, const Sweep& sweep) {
    const std::vector<double> exact = t.solution();
    std::vector<double> x(exact.size(), 0.0), difference = x;
    ASSERT_GT(found.residual.size(), 5u);
    ASSERT_EQ(found.residual.size(), found.error.size());
    for (std::size_t k = 0; k < found.residual.size(); ++k) {
        for (int row = 0; row < t.rows; ++row) difference[row] = t.rest(row, x) - x[row];
        EXPECT_NEAR(found.residual[k], norm_of(difference) / std::sqrt(double(t.rows)), 1e-14) << k;
        for (int row = 0; row < t.rows; ++row) difference[row] = x[row] - exact[row];
        EXPECT_NEAR(found.error[k], norm_of(difference) / norm_of(exact), 1e-14) << k;
        x = sweep(x);
    }
}

void expect_synchronous(const Context& context) {
    for (const int dof : {1, 3})
        for (const bool lower : {true, false}) {
            const DenseTriangle t(45, 3, lower);
            const SweepConvergence found =
                sweep_convergence(context, t.csr(), dof, lower ? Side::lower : Side::upper, SweepOptions{}, 1000);
            EXPECT_EQ(found.levels, 45);
            expect_convergence(found, t, [&](const auto& x) { return t.swept(x); });
            EXPECT_LE(found.residual.size(), 47u);
            EXPECT_LT(found.error.back(), 1e-15);
        }
}
TEST(SweepConvergence, EqualsDenseSweeps) {
    expect_synchronous(Context::cpu(1));
}
class SweepConvergenceOnDevice : public DeviceTest {};
TEST_F(SweepConvergenceOnDevice, EqualsDenseSweeps) {
    expect_synchronous(Context::cuda());
}

/// Rows with few levels, in an order in which the matrix is not triangular.
TEST(SweepConvergence, EndsAfterAsManySweepsAsLevels) {
    std::vector<int> place;
    for (int row = 0; row < 40; ++row) place.push_back(row * 7 % 40);
    DenseTriangle t(40, 1, true, place);
    for (int row = 0; row < 40; ++row)
        if (row % 4 == 0 && row > 0) t.at(place[row], place[row - 1]) = 0.0;  // chains of four rows
    const SweepConvergence found = sweep_convergence(Context::cpu(1), t.csr(), 1, Side::lower, SweepOptions{}, 1000);
    EXPECT_EQ(found.levels, 4);
    EXPECT_LE(found.error.size(), 1u + 4 + 1) << "one more sweep sees that nothing changes";
    EXPECT_LT(found.error[4], 1e-15);
    EXPECT_GT(found.error[3], 1e-6);
    const SweepConvergence cut = sweep_convergence(Context::cpu(1), t.csr(), 1, Side::lower, SweepOptions{}, 2);
    EXPECT_EQ(cut.residual, std::vector<double>(found.residual.begin(), found.residual.begin() + 3));
}

/// On one thread blocks of 128 points follow each other strictly.
TEST(SweepConvergence, OfAsynchronousSweepsIsThatOfBlocksInTurn) {
    for (const int dof : {1, 2})
        for (const BlockOrder order : {BlockOrder::forward, BlockOrder::backward, BlockOrder::dependency}) {
            const DenseTriangle t(600, 4, true);
            SweepOptions options;
            options.mode = SweepMode::block_async;
            options.order = order;
            const SweepConvergence found = sweep_convergence(Context::cpu(1), t.csr(), dof, Side::lower, options, 6);
            expect_convergence(found, t, [&](const auto& x) {
                return t.swept_by_blocks(x, 128 * dof, order != BlockOrder::backward);
            });
        }
}

TEST(SweepConvergence, RefusesRowsThatDependOnThemselves) {
    DenseTriangle t(6, 1, true);
    t.at(2, 4) = 0.5;
    EXPECT_THROW(sweep_convergence(Context::cpu(1), t.csr(), 1, Side::lower, SweepOptions{}, 3), SetupError);
}

}  // namespace
}  // namespace hyperplane
