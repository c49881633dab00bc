// SPDX-License-Identifier: BSD-3-Clause
// Profiles: names, calls and bytes are exact; times are compared with one another.
#include "core/profile.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "core/vector/blas1.hpp"
#include "on_device.hpp"

namespace hyperplane {
namespace {

ProfileRow row_named(Profile& profile, const std::string& name) {
    for (const ProfileRow& row : profile.rows())
        if (row.name == name) return row;
    ADD_FAILURE() << "no row " << name;
    return {};
}

std::shared_ptr<Profile> profiled(const Context& context) {
    const bool gpu = context.backend() == Backend::cuda;
    auto profile = std::make_shared<Profile>(gpu ? &context.stream() : nullptr);
    context.set_profile(profile);
    return profile;
}

TEST(Profile, NestsAndCounts) {
    const Context context = Context::cpu(1);
    const auto profile = profiled(context);
    for (int call = 0; call < 3; ++call) {
        const ProfileScope outer(context, "solve");
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const ProfileScope inner(context, "product", 100);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_EQ(profile->rows().size(), 2u);
    const ProfileRow solve = row_named(*profile, "solve"), product = row_named(*profile, "solve/product");
    EXPECT_EQ(solve.calls, 3);
    EXPECT_EQ(product.calls, 3);
    EXPECT_EQ(product.bytes, 300);
    EXPECT_GE(product.seconds, 3e-3);
    EXPECT_GE(solve.seconds, product.seconds + 6e-3);
    EXPECT_EQ(profile->spans().size(), 6u);
}

TEST(Profile, LeavesOutWhatLiesInAWholeScope) {
    const Context context = Context::cpu(1);
    const auto profile = profiled(context);
    {
        const ProfileScope outer(context, "cycle", 8, ProfileScope::whole);
        const ProfileScope left_out(context, "grid 1");
        const ProfileScope deeper(context, "smoother", 8, ProfileScope::whole);
    }
    profile->without([&] { const ProfileScope left_out(context, "recording"); });
    const ProfileScope after(context, "after");
    ASSERT_EQ(profile->rows().size(), 2u);
    EXPECT_EQ(row_named(*profile, "cycle").calls, 1);
    row_named(*profile, "after");
}

TEST(Profile, VectorOperationsAreKindsOfTheirOwn) {
    const Context context = Context::cpu(1);
    const Layout layout(LayoutKind::natural, Grid{.nx = 17, .ny = 9, .nz = 5}, {});
    Vector x(context, layout, 2, "x"), y(context, layout, 2, "y");
    fill(x, 1.0);  // the norm of zeros takes a second pass, since their squares may have underflowed
    const auto profile = profiled(context);
    axpy(2.0, x, y);
    axpy_xpby(0.0, x, y, 0.0, y);  // consists of other operations
    norm2(x);
    ASSERT_EQ(profile->rows().size(), 3u);
    EXPECT_EQ(row_named(*profile, "axpy").bytes, 3 * 1530 * 8);
    EXPECT_EQ(row_named(*profile, "axpy_xpby").bytes, 5 * 1530 * 8);
    EXPECT_EQ(row_named(*profile, "dot").bytes, 1530 * 8);
}

TEST(Profile, KindsTakeNoLongerThanWhatTheyArePartOf) {
    std::vector<ProfileRow> rows = {{"setup", 1.0, 1, 0},
                                    {"solve", 4.0, 1, 0},
                                    {"solve/product", 3.0, 9, 0},
                                    {"solve/apply", 2.0, 9, 0},
                                    {"solve/apply/lower", 2.0, 9, 0},
                                    {"solve/apply/upper", 1.2, 9, 0},
                                    {"setup/factor", 0.5, 1, 0},
                                    {"open", 0.5, 1, 0},
                                    {"open/product", 1.0, 1, 0}};
    keep_within_outer(rows, {7});
    const double expected[] = {1.0, 4.0, 2.4, 1.6, 1.0, 0.6, 0.5, 0.5, 1.0};
    for (std::size_t row = 0; row < rows.size(); ++row)
        EXPECT_NEAR(rows[row].seconds, expected[row], 1e-15) << rows[row].name;
}

class ProfileOnDevice : public testing_support::DeviceTest {};

TEST_F(ProfileOnDevice, MeasuresGraphsAndWorkOutsideThem) {
    const Context context = Context::cuda();
    const Layout layout(LayoutKind::natural, Grid{.nx = 257, .ny = 129, .nz = 65}, {});
    Vector x(context, layout, 1, "x"), y(context, layout, 1, "y");
    fill(x, 1.0);
    const auto profile = profiled(context);
    const auto work = [&] {
        const ProfileScope outer(context, "step");
        axpy(1.0, x, y);
        axpy(1.0, x, y);
        set_zero(y);
    };
    work();
    EXPECT_EQ(row_named(*profile, "step/axpy").calls, 2);
    EXPECT_GT(row_named(*profile, "step/axpy").seconds, 0.0);
    {
        Profile::Graph marks(*profile);
        std::unique_ptr<device::Recording> marked, plain;
        marks.recording([&] { marked = std::make_unique<device::Recording>(context.stream(), work); });
        profile->without([&] { plain = std::make_unique<device::Recording>(context.stream(), work); });
        for (int replay = 0; replay < 5; ++replay) {
            marked->queue();
            context.synchronize();
            marks.replayed();
            plain->queue();
            marks.skipped();
        }
        context.synchronize();
        EXPECT_EQ(row_named(*profile, "step/axpy").calls, 2);  // graphs are added at their end
    }
    const ProfileRow step = row_named(*profile, "step"), axpys = row_named(*profile, "step/axpy"),
                     zeros = row_named(*profile, "step/set_zero");
    EXPECT_EQ(step.calls, 11);
    EXPECT_EQ(axpys.calls, 22);
    EXPECT_EQ(axpys.bytes, 22 * 3 * layout.slots() * 8);
    EXPECT_EQ(zeros.calls, 11);
    EXPECT_GT(axpys.seconds, zeros.seconds);
    EXPECT_NEAR(axpys.seconds + zeros.seconds, step.seconds, 0.5 * step.seconds);
    EXPECT_EQ(profile->spans().size(), 4u + 5u * 4u);
}

}  // namespace
}  // namespace hyperplane
