// SPDX-License-Identifier: BSD-3-Clause
// The grids of multigrid: interpolation and Galerkin products equal their dense definitions, constants and linear
// functions are interpolated exactly, and the axes with strong couplings are found.
#include <gtest/gtest.h>

#include "precond/multigrid/galerkin.hpp"
#include "precond/multigrid_cases.hpp"
#include "precond/support.hpp"
#include "reference/equal_lines.hpp"
#include "reference/multigrid.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::Dense;
using reference::StencilMatrix;

constexpr multigrid::Axes all_axes{true, true, true};

/// The grid's axes among `axes` that can be coarsened.
multigrid::Axes possible(const Grid& grid, multigrid::Axes axes, int radius) {
    for (int axis = 0; axis < 3; ++axis) axes[axis] = axes[axis] && multigrid::can_coarsen(grid, axis, radius);
    return axes;
}

/// A grid, the next one, and what leads from one to the other.
struct TwoGrids {
    StructMatrix a;
    multigrid::Coarsening grids;
    multigrid::Interpolation p;
    StructMatrix coarse;

    TwoGrids(const StructMatrix& from, multigrid::Axes axes, LayoutKind kind)
        : a(copy_of(from)),
          grids(a.grid(), axes),
          p(a, grids, Layout(kind, grids.coarse, multigrid::coarse_stencil(a.stencil(), grids).level_map())),
          coarse(a.context(), p.coarse(), multigrid::coarse_stencil(a.stencil(), grids), a.dof(), a.storage()) {
        multigrid::galerkin_product(a, p, coarse);
    }

    static StructMatrix copy_of(const StructMatrix& from) {
        StructMatrix copy(from.context(), from.layout(), from.stencil(), from.dof(), from.storage());
        copy.assign(from);
        return copy;
    }
};

Dense dense_of(const StructMatrix& a) {
    const CsrMatrix csr = a.to_csr();
    Dense dense(int(csr.rows), int(csr.rows));
    for (Index row = 0; row < csr.rows; ++row)
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at)
            dense(int(row), int(csr.column[at])) += csr.value[at];
    return dense;
}

Dense weights_of(const multigrid::Interpolation& p) {
    const auto& grids = p.grids();
    const std::vector<double> weights = p.natural_weights();
    Dense dense(int(grids.fine.points()), int(grids.coarse.points()));
    for (int at = 0; at < dense.cols; ++at)
        for (int number = 0; number < 27; ++number) {
            Int3 child;
            const double weight = weights[at * 27 + number];
            if (weight == 0.0) continue;
            if (!grids.child(grids.coarse.point(at), multigrid::offset_of(number), child))
                ADD_FAILURE() << "a weight of a child that does not exist";
            dense(int(grids.fine.row(child)), at) += weight;
        }
    return dense;
}

void expect_equal(const Dense& got, const Dense& expected) {
    ASSERT_EQ(got.rows, expected.rows);
    ASSERT_EQ(got.cols, expected.cols);
    EXPECT_LE(reference::max_abs(reference::difference(got, expected)), 1e-13 * reference::max_abs(expected));
}

void expect_as_defined(const StencilMatrix& data, const std::string& stencil, MatrixStorage storage, LayoutKind kind,
                       multigrid::Axes asked) {
    const Context context = Context::cpu();
    const StructMatrix a =
        reference::to_struct_matrix(context, layout_for(kind, data, stencil, 0), data, storage, stencil);
    const multigrid::Axes axes = possible(a.grid(), asked, a.stencil().radius());
    SCOPED_TRACE(name_of(data.box) + " " + stencil + " dof " + std::to_string(data.dof) + " axes " +
                 std::to_string(axes[0] + 2 * axes[1] + 4 * axes[2]) +
                 (kind == LayoutKind::natural ? "" : " hyperplane") +
                 (storage == MatrixStorage::lower ? " lower" : ""));
    const TwoGrids grids(a, axes, kind);
    const Dense p = reference::BlackBox(data, axes).weights();
    expect_equal(weights_of(grids.p), p);
    const Dense full = reference::for_unknowns(p, data.dof);
    const Dense dense = reference::to_dense(reference::assembled(data));
    expect_equal(dense_of(grids.coarse), reference::galerkin(dense, full));
    // P and P^T as they are applied
    const std::vector<double> fine = reference::Random(3).vector(full.rows),
                              coarse = reference::Random(4).vector(full.cols);
    Vector x = reference::to_vector(context, a.layout(), data.dof, fine);
    Vector y = reference::to_vector(context, grids.p.coarse(), data.dof, std::vector<double>(coarse.size(), NAN));
    grids.p.restrict_to(x, y);
    std::vector<double> expected(coarse.size(), 0.0), added = fine;
    for (int i = 0; i < full.rows; ++i)
        for (int j = 0; j < full.cols; ++j) {
            expected[j] += full(i, j) * fine[i];
            added[i] += full(i, j) * coarse[j];
        }
    EXPECT_LE(reference::relative_difference(reference::from_vector(y), expected), 1e-13);
    grids.p.add_to(x, reference::to_vector(context, grids.p.coarse(), data.dof, coarse));
    EXPECT_LE(reference::relative_difference(reference::from_vector(x), added), 1e-13);
}

