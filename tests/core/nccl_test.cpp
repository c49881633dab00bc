// SPDX-License-Identifier: BSD-3-Clause
// NCCL as ranks on GPUs of several hosts use it, with a fake of its library whose memory is the host's.
#include "core/ranks/nccl.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "on_ranks.hpp"

namespace hyperplane {
namespace {

/// The library lies beside this program.
const std::string fake = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libfake_nccl.so").string();

template <class Expected, class Call>
std::string message_of(const Call& call) {
    try {
        call();
    } catch (const Expected& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(Nccl, IsFoundWithItsVersion) {
    std::string why;
    EXPECT_EQ(loadable_nccl(why, fake), 22809);
    EXPECT_EQ(text_of_nccl_version(22809), "2.28.9");
    EXPECT_EQ(loadable_nccl(why, "libno_nccl.so.2"), 0);
    EXPECT_NE(why.find("libno_nccl.so.2"), why.npos) << why;
}

TEST(Nccl, ALibraryThatLacksAFunctionIsNotTaken) {
    std::string why;
    EXPECT_EQ(loadable_nccl(why, "libm.so.6"), 0);
    EXPECT_NE(why.find("has no function ncclGetVersion"), why.npos) << why;
}

/// Every rank sends parts of different sizes to all others, two to each, in an order of its own.
TEST(Nccl, PartsArriveInTheOrderInWhichTheyWereSent) {
    constexpr int ranks = 4;
    const auto value = [](int from, int to, int part, int at) { return from * 1000.0 + to * 100 + part * 10 + at; };
    run_ranks(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
        const int rank = communicator->rank();
        const NcclRanks nccl(*communicator, fake);
        for (int turn = 0; turn < 3; ++turn) {
            std::vector<std::vector<double>> out, in;
            std::vector<RankPart> sent, received;
            out.reserve(2 * ranks), in.reserve(2 * ranks);
            for (int step = 1; step < ranks; ++step)
                for (int part = 0; part < 2; ++part) {
                    const int to = (rank + step) % ranks, from = (rank + ranks - step) % ranks;
                    out.emplace_back();
                    for (int at = 0; at < 1 + rank + 2 * to; ++at) out.back().push_back(value(rank, to, part, at));
                    in.emplace_back(std::size_t(1 + from + 2 * rank), -1.0);
                    sent.push_back({to, out.back().data(), Index(out.back().size() * sizeof(double))});
                    received.push_back({from, in.back().data(), Index(in.back().size() * sizeof(double))});
                }
            sent.push_back({(rank + 1) % ranks, nullptr, 0});  // nothing, which NCCL is not told
            nccl.exchange(sent, received, nullptr);
            for (std::size_t one = 0; one < in.size(); ++one)
                for (std::size_t at = 0; at < in[one].size(); ++at)
                    EXPECT_EQ(in[one][at], value(received[one].rank, rank, int(one % 2), int(at)));
        }
    });
}

TEST(Nccl, ValuesAreGatheredInTheOrderOfRanks) {
    run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
        const NcclRanks nccl(*communicator, fake);
        const std::vector<double> mine{double(communicator->rank()), 0.5};
        std::vector<double> all(6);
        nccl.all_gather(mine.data(), all.data(), 2, nullptr);
        EXPECT_EQ(all, (std::vector<double>{0.0, 0.5, 1.0, 0.5, 2.0, 0.5}));
    });
}

TEST(Nccl, AnErrorNamesRankCallAndReason) {
    const std::string what = message_of<DeviceError>([&] {
        run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
            const NcclRanks nccl(*communicator, fake);
            double values[2] = {};
            const int rank = communicator->rank();
            const RankPart part{1 - rank, values, Index((1 + rank) * sizeof(double))};  // the sizes differ
            nccl.exchange({part}, {{1 - rank, values, Index((1 + rank) * sizeof(double))}}, nullptr);
        });
    });
    EXPECT_NE(what.find("rank "), what.npos);
    for (const char* part : {"ncclGroupEnd: invalid usage", "counts differ", "device.between_hosts = messages"})
        EXPECT_NE(what.find(part), what.npos) << what;
}

TEST(BetweenHosts, NcclIsTakenWhereAllRanksHaveTheSame) {
    const BetweenHosts chosen = choose_between_hosts("auto", {22809, 22809, 22809}, false);
    EXPECT_TRUE(chosen.nccl);
    EXPECT_EQ(chosen.text, "NCCL 2.28.9");
    EXPECT_TRUE(choose_between_hosts("nccl", {22809, 22809}, false).nccl);
    EXPECT_FALSE(choose_between_hosts("messages", {22809, 22809}, false).nccl);
}

TEST(BetweenHosts, WhatStandsAgainstNcclIsSaid) {
    const BetweenHosts lacking = choose_between_hosts("auto", {22809, 0}, false);
    EXPECT_FALSE(lacking.nccl);
    EXPECT_NE(lacking.text.find("since rank 1 cannot load libnccl.so.2"), lacking.text.npos) << lacking.text;
    const BetweenHosts sharing = choose_between_hosts("auto", {22809, 22809}, true);
    EXPECT_FALSE(sharing.nccl);
    EXPECT_NE(sharing.text.find("share a GPU"), sharing.text.npos) << sharing.text;
    EXPECT_NE(message_of<DeviceError>([] {
                  choose_between_hosts("nccl", {0, 22809}, false);
              }).find("rank 0 cannot load"),
              std::string::npos);
    EXPECT_NE(message_of<UsageError>([] {
                  choose_between_hosts("nccl", {1, 1}, true);
              }).find("share a GPU"),
              std::string::npos);
}

TEST(BetweenHosts, VersionsThatDifferOrAreTooOldAreRefused) {
    const std::string differ = message_of<UsageError>([] {
        choose_between_hosts("auto", {22809, 22809, 22705}, false);
    });
    EXPECT_NE(differ.find("rank 0 has NCCL 2.28.9 and rank 2 has 2.27.5"), differ.npos) << differ;
    EXPECT_NE(differ.find("device.between_hosts = messages"), differ.npos) << differ;
    const std::string old = message_of<UsageError>([] { choose_between_hosts("auto", {21003, 21003}, false); });
    EXPECT_NE(old.find("NCCL 2.10.3 is older than 2.14.0"), old.npos) << old;
}

}  // namespace
}  // namespace hyperplane
