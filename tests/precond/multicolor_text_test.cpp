// SPDX-License-Identifier: BSD-3-Clause
// Multicolour solves of ranks as their kernels compute them, the kernels' text compiled for the host: so a machine
// without a GPU checks them, too. The factors are those of the loop over points that a GPU runs.
#include <gtest/gtest.h>

#include "core/ranks/cuts.hpp"
#include "on_ranks.hpp"
#include "precond/multicolor/by_point.hpp"
#include "precond/support.hpp"

#define KERNELS two_colours
#define DOF 1
#define ROWS 1
#define COLOURS 2
#define SYMMETRIC 0
#define MOST_TERMS 6
#define AHEAD 0
#include "precond/emulated_colours.cuh"

#define KERNELS two_colours_lower
#define DOF 1
#define ROWS 1
#define COLOURS 2
#define SYMMETRIC 1
#define MOST_TERMS 6
#define AHEAD 0
#include "precond/emulated_colours.cuh"

#define KERNELS two_rows_lower
#define DOF 2
#define ROWS 2
#define COLOURS 2
#define SYMMETRIC 1
#define MOST_TERMS 6
#define AHEAD 0
#include "precond/emulated_colours.cuh"

#define KERNELS parts_of_rows
#define DOF 9
#define ROWS 4
#define COLOURS 2
#define SYMMETRIC 0
#define MOST_TERMS 6
#define AHEAD 0
#include "precond/emulated_colours.cuh"

#define KERNELS three_colours
#define DOF 1
#define ROWS 1
#define COLOURS 3
#define SYMMETRIC 0
#define MOST_TERMS 12
#define AHEAD 0
#include "precond/emulated_colours.cuh"

#define KERNELS eight_colours_lower
#define DOF 1
#define ROWS 1
#define COLOURS 8
#define SYMMETRIC 1
#define MOST_TERMS 26
#define AHEAD 1
#include "precond/emulated_colours.cuh"

#define KERNELS eight_colours
#define DOF 1
#define ROWS 1
#define COLOURS 8
#define SYMMETRIC 0
#define MOST_TERMS 26
#define AHEAD 0
#include "precond/emulated_colours.cuh"

#define KERNELS three_rows
#define DOF 3
#define ROWS 3
#define COLOURS 8
#define SYMMETRIC 0
#define MOST_TERMS 26
#define AHEAD 0
#include "precond/emulated_colours.cuh"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::StencilMatrix;
using Values = std::vector<double>;

struct TextCase {
    const char* name;
    void (*run)(const ColourStep<double>&);
    const char* stencil;
    int dof;
    bool symmetric;
};

class MulticolorText : public testing::TestWithParam<TextCase> {
protected:
    /// Factors in the order of points and M^-1 r, of the whole grid.
    Values applied(const Context& context, const StencilMatrix& of) const {
        const TextCase& c = GetParam();
        const Layout layout = part_of(context, layout_for(LayoutKind::natural, of, c.stencil, 0), radius(of.offsets));
        const StructMatrix a = reference::to_struct_matrix(context, layout, of, storages[c.symmetric], c.stencil);
        const ColouredShape shape(layout, a.stencil(), ColourRule::stencil);
        const ColouredPoints points(context, shape, c.dof, c.symmetric);
        std::vector<Index> a_entry;
        for (const Int3 o : shape.offsets) a_entry.push_back(a.stencil().find(o));
        Values factors(std::size_t(shape.coefficients(c.dof, c.symmetric))), ratios(std::size_t(layout.slots()));
        PivotLog log = empty_pivot_log();
        multicolor::factor(a, points, a_entry.data(), 0.0, {}, &log, true, ratios.data(), factors.data());
        EXPECT_EQ(log.failures, 0);
        return solved(context, a, points, factors);
    }
    Values solved(const Context& context, const StructMatrix& a, const ColouredPoints& points,
                  const Values& factors) const {
        const Layout& layout = a.layout();
        const ColouredShape& shape = points.shape();
        const Index slots = shape.slots;
        Vector r = reference::to_vector(context, layout, a.dof(), values), z(context, layout, a.dof(), "z");
        Values v(std::size_t(slots * a.dof())), w(v.size());
        exchange_halos(context, layout, points.reach(), components(r.data(), layout.slots_in_memory()));
        for (ColourStep<double> step : colour_steps<double>(points, layout, a.dof())) {
            step.set({factors.data()}, r.data(), v.data(), w.data(), z.data());
            GetParam().run(step);
            if (step.sends == ColourSends::nothing) continue;
            Values& sent = step.sends == ColourSends::v ? v : w;
            const int colour = step.arguments.colour;
            points.exchange(context, layout, colour, components(sent.data() + colour * shape.stride, slots));
        }
        return to_natural(z);
    }
    std::vector<double*> components(double* first, Index distance) const {
        std::vector<double*> found;
        for (int c = 0; c < GetParam().dof; ++c) found.push_back(first + c * distance);
        return found;
    }

