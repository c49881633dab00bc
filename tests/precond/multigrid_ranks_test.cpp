// SPDX-License-Identifier: BSD-3-Clause
// multigrid on several ranks: set-up and cycles have the bits of one rank, wherever grids are cut and from whichever
// grid on they are whole on every rank.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/ranks/links_cuda.hpp"
#include "on_device.hpp"
#include "on_ranks.hpp"
#include "precond/checks/applications.hpp"
#include "precond/multigrid_cases.hpp"
#include "reference/equal_lines.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::StencilMatrix;

using Values = std::vector<double>;

struct Case {
    std::string name, stencil = "star7";
    int dof = 1;
    bool symmetric = true;
    Box box{9, 7, 17};
    Settings settings = {};
    std::string smoother = "struct_ilu";
    Settings smoother_settings = {};
    bool equal_lines = false;

    /// Of the smoother, whose hyperplane layout depends on it.
    int fill_level() const { return smoother_settings == Settings{{"fill_level", "1"}} ? 1 : 0; }
};

std::vector<Case> cases() {
    std::vector<Case> list;
    for (const char* stencil : {"star7", "box27", "star13", "scattered11"})
        for (int dof : {1, 2})
            for (bool symmetric : {false, true})
                list.push_back({std::string(stencil) + "_" + std::to_string(dof) + (symmetric ? "_spd" : ""), stencil,
                                dof, symmetric, Box{9, 7, 17}});
    for (const char* smoother : {"jacobi", "chebyshev", "multicolor", "fgbilu", "par_ilu", "jacobi_sweeps", "none"})
        for (int dof : {1, 2}) {
            const std::string stencil = std::string(smoother) == "fgbilu" ? "box27" : "star7";
            list.push_back(
                {std::string(smoother) + "_" + std::to_string(dof), stencil, dof, true, Box{9, 7, 17}, {}, smoother});
        }
    list.push_back({"l1", "star7", 1, true, {8, 6, 21}, {}, "jacobi", {{"l1", "true"}}});
    list.push_back({"fill", "star7", 1, true, {8, 6, 21}, {}, "struct_ilu", {{"fill_level", "1"}}});
    list.push_back({"shift", "star7", 1, true, {8, 6, 21}, {}, "struct_ilu", {{"pivot_policy", "shift"}}});
    for (const char* cycle : {"w", "f"})
        list.push_back({std::string("cycle_") + cycle, "star7", 1, true, {9, 7, 33}, {{"cycle", cycle}}});
    list.push_back({"coarse_smoother", "star7", 1, true, {9, 7, 33}, {{"coarse_smoother", "multicolor"}}});
    list.push_back({"steps", "star7", 1, true, {9, 7, 18}, {{"pre_smoothing", "0"}, {"post_smoothing", "2"}}});
    list.push_back({"strength_0", "star7", 2, false, {9, 7, 19}, {{"strength", "0"}}});
    list.push_back({"strength_1", "star7", 1, true, {9, 7, 19}, {{"strength", "1"}}});
    list.push_back({"strength_1_blocks", "star7", 2, false, {9, 7, 19}, {{"strength", "1"}}});
    list.push_back({"two_grids", "star7", 1, true, {5, 5, 17}, {{"grids", "2"}}});
    list.push_back({"one_grid", "star7", 1, true, {3, 2, 9}, {{"grids", "1"}}});
    list.push_back({"coarsest_by_jacobi", "star7", 1, true, {9, 7, 17}, {{"coarsest", "jacobi"}}});
    list.push_back({"one_grid_by_jacobi", "star7", 1, true, {3, 2, 9}, {{"grids", "1"}, {"coarsest", "jacobi"}}});
    list.push_back({"thin_parts", "star7", 1, true, {5, 4, 4}});
    list.push_back({"thin_parts_blocks", "star7", 3, false, {5, 4, 5}});
    list.push_back({"thin_parts_of_two_planes", "star13", 1, true, {5, 4, 9}});
    for (const char* stencil : {"star7", "box27"})
        for (bool symmetric : {false, true}) {
            Case of{std::string("equal_lines_") + stencil + (symmetric ? "_spd" : ""), stencil, 1, symmetric};
            of.equal_lines = true;
            list.push_back(of);
        }
    for (int dof : {1, 2})
        for (bool symmetric : {false, true}) {
            Case of{"periodic_" + std::to_string(dof) + (symmetric ? "_spd" : ""), "star7", dof, symmetric};
            of.box = {12, 10, 17};
            of.box.periodic = {true, true, false};
            list.push_back(of);
        }
    return list;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
    return info.param.name;
}

