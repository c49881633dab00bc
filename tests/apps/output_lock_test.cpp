// SPDX-License-Identifier: BSD-3-Clause
// The lock of an output: who holds it, and when a holder on another machine is considered dead.
#include "apps/base/output_lock.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "apps/base/environment.hpp"
#include "core/error.hpp"
#include "io/scratch.hpp"

namespace hyperplane {
namespace {

using namespace std::chrono_literals;

constexpr OutputLock::Pace quick{20ms, 400ms};

OutputLock::Request request_of(const std::string& path) {
    return {.path = path, .what = "a.h5", .command = "run a.ini"};
}

std::string refusal(const OutputLock::Request& request) {
    try {
        const OutputLock lock(request, quick);
    } catch (const LockedError& error) {
        return error.what();
    }
    return "";
}

const char* elsewhere = "hyperplane lock\nhost far-away\nprocess 7\nsince 2026\ncommand run a.ini\n";

TEST(OutputLock, NamesItsHolder) {
    const Scratch scratch;
    const std::string path = scratch.path("a.lock");
    {
        const OutputLock lock(request_of(path), quick);
        const auto holder = OutputLock::holder(path);
        ASSERT_TRUE(holder);
        EXPECT_EQ(holder->host, host_name());
        EXPECT_EQ(holder->process, getpid());
        EXPECT_EQ(holder->command, "run a.ini");
        EXPECT_EQ(refusal(request_of(path)),
                  "a.h5 is being worked on by " + holder->text() + "; --wait waits until it has ended");
    }
    EXPECT_FALSE(OutputLock::holder(path));
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(OutputLock, IsTakenOverFromAProcessOfThisMachineThatDied) {
    const Scratch scratch;
    const std::string path = scratch.write("a.lock", "hyperplane lock\nhost " + host_name() + "\nprocess 1\n");
    EXPECT_FALSE(OutputLock::holder(path));
    EXPECT_EQ(refusal(request_of(path)), "");
}

TEST(OutputLock, IsTakenOverFromAnotherMachineThatGivesNoSignOfLife) {
    const Scratch scratch;
    const std::string path = scratch.write("a.lock", elsewhere);
    EXPECT_TRUE(OutputLock::holder(path));  // it may live
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(refusal(request_of(path)), "");
    EXPECT_GE(std::chrono::steady_clock::now() - begin, quick.patience);
}

TEST(OutputLock, IsLeftToAnotherMachineThatLives) {
    const Scratch scratch;
    const std::string path = scratch.write("a.lock", elsewhere);
    std::atomic<bool> over = false;
    std::thread heart([&] {
        while (!over) {
            std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now());
            std::this_thread::sleep_for(20ms);
        }
    });
    EXPECT_NE(refusal(request_of(path)).find("process 7 on far-away (hyperplane run a.ini), since 2026"),
              std::string::npos);
    over = true;
    heart.join();
    EXPECT_EQ(scratch.read("a.lock"), elsewhere);
}

TEST(OutputLock, WaitsUntilItIsFreeOrToldToStop) {
    const Scratch scratch;
    OutputLock::Request request = request_of(scratch.path("a.lock"));
    auto first = std::make_unique<OutputLock>(request, quick);
    request.wait = true;
    int asked = 0;
    request.stop = [&] { return ++asked > 2; };
    EXPECT_NE(refusal(request).find("stopped while waiting"), std::string::npos);
    request.stop = [&] {
        first.reset();
        return false;
    };
    EXPECT_EQ(refusal(request), "");
}

TEST(OutputLock, OneOfManyThreadsAtATime) {
    const Scratch scratch;
    OutputLock::Request request = request_of(scratch.path("a.lock"));
    request.wait = true;
    std::atomic<int> inside = 0, most = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int turn = 0; turn < 3; ++turn) {
                const OutputLock lock(request, quick);
                most = std::max(most.load(), ++inside);
                std::this_thread::sleep_for(5ms);
                --inside;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(most, 1);
    EXPECT_TRUE(scratch.names().empty());
}

TEST(OutputLock, RefusesAFileThatIsNotALock) {
    const Scratch scratch;
    const std::string path = scratch.write("a.lock", "mine");
    EXPECT_THROW(OutputLock(request_of(path), quick), FileError);
    EXPECT_FALSE(OutputLock::holder(path));
    EXPECT_EQ(scratch.read("a.lock"), "mine");
}

}  // namespace
}  // namespace hyperplane
