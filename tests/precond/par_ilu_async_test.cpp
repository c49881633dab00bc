// SPDX-License-Identifier: BSD-3-Clause
// par_ilu's asynchronous sweeps on both backends: those of one thread are known exactly, those of several have a known
// limit and keep M symmetric.
#include <gtest/gtest.h>

#include "precond/par_ilu_cases.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::relative_difference;

class AsynchronousParIluTest : public testing::TestWithParam<SweptCase> {};

/// A stencil's name and its unknowns a point.
using Points = std::tuple<std::string, int>;
class AsynchronousParIluPoints : public testing::TestWithParam<Points> {};
class AsynchronousParIluPointsOnDevice : public DeviceTest, public testing::WithParamInterface<Points> {};

/// With one thread, an asynchronous sweep updates points one after the other, in an order of their dependencies. If
/// only one triangle is stored, F is read from rows that come later.
TEST_P(AsynchronousParIluTest, SweepsOfOneThreadAreInTurn) {
    const ParIluSystem system(Context::cpu(1), GetParam());
    for (int sweeps : {1, 2}) {
        const auto m = system.set_up(sweeps, {{"mode", "async"}});
        EXPECT_TRUE(m->traits().fixed);
        const auto expected = reference::apply_inverse(system.swept(sweeps, 0.0, true), system.r);
        EXPECT_LT(relative_difference(system.applied(*m), expected), 1e-13) << sweeps;
    }
}

std::vector<SweptCase> of_both_triangles() {
    std::vector<SweptCase> list = swept_cases(2);
    std::erase_if(list, [](const SweptCase& c) { return c.storage == MatrixStorage::lower; });
    return list;
}

INSTANTIATE_TEST_SUITE_P(All, AsynchronousParIluTest, testing::ValuesIn(of_both_triangles()), name_of);

/// Lines so long that a sweep processes them in several pieces.
TEST(AsynchronousParIlu, SweepsOfOneThreadAreInTurnAlongLongLines) {
    for (const char* stencil : {"star7", "box27", "star13"})
        for (int dof : {8, 9}) {
            const ParIluSystem system(Context::cpu(1),
                                      {stencil, dof, 0, {70, 2, 3}, LayoutKind::natural, MatrixStorage::full});
            for (const char* mode : {"sync", "async"}) {
                const auto m = system.set_up(2, {{"mode", mode}});
                const bool in_turn = mode == std::string("async");
                const auto expected = reference::apply_inverse(system.swept(2, 0.0, in_turn), system.r);
                EXPECT_LT(relative_difference(system.applied(*m), expected), 1e-13)
                    << stencil << " " << dof << " " << mode;
            }
        }
}

/// x^T M^-1 y = y^T M^-1 x, even if blocks were read while they were updated.
void expect_symmetric_after_few(const Context& context, const Points& points, const reference::Box& box) {
    const auto& [stencil, dof] = points;
    const ParIluSystem system(context, {stencil, dof, 0, box, LayoutKind::natural, MatrixStorage::lower});
    const auto m = system.set_up(2, {{"mode", "async"}});
    EXPECT_TRUE(m->traits().symmetric);
    const std::vector<double> y = reference::Random(9).vector(int(system.a.unknowns()));
    const auto of_r = system.applied(*m), of_y = system.applied(*m, y);
    double one = 0.0, other = 0.0, size = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        one += y[i] * of_r[i], other += system.r[i] * of_y[i];
        size += std::abs(y[i] * of_r[i]);
    }
    EXPECT_NEAR(one, other, 1e-14 * size);
}

TEST_P(AsynchronousParIluPoints, StaySymmetric) {
    const Context context = Context::cpu();
    const SeveralThreads several(context, 4);
    expect_symmetric_after_few(context, GetParam(), {13, 9, 7});
}
TEST_P(AsynchronousParIluPointsOnDevice, StaySymmetric) {
    expect_symmetric_after_few(Context::cuda(), GetParam(), {17, 15, 11});
}

const auto points = testing::Combine(testing::Values("star7", "box27", "diamond25"), testing::Values(1, 2, 4, 6, 9));
const auto name_of_points = [](const testing::TestParamInfo<Points>& info) {
    return std::get<0>(info.param) + "_dof" + std::to_string(std::get<1>(info.param));
};
INSTANTIATE_TEST_SUITE_P(All, AsynchronousParIluPoints, points, name_of_points);
INSTANTIATE_TEST_SUITE_P(All, AsynchronousParIluPointsOnDevice, points, name_of_points);

class AsynchronousLimit : public testing::TestWithParam<SweptCase> {};
class AsynchronousLimitOnDevice : public DeviceTest, public testing::WithParamInterface<SweptCase> {};

/// The box must be so large that threads read points that other threads update.
void expect_asynchronous_limit(const Context& context, SweptCase c, const reference::Box& box) {
    c.box = box;
    const ParIluSystem system(context, c);
    const auto exact = make("struct_ilu", system.a);
    exact->setup(system.a);
    const auto many = system.set_up(box.points() > 1000 ? 150 : 80, {{"mode", "async"}});
    EXPECT_LT(relative_difference(system.applied(*many), system.applied(*exact)), 1e-13);
}

TEST_P(AsynchronousLimit, IsExactOfSeveralThreads) {
    const Context context = Context::cpu();
    const SeveralThreads several(context, 4);
    expect_asynchronous_limit(context, GetParam(), {11, 9, 7});
}
TEST_P(AsynchronousLimitOnDevice, IsExact) {
    expect_asynchronous_limit(Context::cuda(), GetParam(), {23, 21, 17});
}

const auto limits = testing::Values(SweptCase{"star7", 1, 0, {}, LayoutKind::natural, MatrixStorage::full},
                                    SweptCase{"box27", 1, 0, {}, LayoutKind::natural, MatrixStorage::lower},
                                    SweptCase{"box27", 3, 0, {}, LayoutKind::natural, MatrixStorage::full},
                                    SweptCase{"diamond25", 6, 0, {}, LayoutKind::natural, MatrixStorage::full},
                                    SweptCase{"box27", 6, 0, {}, LayoutKind::hyperplane, MatrixStorage::full},
                                    SweptCase{"star7", 9, 0, {}, LayoutKind::natural, MatrixStorage::full});
const auto name_of_limit = [](const testing::TestParamInfo<SweptCase>& info) {
    return info.param.stencil + "_dof" + std::to_string(info.param.dof);
};
INSTANTIATE_TEST_SUITE_P(All, AsynchronousLimit, limits, name_of_limit);
INSTANTIATE_TEST_SUITE_P(All, AsynchronousLimitOnDevice, limits, name_of_limit);

}  // namespace
}  // namespace hyperplane
