// SPDX-License-Identifier: BSD-3-Clause
// y = A x compared with the reference, for stencils x unknowns a point x extents x layouts x storages.
#include <gtest/gtest.h>

#include "core/epsilon.hpp"
#include "core/error.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "reference/bridge.hpp"
#include "reference/equal_lines.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using reference::Box;
using reference::StencilMatrix;

Layout layout_for(LayoutKind kind, const Box& box, const reference::NamedStencil& stencil) {
    return Layout(kind, reference::to_grid(box), reference::to_stencil(stencil).level_map());
}

struct ProductCase {
    std::string stencil;
    int dof;
    Box box;
};

std::vector<Box> boxes_for(int dof) {
    const std::array<bool, 3> all{true, true, true}, x{true, false, false}, y{false, true, false},
        z{false, false, true};
    if (dof <= 3)
        return {{17, 9, 5}, {1, 1, 9}, {33, 1, 7}, {2, 2, 2}, {7, 5, 5, all}, {9, 3, 2, x}, {3, 7, 5, y}, {1, 2, 6, z}};
    if (dof <= 8) return {{7, 5, 3}, {1, 9, 1}, {5, 4, 1}, {5, 5, 7, all}};
    return {{5, 3, 3}, {9, 1, 1}, {5, 5, 5, all}};
}

std::vector<ProductCase> product_cases() {
    std::vector<ProductCase> list;
    for (const auto& stencil : reference::all_stencils())
        for (int dof : reference::all_dofs)
            for (const Box& box : boxes_for(dof)) list.push_back({stencil.name, dof, box});
    return list;
}

/// The reference of a case is computed once for both layouts: its exact residuals take longer than the products.
class MatrixProduct : public testing::TestWithParam<ProductCase> {
protected:
    /// |y - A x| <= 16 ulp of |A| |x| in each row.
    void expect_product(const StencilMatrix& a, MatrixStorage storage) {
        const std::vector<double> x = reference::Random(3).vector(a.box.points() * a.dof);
        const std::vector<double> b = reference::Random(4).vector(a.box.points() * a.dof);
        const reference::Product expected = reference::multiply(reference::assembled(a), x);
        for (const LayoutKind kind : both_layouts) {
            const Layout layout = layout_for(kind, a.box, stencil);
            const StructMatrix matrix = reference::to_struct_matrix(context, layout, a, storage);
            Vector y(context, layout, a.dof, "y");
            for (Index at = 0; at < y.size(); ++at) y.data()[at] = NAN;
            matrix.apply(reference::to_vector(context, layout, a.dof, x), y);
            const std::vector<double> actual = reference::from_vector(y);
            for (std::size_t at = 0; at < x.size(); ++at)
                ASSERT_NEAR(actual[at], expected.value[at], 16 * epsilon * expected.magnitude[at])
                    << to_string(kind) << ", row " << at;
            for (Index at = 0; at < y.size(); ++at) y.data()[at] = NAN;
            matrix.subtract_product(reference::to_vector(context, layout, a.dof, b),
                                    reference::to_vector(context, layout, a.dof, x), y);
            const std::vector<double> difference = reference::from_vector(y);
            for (std::size_t at = 0; at < x.size(); ++at)
                ASSERT_EQ(difference[at], b[at] - actual[at]) << to_string(kind) << ", row " << at;
        }
    }

    /// b is A x, rounded, so that the residual is only the rounding error of b; r must be correct to its last bits.
    void expect_residual(const StencilMatrix& a, MatrixStorage storage) {
        const std::vector<double> x = reference::Random(5).vector(a.box.points() * a.dof);
        const reference::BlockMatrix assembled = reference::assembled(a);
        const reference::Product product = reference::multiply(assembled, x);
        const std::vector<double> expected = reference::exact_residual(assembled, product.value, x);
        for (const LayoutKind kind : both_layouts) {
            const Layout layout = layout_for(kind, a.box, stencil);
            const StructMatrix matrix = reference::to_struct_matrix(context, layout, a, storage);
            Vector r(context, layout, a.dof, "r");
            matrix.residual(reference::to_vector(context, layout, a.dof, product.value),
                            reference::to_vector(context, layout, a.dof, x), r);
            const std::vector<double> actual = reference::from_vector(r);
            for (std::size_t at = 0; at < x.size(); ++at)
                ASSERT_NEAR(actual[at], expected[at], epsilon * std::abs(expected[at]) + 1e-28 * product.magnitude[at])
                    << to_string(kind) << ", row " << at;
        }
    }

