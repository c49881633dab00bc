// SPDX-License-Identifier: BSD-3-Clause
// multigrid on several ranks: set-up and cycles have the bits of one rank, wherever grids are cut and from whichever
// grid on they are whole on every rank.
#include <gtest/gtest.h>

#include "precond/multigrid_ranks_cases.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

/// The list also has cases that ranks on GPUs do not take.
std::vector<MultigridRankCase> cases_of_cpus() {
    std::vector<MultigridRankCase> list = multigrid_rank_cases();
    for (const auto& further : {further_multigrid_rank_cases(), cases_of_subdomains()})
        list.insert(list.end(), further.begin(), further.end());
    return list;
}

INSTANTIATE_TEST_SUITE_P(OnHost, MultigridOnRanks, testing::ValuesIn(cases_of_cpus()), name_of_multigrid_case);

TEST_P(MultigridOnRanks, HasTheBitsOfOneRank) {
    const Values one = on_first_of(1, [&](const Context& context) { return applied(context, {}); });
    for (const char* points : {"0", "100", "4096"})
        for (int ranks = 2; ranks <= 4; ++ranks)
            EXPECT_EQ(on_ranks_of_a_cpu(ranks, points), one)
                << ranks << " ranks, grids of " << points << " points are whole";
}

class MultigridScopes : public MultigridOnRanks {};

INSTANTIATE_TEST_SUITE_P(OnHost, MultigridScopes, testing::ValuesIn(cases_of_scopes()), name_of_multigrid_case);

TEST_P(MultigridScopes, DropCouplingsWhereGridsAreCut) {
    const Values one = on_first_of(1, [&](const Context& context) { return applied(context, {}); });
    for (const int ranks : {2, 3}) {
        const Values several = on_ranks_of_a_cpu(ranks, "0");
        if (GetParam().name == "thin_parts" && ranks == 3)  // every rank has the finest grid as a whole
            EXPECT_EQ(several, one);
        else
            EXPECT_GT(difference_of_each(several, one), 1e-3) << ranks;
    }
}

/// Every rank knows of a jump that only one of them has, also of one between its own couplings and its neighbour's.
TEST(MultigridParts, DampFactorisationsAsOneRankWhereCoefficientsJump) {
    Values expected(12, 0.95);
    expected[0] = 1.0;  // below the first plane there is no coupling
    for (int ranks = 1; ranks <= 4; ++ranks)
        on_each_rank(
            ranks, [&](const Context& context) { EXPECT_EQ(omegas_of_jumps(context), expected) << ranks << " ranks"; });
}

TEST(MultigridParts, CutsCoarseGridsWhereFineOnesAreCut) {
    const Box box{9, 9, 33};
    const StencilMatrix matrix = reference::random_spd_matrix(box, reference::stencil_named("star7").offsets, 1, 7);
    on_each_rank(3, [&](const Context& context) {
        const StructMatrix a = part_of_star7(context, matrix);
        const auto m = make_multigrid(a, multigrid_keys({{"replicated_points", "0"}, {"strength", "0"}}));
        m->setup(a);
        const auto& hierarchy = dynamic_cast<const Multigrid&>(*m).hierarchy();
        int grid = 0;
        for (const int planes : {33, 17, 9, 5}) {
            const Layout& layout = hierarchy.matrix(grid++).layout();
            EXPECT_EQ(layout.grid().nz, planes);
            const int at[] = {0, 11, 22, 33};
            const auto cut = [&](int rank) {
                int begin = at[rank];
                for (int coarser = 1; coarser < grid; ++coarser) begin = (begin + 1) / 2;
                return begin;
            };
            const int rank = context.ranks()->rank();
            if (planes == 5)  // a rank would have one plane
                EXPECT_FALSE(layout.is_part());
            else
                EXPECT_EQ(std::pair(layout.begin_plane(), layout.end_plane()), std::pair(cut(rank), cut(rank + 1)));
        }
    });
}

/// Copies of planes beside cuts and gathered vectors are in the ledger, and in the plan.
TEST(MultigridParts, HoldTheMemoryThatIsPlanned) {
    const Box box{9, 9, 33};
    const StencilMatrix matrix = reference::random_spd_matrix(box, reference::stencil_named("star7").offsets, 1, 7);
    for (const char* points : {"0", "300", "4096"})
        on_each_rank(3, [&](const Context& context) {
            const StructMatrix a = part_of_star7(context, matrix);
            const Parameters keys = multigrid_keys({{"replicated_points", points}, {"strength", "0"}});
            const PreconditionerPlan plan = find_preconditioner("multigrid").plan(keys, setting_of(a));
            const auto m = make_multigrid(a, keys);
            Vector r(context, a.layout(), 1, "r"), z(context, a.layout(), 1, "z");
            const Index before = context.ledger().held();
            m->setup(a);
            m->setup(a);
            const auto& of_setup = context.ledger().peak_by_label();
            EXPECT_EQ(of_setup.count("multigrid: planes beside cuts"), 1);
            const Index peak_of_setup = context.ledger().peak() - before;
            EXPECT_LE(peak_of_setup, plan.bytes + plan.setup_bytes);
            EXPECT_GE(double(peak_of_setup), 0.97 * double(plan.bytes + plan.setup_bytes)) << points;
            context.ledger().forget_peak();
            m->apply(r, z);
            EXPECT_EQ(context.ledger().peak() - before, plan.bytes) << points;
        });
}

TEST(MultigridParts, RefusesValuesThatAreNotFiniteAsOneRankDoes) {
    const Box box{9, 9, 12};
    StencilMatrix matrix = reference::random_spd_matrix(box, reference::stencil_named("star7").offsets, 1, 2);
    matrix.blocks[box.row({2, 3, 7})].at({0, 0, 0})(0, 0) = NAN;
    matrix.blocks[box.row({2, 3, 7})].at({0, 0, -1})(0, 0) = NAN;
    for (int ranks = 1; ranks <= 3; ++ranks)
        on_each_rank(ranks, [&](const Context& context) {
            const StructMatrix a = part_of_star7(context, matrix);
            const auto m = make_multigrid(a, multigrid_keys({}));
            expect_error<SetupError>([&] { m->setup(a); }, "points holds values that are not finite");
        });
}

TEST(MultigridParts, RefusesSmoothersThatDoNotWorkOnRanks) {
    const Box box{5, 4, 6};
    const StencilMatrix matrix = reference::random_spd_matrix(box, reference::stencil_named("star7").offsets, 1, 2);
    on_each_rank(2, [&](const Context& context) {
        const StructMatrix a = part_of_star7(context, matrix);
        const auto expect = [&](const Parameters& keys, const std::string& text) {
            expect_error<UsageError>([&] { make_multigrid(a, keys); }, text);
        };
        expect(multigrid_keys({}, "fgbilu", {{"style", "kernels"}}), "smoother.style = kernels");
        expect(multigrid_keys({}, "multicolor", {{"triangular_solve", "jacobi"}, {"solve_mode", "block_async"}}),
               "smoother.solve_mode = block_async");
        expect(multigrid_keys({{"storage", "single"}, {"vectors", "single"}}, "jacobi"),
               "set preconditioner.vectors = double, or take one rank");
    });
}

}  // namespace
}  // namespace hyperplane
