// subdomain_ildu0 on either backend: ILU(0) of the matrix without the couplings between subdomains, in every variant.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/error.hpp"
#include "precond/subdomain_ildu0.hpp"
#include "precond/swept.hpp"
#include "reference/subdomains.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::Offset;
using reference::relative_difference;
using reference::StencilMatrix;

struct Case : SweptCase {
    Offset size;
};

std::string text_of(Offset size) {
    return std::to_string(size.x) + " " + std::to_string(size.y) + " " + std::to_string(size.z);
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
    std::string size = text_of(info.param.size);
    std::replace(size.begin(), size.end(), ' ', '_');
    return name_of(testing::TestParamInfo<SweptCase>(info.param, info.index)) + "_cut_" + size;
}

/// Cuts that divide the extents, that do not, of one point, of lines, larger than the grid.
std::vector<Case> cases() {
    std::vector<Case> list;
    const std::vector<std::pair<Box, Offset>> boxes{{{7, 5, 3}, {3, 2, 2}},
                                                    {{7, 5, 3}, {16, 16, 8}},
                                                    {{9, 5, 1}, {4, 3, 1}},
                                                    {{5, 5, 5, {true, false, true}}, {3, 5, 2}}};
    int turn = 0;
    for (const auto& stencil : reference::all_stencils())
        for (int dof : {1, 2, 3, 4, 5, 8})
            for (const auto& [box, size] : boxes)
                for (MatrixStorage storage : storages)
                    list.push_back({{stencil.name, dof, 0, box, layout_kinds[turn++ % 2], storage}, size});
    for (Offset size : {Offset{1, 1, 1}, {7, 1, 1}, {1, 5, 1}, {1, 1, 3}, {2, 5, 3}})
        for (const char* stencil : {"star7", "box27", "scattered11"})
            list.push_back({{stencil, 2, 0, {7, 5, 3}, LayoutKind::natural, MatrixStorage::full}, size});
    list.push_back({{"star7", 1, 0, {700, 1, 1}, LayoutKind::natural, MatrixStorage::full}, {16384, 1, 1}});
    for (int dof : {17, 32})
        for (const char* stencil : {"star7", "box27"})
            list.push_back({{stencil, dof, 0, {4, 3, 2}, LayoutKind::natural, MatrixStorage::full}, {2, 2, 2}});
    return list;
}

/// Kernels are compiled for each stencil, dof and size: one of each kind.
std::vector<Case> device_cases() {
    std::vector<Case> list;
    const Box box{35, 17, 9}, wrapped{33, 17, 9, {true, false, true}}, flat{35, 33, 1};
    for (const auto& stencil : reference::all_stencils())
        for (int dof : {1, 3})
            for (MatrixStorage storage : storages) {
                const LayoutKind kind = storage == MatrixStorage::full ? LayoutKind::natural : LayoutKind::hyperplane;
                list.push_back({{stencil.name, dof, 0, box, kind, storage}, {16, 16, 8}});
                list.push_back({{stencil.name, dof, 0, wrapped, kind, storage}, {16, 16, 8}});
            }
    for (const char* stencil : {"star7", "box27"}) {
        list.push_back({{stencil, 1, 0, flat, LayoutKind::natural, MatrixStorage::full}, {16, 16, 1}});
        for (int dof : {2, 4, 6, 8})
            list.push_back({{stencil, dof, 0, {19, 9, 9}, LayoutKind::natural, MatrixStorage::full}, {8, 8, 8}});
        for (int dof : {17, 32})
            list.push_back({{stencil, dof, 0, {5, 4, 3}, LayoutKind::natural, MatrixStorage::full}, {2, 2, 2}});
    }
    list.push_back({{"star7", 1, 0, {3000, 1, 1}, LayoutKind::natural, MatrixStorage::full}, {16384, 1, 1}});
    list.push_back({{"star7", 1, 0, {19, 9, 9}, LayoutKind::natural, MatrixStorage::full}, {1, 1, 1}});
    list.push_back({{"box27", 2, 0, {19, 9, 9}, LayoutKind::natural, MatrixStorage::full}, {5, 3, 7}});
    return list;
}

