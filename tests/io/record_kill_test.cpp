// SPDX-License-Identifier: BSD-3-Clause
// SIGKILL at random moments never leaves a file that looks finished or cannot be opened.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "io/atomic_file.hpp"
#include "io/record.hpp"
#include "io/record_sample.hpp"
#include "io/scratch.hpp"

namespace hyperplane {
namespace {

/// Does what a run does: opens its record, publishes it several times, finishes it.
void run_once(const std::string& path) {
    RecordWriter writer(path, sample_header());
    fill_sample(writer);
    writer.publish();
    writer.finish("ok", ExitCode::ok, "");
}

TEST(RecordKilled, LeavesOnlyFilesThatOpen) {
    const Scratch scratch;
    const auto begin = std::chrono::steady_clock::now();
    run_once(scratch.path("run.h5"));
    const std::chrono::duration<double> one_run = std::chrono::steady_clock::now() - begin;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> runs_until_killed(0.0, 3.0);
    int unfinished = 0, finished = 0;
    for (int trial = 0; trial < 50; ++trial) {
        const pid_t child = fork();
        if (child == 0)
            for (;;) run_once(scratch.path("run.h5"));
        std::this_thread::sleep_for(runs_until_killed(random) * one_run);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        for (const std::string& name : scratch.names()) {
            const std::string status = read_record(scratch.path(name)).status;  // throws if it cannot be opened
            if (name == "run.h5" || name == "run.h5.part") {
                EXPECT_EQ(status, name == "run.h5" ? "ok" : "running");
            }
            ++(status == "ok" ? finished : unfinished);
        }
        if (trial % 2 == 0)  // every second child begins in an empty folder
            for (const std::string& name : scratch.names()) std::filesystem::remove(scratch.path(name));
    }
    EXPECT_GT(unfinished, 0);
    EXPECT_GT(finished, 0);
}

TEST(AtomicFile, IsInvisibleUntilCommitted) {
    for (const bool unnamed : {true, false}) {
        const Scratch scratch;
        {
            AtomicFile file(scratch.path("a"), FileKind::log, Overwrite::any, unnamed);
            file.write("abc", 3, 0);
            EXPECT_FALSE(std::filesystem::exists(scratch.path("a")));
            EXPECT_EQ(scratch.names().size(), unnamed ? 0u : 1u);
        }
        EXPECT_EQ(scratch.names().size(), 0u);
        for (const char* text : {"one", "two"}) {
            AtomicFile file(scratch.path("a"), FileKind::log, Overwrite::any, unnamed);
            file.write(text, 3, 0);
            file.commit();
            EXPECT_EQ(scratch.read("a"), text);
        }
        EXPECT_EQ(scratch.names().size(), 1u);
    }
}

}  // namespace
}  // namespace hyperplane