    static constexpr auto both_layouts = {LayoutKind::natural, LayoutKind::hyperplane};
    Context context = Context::cpu(1);
    reference::NamedStencil stencil = reference::stencil_named(GetParam().stencil);
};

TEST_P(MatrixProduct, FullStorage) {
    expect_product(reference::random_matrix(GetParam().box, stencil.offsets, GetParam().dof, 1), MatrixStorage::full);
}

TEST_P(MatrixProduct, LowerStorage) {
    expect_product(reference::random_spd_matrix(GetParam().box, stencil.offsets, GetParam().dof, 2),
                   MatrixStorage::lower);
}

TEST_P(MatrixProduct, ResidualIsAccurateWhereBAndAxCancel) {
    expect_residual(reference::random_matrix(GetParam().box, stencil.offsets, GetParam().dof, 3), MatrixStorage::full);
    expect_residual(reference::random_spd_matrix(GetParam().box, stencil.offsets, GetParam().dof, 4),
                    MatrixStorage::lower);
}

INSTANTIATE_TEST_SUITE_P(All, MatrixProduct, testing::ValuesIn(product_cases()), [](const auto& info) {
    const ProductCase& c = info.param;
    return c.stencil + "_dof" + std::to_string(c.dof) + "_" + reference::name_of(c.box);
});

TEST(MatrixProducts, ByHand) {
    // 2 x 2 cells, star7: A = [4 1 2 0; 3 5 0 2; 6 0 7 1; 0 6 3 8], x = (1, 2, 3, 4).
    const Context context = Context::cpu(1);
    Grid grid;
    grid.nx = grid.ny = 2;
    const Stencil star7 = Stencil::star7();
    for (LayoutKind kind : {LayoutKind::natural, LayoutKind::hyperplane}) {
        const Layout layout(kind, grid, star7.level_map());
        StructMatrix a(context, layout, star7, 1);
        const double diagonal[] = {4, 5, 7, 8};
        for (Index row = 0; row < 4; ++row) {
            const Int3 p = grid.point(row);
            const Index slot = layout.slot(p);
            a.values(star7.diagonal())[slot] = diagonal[row];
            if (p.x == 0) a.values(star7.find({1, 0, 0}))[slot] = 1;
            if (p.x == 1) a.values(star7.find({-1, 0, 0}))[slot] = 3;
            if (p.y == 0) a.values(star7.find({0, 1, 0}))[slot] = 2;
            if (p.y == 1) a.values(star7.find({0, -1, 0}))[slot] = 6;
        }
        Vector y(context, layout, 1, "y");
        a.apply(reference::to_vector(context, layout, 1, {1, 2, 3, 4}), y);
        EXPECT_EQ(reference::from_vector(y), (std::vector<double>{12, 21, 31, 53}));
    }
}

void expect_same_bits(const Box& box, const char* name, LayoutKind kind, MatrixStorage storage) {
    const auto stencil = reference::stencil_named(name);
    const Context context = Context::cpu(1);
    const Layout layout = layout_for(kind, box, stencil);
    const StructMatrix a =
        reference::to_struct_matrix(context, layout, reference::random_spd_matrix(box, stencil.offsets, 2, 4), storage);
    const Vector x = reference::to_vector(context, layout, 2, reference::Random(5).vector(int(a.unknowns())));
    Vector y(context, layout, 2, "y");
    double product, again;
    a.apply_dot(x, y, &product);
    const std::vector<double> one = reference::from_vector(y);
    for (int threads : {2, 3, 7}) {
        const SeveralThreads several(context, threads);
        a.apply_dot(x, y, &again);
        EXPECT_EQ(again, product) << name << " " << threads;
        EXPECT_EQ(reference::from_vector(y), one) << name << " " << threads;
    }
}

