// SPDX-License-Identifier: BSD-3-Clause
// The reference itself, compared with systems solved by hand and with its own alternative methods.
#include <gtest/gtest.h>

#include "reference/block_ilu.hpp"
#include "reference/bridge.hpp"

namespace hyperplane::reference {
namespace {

/// The five-point or tridiagonal matrix with -1 for each neighbour.
StencilMatrix laplacian(const Box& box, double diagonal) {
    StencilMatrix a{box, stencil_named("star7").offsets, 1, {}};
    a.blocks.resize(box.points());
    for (int row = 0; row < box.points(); ++row)
        for (Offset s : a.offsets) {
            if (!box.contains(box.point(row) + s)) continue;
            a.blocks[row][s] = Dense(1, 1);
            a.blocks[row][s](0, 0) = s == Offset{} ? diagonal : -1.0;
        }
    return a;
}

TEST(Reference, TridiagonalFactorsByHand) {
    const BlockIlu ilu = stencil_ilu(laplacian({4, 1, 1}, 2.0), 0);
    const double pivots[] = {2.0, 3.0 / 2.0, 4.0 / 3.0, 5.0 / 4.0};
    for (int i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(ilu.factors.rows[i].at(i)(0, 0), pivots[i]);
    for (int i = 1; i < 4; ++i) EXPECT_DOUBLE_EQ(ilu.factors.rows[i].at(i - 1)(0, 0), -1.0 / pivots[i - 1]);
    // b = A (1, 2, 3, 4) = (0, 0, 0, 5)
    const std::vector<double> x = apply_inverse(ilu, {0.0, 0.0, 0.0, 5.0});
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(x[i], i + 1.0, 1e-14);
}

TEST(Reference, FivePointPivotsByHand) {
    const BlockIlu ilu = stencil_ilu(laplacian({3, 3, 1}, 4.0), 0);
    const auto pivot = [&](int i) { return ilu.factors.rows[i].at(i)(0, 0); };
    EXPECT_DOUBLE_EQ(pivot(0), 4.0);
    EXPECT_DOUBLE_EQ(pivot(1), 15.0 / 4.0);
    EXPECT_DOUBLE_EQ(pivot(3), 15.0 / 4.0);
    EXPECT_DOUBLE_EQ(pivot(2), 56.0 / 15.0);
    EXPECT_DOUBLE_EQ(pivot(4), 52.0 / 15.0);
    EXPECT_DOUBLE_EQ(pivot(5), 4.0 - 15.0 / 56.0 - 15.0 / 52.0);
}

TEST(Reference, BlockFactorsByHand) {
    // [D B; B D], D = [2 1; 0 4], B = [0 2; 4 0]: D^-1 = [1/2 -1/8; 0 1/4], L = B D^-1 = [0 1/2; 2 -1/2],
    // D - L B = [0 1; 2 0], whose inverse exists but requires a row exchange.
    Dense d(2, 2), b(2, 2);
    d.values = {2, 1, 0, 4};
    b.values = {0, 2, 4, 0};
    StencilMatrix a{{2, 1, 1}, with_mirrors({{1, 0, 0}}), 2, {}};
    a.blocks = {{{Offset{}, d}, {Offset{1, 0, 0}, b}}, {{Offset{-1, 0, 0}, b}, {Offset{}, d}}};
    EXPECT_THROW(stencil_ilu(a, 0), std::domain_error);
    const BlockIlu ilu = stencil_ilu(a, 0, pivoted_inverse);
    EXPECT_EQ(ilu.factors.rows[1].at(0).values, (std::vector<double>{0, 0.5, 2, -0.5}));
    EXPECT_EQ(ilu.factors.rows[1].at(1).values, (std::vector<double>{0, 1, 2, 0}));
    EXPECT_EQ(ilu.diagonal_inverse[1].values, (std::vector<double>{0, 0.5, 1, 0}));
}

TEST(Reference, GaussJordanEqualsPivotedInverse) {
    for (int n : {1, 2, 3, 5, 8, 17, 32}) {
        Dense a = Random(n).block(n);
        for (int i = 0; i < n; ++i) a(i, i) += n;
        EXPECT_LT(max_abs(difference(gauss_jordan_inverse(a), pivoted_inverse(a))), 1e-14) << n;
        EXPECT_LT(max_abs(difference(product(a, gauss_jordan_inverse(a)), identity(n))), 1e-13) << n;
    }
}

TEST(Reference, CompleteFillIsTheExactInverse) {
    for (const NamedStencil& stencil : all_stencils()) {
        const StencilMatrix a = random_matrix({4, 3, 2}, stencil.offsets, 2, 7);
        const BlockMatrix matrix = assembled(a);
        const int n = a.box.points();
        const std::vector<double> b = Random(8).vector(2 * n);
        std::set<int> columns;
        for (int j = 0; j < n; ++j) columns.insert(j);
        const Pattern everything(n, columns);
        const std::vector<double> exact = solve(to_dense(matrix), b);
        EXPECT_LT(relative_difference(apply_inverse(block_ilu(matrix, everything), b), exact), 1e-13) << stencil.name;
        EXPECT_LT(relative_difference(multiply(matrix, exact).value, b), 1e-13) << stencil.name;
    }
}

TEST(Reference, CholeskyEqualsLuOfASymmetricMatrix) {
    for (const NamedStencil& stencil : all_stencils())
        for (int k : {0, 1}) {
            const StencilMatrix a = random_spd_matrix({5, 4, 3}, stencil.offsets, 2, 9);
            const Pattern pattern = stencil_pattern(a.box, filled_offsets(a.offsets, k));
            const std::vector<double> b = Random(10).vector(2 * a.box.points());
            const std::vector<double> by_lu = apply_inverse(block_ilu(assembled(a), pattern), b);
            EXPECT_LT(relative_difference(apply_inverse(block_ic(assembled(a), pattern), b), by_lu), 1e-14)
                << stencil.name;
        }
}

TEST(Reference, FillOfTheFivePointStencilByHand) {
    const std::vector<Offset> star5 = with_mirrors({{1, 0, 0}, {0, 1, 0}});
    EXPECT_EQ(filled_offsets(star5, 0), star5);
    EXPECT_EQ(filled_offsets(star5, 1), with_mirrors({{1, 0, 0}, {0, 1, 0}, {-1, 1, 0}}));
    EXPECT_EQ(filled_offsets(star5, 2), with_mirrors({{1, 0, 0}, {0, 1, 0}, {-1, 1, 0}, {-2, 1, 0}}));
    EXPECT_EQ(filled_offsets(star5, 3),
              with_mirrors({{1, 0, 0}, {0, 1, 0}, {-1, 1, 0}, {-2, 1, 0}, {-3, 1, 0}, {2, 0, 0}}));
}

}  // namespace
}  // namespace hyperplane::reference
