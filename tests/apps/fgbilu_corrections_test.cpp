// SPDX-License-Identifier: BSD-3-Clause
// The linear solver of the FGBILU paper, section 4.1.1: for a flow with six unknowns a cell, solver richardson with
// preconditioner fgbilu gives the same sums of squares of the residual as sequential block ILU (its Table 1).
#include <gtest/gtest.h>

#include "apps/run/build_case.hpp"
#include "apps/run/linear_system.hpp"
#include "core/vector/blas1.hpp"
#include "on_device.hpp"
#include "reference/block_ilu.hpp"

namespace hyperplane {
namespace {

constexpr int corrections = 19;  // after the first estimate

reference::BlockMatrix block_matrix_of(const StructMatrix& a) {
    reference::BlockMatrix result{a.dof(),
                                  std::vector<std::map<int, reference::Dense>>(std::size_t(a.grid().points()))};
    for (Index row = 0; row < a.grid().points(); ++row)
        for (int e = 0; e < a.stencil().size(); ++e) {
            const Int3 p = a.grid().point(row), q = p + a.stencil()[e];
            if (!a.grid().contains(q)) continue;
            reference::Dense& block = result.rows[row][int(a.grid().row(q))];
            block = reference::Dense(a.dof(), a.dof());
            for (int r = 0; r < a.dof(); ++r)
                for (int c = 0; c < a.dof(); ++c) block(r, c) = a.at(p, e, r, c);
        }
    return result;
}

/// ||b - A x_l||^2 for x_{l+1} = x_l + M^-1 (b - A x_l) with x_0 = 0.
std::vector<double> reference_squares(const reference::BlockMatrix& a, const std::vector<double>& b) {
    reference::Pattern pattern(a.rows.size());
    for (std::size_t row = 0; row < a.rows.size(); ++row)
        for (const auto& [col, block] : a.rows[row]) pattern[row].insert(col);
    const reference::BlockIlu ilu = reference::block_ilu(a, pattern);
    std::vector<double> x(b.size(), 0.0), squares;
    for (int at = 0;; ++at) {
        std::vector<double> r(b.size());
        long double sum = 0.0;
        for (std::size_t row = 0; row < a.rows.size(); ++row)
            for (int c = 0; c < a.dof; ++c) {
                long double rest = b[row * a.dof + c];
                for (const auto& [col, block] : a.rows[row])
                    for (int k = 0; k < a.dof; ++k)
                        rest -= (long double)(block(c, k)) * x[std::size_t(col) * a.dof + k];
                r[row * a.dof + c] = double(rest);
                sum += rest * rest;
            }
        squares.push_back(double(sum));
        if (at > corrections) return squares;
        const std::vector<double> change = reference::apply_inverse(ilu, r);
        for (std::size_t k = 0; k < x.size(); ++k) x[k] += change[k];
    }
}

void expect_table_1(const std::string& backend) {
    for (const std::string style : {"kernels", "blocks"}) {
        const Case a_case = build_case(
            parse_deck(
                "[problem]\nname = artificial_compressibility\nscalars = 2\ncoupling = householder\n"
                "[grid]\ncells = 11 17 13\n[time]\nsteps = 1\nsteady_rtol = 0\ncfl = 5\n"
                "[solver]\nname = richardson\nrtol = 1e-15\nmax_iterations = 20\n[preconditioner]\nname = fgbilu\n",
                "table_1.ini"),
            {"device.backend=" + backend, "preconditioner.style=" + style});
        LinearSystem system = make_system(a_case);
        Vector u = a_case.make_vector("state: u"), x = a_case.make_vector("state: du");
        assemble_first(a_case, u, system);
        set_up(*a_case.preconditioner, system);
        set_zero(x);
        History history;
        const SolveReport report = a_case.solver->solve(*system.a, *a_case.preconditioner, system.b, x, history);
        EXPECT_EQ(report.iterations, corrections + 1);
        std::optional<StructMatrix> copy;
        const std::vector<double> expected = reference_squares(block_matrix_of(on_host(structured(*system.a), copy)),
                                                               testing_support::from_vector(system.b));
        ASSERT_EQ(history.entries().size(), expected.size());
        EXPECT_LT(expected[corrections], 1e-8 * expected[0]) << "residuals that fall, so that digits can be lost";
        for (std::size_t at = 0; at < expected.size(); ++at) {
            const double norm = history.entries()[at].truth * report.b_norm;
            EXPECT_NEAR(norm * norm, expected[at], 1e-12 * expected[at]) << style << ", correction " << at;
        }
    }
}

TEST(FgBiluCorrections, AreThoseOfSequentialBlockIluToTwelveDigits) {
    expect_table_1("cpu");
}

class FgBiluCorrectionsOnDevice : public testing_support::DeviceTest {};
TEST_F(FgBiluCorrectionsOnDevice, AreThoseOfSequentialBlockIluToTwelveDigits) {
    expect_table_1("cuda");
}

}  // namespace
}  // namespace hyperplane