void expect_reference(const Context& context, const Case& c, std::initializer_list<const char*> variants) {
    const SweptSystem system(context, c);
    const auto expected = reference::apply_inverse(reference::subdomain_ilu(system.data, c.size), system.r);
    for (const char* variant : variants) {
        const auto m = make("subdomain_ildu0", system.a, {{"subdomain", text_of(c.size)}, {"variant", variant}});
        const SetupReport report = m->setup(system.a);
        EXPECT_EQ(report.pivots_modified, 0);
        EXPECT_EQ(m->traits().symmetric, c.storage == MatrixStorage::lower);
        EXPECT_TRUE(m->traits().fixed);
        EXPECT_LT(relative_difference(system.applied(*m), expected), 1e-13) << variant;
    }
}

class SubdomainIldu0Test : public testing::TestWithParam<Case> {};
TEST_P(SubdomainIldu0Test, IsIlu0OfTheDecoupledMatrix) {
    expect_reference(Context::cpu(1), GetParam(), {"level", "unfused"});
}
INSTANTIATE_TEST_SUITE_P(All, SubdomainIldu0Test, testing::ValuesIn(cases()), case_name);

class SubdomainIldu0OnDevice : public DeviceTest, public testing::WithParamInterface<Case> {};
TEST_P(SubdomainIldu0OnDevice, IsIlu0OfTheDecoupledMatrix) {
    expect_reference(Context::cuda(), GetParam(), {"level", "unfused", "spin", "dag_vertex", "dag_edge"});
}
INSTANTIATE_TEST_SUITE_P(All, SubdomainIldu0OnDevice, testing::ValuesIn(device_cases()), case_name);

StructMatrix random_matrix(const std::string& stencil, const Box& box, int dof, MatrixStorage storage, int seed) {
    const auto offsets = reference::stencil_named(stencil).offsets;
    const StencilMatrix data = storage == MatrixStorage::full ? reference::random_matrix(box, offsets, dof, seed)
                                                              : reference::random_spd_matrix(box, offsets, dof, seed);
    return reference::to_struct_matrix(Context::cpu(1), layout_for(LayoutKind::natural, data, stencil, 0), data,
                                       storage, stencil);
}

TEST(SubdomainIldu0, OneSubdomainIsStructIlu) {
    for (const auto& stencil : reference::all_stencils())
        for (MatrixStorage storage : storages) {
            const StructMatrix a = random_matrix(stencil.name, {7, 5, 3}, 3, storage, 5);
            const auto m = make("subdomain_ildu0", a), whole = make("struct_ilu", a);
            m->setup(a), whole->setup(a);
            const std::vector<double> r = reference::Random(1).vector(int(a.unknowns()));
            EXPECT_LT(relative_difference(apply(*m, a, r), apply(*whole, a, r)), 1e-13) << stencil.name;
        }
}

TEST(SubdomainIldu0, OnePointSubdomainsAreJacobi) {
    const StructMatrix a = random_matrix("box27", {7, 5, 3}, 4, MatrixStorage::full, 5);
    const auto m = make("subdomain_ildu0", a, {{"subdomain", "1 1 1"}}), diagonal = make("jacobi", a);
    m->setup(a), diagonal->setup(a);
    const std::vector<double> r = reference::Random(1).vector(int(a.unknowns()));
    EXPECT_LT(relative_difference(apply(*m, a, r), apply(*diagonal, a, r)), 1e-14);
}

