// SPDX-License-Identifier: BSD-3-Clause
#include "core/ranks/nccl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "core/error.hpp"

namespace hyperplane {
namespace {

constexpr std::size_t values_of_id = sizeof(Nccl::Id) / sizeof(double);

constexpr const char* by_messages = "messages through the hosts' memory";

std::atomic<bool> made{false};

}  // namespace

bool NcclRanks::were_made() {
    return made;
}

int Nccl::version() const {
    int version = 0;
    if (get_version(&version) != 0) throw DeviceError("libnccl.so.2 does not say which version it is");
    return version;
}

int loadable_nccl(std::string& why, const std::string& file) {
    try {
        return Nccl(file).version();
    } catch (const DeviceError& error) {
        why = error.what();
        return 0;
    }
}

std::string text_of_nccl_version(int version) {
    return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

BetweenHosts choose_between_hosts(const std::string& asked, const std::vector<int>& versions, bool share_gpus) {
    if (asked == "messages") return {false, by_messages};
    const auto lacks = std::find(versions.begin(), versions.end(), 0);
    if (share_gpus) {
        if (asked == "nccl")
            throw UsageError(
                "device.between_hosts = nccl: NCCL refuses ranks that share a GPU; start as many ranks on each host as "
                "it has GPUs, or give device.between_hosts = messages");
        return {false, fmt::format("{}, since ranks share a GPU", by_messages)};
    }
    if (lacks != versions.end()) {
        const auto rank = lacks - versions.begin();
        if (asked == "nccl")
            throw DeviceError(fmt::format(
                "device.between_hosts = nccl: rank {} cannot load libnccl.so.2; install NCCL on every host, set "
                "LD_LIBRARY_PATH to its folder, or give device.between_hosts = messages",
                rank));
        return {false, fmt::format("{}, since rank {} cannot load libnccl.so.2", by_messages, rank)};
    }
    for (std::size_t rank = 0; rank < versions.size(); ++rank) {
        if (versions[rank] != versions[0])
            throw UsageError(fmt::format(
                "device.between_hosts: rank 0 has NCCL {} and rank {} has {}, which need not understand each other; "
                "install one version on all hosts, or give device.between_hosts = messages",
                text_of_nccl_version(versions[0]), rank, text_of_nccl_version(versions[rank])));
        if (versions[rank] < Nccl::oldest)
            throw UsageError(fmt::format(
                "device.between_hosts: NCCL {} is older than {}, from which on its calls can be part of CUDA graphs "
                "as they are used here; install a newer one, or give device.between_hosts = messages",
                text_of_nccl_version(versions[rank]), text_of_nccl_version(Nccl::oldest)));
    }
    return {true, "NCCL " + text_of_nccl_version(versions[0])};
}

NcclRanks::NcclRanks(Communicator& ranks, const std::string& file) : nccl_(file), rank_(ranks.rank()) {
    Nccl::Id id{};
    if (rank_ == 0) check(nccl_.get_unique_id(&id), "ncclGetUniqueId");
    std::vector<double> mine(values_of_id), all(values_of_id * std::size_t(ranks.size()));
    std::memcpy(mine.data(), &id, sizeof id);
    ranks.all_gather(mine, all);
    std::memcpy(static_cast<void*>(&id), all.data(), sizeof id);
    made = true;
    check(nccl_.init_rank(&comm_, ranks.size(), id, rank_), "ncclCommInitRank");
}

void NcclRanks::check(int result, const char* what) const {
    if (result == 0) return;
    throw DeviceError(
        fmt::format("rank {}: {}: {} ({}); NCCL_DEBUG=WARN tells more, and device.between_hosts = messages does "
                    "without NCCL",
                    rank_, what, nccl_.error_string(result), nccl_.last_error(comm_)));
}

void NcclRanks::exchange(const std::vector<RankPart>& sent, const std::vector<RankPart>& received, void* stream) const {
    const auto values = [](const RankPart& part) { return std::size_t(part.bytes) / sizeof(double); };
    check(nccl_.group_start(), "ncclGroupStart");
    for (const RankPart& part : sent)
        if (part.bytes > 0)
            check(nccl_.send(part.address, values(part), Nccl::float64, part.rank, comm_, stream), "ncclSend");
    for (const RankPart& part : received)
        if (part.bytes > 0)
            check(nccl_.receive(part.address, values(part), Nccl::float64, part.rank, comm_, stream), "ncclRecv");
    check(nccl_.group_end(), "ncclGroupEnd");
}

void NcclRanks::all_gather(const double* mine, double* all, Index count, void* stream) const {
    check(nccl_.all_gather(mine, all, std::size_t(count), Nccl::float64, comm_, stream), "ncclAllGather");
}

}  // namespace hyperplane