std::vector<multigrid::Axes> subsets() {
    std::vector<multigrid::Axes> list;
    for (int bits = 1; bits < 8; ++bits) list.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
    return list;
}

TEST(MultigridGrids, AreAsDefinedForEveryStencilAndSubsetOfAxes) {
    for (const auto& stencil : reference::all_stencils())
        for (const auto& axes : subsets())
            for (const MatrixStorage storage : storages)
                for (const LayoutKind kind : layout_kinds) {
                    const Box box{9, 7, 6};
                    expect_as_defined(storage == MatrixStorage::lower
                                          ? reference::random_spd_matrix(box, stencil.offsets, 1, 5)
                                          : reference::random_matrix(box, stencil.offsets, 1, 5),
                                      stencil.name, storage, kind, axes);
                }
}

TEST(MultigridGrids, AreAsDefinedForEveryNumberOfUnknowns) {
    for (const int dof : reference::small_dofs)
        for (const char* stencil : {"star7", "box27"})
            for (const MatrixStorage storage : storages)
                for (const LayoutKind kind : layout_kinds) {
                    const auto offsets = reference::stencil_named(stencil).offsets;
                    const Box box{5, 4, 3};
                    expect_as_defined(storage == MatrixStorage::lower
                                          ? reference::random_spd_matrix(box, offsets, dof, 6)
                                          : reference::random_matrix(box, offsets, dof, 6),
                                      stencil, storage, kind, all_axes);
                }
}

TEST(MultigridGrids, AreAsDefinedOnPlanesLinesAndPeriodicAxes) {
    const Box boxes[] = {{9, 8, 1},
                         {1, 11, 7},
                         {1, 1, 12},
                         {13, 1, 1},
                         {3, 3, 3},
                         {2, 9, 2},
                         {8, 5, 5, {true, false, false}},
                         {9, 6, 5, {true, true, false}},
                         {7, 3, 10, {true, true, true}},
                         {5, 4, 6, {false, true, true}}};
    for (const Box& box : boxes)
        for (const char* stencil : {"star7", "diamond13", "box27"})
            for (const MatrixStorage storage : storages)
                for (const LayoutKind kind : layout_kinds) {
                    const auto offsets = reference::stencil_named(stencil).offsets;
                    bool fits = true;
                    const int extents[3] = {box.nx, box.ny, box.nz};
                    for (int axis = 0; axis < 3; ++axis) fits = fits && (!box.periodic[axis] || extents[axis] >= 3);
                    if (!fits) continue;
                    expect_as_defined(storage == MatrixStorage::lower ? reference::random_spd_matrix(box, offsets, 2, 7)
                                                                      : reference::random_matrix(box, offsets, 2, 7),
                                      stencil, storage, kind, all_axes);
                }
}

/// Lines so long that loops take eight of their points at a time; the ends wrap around, are cut off, or both.
TEST(MultigridGrids, AreAsDefinedOnLongLinesOfPeriodicAxes) {
    const Box boxes[] = {{24, 5, 4, {true, false, false}},
                         {25, 4, 5, {true, true, false}},
                         {30, 6, 3, {false, true, false}},
                         {37, 3, 5, {true, false, true}},
                         {5, 13, 10, {true, true, true}}};
    for (const Box& box : boxes)
        for (const char* stencil : {"star7", "box27"})
            for (const MatrixStorage storage : storages)
                for (const multigrid::Axes axes : {all_axes, multigrid::Axes{true, false, true}}) {
                    const auto offsets = reference::stencil_named(stencil).offsets;
                    expect_as_defined(storage == MatrixStorage::lower ? reference::random_spd_matrix(box, offsets, 1, 9)
                                                                      : reference::random_matrix(box, offsets, 1, 9),
                                      stencil, storage, LayoutKind::natural, axes);
                }
}

