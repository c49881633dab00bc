// SPDX-License-Identifier: BSD-3-Clause
// multicolor's solves on a GPU have the same bits however they are distributed to launches.
#include <gtest/gtest.h>

#include <cstring>
#include <tuple>
#include <utility>

#include "core/random.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/single_vector.hpp"
#include "on_device.hpp"
#include "precond/multicolor/solve_cuda.hpp"
#include "precond/support.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

/// Extents, layout, symmetry and storage of the factors.
using LaunchedSolve = std::tuple<Grid, LayoutKind, bool, FactorStorage>;
class MulticolorLaunchesOnDevice : public DeviceTest, public testing::WithParamInterface<LaunchedSolve> {};

std::vector<double> random_values(Index count, std::uint64_t seed) {
    std::vector<double> values;
    for (Index at = 0; at < count; ++at) values.push_back(random_symmetric(seed, std::uint64_t(at)));
    return values;
}

/// Factors that no matrix has: each coefficient is another number, so that a wrong one shows.
TEST_P(MulticolorLaunchesOnDevice, HaveTheSameBits) {
    const auto& [grid, kind, symmetric, storage] = GetParam();
    const Context context = Context::cuda();
    const Stencil stencil = Stencil::box27();
    const Layout layout(kind, grid, stencil.level_map());
    const ColouredShape shape(grid, stencil, ColourRule::stencil);
    const ColouredPoints points(context, shape, 1, symmetric);
    std::vector<double> values = random_values(shape.coefficients(1, symmetric), 1);
    for (double& value : values) value *= 0.1;
    const Buffer<double> in_double = copied_to(context, "factors", values);
    const Buffer<float> in_single = copied_to(context, "factors", std::vector<float>(values.begin(), values.end()));
    const bool rounded = storage == FactorStorage::single_precision;
    const void* const factors = rounded ? static_cast<const void*>(in_single.data()) : in_double.data();
    const Vector r = to_vector(context, layout, 1, random_values(grid.points(), 2));
    Buffer<double> v(context, "v", shape.slots), w(context, "w", shape.slots);
    const auto applied = [&, symmetric = symmetric, storage = storage](ColourLaunches launches) {
        Vector z(context, layout, 1, "z");
        const MulticolorCuda solve(context, points, layout, 1, symmetric, storage, launches);
        for (int turn = 0; turn < 3; ++turn) solve.apply({factors}, r, z, v.data(), w.data());
        return in_context(context.host(), z);
    };
    const Vector expected = applied(ColourLaunches::each);
    const auto expect_same = [&](ColourLaunches launches, const char* name) {
        const Vector z = applied(launches);
        EXPECT_EQ(std::memcmp(z.data(), expected.data(), std::size_t(z.size()) * sizeof(double)), 0) << name;
    };
    expect_same(ColourLaunches::ahead, "ahead");
    expect_same(ColourLaunches::fastest, "fastest");
}

/// The same bytes on a GPU as updates after a solve give, z = omega z or z = z + omega M^-1 r.
template <class AnyVector, class Value>
void expect_updates(const Context& context, const MulticolorCuda& solve, const void* factors, const AnyVector& r,
                    const AnyVector& before, Index slots) {
    Buffer<Value> v(context, "v", slots), w(context, "w", slots);
    const auto bytes_of = [&](const AnyVector& x) {
        std::vector<Value> values(std::size_t(x.size()));
        context.stream().copy(x.data(), values.data(), x.size() * Index(sizeof(Value)));
        return values;
    };
    const auto zero = [&] { return AnyVector(context, r.layout(), r.dof(), "z"); };
    AnyVector solved = zero();
    solve.apply({factors}, r, solved, v.data(), w.data());
    AnyVector added = zero(), added_at_once = zero(), scaled_at_once = zero();
    axpy(1.0, before, added);
    axpy(1.0, before, added_at_once);
    axpy(0.7, solved, added);
    scale(0.7, solved);
    solve.apply({factors}, r, added_at_once, v.data(), w.data(), {adds_result, 0.7});
    solve.apply({factors}, r, scaled_at_once, v.data(), w.data(), {scales_result, 0.7});
    EXPECT_EQ(bytes_of(added_at_once), bytes_of(added));
    EXPECT_EQ(bytes_of(scaled_at_once), bytes_of(solved));
    EXPECT_NE(bytes_of(added), bytes_of(before));
}

TEST_P(MulticolorLaunchesOnDevice, ScaleAndAddTheirResultAsUpdatesAfterThem) {
    const auto& [grid, kind, symmetric, storage] = GetParam();
    const Context context = Context::cuda();
    const bool rounded = storage == FactorStorage::single_precision;
    for (const auto& [stencil, dof] :
         {std::pair(Stencil::box27(), 1), std::pair(Stencil::star7(), 1), std::pair(Stencil::star7(), 9)}) {
        SCOPED_TRACE(stencil.name() + " with " + std::to_string(dof));
        const Layout layout(kind, grid, stencil.level_map());
        const ColouredShape shape(grid, stencil, ColourRule::stencil);
        const ColouredPoints points(context, shape, dof, symmetric);
        std::vector<double> values = random_values(shape.coefficients(dof, symmetric), 1);
        for (double& value : values) value *= 0.1 / dof;
        const Buffer<double> in_double = copied_to(context, "factors", values);
        const Buffer<float> in_single = copied_to(context, "factors", std::vector<float>(values.begin(), values.end()));
        const void* const factors = rounded ? static_cast<const void*>(in_single.data()) : in_double.data();
        const MulticolorCuda solve(context, points, layout, dof, symmetric, storage);
        const Index slots = shape.slots * dof;
        const Vector r = to_vector(context, layout, dof, random_values(grid.points() * dof, 2)),
                     x = to_vector(context, layout, dof, random_values(grid.points() * dof, 3));
        expect_updates<Vector, double>(context, solve, factors, r, x, slots);
        if (!rounded) continue;
        SingleVector single_r(context, layout, dof, "r"), single_x(context, layout, dof, "x");
        round_to_single(r, single_r);
        round_to_single(x, single_x);
        expect_updates<SingleVector, float>(context, solve, factors, single_r, single_x, slots);
    }
}

std::string name_of_launched(const testing::TestParamInfo<LaunchedSolve>& info) {
    const auto& [grid, kind, symmetric, storage] = info.param;
    return std::to_string(grid.nx) + "x" + std::to_string(grid.ny) + "x" + std::to_string(grid.nz) + "_" +
           to_string(kind) + (symmetric ? "_lower_" : "_full_") + to_string(storage);
}
INSTANTIATE_TEST_SUITE_P(All, MulticolorLaunchesOnDevice,
                         testing::Combine(testing::Values(Grid{2, 3, 2}, Grid{7, 5, 3}, Grid{17, 9, 5},
                                                          Grid{16, 16, 16}, Grid{33, 33, 33}, Grid{45, 37, 51}),
                                          testing::ValuesIn(layout_kinds), testing::Bool(),
                                          testing::Values(FactorStorage::double_precision,
                                                          FactorStorage::single_precision)),
                         name_of_launched);

}  // namespace
}  // namespace hyperplane
