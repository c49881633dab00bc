// SPDX-License-Identifier: BSD-3-Clause
// multigrid on a GPU: cycles equal those of the CPU and can be recorded as graphs, a set-up can be repeated, and memory
// is predicted. Grids and operators: multigrid_operators_cuda_test.cpp.
#include <gtest/gtest.h>

#include <tuple>

#include "on_device.hpp"
#include "precond/multigrid/check.hpp"
#include "precond/multigrid/setup_cuda.hpp"
#include "precond/multigrid_cases.hpp"
#include "precond/support.hpp"
#include "reference/multigrid.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::StencilMatrix;

class MultigridOnDevice : public DeviceTest {};

/// Sets up the same system on both sides, and compares what a cycle gives.
void expect_host_cycle(const StencilMatrix& data, const std::string& stencil, bool symmetric, const Parameters& keys,
                       bool same_method, double bound = 1e-9) {
    const MatrixStorage storage = symmetric ? MatrixStorage::lower : MatrixStorage::full;
    const StructMatrix here = reference::to_struct_matrix(
        Context::cpu(), layout_for(LayoutKind::natural, data, stencil, 0), data, storage, stencil);
    const Context gpu = Context::cuda();
    const PreconditionerRow& row = find_preconditioner("multigrid");
    const PreconditionerSetting setting{gpu, {here.grid(), here.stencil(), here.dof(), here.symmetric()}};
    const Layout layout = row.plan(keys, setting).space.layout();
    const StructMatrix there =
        in_context(gpu, reference::to_struct_matrix(Context::cpu(), layout, data, storage, stencil));
    const auto host = make_multigrid(here, keys);
    const auto device = row.create(keys, setting);
    host->setup(here);
    device->setup(there);
    const auto &h = dynamic_cast<const Multigrid&>(*host).hierarchy(),
               &d = dynamic_cast<const Multigrid&>(*device).hierarchy();
    ASSERT_EQ(d.size(), h.size());
    for (int grid = 0; grid < h.size() && same_method; ++grid)
        EXPECT_NEAR(d[grid].smoother.omega(), h[grid].smoother.omega(), 1e-9) << "grid " << grid;
    const std::vector<double> r = reference::Random(25).vector(int(here.unknowns()));
    const Vector device_r = to_vector(gpu, layout, here.dof(), r);
    Vector z = poisoned(gpu, layout, here.dof()), again = poisoned(gpu, layout, here.dof());
    device->apply(device_r, z);
    if (same_method) expect_near(from_vector(z), apply(*host, here, r), bound);
    const ApplicationCheck right = device->check_application(there, device_r, z, {});
    EXPECT_EQ(right.unchecked, "");
    EXPECT_LE(right.error, bound < 1e-8 ? 1e-12 : bound);
    // Within a graph: nothing waits, and nothing is allocated.
    const device::Recording recording(gpu.stream(), [&] { device->apply(device_r, again); });
    recording.queue();
    EXPECT_EQ(from_vector(again), from_vector(z));
    // A second set-up gives the same method in the same memory.
    const Index held = gpu.ledger().held();
    device->setup(there);
    EXPECT_EQ(gpu.ledger().held(), held);
    device->apply(device_r, again);
    EXPECT_EQ(from_vector(again), from_vector(z));
}

class MultigridSmoothersOnDevice : public DeviceTest,
                                   public testing::WithParamInterface<std::tuple<std::string, int>> {};

TEST_P(MultigridSmoothersOnDevice, GiveTheHostsCycles) {
    const auto& [name, dof] = GetParam();
    for (const bool symmetric : {false, true}) {
        if (find_preconditioner(name).needs_symmetry && !symmetric) continue;
        SCOPED_TRACE(symmetric ? "symmetric" : "");
        // The subdomains of a backend are its own.
        expect_host_cycle(random_data({9, 7, 6}, "star7", dof, symmetric), "star7", symmetric, multigrid_keys({}, name),
                          name != "subdomain_ildu0");
    }
}