TEST(SubdomainIldu0, IsSymmetricWhereTheMatrixIs) {
    for (const char* stencil : {"star7", "diamond13", "box27"}) {
        const StructMatrix a = random_matrix(stencil, {7, 5, 3}, 2, MatrixStorage::lower, 6);
        const auto m = make("subdomain_ildu0", a, {{"subdomain", "4 2 3"}});
        m->setup(a);
        const std::vector<double> x = reference::Random(1).vector(int(a.unknowns())),
                                  y = reference::Random(2).vector(int(a.unknowns()));
        const auto dot = [](const std::vector<double>& u, const std::vector<double>& v) {
            return std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
        };
        const std::vector<double> mx = apply(*m, a, x), my = apply(*m, a, y);
        EXPECT_NEAR(dot(mx, y), dot(x, my), 1e-14 * std::sqrt(dot(mx, mx) * dot(y, y)));
        EXPECT_GT(dot(mx, x), 0.0);
    }
}

TEST(SubdomainIldu0, FactorsAShiftedMatrixAndLeavesAUnchanged) {
    const auto offsets = reference::stencil_named("diamond13").offsets;
    const StencilMatrix data = reference::random_matrix({7, 5, 3}, offsets, 3, 8);
    const StructMatrix a = reference::to_struct_matrix(
        Context::cpu(1), layout_for(LayoutKind::natural, data, "diamond13", 0), data, MatrixStorage::full, "diamond13");
    const CsrMatrix before = a.to_csr();
    const auto m = make("subdomain_ildu0", a, {{"subdomain", "3 3 3"}, {"shift", "0.25"}});
    EXPECT_EQ(m->setup(a).shift, 0.25);
    EXPECT_EQ(a.to_csr().value, before.value);
    const std::vector<double> r = reference::Random(4).vector(int(a.unknowns()));
    const auto expected =
        reference::apply_inverse(reference::subdomain_ilu(reference::shifted(data, 0.25), {3, 3, 3}), r);
    EXPECT_LT(relative_difference(apply(*m, a, r), expected), 1e-13);
}

TEST(SubdomainIldu0, SameBitsForAnyNumberOfThreadsAndInBothVariants) {
    for (const char* stencil : {"star7", "box27"}) {
        const StructMatrix a = random_matrix(stencil, {9, 8, 7}, 3, MatrixStorage::full, 9);
        const std::vector<double> r = reference::Random(2).vector(int(a.unknowns()));
        const auto with = [&](int threads, const char* variant) {
            const SeveralThreads several(threads);
            const auto m = make("subdomain_ildu0", a, {{"subdomain", "4 3 2"}, {"variant", variant}});
            m->setup(a);
            return apply(*m, a, r);
        };
        const std::vector<double> one = with(1, "level");
        EXPECT_EQ(with(2, "level"), one);
        EXPECT_EQ(with(3, "unfused"), one);
    }
}

TEST(SubdomainIldu0, ASecondSetupEqualsAFreshOne) {
    StructMatrix a = random_matrix("box27", {7, 5, 3}, 2, MatrixStorage::full, 10);
    const auto reused = make("subdomain_ildu0", a, {{"subdomain", "3 2 2"}});
    reused->setup(a);
    a.assign(random_matrix("box27", {7, 5, 3}, 2, MatrixStorage::full, 11));
    reused->setup(a);
    const auto fresh = make("subdomain_ildu0", a, {{"subdomain", "3 2 2"}});
    fresh->setup(a);
    const std::vector<double> r = reference::Random(3).vector(int(a.unknowns()));
    EXPECT_EQ(apply(*reused, a, r), apply(*fresh, a, r));
}

TEST(SubdomainIldu0, HoldsWhatItPlans) {
    for (const char* stencil : {"star7", "diamond25"})
        for (const char* size : {"auto", "3 2 2", "7 5 1"}) {
            const StructMatrix a = random_matrix(stencil, {7, 5, 3}, 2, MatrixStorage::full, 12);
            const Parameters parameters = parameters_of("subdomain_ildu0", {{"subdomain", size}});
            const PreconditionerRow& row = find_preconditioner("subdomain_ildu0");
            const PreconditionerPlan plan = row.plan(parameters, setting_of(a));
            const Index before = a.context().ledger().held();
            const auto m = row.create(parameters, setting_of(a));
            const SetupReport report = m->setup(a);
            EXPECT_EQ(a.context().ledger().held() - before, plan.bytes) << size;
            EXPECT_LT(report.factor_bytes, plan.bytes);
            EXPECT_EQ(m->bytes_per_apply(), plan.bytes_per_apply);
        }
}