    Box box{7, 6, 9};
    Values values = reference::Random(3).vector(box.points() * GetParam().dof);
};

TEST_P(MulticolorText, HasTheBitsOfOneRankAndSolvesWhatACpuSolves) {
    const TextCase& c = GetParam();
    const auto offsets = reference::stencil_named(c.stencil).offsets;
    const StencilMatrix of = c.symmetric ? reference::random_spd_matrix(box, offsets, c.dof, 7)
                                         : reference::random_matrix(box, offsets, c.dof, 7);
    const auto compute = [&](const Context& context) { return applied(context, of); };
    const Values one = on_first_of(1, compute);
    const StructMatrix a = reference::to_struct_matrix(
        Context::cpu(1), layout_for(LayoutKind::natural, of, c.stencil, 0), of, storages[c.symmetric], c.stencil);
    const auto m = make("multicolor", a);
    m->setup(a);
    EXPECT_LT(reference::relative_difference(one, apply(*m, a, values)), 1e-12);
    for (int ranks = 2; ranks <= 4; ++ranks) EXPECT_EQ(on_first_of(ranks, compute), one) << ranks << " ranks";
}

/// The loop over points that a GPU runs counts rows and ratios from the first point of the rank, to whose number the
/// report adds the points before it.
TEST(MulticolorFactorOfRanks, CountsRowsFromItsOwnFirstPoint) {
    const Box box{5, 4, 6};
    StencilMatrix of = reference::random_matrix(box, reference::stencil_named("star7").offsets, 1, 2);
    const int zero = box.row({2, 3, 4});
    for (auto& [offset, block] : of.blocks[zero]) block(0, 0) = 0.0;
    const auto ratios_and_failure = [&](const Context& context) {
        const Layout layout = part_of(context, layout_for(LayoutKind::natural, of, "star7", 0), 1);
        const StructMatrix a = reference::to_struct_matrix(context, layout, of, MatrixStorage::full, "star7");
        const ColouredShape shape(layout, a.stencil(), ColourRule::stencil);
        const ColouredPoints points(context, shape, 1, false);
        std::vector<Index> a_entry;
        for (const Int3 o : shape.offsets) a_entry.push_back(a.stencil().find(o));
        Values factors(std::size_t(shape.coefficients(1, false))), ratios(std::size_t(layout.slots()));
        PivotLog log = empty_pivot_log();
        multicolor::factor(a, points, a_entry.data(), 0.0, {}, &log, true, ratios.data(), factors.data());
        Values all = on_first_rank(context, ratios);
        double failures = 0.0;
        for (const double of_rank : gathered(context, {double(log.failures)})) failures += of_rank;
        all.push_back(failures);
        const double row = log.failures == 0 ? -1.0 : double(Index(log.failed[0]) + a.space().first_block_row());
        all.push_back(largest_of_ranks(context, row));
        return all;
    };
    const Values one = on_first_of(1, ratios_and_failure);
    EXPECT_EQ(one.back(), zero);
    EXPECT_GT(one[one.size() - 2], 0.0);
    for (int ranks = 2; ranks <= 3; ++ranks) EXPECT_EQ(on_first_of(ranks, ratios_and_failure), one) << ranks;
}

INSTANTIATE_TEST_SUITE_P(All, MulticolorText,
                         testing::Values(TextCase{"two_colours", two_colours::run, "star7", 1, false},
                                         TextCase{"two_colours_lower", two_colours_lower::run, "star7", 1, true},
                                         TextCase{"two_rows_lower", two_rows_lower::run, "star7", 2, true},
                                         TextCase{"parts_of_rows", parts_of_rows::run, "star7", 9, false},
                                         TextCase{"three_colours", three_colours::run, "star13", 1, false},
                                         TextCase{"eight_colours_lower", eight_colours_lower::run, "box27", 1, true},
                                         TextCase{"eight_colours", eight_colours::run, "box27", 1, false},
                                         TextCase{"three_rows", three_rows::run, "box27", 3, false}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hyperplane