std::vector<std::string> names_of_smoothers() {
    std::vector<std::string> names;
    for (const PreconditionerRow& row : smoothers())
        if (row.name != "cusparse_ilu") names.push_back(row.name);  // there is no such smoother on a host
    return names;
}
INSTANTIATE_TEST_SUITE_P(All, MultigridSmoothersOnDevice,
                         testing::Combine(testing::ValuesIn(names_of_smoothers()), testing::Values(1, 2, 3, 5, 8)),
                         [](const auto& info) {
                             return std::get<0>(info.param) + "_" + std::to_string(std::get<1>(info.param));
                         });

class MultigridBoxesOnDevice : public DeviceTest, public testing::WithParamInterface<std::tuple<int, std::string>> {};

TEST_P(MultigridBoxesOnDevice, GiveTheHostsCycles) {
    const Box boxes[] = {
        {17, 13, 11}, {33, 18, 1}, {1, 1, 40}, {12, 7, 5, {true, false, true}}, {11, 10, 9, {true, true, true}}};
    const auto& [number, stencil] = GetParam();
    const Box& box = boxes[number];
    for (const bool symmetric : {false, true})
        for (const char* cycle : {"v", "w", "f"}) {
            SCOPED_TRACE(name_of(box) + " " + stencil + " " + cycle + (symmetric ? " symmetric" : ""));
            expect_host_cycle(random_data(box, stencil, 1, symmetric), stencil, symmetric,
                              multigrid_keys({{"cycle", cycle}}), true);
        }
}