class MultigridOnRanks : public testing::TestWithParam<Case> {
protected:
    StencilMatrix data(int seed) const {
        const Case& c = GetParam();
        const auto offsets = reference::stencil_named(c.stencil).offsets;
        if (c.equal_lines) return reference::equal_lines(c.box, offsets, c.dof, c.symmetric, {2, 3, seed});
        return c.symmetric ? reference::random_spd_matrix(c.box, offsets, c.dof, seed)
                           : reference::random_matrix(c.box, offsets, c.dof, seed);
    }
    /// What two set-ups report, and M^-1 r after each; on a GPU, also when it is recorded as a graph.
    Values applied(const Context& context, Settings settings, LayoutKind kind = LayoutKind::natural) const {
        const Case& c = GetParam();
        settings.insert(settings.end(), c.settings.begin(), c.settings.end());
        const Parameters keys = multigrid_keys(settings, c.smoother, c.smoother_settings);
        std::unique_ptr<Preconditioner> m;
        std::optional<StructMatrix> a;
        Values found;
        for (int seed : {7, 8}) {
            const StencilMatrix matrix = data(seed);
            const Layout part =
                part_of(context, layout_for(kind, matrix, c.stencil, c.fill_level()), radius(matrix.offsets));
            const StructMatrix values =
                reference::to_struct_matrix(context.host(), part, matrix, storages[c.symmetric], c.stencil);
            a ? a->assign(values) : void(a.emplace(in_context(context, values)));
            if (!m) m = make_multigrid(*a, keys);
            const SetupReport report = m->setup(*a);
            found.insert(found.end(), {double(report.pivots_modified), report.shift, report.smallest_pivot_ratio,
                                       double(part.grid().row(report.smallest_pivot_cell))});
            const auto& hierarchy = dynamic_cast<const Multigrid&>(*m).hierarchy();
            for (int grid = 0; grid < hierarchy.size(); ++grid) {
                found.push_back(double(hierarchy.matrix(grid).grid().points()));
                if (grid + 1 < hierarchy.size())
                    found.insert(found.end(), {hierarchy[grid].smoother.omega(), hierarchy[grid].smoother.lambda()});
            }
            const Vector r = to_vector(context, part, c.dof, reference::Random(3).vector(c.box.points() * c.dof));
            Vector z(context, part, c.dof, "z");
            m->apply(r, z);
            const Values solution = to_natural(z);
            found.insert(found.end(), solution.begin(), solution.end());
            if (context.backend() == Backend::cuda) expect_same_when_recorded(*m, r, z, solution);
        }
        return found;
    }
    /// The GPU's result may differ from a CPU's by this: of factors in reduced precision, both may round a few values,
    /// those near the middle of two that can be stored, to different ones.
    static double most_beside_a_cpu() {
        for (const FactorStorage storage : reduced_factor_storages)
            for (const auto& [key, value] : GetParam().settings)
                if (key == "storage" && value == to_string(storage)) return bound_of_rounding(storage);
        return 1e-9;
    }
    static void expect_same_when_recorded(const Preconditioner& m, const Vector& r, Vector& z, const Values& expected) {
        const Context& context = z.context();
        if constexpr (cuda_built) {
            if (context.ranks() && !links_of(context).records()) return;
            const device::Recording recording(context.stream(), [&] { m.apply(r, z); });
            for (int replay = 0; replay < 5; ++replay) {
                if (context.ranks()) meet_ranks(context, true);
                recording.queue();
                context.synchronize();
                EXPECT_EQ(to_natural(z), expected) << "replay " << replay;
            }
        }
    }
};