/// star7 with constant couplings; the diagonal balances them at all points, so no value is prescribed anywhere.
StencilMatrix balanced(const Box& box, std::array<double, 3> coupling) {
    StencilMatrix a{box, reference::stencil_named("star7").offsets, 1,
                    std::vector<std::map<reference::Offset, Dense>>(box.points())};
    for (int row = 0; row < box.points(); ++row) {
        a.blocks[row][{}] = Dense(1, 1);
        for (const reference::Offset o : a.offsets) {
            if (o == reference::Offset{} || !box.contains(box.wrapped(box.point(row) + o))) continue;
            const double value = coupling[o.x != 0 ? 0 : o.y != 0 ? 1 : 2];
            a.blocks[row][o] = Dense(1, 1);
            a.blocks[row][o](0, 0) = -value;
            a.blocks[row][{}](0, 0) += value;
        }
    }
    return a;
}

TEST(MultigridGrids, AreAsDefinedWhereAllLinesButOneAreEqual) {
    for (const char* stencil : {"star7", "box27"})
        for (const int dof : {1, 2})
            for (const bool symmetric : {false, true})
                for (const Box& box : {Box{3, 13, 6}, Box{4, 6, 13}})
                    for (int at = 0; at < box.ny + box.nz; ++at) {
                        if (dof == 2 && at % 5 > 0) continue;
                        const reference::Offset other{1, at < box.ny ? at : 3, at < box.ny ? 3 : at - box.ny};
                        const StencilMatrix data = reference::equal_lines(
                            box, reference::stencil_named(stencil).offsets, dof, symmetric, other);
                        for (const multigrid::Axes axes : {all_axes, multigrid::Axes{true, true, false}})
                            expect_as_defined(data, stencil, symmetric ? MatrixStorage::lower : MatrixStorage::full,
                                              LayoutKind::natural, axes);
                    }
}

/// Where all lines are equal, those beside a periodic boundary may still lead to other lines on the next grid.
TEST(MultigridGrids, AreAsDefinedWhereAllLinesButOneAreEqualAndAxesArePeriodic) {
    for (const char* stencil : {"star7", "box27"})
        for (const bool symmetric : {false, true})
            for (const Box& box : {Box{3, 13, 6, {false, true, true}}, Box{4, 6, 13, {false, true, true}},
                                   Box{5, 12, 9, {true, false, true}}})
                for (int at = 0; at < box.ny + box.nz; ++at) {
                    const reference::Offset other{1, at < box.ny ? at : 3, at < box.ny ? 3 : at - box.ny};
                    const StencilMatrix data =
                        reference::equal_lines(box, reference::stencil_named(stencil).offsets, 1, symmetric, other);
                    expect_as_defined(data, stencil, symmetric ? MatrixStorage::lower : MatrixStorage::full,
                                      LayoutKind::natural, all_axes);
                }
}

TEST(MultigridGrids, InterpolateConstantsAndLinearFunctionsExactly) {
    const StencilMatrix data = balanced({9, 7, 5}, {1.0, 1.0, 1.0});
    const StructMatrix a = reference::to_struct_matrix(
        Context::cpu(1), layout_for(LayoutKind::natural, data, "star7", 0), data, MatrixStorage::lower, "star7");
    const TwoGrids grids(a, all_axes, LayoutKind::natural);
    const auto interpolated = [&](const std::function<double(Int3)>& f) {
        std::vector<double> coarse;
        for (Index row = 0; row < grids.grids.coarse.points(); ++row) {
            const Int3 p = grids.grids.coarse.point(row);
            coarse.push_back(f({2 * p.x, 2 * p.y, 2 * p.z}));
        }
        Vector x(a.context(), a.layout(), 1, "x");
        grids.p.add_to(x, reference::to_vector(a.context(), grids.p.coarse(), 1, coarse));
        double error = 0.0;
        for (Index row = 0; row < a.grid().points(); ++row)
            error = std::max(error, std::abs(x(a.grid().point(row)) - f(a.grid().point(row))));
        return error;
    };
    EXPECT_LE(interpolated([](Int3) { return 1.0; }), 1e-15);
    EXPECT_LE(interpolated([](Int3 p) { return 1.0 + 2.0 * p.x - 3.0 * p.y + 0.5 * p.z; }), 1e-13);
    // A coarse operator of rows that sum to zero has such rows again.
    const Dense coarse = dense_of(grids.coarse);
    for (int i = 0; i < coarse.rows; ++i) {
        double sum = 0.0;
        for (int j = 0; j < coarse.cols; ++j) sum += coarse(i, j);
        EXPECT_LE(std::abs(sum), 1e-13 * coarse(i, i));
    }
}

