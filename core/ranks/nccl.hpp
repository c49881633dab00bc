// SPDX-License-Identifier: BSD-3-Clause
// NCCL's functions, from its library, which is loaded where GPUs of several hosts are ranks. No header of NCCL is
// needed. Nothing of it adds values up: it moves them, so that the order of sums stays that of one rank.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "core/device/shared_library.hpp"
#include "core/ranks/several_hosts.hpp"
#include "core/types.hpp"

namespace hyperplane {

/// A part of a rank's memory that another rank receives, or where it stores what another rank has sent. What two ranks
/// send each other is matched in the order in which each of them lists it.
struct RankPart {
    int rank;  ///< the other one
    void* address;
    Index bytes;  ///< a multiple of 8; nothing is exchanged where there are none
};

struct Nccl {
    struct Id {
        std::array<char, 128> bytes;
    };
    using Comm = struct ncclComm*;
    using Stream = void*;
    static constexpr int float64 = 8;  ///< ncclFloat64
    static constexpr int oldest = 21400;

    explicit Nccl(const std::string& file = "libnccl.so.2")
        : library(file, "exchanging values between GPUs of hosts") {}

    SharedLibrary library;
    int (*get_version)(int*) = library.find<int(int*)>("ncclGetVersion");
    int (*get_unique_id)(Id*) = library.find<int(Id*)>("ncclGetUniqueId");
    int (*init_rank)(Comm*, int, Id, int) = library.find<int(Comm*, int, Id, int)>("ncclCommInitRank");
    const char* (*error_string)(int) = library.find<const char*(int)>("ncclGetErrorString");
    const char* (*last_error)(Comm) = library.find<const char*(Comm)>("ncclGetLastError");
    int (*group_start)() = library.find<int()>("ncclGroupStart");
    int (*group_end)() = library.find<int()>("ncclGroupEnd");
    int (*send)(const void*, std::size_t, int, int, Comm,
                Stream) = library.find<int(const void*, std::size_t, int, int, Comm, Stream)>("ncclSend");
    int (*receive)(void*, std::size_t, int, int, Comm,
                   Stream) = library.find<int(void*, std::size_t, int, int, Comm, Stream)>("ncclRecv");
    int (*all_gather)(const void*, void*, std::size_t, int, Comm,
                      Stream) = library.find<int(const void*, void*, std::size_t, int, Comm, Stream)>("ncclAllGather");

    /// Such as 22809 for 2.28.9.
    int version() const;
};

/// The version of NCCL that this process can load; 0: none, and `why` says why.
int loadable_nccl(std::string& why, const std::string& file = "libnccl.so.2");
std::string text_of_nccl_version(int version);
/// Decides it for all ranks. `asked`: auto, nccl or messages (device.between_hosts). `versions`: what loadable_nccl
/// gives on each rank. Throws UsageError where versions differ, are too old, or two ranks share a GPU and NCCL is asked
/// for; DeviceError where NCCL is asked for and missing.
BetweenHosts choose_between_hosts(const std::string& asked, const std::vector<int>& versions, bool share_gpus);

/// The ranks' communicator in NCCL. The functions queue work on a stream, given as a cudaStream_t.
class NcclRanks {
public:
    /// All ranks must make theirs at the same time, with their GPU the current one. Throws DeviceError.
    NcclRanks(Communicator& ranks, const std::string& file = "libnccl.so.2");
    /// The communicator is left to the end of the process: ncclCommDestroy and ncclCommAbort wait for the other ranks,
    /// one of which may still receive a message of this one, which MPI delivers only while this one calls MPI.
    ~NcclRanks() = default;
    /// Whether this process has had any, whose waits on a GPU no message of a failing rank can end.
    static bool were_made();
    NcclRanks(const NcclRanks&) = delete;
    NcclRanks& operator=(const NcclRanks&) = delete;

    /// Sends and receives parts at the same time.
    void exchange(const std::vector<RankPart>& sent, const std::vector<RankPart>& received, void* stream) const;
    /// Gathers `count` values of each rank, in the order of ranks.
    void all_gather(const double* mine, double* all, Index count, void* stream) const;

private:
    void check(int result, const char* what) const;

    const Nccl nccl_;
    const int rank_;
    Nccl::Comm comm_ = nullptr;
};

}  // namespace hyperplane