/// These cases have factors in reduced precision, or grids that are periodic along z.
std::vector<Case> further_cases() {
    std::vector<Case> list;
    for (const bool symmetric : {false, true})
        list.push_back({std::string("periodic_z") + (symmetric ? "_spd" : ""),
                        "star7",
                        1,
                        symmetric,
                        {8, 6, 20, {false, false, true}}});
    for (const char* storage : {"single", "half_scaled"})
        for (const char* smoother : {"struct_ilu", "multicolor"})
            list.push_back({std::string(storage) + "_" + smoother,
                            "star7",
                            1,
                            true,
                            {9, 7, 17},
                            {{"storage", storage}},
                            smoother});
    list.push_back({"single_blocks", "box27", 2, false, {9, 7, 17}, {{"storage", "single"}, {"storage_from", "1"}}});
    return list;
}

/// The list also has cases that ranks on GPUs do not take.
std::vector<Case> cases_of_cpus() {
    std::vector<Case> list = cases(), further = further_cases();
    list.insert(list.end(), further.begin(), further.end());
    list.push_back({"subdomains", "star7", 1, true, {9, 7, 17}, {}, "subdomain_ildu0", {{"subdomain", "4 4 2"}}});
    list.push_back({"subdomains_2", "box27", 2, false, {9, 7, 16}, {}, "subdomain_ildu0", {{"subdomain", "5 7 4"}}});
    list.push_back({"coarse_subdomains", "star7", 1, true, {9, 7, 33}, {{"coarse_smoother", "subdomain_ildu0"}}});
    list.push_back({"swept_colours", "star7", 1, true, {9, 7, 17}, {}, "multicolor", {{"triangular_solve", "jacobi"}}});
    list.push_back({"greedy", "star7", 1, true, {9, 7, 17}, {}, "multicolor", {{"colours", "greedy"}}});
    return list;
}

INSTANTIATE_TEST_SUITE_P(OnHost, MultigridOnRanks, testing::ValuesIn(cases_of_cpus()), name_of);

TEST_P(MultigridOnRanks, HasTheBitsOfOneRank) {
    const Values one = on_first_of(1, [&](const Context& context) { return applied(context, {}); });
    for (const char* points : {"0", "100", "4096"})
        for (int ranks = 2; ranks <= 4; ++ranks)
            EXPECT_EQ(on_first_of(ranks,
                                  [&](const Context& context) {
                                      return applied(context, {{"replicated_points", points}});
                                  }),
                      one)
                << ranks << " ranks, grids of " << points << " points are whole";
}

std::vector<Case> cases_of_gpus() {
    std::vector<Case> list = further_cases();
    for (const Case& c : cases())
        if (find_preconditioner(c.smoother).on_gpu_ranks) list.push_back(c);
    // More terms than kernels are written out for; and planes of several tiles.
    for (const bool symmetric : {false, true})
        list.push_back({std::string("box27_5") + (symmetric ? "_spd" : ""), "box27", 5, symmetric, {6, 5, 11}});
    list.push_back({"tiles", "star7", 1, true, {37, 35, 41}});
    list.push_back({"box27_tiles", "box27", 1, true, {33, 35, 26}, {}, "multicolor"});
    return list;
}

class MultigridRanksOnDevice : public MultigridOnRanks {
protected:
    void SetUp() override {
        if (const std::string why = device::unavailable(); !why.empty()) GTEST_SKIP() << why;
    }
};

INSTANTIATE_TEST_SUITE_P(All, MultigridRanksOnDevice, testing::ValuesIn(cases_of_gpus()), name_of);