TEST(MatrixProducts, SameBitsForAnyNumberOfThreads) {
    for (const Box& box : {Box{17, 9, 5}, Box{67, 13, 7}})  // the second has several pieces of apply_flat
        for (const char* name : {"star7", "box27", "skewed7"})
            for (LayoutKind kind : {LayoutKind::natural, LayoutKind::hyperplane})
                for (MatrixStorage storage : {MatrixStorage::full, MatrixStorage::lower})
                    expect_same_bits(box, name, kind, storage);
}

TEST(MatrixProducts, AnInfinityReachesEveryRowCoupledToIt) {
    const auto stencil = reference::stencil_named("diamond13");
    const Box box{7, 5, 3};
    const Context context = Context::cpu(1);
    for (LayoutKind kind : {LayoutKind::natural, LayoutKind::hyperplane})
        for (MatrixStorage storage : {MatrixStorage::full, MatrixStorage::lower}) {
            const Layout layout = layout_for(kind, box, stencil);
            const StencilMatrix data = reference::random_spd_matrix(box, stencil.offsets, 1, 6);
            const StructMatrix a = reference::to_struct_matrix(context, layout, data, storage);
            for (int bad = 0; bad < box.points(); ++bad) {
                std::vector<double> x(box.points(), 1.0);
                x[bad] = INFINITY;
                Vector y(context, layout, 1, "y");
                a.apply(reference::to_vector(context, layout, 1, x), y);
                const std::vector<double> actual = reference::from_vector(y);
                const reference::BlockMatrix matrix = reference::assembled(data);
                for (int row = 0; row < box.points(); ++row)
                    ASSERT_FALSE(std::isfinite(actual[row]) && matrix.rows[row].count(bad)) << bad << " " << row;
            }
        }
}

TEST(MatrixProducts, LowerStorageHoldsAboutHalfAndMeansTheSame) {
    const auto stencil = reference::stencil_named("box27");
    const Box box{5, 4, 3};
    const Context context = Context::cpu(1);
    const Layout layout = layout_for(LayoutKind::hyperplane, box, stencil);
    const StencilMatrix data = reference::random_spd_matrix(box, stencil.offsets, 3, 6);
    const StructMatrix full = reference::to_struct_matrix(context, layout, data, MatrixStorage::full);
    const StructMatrix lower = reference::to_struct_matrix(context, layout, data, MatrixStorage::lower);
    EXPECT_GE(lower.bytes(), 14 * 9 * 60 * 8);
    EXPECT_LT(double(lower.bytes()), 0.55 * double(full.bytes()));
    EXPECT_EQ(context.ledger().held(), full.bytes() + lower.bytes());
    EXPECT_FALSE(full.symmetric());
    EXPECT_TRUE(lower.symmetric());
    EXPECT_EQ(full.nonzeros(), lower.nonzeros());
    for (int row = 0; row < box.points(); ++row)
        for (int e = 0; e < 27; ++e)
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c) {
                    const Int3 p = full.grid().point(row);
                    const auto held = data.blocks[row].find(reference::to_offset(full.stencil()[e]));
                    const double expected = held == data.blocks[row].end() ? 0.0 : held->second(r, c);
                    ASSERT_EQ(full.at(p, e, r, c), expected);
                    ASSERT_EQ(lower.at(p, e, r, c), expected);
                }
}

TEST(MatrixProducts, RefusesWhatItCannotHold) {
    const Context context = Context::cpu(1);
    Grid grid;
    grid.nx = grid.ny = grid.nz = 4;
    const Layout layout(LayoutKind::natural, grid, {});
    EXPECT_THROW(StructMatrix(context, layout, Stencil::star7(), 0), UsageError);
    EXPECT_THROW(StructMatrix(context, layout, Stencil::star7(), -1), UsageError);
    EXPECT_THROW(StructMatrix(context, layout, Stencil::star7(), 33), UsageError);
    EXPECT_NO_THROW(StructMatrix(context, layout, Stencil::star7(), 32));
    grid.periodic = {false, true, false};
    const Layout periodic(LayoutKind::natural, grid, {});
    EXPECT_NO_THROW(StructMatrix(context, periodic, Stencil::star7(), 1));
    EXPECT_THROW(StructMatrix(context, periodic, Stencil::star13(), 1), UsageError);
    EXPECT_EQ(context.ledger().held(), 0);
}

