// SPDX-License-Identifier: BSD-3-Clause
// multigrid's grids, interpolation, coarse matrices and transfers on a GPU equal those of the CPU.
#include <gtest/gtest.h>

#include <tuple>

#include "on_device.hpp"
#include "precond/multigrid/galerkin.hpp"
#include "precond/multigrid/jumps.hpp"
#include "precond/multigrid_cases.hpp"
#include "precond/support.hpp"
#include "reference/multigrid.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::StencilMatrix;

/// One step to the next grid.
struct DeviceStep {
    multigrid::Coarsening grids;
    multigrid::Interpolation p;
    StructMatrix coarse;

    DeviceStep(const StructMatrix& a, multigrid::Axes axes)
        : grids(a.grid(), axes),
          p(a, grids,
            Layout(a.layout().kind(), grids.coarse, multigrid::coarse_stencil(a.stencil(), grids).level_map())),
          coarse(a.context(), p.coarse(), multigrid::coarse_stencil(a.stencil(), grids), a.dof(), a.storage()) {
        multigrid::galerkin_product(a, p, coarse);
    }
};

std::vector<double> values_of(const StructMatrix& a) {
    std::optional<StructMatrix> copy;
    return on_host(a, copy).to_csr().value;
}

void expect_host_operators(const Box& box, const std::string& stencil, int dof, bool symmetric, LayoutKind kind,
                           multigrid::Axes asked) {
    const StencilMatrix data = random_data(box, stencil, dof, symmetric);
    const StructMatrix here =
        reference::to_struct_matrix(Context::cpu(), layout_for(kind, data, stencil, 0), data,
                                    symmetric ? MatrixStorage::lower : MatrixStorage::full, stencil);
    const Context gpu = Context::cuda();
    const StructMatrix there = in_context(gpu, here);
    multigrid::Axes axes = asked;
    for (int axis = 0; axis < 3; ++axis)
        axes[axis] = axes[axis] && multigrid::can_coarsen(here.grid(), axis, here.stencil().radius());
    SCOPED_TRACE(name_of(box) + " " + stencil + " dof " + std::to_string(dof) + (symmetric ? " symmetric" : "") +
                 (kind == LayoutKind::natural ? " natural" : " hyperplane"));
    EXPECT_EQ(multigrid::strong_axes(there, 0.5), multigrid::strong_axes(here, 0.5));
    const DeviceStep host(here, axes), device(there, axes);
    expect_near(device.p.natural_weights(), host.p.natural_weights(), 1e-14);
    expect_near(values_of(device.coarse), values_of(host.coarse), 1e-13);

    const std::vector<double> fine = reference::Random(23).vector(int(here.unknowns())),
                              coarse = reference::Random(24).vector(int(host.coarse.unknowns()));
    Vector x = to_vector(gpu, there.layout(), dof, fine), y = poisoned(gpu, device.p.coarse(), dof);
    device.p.restrict_to(x, y);
    Vector host_x = reference::to_vector(Context::cpu(), here.layout(), dof, fine),
           host_y(Context::cpu(), host.p.coarse(), dof, "y");
    host.p.restrict_to(host_x, host_y);
    expect_near(from_vector(y), reference::from_vector(host_y), 1e-14);
    device.p.add_to(x, to_vector(gpu, device.p.coarse(), dof, coarse));
    host.p.add_to(host_x, reference::to_vector(Context::cpu(), host.p.coarse(), dof, coarse));
    expect_near(from_vector(x), reference::from_vector(host_x), 1e-14);
    Vector r = poisoned(gpu, there.layout(), dof), host_r(Context::cpu(), here.layout(), dof, "r");
    there.subtract_product(to_vector(gpu, there.layout(), dof, fine), x, r);
    here.subtract_product(reference::to_vector(Context::cpu(), here.layout(), dof, fine), host_x, host_r);
    expect_near(from_vector(r), reference::from_vector(host_r), 1e-13);
}

/// Layout, and whether one triangle is stored.
using Form = std::tuple<LayoutKind, bool>;

class MultigridOperatorsOnDevice : public DeviceTest, public testing::WithParamInterface<Form> {};

TEST_P(MultigridOperatorsOnDevice, EqualTheHostsForEveryStencil) {
    const auto [kind, symmetric] = GetParam();
    for (const auto& stencil : reference::all_stencils())
        expect_host_operators({11, 9, 7}, stencil.name, 1, symmetric, kind, {true, true, true});
}

TEST_P(MultigridOperatorsOnDevice, EqualTheHostsForEverySubsetOfAxesAndNumberOfUnknowns) {
    const auto [kind, symmetric] = GetParam();
    for (int bits = 1; bits < 8; ++bits)
        expect_host_operators({9, 7, 6}, "box27", 1, symmetric, kind,
                              {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
    for (int dof = 2; dof <= 8; ++dof)
        expect_host_operators({5, 7, 4}, "star7", dof, symmetric, kind, {true, true, true});
}

TEST_P(MultigridOperatorsOnDevice, EqualTheHostsOnPlanesLinesAndPeriodicAxes) {
    const auto [kind, symmetric] = GetParam();
    for (const Box& box : {Box{33, 18, 1}, Box{1, 1, 40}, Box{1, 21, 19}, Box{8, 5, 5, {true, false, false}},
                           Box{9, 6, 5, {true, true, false}}, Box{7, 5, 10, {true, true, true}}})
        expect_host_operators(box, "star7", 2, symmetric, kind, {true, true, true});
}

/// The finest diagonal decides: of each unknown by itself, whatever its layout.
TEST_P(MultigridOperatorsOnDevice, SeesWhichDiagonalsJumpAsTheHost) {
    const auto [kind, symmetric] = GetParam();
    constexpr double most = multigrid::most_resolved;
    const double above = std::nextafter(most, 2 * most);
    for (const int dof : {1, 2})
        for (const auto& [one, other, jump] :
             {std::tuple{1.0, 1.0, false}, std::tuple{1.0, most, false}, std::tuple{1.0, above, true},
              std::tuple{-most, -1.0, false}, std::tuple{-above, -1.0, true}, std::tuple{0.0, 1.0, true},
              std::tuple{-1.0, 1.0, true}, std::tuple{std::nan(""), 1.0, false}}) {
            StructMatrix here = random_system(Context::cpu(), "star7", {19, 13, 11}, dof, symmetric, kind);
            for (Index slot = 0; slot < here.layout().slots(); ++slot)
                for (int c = 0; c < dof; ++c) {
                    const bool first = slot % 7 == 3;
                    here.values(here.stencil().diagonal(), c, c)[slot] = c + 1 < dof ? 1e12 : first ? one : other;
                }
            const StructMatrix there = in_context(Context::cuda(), here);
            Vector scratch(there.context(), there.layout(), dof, "r"), none;
            EXPECT_EQ(multigrid::jumps_beyond_single(here, none), jump) << one << " " << other;
            EXPECT_EQ(multigrid::jumps_beyond_single(there, scratch), jump) << one << " " << other;
        }
}

INSTANTIATE_TEST_SUITE_P(All, MultigridOperatorsOnDevice,
                         testing::Combine(testing::ValuesIn(layout_kinds), testing::Bool()),
                         [](const testing::TestParamInfo<Form>& info) {
                             return to_string(std::get<0>(info.param)) + (std::get<1>(info.param) ? "Lower" : "Full");
                         });

}  // namespace
}  // namespace hyperplane