INSTANTIATE_TEST_SUITE_P(All, MultigridBoxesOnDevice,
                         testing::Combine(testing::Range(0, 5), testing::Values("star7", "diamond13", "box27")),
                         [](const auto& info) {
                             return "box" + std::to_string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

/// With vectors in single precision, where cycles of both sides differ by what they round.
TEST_F(MultigridOnDevice, GivesTheHostsCyclesInSinglePrecision) {
    for (const char* storage : {"single", "half_scaled"})
        for (const char* smoother : {"struct_ilu", "multicolor", "jacobi"})
            for (const Box& box : {Box{37, 19, 13}, Box{33, 18, 1}, Box{16, 64, 9}, Box{12, 7, 5, {true, false, true}}})
                for (const char* stencil : {"star7", "box27"})
                    for (const int dof : {1, 2}) {
                        if (dof > 1 && box.nz != 13) continue;
                        SCOPED_TRACE(std::string(storage) + " " + smoother + " " + name_of(box) + " " + stencil);
                        expect_host_cycle(random_data(box, stencil, dof, true), stencil, true,
                                          multigrid_keys({{"storage", storage}, {"vectors", "single"}}, smoother), true,
                                          5e-6);
                    }
    for (const char* from : {"1", "2"})
        expect_host_cycle(
            random_data({37, 19, 13}, "star7", 1, false), "star7", false,
            multigrid_keys({{"storage", "single"}, {"vectors", "single"}, {"storage_from", from}, {"cycle", "w"}}),
            true, 5e-6);
}

/// Where coefficients jump by 1e8, coarse grids have no copies of their matrices on either side, and new values may
/// change that.
TEST_F(MultigridOnDevice, RoundsTheMatricesThatTheHostRounds) {
    const Context gpu = Context::cuda();
    const auto copied = [](const Preconditioner& m) {
        std::vector<bool> found;
        const auto& h = dynamic_cast<const Multigrid&>(m).hierarchy();
        for (int grid = 0; grid < h.size(); ++grid) found.push_back(h[grid].single.matrix.has_value());
        return found;
    };
    for (const char* smoother : {"struct_ilu", "multicolor", "jacobi"})
        for (const char* cycle : {"v", "w"})
            for (const char* from : {"0", "1"}) {
                const Parameters keys = multigrid_keys(
                    {{"storage", "single"}, {"vectors", "single"}, {"cycle", cycle}, {"storage_from", from}}, smoother);
                std::unique_ptr<Preconditioner> device;
                for (const double contrast : {1e8, 1.0, 1e4, 1e8, 1e8}) {
                    SCOPED_TRACE(std::string(smoother) + " " + cycle + from + " " + std::to_string(contrast));
                    const StructMatrix here =
                        laplacian(Context::cpu(), {33, 21, 19}, {1.0, 1.0, 1.0}, 0.0, true, contrast);
                    const StructMatrix there = in_context(gpu, here);
                    if (!device) device = make_multigrid(there, keys);
                    const auto host = make_multigrid(here, keys);
                    const std::string told = host->setup(here).warning;
                    EXPECT_EQ(device->setup(there).warning, told);
                    EXPECT_EQ(told.empty(), contrast < 1e8);
                    EXPECT_EQ(copied(*device), copied(*host));
                    const std::vector<double> r = reference::Random(27).vector(int(here.unknowns()));
                    const Vector device_r = to_vector(gpu, there.layout(), 1, r);
                    Vector z = poisoned(gpu, there.layout(), 1), again = poisoned(gpu, there.layout(), 1);
                    device->apply(device_r, z);
                    expect_near(from_vector(z), apply(*host, here, r), 5e-6);
                    const device::Recording recording(gpu.stream(), [&] { device->apply(device_r, again); });
                    recording.queue();
                    EXPECT_EQ(from_vector(again), from_vector(z));
                }
            }
}

TEST_F(MultigridOnDevice, FollowsNewValuesAndNewAxes) {
    const Context gpu = Context::cuda();
    const Parameters keys = multigrid_keys({});
    const auto system = [&](const Context& context, std::array<double, 3> coupling) {
        return in_context(context, laplacian(Context::cpu(), {17, 15, 13}, coupling, 0.0, true));
    };
    const StructMatrix first = system(gpu, {1, 1, 1});
    const auto m = make_multigrid(first, keys);
    m->setup(first);
    for (const auto& coupling : {std::array{1.0, 1.0, 2.0}, std::array{1.0, 1.0, 100.0}, std::array{1.0, 1.0, 1.0}}) {
        const StructMatrix here = system(Context::cpu(), coupling), there = system(gpu, coupling);
        m->setup(there);
        const auto fresh = make_multigrid(here, keys);
        fresh->setup(here);
        const std::vector<double> r = reference::Random(26).vector(int(here.unknowns()));
        expect_near(applied(*m, there, r), apply(*fresh, here, r), 1e-11);
    }
}

/// A first set-up guesses that a grid is coarsened along all axes if the one before was. Along z every other coupling
/// is weak here, so that couplings along z are half as strong as the others on the finest grid, and weak on the next
/// one.
TEST_F(MultigridOnDevice, BeginsAnewWhereCoarseGridsHaveOtherStrongAxes) {
    StructMatrix here = laplacian(Context::cpu(), {18, 16, 20}, {1, 1, 1}, 1e-3, true);
    const int below = here.stencil().find({0, 0, -1}), own = here.stencil().diagonal();
    for (Index at = 0; at < here.grid().points(); ++at) {
        const Int3 p = here.grid().point(at);
        if (p.z % 2 == 1 || p.z == 0) continue;
        const Index slot = here.layout().slot(p), other = here.layout().slot(p + Int3{0, 0, -1});
        constexpr double weak = 1e-6;
        here.values(below)[slot] = -weak;
        here.values(own)[slot] -= 1.0 - weak;
        here.values(own)[other] -= 1.0 - weak;
    }
    const Context gpu = Context::cuda();
    const StructMatrix there = in_context(gpu, here);
    for (const Settings& settings :
         {Settings{{"strength", "0.4"}}, Settings{{"strength", "0.4"}, {"storage", "single"}, {"vectors", "single"}}}) {
        const Parameters keys = multigrid_keys(settings, "multicolor");
        const auto host = make_multigrid(here, keys), device = make_multigrid(there, keys);
        host->setup(here);
        const std::vector<double> r = reference::Random(26).vector(int(here.unknowns()));
        const std::vector<double> expected = apply(*host, here, r);
        for (int setup = 0; setup < 3; ++setup) {
            device->setup(there);
            const auto &h = dynamic_cast<const Multigrid&>(*host).hierarchy(),
                       &d = dynamic_cast<const Multigrid&>(*device).hierarchy();
            ASSERT_EQ(d.size(), h.size());
            EXPECT_EQ(h[0].interpolation->grids().axes, (multigrid::Axes{true, true, true}));
            EXPECT_EQ(h[1].interpolation->grids().axes, (multigrid::Axes{true, true, false}));
            for (int grid = 0; grid + 1 < h.size(); ++grid)
                EXPECT_EQ(d[grid].interpolation->grids().axes, h[grid].interpolation->grids().axes) << "grid " << grid;
            expect_near(applied(*device, there, r), expected, settings.size() > 1 ? 5e-6 : 1e-9);
        }
    }
}

/// From the second set-up on the power method's steps are recorded and run beside the set-ups of larger grids, and no
/// grid waits for the couplings of another one.
TEST_F(MultigridOnDevice, SetsUpAgainAsTheFirstTime) {
    const Context gpu = Context::cuda();
    const Box box{37, 33, 35};
    const auto system = [&](unsigned seed) {
        const StencilMatrix data =
            reference::random_spd_matrix(box, reference::stencil_named("star7").offsets, 1, seed);
        return in_context(
            gpu, reference::to_struct_matrix(Context::cpu(), layout_for(LayoutKind::natural, data, "star7", 0), data,
                                             MatrixStorage::lower, "star7"));
    };
    const StructMatrix one = system(31), other = system(32);
    const std::vector<double> r = reference::Random(25).vector(int(one.unknowns()));
    for (const Settings& settings :
         {Settings{}, Settings{{"storage", "half_scaled"}}, Settings{{"storage", "single"}, {"vectors", "single"}}}) {
        const Parameters keys = multigrid_keys(settings, "multicolor");
        struct Method {
            std::vector<double> lambdas, z;
            double smallest_ratio;
            Int3 smallest_cell;
            bool operator==(const Method&) const = default;
        };
        const auto method = [&](Preconditioner& m, const StructMatrix& a) {
            const SetupReport report = m.setup(a);
            Method found{{}, {}, report.smallest_pivot_ratio, report.smallest_pivot_cell};
            const auto& h = dynamic_cast<const Multigrid&>(m).hierarchy();
            for (int grid = 0; grid + 1 < h.size(); ++grid) found.lambdas.push_back(h[grid].smoother.lambda());
            found.z = applied(m, a, r);
            return found;
        };
        const Method of_one = method(*make_multigrid(one, keys), one),
                     of_other = method(*make_multigrid(other, keys), other);
        EXPECT_GT(*std::max_element(of_one.lambdas.begin(), of_one.lambdas.end()), 0.0)
            << "no steps of the power method";
        EXPECT_NE(of_one.z, of_other.z);
        const auto m = make_multigrid(one, keys);
        for (const bool first : {true, true, true, false, true, false, false}) {
            SCOPED_TRACE(first ? "one" : "other");
            EXPECT_TRUE(method(*m, first ? one : other) == (first ? of_one : of_other));
        }
    }
}

TEST_F(MultigridOnDevice, ReportsPivotsAsTheHost) {
    const StructMatrix here = laplacian(Context::cpu(1), {9, 7, 5}, {1.0, 1.0, 1.0}, -1.5, true),
                       there = in_context(Context::cuda(), here);
    const auto keys = [&](const Settings& settings) {
        return multigrid_keys({{"grids", "3"}, {"damping", "1"}}, "multicolor", settings);
    };
    const auto refusal = [&](const StructMatrix& a) {
        try {
            make_multigrid(a, keys({{"pivot_policy", "fail"}}))->setup(a);
        } catch (const SetupError& error) {
            return std::string(error.what()).substr(0, 100);
        }
        return std::string();
    };
    EXPECT_EQ(refusal(here).find("multigrid: the smoother of grid "), 0u) << refusal(here);
    EXPECT_EQ(refusal(there), refusal(here));
    for (const char* policy : {"boost", "shift"}) {
        SCOPED_TRACE(policy);
        const auto host = make_multigrid(here, keys({{"pivot_policy", policy}})),
                   device = make_multigrid(there, keys({{"pivot_policy", policy}}));
        const SetupReport expected = host->setup(here);
        for (int setup = 0; setup < 3; ++setup) {
            const SetupReport report = device->setup(there);
            EXPECT_GT(report.pivots_modified, 0);
            EXPECT_EQ(report.pivots_modified, expected.pivots_modified);
            EXPECT_EQ(report.shift, expected.shift);
            EXPECT_NEAR(report.smallest_pivot_ratio, expected.smallest_pivot_ratio, 1e-12);
            ASSERT_EQ(report.modified.size(), expected.modified.size());
            for (std::size_t at = 0; at < report.modified.size(); ++at)
                EXPECT_EQ(report.modified[at].cell, expected.modified[at].cell);
        }
    }
}

TEST_F(MultigridOnDevice, SolvesOnTheCoarsestGridByJacobiAsTheHost) {
    for (const int dof : {1, 3})
        for (const Box& box : {Box{17, 13, 11}, Box{12, 7, 5, {true, false, true}}})
            for (const char* grids : {"1", "2", "32"})
                expect_host_cycle(random_data(box, "star7", dof, true), "star7", true,
                                  multigrid_keys({{"coarsest", "jacobi"}, {"grids", grids}}), true);
}

TEST_F(MultigridOnDevice, DampsAsTheHostWhereCoefficientsJump) {
    for (const double contrast : {1.0, 9.9, 10.1, 1e-6})
        for (const Box& box : {Box{17, 9, 11}, Box{12, 7, 6, {true, false, true}}}) {
            SCOPED_TRACE(name_of(box) + " " + std::to_string(contrast));
            const auto omega = [&](const Context& context) {
                const StructMatrix a =
                    in_context(context, laplacian(Context::cpu(), box, {1.0, 1.0, 30.0}, 0.1, true, contrast));
                const auto m = make_multigrid(a, multigrid_keys({}));
                m->setup(a);
                return dynamic_cast<const Multigrid&>(*m).hierarchy()[0].smoother.omega();
            };
            EXPECT_EQ(omega(Context::cuda()), omega(Context::cpu()));
        }
}

TEST_F(MultigridOnDevice, HoldsWhatIsPlanned) {
    for (const char* smoother : {"struct_ilu", "jacobi", "chebyshev", "single"})
        for (const int dof : {1, 3}) {
            SCOPED_TRACE(std::string(smoother) + " dof " + std::to_string(dof));
            const Context gpu = Context::cuda();
            const Parameters keys =
                smoother == std::string("single")
                    ? multigrid_keys({{"strength", "0"}, {"storage", "single"}, {"vectors", "single"}})
                    : multigrid_keys({{"strength", "0"}}, smoother);
            const Box box{33, 31, 29};
            const StencilMatrix data = random_data(box, "star7", dof, true);
            const Layout layout = layout_for(LayoutKind::hyperplane, data, "star7", 0);
            const StructMatrix a = in_context(
                gpu, reference::to_struct_matrix(Context::cpu(), layout, data, MatrixStorage::lower, "star7"));
            const auto [plan, m, report, held, peak] = set_up_watched(a, keys);
            EXPECT_NEAR(double(plan.bytes), double(held), 0.03 * double(held));
            EXPECT_LE(peak, Index(1.03 * double(plan.bytes + plan.setup_bytes)));
        }
}

TEST_F(MultigridOnDevice, PlansWhatSumsOfCouplingsHold) {
    const Context gpu = Context::cuda();
    for (const LayoutKind kind : {LayoutKind::natural, LayoutKind::hyperplane}) {
        const StencilMatrix data = random_data({33, 31, 29}, "star7", 1, true);
        const Layout layout = layout_for(kind, data, "star7", 0);
        const StructMatrix a =
            in_context(gpu, reference::to_struct_matrix(Context::cpu(), layout, data, MatrixStorage::lower, "star7"));
        if constexpr (cuda_built) {
            const Index before = gpu.ledger().held();
            const multigrid::CouplingSums sums(a, multigrid::axes_to_compare(a), nullptr);
            EXPECT_EQ(gpu.ledger().held() - before, multigrid::CouplingSums::bytes(layout));
        }
    }
}

}  // namespace
}  // namespace hyperplane