/// A x, b - A x, the same accurately, and x^T A x.
std::vector<double> all_products(const StructMatrix& a) {
    const int size = int(a.unknowns());
    const Vector x = reference::to_vector(a.context(), a.layout(), a.dof(), reference::Random(6).vector(size));
    const Vector b = reference::to_vector(a.context(), a.layout(), a.dof(), reference::Random(7).vector(size));
    std::vector<double> all(1);
    Vector y(a.context(), a.layout(), a.dof(), "y");
    const auto append = [&] {
        const std::vector<double> values = reference::from_vector(y);
        all.insert(all.end(), values.begin(), values.end());
    };
    a.apply(x, y), append();
    a.subtract_product(b, x, y), append();
    a.residual(b, x, y), append();
    a.apply_dot(x, y, &all[0]), append();
    return all;
}

TEST(EqualLinesOfAMatrix, AreReadInPlaceOfOneAnotherWithTheSameBits) {
    for (const char* name : {"star7", "diamond13", "box27", "skewed7"})
        for (const int dof : {1, 2})
            for (const bool symmetric : {false, true})
                for (const Box& box : {Box{33, 9, 6}, Box{40, 6, 9}, Box{7, 9, 6}}) {
                    const reference::NamedStencil stencil = reference::stencil_named(name);
                    const StencilMatrix data = reference::equal_lines(box, stencil.offsets, dof, symmetric, {1, 3, 4});
                    const auto matrix = [&](int threads) {
                        return reference::to_struct_matrix(Context::cpu(threads),
                                                           layout_for(LayoutKind::natural, box, stencil), data,
                                                           symmetric ? MatrixStorage::lower : MatrixStorage::full);
                    };
                    StructMatrix a = matrix(1);
                    ASSERT_EQ(a.equal_lines(), nullptr);
                    const std::vector<double> expected = all_products(a);
                    a.find_equal_lines();
                    ASSERT_TRUE(a.equal_lines() && a.equal_lines()->save_half());
                    EXPECT_EQ(all_products(a), expected) << name << " " << dof << " " << reference::name_of(box);
                    // Values are written: what was known of their lines is not used any more.
                    StructMatrix fresh = matrix(1);
                    for (StructMatrix* const one : {&a, &fresh}) one->values(0)[one->layout().slot({3, 2, 1})] = 0.75;
                    EXPECT_EQ(a.equal_lines(), nullptr);
                    EXPECT_EQ(all_products(a), all_products(fresh)) << name << " " << dof;
                }
}

TEST(EqualLinesOfAMatrix, AreThoseWithTheSameBits) {
    const reference::NamedStencil stencil = reference::stencil_named("star7");
    const StencilMatrix data = reference::equal_lines({5, 9, 6}, stencil.offsets, 1, true, {1, 3, 4});
    const StructMatrix a = reference::to_struct_matrix(
        Context::cpu(1), layout_for(LayoutKind::natural, data.box, stencil), data, MatrixStorage::lower);
    a.find_equal_lines();
    const EqualLines& lines = *a.equal_lines();
    const auto values = [&](int j, int k) {
        std::vector<double> all;
        for (const double* const from : a.coefficients())
            all.insert(all.end(), from + a.layout().slot({0, j, k}), from + a.layout().slot({0, j, k}) + 5);
        return all;
    };
    int shifted = 0;
    for (int k = 0; k < 6; ++k)
        for (int j = 0; j < 9; ++j) {
            const Index to = a.layout().slot({0, j, k}) + lines.shift(j, k);
            ASSERT_EQ(to % 5, 0);
            const int line = int(to / 5);
            EXPECT_EQ(values(line % 9, line / 9), values(j, k)) << j << " " << k;
            shifted += line != j + 9 * k;
        }
    EXPECT_GT(shifted, 27);
    EXPECT_EQ(lines.number(-1, 0), -1);
    EXPECT_EQ(lines.number(0, 6), -1);
}

}  // namespace
}  // namespace hyperplane