TEST(SubdomainIldu0, RefusesWhatItCannotDo) {
    const StructMatrix a = random_matrix("star7", {40, 40, 40}, 1, MatrixStorage::full, 13);
    for (const char* variant : {"spin", "dag_vertex", "dag_edge"}) try {
            make("subdomain_ildu0", a, {{"variant", variant}});
            ADD_FAILURE() << variant;
        } catch (const UsageError& error) {
            const std::string message = error.what();
            EXPECT_NE(message.find(variant), std::string::npos) << message;
            EXPECT_NE(message.find("preconditioner.variant = level"), std::string::npos) << message;
        }
    try {
        make("subdomain_ildu0", a, {{"subdomain", "40 40 40"}});
        ADD_FAILURE() << "too large a subdomain";
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("64000 values"), std::string::npos) << error.what();
    }
    EXPECT_THROW(parameters_of("subdomain_ildu0", {{"subdomain", "16 16"}}), UsageError);
    EXPECT_THROW(parameters_of("subdomain_ildu0", {{"subdomain", "16 0 8"}}), UsageError);
    EXPECT_THROW(parameters_of("subdomain_ildu0", {{"variant", "fast"}}), UsageError);
    EXPECT_NO_THROW(parameters_of("subdomain_ildu0", {{"subdomain", "16,16,8"}}));
}

Grid grid_of(int nx, int ny, int nz) {
    Grid grid;
    grid.nx = nx, grid.ny = ny, grid.nz = nz;
    return grid;
}

/// Gondhalekar et al., Table 5.4: 7 points, 3 x 3 blocks, subdomains of 2048 points.
TEST(Cuts, LeaveAsManyEntriesAsPublished) {
    const Stencil star = Stencil::star7();
    for (const auto& [nx, before, after] :
         {std::tuple{128, 131'235'840, 122'683'392}, {256, 262'766'592, 245'366'784}}) {
        const Grid grid = grid_of(nx, 128, 128);
        const Cuts none{grid, {nx, 128, 128}}, cuts = Cuts::by_default(grid, 3);
        EXPECT_EQ(cuts.size, (Int3{16, 16, 8}));
        EXPECT_EQ(cuts.subdomains(), nx * 8);
        EXPECT_EQ(9 * none.blocks_kept(star), before);
        EXPECT_EQ(9 * cuts.blocks_kept(star), after);
    }
}

TEST(Cuts, AreCountedAsByHand) {
    for (const auto& stencil : reference::all_stencils())
        for (Offset size : {Offset{3, 2, 2}, {7, 5, 3}, {1, 4, 3}}) {
            const Cuts cuts{grid_of(7, 5, 3), reference::to_int3(size)};
            EXPECT_EQ(cuts.blocks_kept(reference::to_stencil(stencil)),
                      reference::decoupled_entries({7, 5, 3}, stencil.offsets, 1, size))
                << stencil.name;
        }
}

TEST(Cuts, ByDefaultAreEvenAndFitSharedMemory) {
    const auto size = [](int nx, int ny, int nz, int dof) { return Cuts::by_default(grid_of(nx, ny, nz), dof).size; };
    EXPECT_EQ(size(512, 512, 512, 1), (Int3{16, 16, 8}));
    EXPECT_EQ(size(100, 100, 100, 1), (Int3{15, 15, 8}));  // 7, 7 and 13 cuts
    EXPECT_EQ(size(256, 256, 1, 1), (Int3{64, 32, 1}));
    EXPECT_EQ(size(5, 4, 3, 1), (Int3{5, 4, 3}));
    EXPECT_EQ(size(64, 64, 64, 8), (Int3{8, 8, 8}));
    for (int dof = 1; dof <= max_dof; ++dof) {
        const Int3 s = size(97, 61, 83, dof);
        EXPECT_LE(s.x * s.y * s.z * dof, 6144);
    }
}

