// SPDX-License-Identifier: BSD-3-Clause
// Work that takes long is told with the scopes that are open, other work is not.
#include "apps/run/long_work.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hyperplane {
namespace {

using std::chrono::milliseconds;

class LongWorkTest : public testing::Test {
protected:
    LongWork::Say say_ = [this](const std::string& text) {
        const std::lock_guard guard(mutex_);
        lines_.push_back(text.substr(0, text.rfind(',')));
        came_.notify_all();
    };
    /// Waits for that line.
    bool comes(const std::string& line) {
        std::unique_lock guard(mutex_);
        return came_.wait_for(guard, std::chrono::seconds(20),
                              [&] { return std::find(lines_.begin(), lines_.end(), line) != lines_.end(); });
    }

    std::mutex mutex_;
    std::condition_variable came_;
    std::vector<std::string> lines_;
};

TEST_F(LongWorkTest, IsToldWithItsOpenScopes) {
    const LongWork::Pace quick{milliseconds(1), milliseconds(1), milliseconds(2)};
    LongWork work("setting up", say_, quick);
    EXPECT_TRUE(comes("setting up"));
    const Context context = Context::cpu(1);
    context.set_profile(std::make_shared<Profile>(work));
    {
        const ProfileScope outer(context, "setup");
        EXPECT_TRUE(comes("setting up (setup)"));
        const ProfileScope inner(context, "symbolic", 8, ProfileScope::whole);
        EXPECT_TRUE(comes("setting up (setup/symbolic)"));
    }
    const ProfileScope next(context, "assemble");
    EXPECT_TRUE(comes("setting up (assemble)"));
    EXPECT_TRUE(context.profile()->rows().empty()) << "nothing is measured";
}

TEST_F(LongWorkTest, IsNotToldWhereItIsShort) {
    const auto begin = std::chrono::steady_clock::now();
    { const LongWork work("planning", say_, {milliseconds(60000), milliseconds(1), milliseconds(1)}); }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << "it waits for no line";
    EXPECT_TRUE(lines_.empty());
}

TEST_F(LongWorkTest, LeavesTheProfileOfAContextAsItWas) {
    const Context context = Context::cpu(1);
    {
        const LongWorkOf work(context, "setting up", say_);
        ASSERT_NE(context.profile(), nullptr);
        const ProfileScope scope(context, "setup");
    }
    EXPECT_EQ(context.profile(), nullptr);
    const auto measured = std::make_shared<Profile>();
    context.set_profile(measured);
    {
        const LongWorkOf work(context, "setting up", say_);
        const ProfileScope scope(context, "setup");
    }
    EXPECT_EQ(context.profile(), measured.get());
    EXPECT_EQ(measured->rows().size(), 1u);
}

}  // namespace
}  // namespace hyperplane