TEST(MultigridGrids, AreCoarsenedAlongStrongCouplings) {
    using Axes = multigrid::Axes;
    const auto strong = [](const StencilMatrix& data, double threshold = 0.5) {
        return multigrid::strong_axes(
            reference::to_struct_matrix(Context::cpu(1), layout_for(LayoutKind::natural, data, "star7", 0), data,
                                        MatrixStorage::lower, "star7"),
            threshold);
    };
    const Box box{9, 7, 5};
    EXPECT_EQ(strong(balanced(box, {1, 1, 1})), (Axes{true, true, true}));
    EXPECT_EQ(strong(balanced(box, {1, 1, 100})), (Axes{false, false, true}));
    EXPECT_EQ(strong(balanced(box, {1, 100, 100})), (Axes{false, true, true}));
    EXPECT_EQ(strong(balanced(box, {1, 100, 100}), 0.0), (Axes{true, true, true}));
    EXPECT_EQ(strong(balanced({9, 7, 2}, {1, 1, 100})), (Axes{true, true, false}))
        << "an axis of two points is no rival";
    EXPECT_EQ(strong(balanced({9, 7, 1}, {1, 1, 1})), (Axes{true, true, false}));
    EXPECT_EQ(strong(balanced({2, 2, 2}, {1, 1, 1})), (Axes{false, false, false}));
    EXPECT_EQ(strong(balanced({4, 9, 7, {true, false, false}}, {1, 1, 1})), (Axes{false, true, true}))
        << "two points do not fit on a periodic axis";
    const auto random = reference::random_spd_matrix({7, 6, 5}, reference::stencil_named("box27").offsets, 3, 8);
    const auto ratios = reference::coupling_ratios(random, {true, true, true});
    const double most = *std::max_element(ratios.begin(), ratios.end());
    const StructMatrix a = reference::to_struct_matrix(
        Context::cpu(1), layout_for(LayoutKind::natural, random, "box27", 0), random, MatrixStorage::lower, "box27");
    for (int axis = 0; axis < 3; ++axis) {
        EXPECT_TRUE(multigrid::strong_axes(a, ratios[axis] / most * (1.0 - 1e-12))[axis]);
        if (ratios[axis] < most) {
            EXPECT_FALSE(multigrid::strong_axes(a, ratios[axis] / most * (1.0 + 1e-12))[axis]);
        }
    }
}

/// The fine points that coincide with neighbouring coarse points in the order of the weights have slots two apart.
TEST(MultigridWeights, FollowTheRunsOfTheFineLayout) {
    Grid grid;
    grid.nx = 17, grid.ny = 12, grid.nz = 9;
    const multigrid::Coarsening grids(grid, all_axes);
    for (const LayoutKind kind : layout_kinds)
        for (const LevelMap levels : {LevelMap{1, 1}, LevelMap{2, 4}, LevelMap{2, 3}}) {
            const Layout fine(kind, grid, levels), order = multigrid::order_of_weights(grids, fine);
            Index adjacent = 0;
            for (Index slot = 1; slot < order.slots(); ++slot) {
                const Int3 before = order.point(slot - 1), p = order.point(slot);
                if (p != before + order.step()) continue;
                EXPECT_EQ(fine.slot(grids.first_child(p)) - fine.slot(grids.first_child(before)), 2);
                ++adjacent;
            }
            EXPECT_GT(2 * adjacent, order.slots());
        }
}

}  // namespace
}  // namespace hyperplane