TEST_P(MultigridRanksOnDevice, HaveTheBitsOfOneGpu) {
    const Values one = applied(Context::cuda(), {});
    const Values on_cpu = applied(Context::cpu(1), {});
    EXPECT_LT(reference::relative_difference(one, on_cpu), most_beside_a_cpu());
    // A grid that is periodic is coarsened along axes that follow from sums in the order of the layout.
    if (GetParam().smoother == "struct_ilu" && !reference::to_grid(GetParam().box).any_periodic()) {
        EXPECT_EQ(applied(Context::cuda(), {}, LayoutKind::hyperplane), one);
    }
    const std::pair<int, std::string> choices[] = {{2, "0"}, {3, "0"}, {3, "100"}, {2, "4096"}};
    for (const auto& choice : choices) {
        const int ranks = choice.first;
        const std::string& points = choice.second;
        Values several;
        on_each_gpu_rank(ranks, [&](const Context& context) {
            Values mine = applied(context, {{"replicated_points", points}});
            if (is_first_rank(context)) several = std::move(mine);
        });
        EXPECT_EQ(several, one) << ranks << " ranks, grids of " << points << " points are whole";
    }
}

/// A rank's part of a symmetric matrix of star7.
StructMatrix part_of_star7(const Context& context, const StencilMatrix& matrix) {
    const Layout part = part_of(context, layout_for(LayoutKind::natural, matrix, "star7", 0), 1);
    return reference::to_struct_matrix(context, part, matrix, MatrixStorage::lower, "star7");
}

/// Couplings of 1, and of 11 above a plane: those to the two sides differ much at the points of this plane alone.
StencilMatrix with_jump_above(const Box& box, int plane) {
    StencilMatrix a{box, reference::stencil_named("star7").offsets, 1, {}};
    a.blocks.resize(box.points());
    for (int row = 0; row < box.points(); ++row) {
        reference::Dense own(1, 1);
        own(0, 0) = 0.1;
        const reference::Offset p = box.point(row);
        for (const reference::Offset o : a.offsets) {
            if (o == reference::Offset{} || !box.contains(p + o)) continue;
            const double coupling = o.z != 0 && std::max(p.z, p.z + o.z) > plane ? 11.0 : 1.0;
            a.blocks[row][o] = reference::Dense(1, 1);
            a.blocks[row][o](0, 0) = -coupling;
            own(0, 0) += coupling;
        }
        a.blocks[row][{}] = own;
    }
    return a;
}

Values omegas_of_jumps(const Context& context) {
    Values found;
    for (int plane = 0; plane < 12; ++plane) {
        const StructMatrix a = in_context(context, part_of_star7(context.host(), with_jump_above({4, 3, 13}, plane)));
        const auto m = make_multigrid(a, multigrid_keys({{"grids", "2"}, {"replicated_points", "0"}}));
        m->setup(a);
        found.push_back(dynamic_cast<const Multigrid&>(*m).hierarchy()[0].smoother.omega());
    }
    return found;
}

/// Every rank knows of a jump that only one of them has, also of one between its own couplings and its neighbour's.
TEST(MultigridParts, DampFactorisationsAsOneRankWhereCoefficientsJump) {
    Values expected(12, 0.95);
    expected[0] = 1.0;  // below the first plane there is no coupling
    for (int ranks = 1; ranks <= 4; ++ranks)
        on_each_rank(
            ranks, [&](const Context& context) { EXPECT_EQ(omegas_of_jumps(context), expected) << ranks << " ranks"; });
}

class MultigridPartsOnDevice : public DeviceTest {};

TEST_F(MultigridPartsOnDevice, DampFactorisationsAsTheHostWhereCoefficientsJump) {
    const Values expected = omegas_of_jumps(Context::cpu(1));
    for (int ranks = 1; ranks <= 3; ++ranks)
        on_each_gpu_rank(
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