/// Every point once, each after all neighbours of its triangle, and only `newest` entries lead one step back.
TEST(SubdomainOrder, FollowsDependencies) {
    for (const auto& named : reference::all_stencils())
        for (const Int3 size : {Int3{16, 16, 8}, Int3{5, 3, 7}, Int3{9, 1, 2}, Int3{4, 4, 1}, Int3{1, 1, 1}})
            for (int dof : {1, 3, 8}) {
                const Cuts cuts{grid_of(size.x, size.y, size.z), size};
                const Stencil stencil = cuts.within(reference::to_stencil(named));
                const SubdomainOrder order(cuts, stencil, dof, SubdomainOrder::Rows::by_step);
                std::vector<int> step_of(cuts.points(), -1);
                for (int step = 0; step < order.steps(); ++step)
                    for (int at = 0; at < order.count(step); ++at) {
                        int& known = step_of[order.points[order.first(step) + at]];
                        EXPECT_EQ(known, -1);
                        known = step;
                    }
                for (int local = 0; local < cuts.points(); ++local)
                    for (int e = 0; e < order.lower; ++e) {
                        const Int3 q = cuts.point(local, {}) + stencil[e];
                        if (!cuts.grid.contains(q)) continue;
                        const int back = step_of[local] - step_of[cuts.local(q, {})];
                        ASSERT_GE(back, order.newest[e] ? 1 : 2) << named.name << " " << e;
                    }
            }
}

class SubdomainsOnDevice : public DeviceTest {};

/// More subdomains than a GPU holds at a time; what is deterministic has the same bits in every run.
TEST_F(SubdomainsOnDevice, EqualTheHostsOnLargeGrids) {
    for (const auto& [stencil, dof, nx] :
         {std::tuple{"star7", 1, 131}, {"box27", 1, 131}, {"star7", 3, 131}, {"diamond25", 4, 67}}) {
        const Stencil offsets = Stencil::by_name(stencil);
        const StructMatrix here =
            random_struct_matrix(Layout(LayoutKind::natural, grid_of(nx, 130, 70), offsets.level_map()), offsets, dof,
                                 MatrixStorage::full, 3);
        const StructMatrix there = in_context(Context::cuda(), here);
        const auto expected = make("subdomain_ildu0", here);
        expected->setup(here);
        const std::vector<double> r = reference::Random(6).vector(int(here.unknowns())),
                                  host = apply(*expected, here, r);
        for (const char* variant : {"level", "unfused", "spin", "dag_vertex", "dag_edge"}) {
            const auto m = make("subdomain_ildu0", there, {{"variant", variant}});
            m->setup(there);
            const Vector in = to_vector(there.context(), there.layout(), dof, r);
            Vector z = poisoned(there.context(), there.layout(), dof);
            m->apply(in, z);
            const std::vector<double> first = from_vector(z);
            EXPECT_LT(relative_difference(first, host), 1e-13) << stencil << " " << variant;
            for (int repeat = 0; repeat < 10 && variant != std::string("dag_edge"); ++repeat) {
                m->apply(in, z);
                ASSERT_EQ(from_vector(z), first) << stencil << " " << variant;
            }
        }
    }
}

TEST_F(SubdomainsOnDevice, HoldWhatIsPlanned) {
    for (const char* variant : {"level", "unfused", "spin", "dag_vertex", "dag_edge"}) {
        const StructMatrix a =
            in_context(Context::cuda(), random_matrix("star7", {35, 17, 9}, 2, MatrixStorage::full, 12));
        const Parameters parameters = parameters_of("subdomain_ildu0", {{"variant", variant}});
        const PreconditionerRow& row = find_preconditioner("subdomain_ildu0");
        const Index planned = row.plan(parameters, setting_of(a)).bytes, before = a.context().ledger().held();
        const auto m = row.create(parameters, setting_of(a));
        m->setup(a);
        EXPECT_EQ(a.context().ledger().held() - before, planned) << variant;
    }
}

}  // namespace
}  // namespace hyperplane
