// SPDX-License-Identifier: BSD-3-Clause
// Machine code that is kept on disk, and turns to compile it, without a compiler: the code is any bytes.
#include "core/device/kept_code.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kept_in.hpp"

namespace hyperplane {
namespace {

using rtc::KeptCode;
using Code = std::vector<char>;

/// Code is kept in a folder of the test's own.
class MachineCodeOnDisk : public testing::Test {
protected:
    MachineCodeOnDisk() { std::filesystem::remove_all(folder_); }
    ~MachineCodeOnDisk() override { std::filesystem::remove_all(folder_); }
    std::vector<std::filesystem::path> files() const {
        std::vector<std::filesystem::path> found;
        for (const auto& file : std::filesystem::directory_iterator(folder_))
            if (file.is_regular_file()) found.push_back(file.path());
        return found;
    }
    const std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / ("kept_code_" + std::to_string(getpid()));

private:
    const KeptIn there_{folder_.string()};
};

TEST_F(MachineCodeOnDisk, IsReadAsItWasWritten) {
    const Code code = {'\0', 'a', '\n', '\x7f'};
    EXPECT_TRUE(KeptCode("a text").read().empty());
    KeptCode("a text").write(code);
    EXPECT_EQ(KeptCode("a text").read(), code);
    EXPECT_TRUE(KeptCode("another text").read().empty());
    EXPECT_EQ(files().size(), 1u);  // no part is left
}

/// A file that begins with another key has the name by chance, or was damaged.
TEST_F(MachineCodeOnDisk, OfAnotherKeyIsNotTaken) {
    const KeptCode kept("a text");
    kept.write({'a', 'b'});
    ASSERT_EQ(files().size(), 1u);
    std::ofstream(files()[0], std::ios::binary) << "b textab";
    EXPECT_TRUE(kept.read().empty());
    std::ofstream(files()[0], std::ios::binary) << "a te";
    EXPECT_TRUE(kept.read().empty());
    kept.write({'c'});
    EXPECT_EQ(kept.read(), Code{'c'});
}

TEST_F(MachineCodeOnDisk, IsTheTurnOfOneAtATime) {
    const KeptCode kept("a text");
    std::optional<KeptCode::Turn> turn = kept.try_turn();
    ASSERT_TRUE(turn);
    EXPECT_FALSE(kept.try_turn());
    EXPECT_FALSE(KeptCode("a text").try_turn());
    const KeptCode::Turn moved = std::move(*turn);
    turn.reset();
    EXPECT_FALSE(kept.try_turn()) << "the turn was given up by what it had been moved from";
}

/// A process that is suspended keeps its turn, and one that dies, in whatever way, gives it up.
TEST_F(MachineCodeOnDisk, CanBeCompiledAfterAProcessThatDied) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t other = fork();
    ASSERT_GE(other, 0);
    if (other == 0) {
        const std::optional<KeptCode::Turn> turn = KeptCode("a text").try_turn();
        const char answer = turn ? '1' : '0';
        if (write(ready[1], &answer, 1) == 1) pause();
        _exit(1);
    }
    char answer = '0';
    ASSERT_EQ(read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, '1');
    kill(other, SIGSTOP);
    int status = 0;
    ASSERT_EQ(waitpid(other, &status, WUNTRACED), other);
    ASSERT_TRUE(WIFSTOPPED(status));
    EXPECT_FALSE(KeptCode("a text").try_turn());
    kill(other, SIGKILL);
    ASSERT_EQ(waitpid(other, &status, 0), other);
    EXPECT_TRUE(KeptCode("a text").try_turn());
    close(ready[0]), close(ready[1]);
}

/// Nobody waits for another where code cannot be kept: the other's would not be found.
TEST_F(MachineCodeOnDisk, IsEverybodysTurnWhereNothingCanBeKept) {
    std::ofstream(folder_.string()) << "a file in the folder's place";
    const KeptCode kept("a text");
    kept.write({'a'});
    EXPECT_TRUE(kept.read().empty());
    const std::optional<KeptCode::Turn> turn = kept.try_turn();
    EXPECT_TRUE(turn);
    EXPECT_TRUE(kept.try_turn());
}

}  // namespace
}  // namespace hyperplane
