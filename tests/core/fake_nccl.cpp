// SPDX-License-Identifier: BSD-3-Clause
// A library with NCCL's functions, for tests without GPUs: ranks are threads of one process, and all memory is the
// host's. As NCCL does, it starts what a group has queued when the group ends, and matches what two ranks send each
// other by its order.
#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#ifndef FAKE_NCCL_VERSION
#define FAKE_NCCL_VERSION 22809
#endif

struct ncclComm {
    int rank, ranks;
};

namespace {

using Message = std::vector<double>;

std::mutex mutex;
std::condition_variable arrived;
std::map<std::pair<int, int>, std::deque<Message>> messages;  // [from, to]

struct Received {
    double* to;
    std::size_t count;
    int from, rank;
};
thread_local bool grouping = false;
thread_local std::vector<std::pair<std::pair<int, int>, Message>> sent;
thread_local std::vector<Received> received;

constexpr int success = 0, invalid_usage = 5;

int run() {
    {
        const std::lock_guard lock(mutex);
        for (auto& [way, message] : sent) messages[way].push_back(std::move(message));
    }
    arrived.notify_all();
    int result = success;
    std::unique_lock lock(mutex);
    for (const Received& one : received) {
        std::deque<Message>& from = messages[{one.from, one.rank}];
        arrived.wait(lock, [&] { return !from.empty(); });
        if (from.front().size() != one.count) result = invalid_usage;
        std::copy_n(from.front().begin(), std::min(one.count, from.front().size()), one.to);
        from.pop_front();
    }
    sent.clear();
    received.clear();
    return result;
}

}  // namespace

extern "C" {

struct ncclUniqueId {
    std::array<char, 128> internal;
};

__attribute__((visibility("default"))) int ncclGetVersion(int* version) {
    *version = FAKE_NCCL_VERSION;
    return success;
}
__attribute__((visibility("default"))) int ncclGetUniqueId(ncclUniqueId* id) {
    id->internal.fill('x');
    return success;
}
__attribute__((visibility("default"))) int ncclCommInitRank(ncclComm** comm, int ranks, ncclUniqueId id, int rank) {
    if (id.internal[127] != 'x') return invalid_usage;
    *comm = new ncclComm{rank, ranks};
    return success;
}
__attribute__((visibility("default"))) int ncclCommDestroy(ncclComm* comm) {
    delete comm;
    return success;
}
__attribute__((visibility("default"))) const char* ncclGetErrorString(int result) {
    return result == success ? "no error" : "invalid usage";
}
__attribute__((visibility("default"))) const char* ncclGetLastError(ncclComm*) {
    return "the fake has found that counts differ";
}
__attribute__((visibility("default"))) int ncclGroupStart() {
    grouping = true;
    return success;
}
__attribute__((visibility("default"))) int ncclGroupEnd() {
    grouping = false;
    return run();
}
__attribute__((visibility("default"))) int ncclSend(const void* from, std::size_t count, int type, int peer,
                                                    ncclComm* comm, void*) {
    if (!grouping || type != 8) return invalid_usage;
    const double* const values = static_cast<const double*>(from);
    sent.push_back({{comm->rank, peer}, Message(values, values + count)});
    return success;
}
__attribute__((visibility("default"))) int ncclRecv(void* to, std::size_t count, int type, int peer, ncclComm* comm,
                                                    void*) {
    if (!grouping || type != 8) return invalid_usage;
    received.push_back({static_cast<double*>(to), count, peer, comm->rank});
    return success;
}
__attribute__((visibility("default"))) int ncclAllGather(const void* from, void* to, std::size_t count, int type,
                                                         ncclComm* comm, void*) {
    if (type != 8) return invalid_usage;
    const double* const values = static_cast<const double*>(from);
    double* const all = static_cast<double*>(to);
    for (int rank = 0; rank < comm->ranks; ++rank) {
        sent.push_back({{comm->rank, rank}, Message(values, values + count)});
        received.push_back({all + std::size_t(rank) * count, count, rank, comm->rank});
    }
    return run();
}

}  // extern "C"
