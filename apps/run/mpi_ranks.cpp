// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/mpi_ranks.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "apps/base/guard.hpp"
#include "apps/base/launched.hpp"
#include "core/ranks/nccl.hpp"

namespace hyperplane {
namespace {

enum MpiTag { values_tag = 1, failure_tag = 2 };

void require(int result, const char* what) {
    if (result != MPI_SUCCESS)
        throw Error(ExitCode::internal, fmt::format("MPI: {} failed with code {}", what, result));
}

/// One process, between MPI_Init and MPI_Finalize. It receives by polling, so that the failure of any rank ends its
/// waiting, and polls less often the longer it waits, since ranks may share a core.
class MpiCommunicator final : public Communicator {
public:
    MpiCommunicator() {
        int level = 0;
        require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
        require(MPI_Comm_dup(MPI_COMM_WORLD, &all_), "MPI_Comm_dup");
        MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN);
        MPI_Comm_rank(all_, &rank_);
        MPI_Comm_size(all_, &size_);
        look_at_host();
    }
    ~MpiCommunicator() override {
        if (aborted_) {  // messages that nobody receives any more
            for (Sent& sent : sent_) MPI_Cancel(&sent.request), MPI_Request_free(&sent.request);
        } else {
            for (Sent& sent : sent_) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
        }
        MPI_Comm_free(&all_);
        MPI_Finalize();
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int sharing_cores() const override { return sharing_cores_; }
    bool one_process() const override { return false; }
    int ranks_on_host() const override { return ranks_on_host_; }
    int place_on_host() const override { return place_on_host_; }
    void send(int to, std::span<const double> values) override {
        forget_received();
        for (std::size_t at = 0;; at += most_) {
            const auto part = values.subspan(at, std::min(most_, values.size() - at));
            send_message(to, part);
            if (part.size() < most_) return;
        }
    }
    void receive(int from, std::span<double> values) override {
        const std::size_t count = receive_up_to(from, values);
        if (count != values.size())
            throw Error(ExitCode::internal, fmt::format("rank {} expected {} values of rank {}, which sent {}", rank_,
                                                        values.size(), from, count));
    }
    void all_gather(std::span<const double> mine, std::span<double> all) override {
        if (rank_ > 0) {  // rank 0 collects
            send(0, mine);
            return receive(0, all);
        }
        if (mine.size() > all.size()) throw_too_many(mine.size(), all.size());
        std::copy(mine.begin(), mine.end(), all.begin());
        std::size_t at = mine.size();
        for (int from = 1; from < size_; ++from) at += receive_up_to(from, all.subspan(at));
        if (at != all.size()) throw Error(ExitCode::internal, "the ranks' parts are less than what is gathered");
        for (int to = 1; to < size_; ++to) send(to, all);
    }
    void abort(ExitCode code, const std::string& reason) override {
        if (aborted_) return;
        aborted_ = true;
        Failure failure{};
        failure.code = int(code);
        const std::string text = fmt::format("rank {}, {}: {}", rank_, host(), reason);
        std::copy_n(text.begin(), std::min(text.size(), failure.reason.size() - 1), failure.reason.begin());
        for (int to = 0; to < size_; ++to)
            if (to != rank_) MPI_Send(&failure, int(sizeof failure), MPI_BYTE, to, failure_tag, all_);
        if constexpr (cuda_built)
            if (NcclRanks::were_made()) end_in_time(code, text);
    }

private:
    struct Sent {
        explicit Sent(std::vector<double> of) : values(std::move(of)) {}
        std::vector<double> values;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    /// Values travel in messages of `most_` of them, and a last one of fewer, possibly of none, which ends them: a
    /// count of MPI is an int, and networks have limits of their own, such as 2 GiB.
    void send_message(int to, std::span<const double> values) {
        sent_.emplace_back(std::vector<double>(values.begin(), values.end()));
        Sent& sent = sent_.back();
        require(MPI_Isend(sent.values.data(), int(sent.values.size()), MPI_DOUBLE, to, values_tag, all_, &sent.request),
                "MPI_Isend");
    }
    /// Receives what one call of send sent, to the beginning of `values`. Returns how many there were.
    std::size_t receive_up_to(int from, std::span<double> values) {
        for (std::size_t at = 0;;) {
            const auto count = std::size_t(wait_for(from));
            if (at + count > values.size()) throw_too_many(at + count, values.size());
            require(MPI_Recv(values.data() + at, int(count), MPI_DOUBLE, from, values_tag, all_, MPI_STATUS_IGNORE),
                    "MPI_Recv");
            at += count;
            if (count < most_) return at;
        }
    }
    [[noreturn]] void throw_too_many(std::size_t sent, std::size_t room) const {
        throw Error(ExitCode::internal,
                    fmt::format("rank {} has room for {} values, and at least {} were sent", rank_, room, sent));
    }
    /// A message has at most a gigabyte; of tests fewer values, so that it is divided.
    static std::size_t most_of_message() {
        const char* const of_test = std::getenv("HYPERPLANE_VALUES_A_MESSAGE");
        return of_test ? std::size_t(std::max(1, std::atoi(of_test))) : std::size_t(1) << 27;
    }
    /// A rank whose GPU waits for this one's values by NCCL never looks for the message. If it has not left by then,
    /// this process ends alone, and mpirun ends the others.
    static void end_in_time(ExitCode code, const std::string& text) {
        std::thread([code, text] {
            std::this_thread::sleep_for(std::chrono::seconds(3));
            std::fprintf(stderr, "error: %s; other ranks still waited for it, and were ended\n", text.c_str());
            std::_Exit(int(code));
        }).detach();
    }
    /// Short enough for MPI to send it without waiting for the receiver.
    struct Failure {
        int code;
        std::array<char, 1024> reason;
    };

    /// Which ranks are on this host, and how many of them share processor cores with this one; a launcher may have
    /// bound each to its own.
    void look_at_host() {
        MPI_Comm host;
        require(MPI_Comm_split_type(all_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
        MPI_Comm_size(host, &ranks_on_host_);
        MPI_Comm_rank(host, &place_on_host_);
        cpu_set_t mine;
        CPU_ZERO(&mine);
        sched_getaffinity(0, sizeof mine, &mine);
        std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks_on_host_));
        require(MPI_Allgather(&mine, int(sizeof mine), MPI_BYTE, all.data(), int(sizeof mine), MPI_BYTE, host),
                "MPI_Allgather");
        MPI_Comm_free(&host);
        // Tests on one host pretend that each of several hosts has this number of the ranks.
        if (const char* const pretended = std::getenv("HYPERPLANE_RANKS_A_HOST"))
            ranks_on_host_ = std::clamp(std::atoi(pretended), 1, ranks_on_host_);
        sharing_cores_ = int(std::count_if(all.begin(), all.end(), [&](const cpu_set_t& other) {
            cpu_set_t both;
            CPU_AND(&both, &mine, &other);
            return CPU_COUNT(&both) > 0;
        }));
    }
    static std::string host() {
        std::array<char, 256> name{};
        return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown host";
    }
    void forget_received() {
        while (!sent_.empty()) {
            int done = 0;
            MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE);
            if (!done) return;
            sent_.pop_front();
        }
    }
    /// The number of values of the next message of a rank, once it is there.
    int wait_for(int from) {
        for (int tries = 0;; ++tries) {
            int there = 0;
            MPI_Status status;
            require(MPI_Iprobe(from, values_tag, all_, &there, &status), "MPI_Iprobe");
            if (there) {
                int count = 0;
                MPI_Get_count(&status, MPI_DOUBLE, &count);
                return count;
            }
            if (tries % 16 == 0) throw_if_failed();
            if (tries > 2000) usleep(tries > 4000 ? 200 : 20);
        }
    }
    void throw_if_failed() {
        int there = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, failure_tag, all_, &there, &status);
        if (!there) return;
        Failure failure;
        MPI_Recv(&failure, int(sizeof failure), MPI_BYTE, status.MPI_SOURCE, failure_tag, all_, MPI_STATUS_IGNORE);
        aborted_ = true;
        throw RanksAborted(ExitCode(failure.code), failure.reason.data());
    }

    MPI_Comm all_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1, sharing_cores_ = 1, ranks_on_host_ = 1, place_on_host_ = 0;
    const std::size_t most_ = most_of_message();
    bool aborted_ = false;  ///< this rank or another one has failed
    std::list<Sent> sent_;  ///< what may not have been received yet, the oldest first
};

/// Throws a UsageError where a launcher of another MPI has started the processes: to this one each is alone.
void require_all_launched(const Communicator& ranks) {
    if (ranks.size() == launched_processes()) return;
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
    int length = 0;
    MPI_Get_library_version(version.data(), &length);
    const std::string name(version.data(), std::min<std::size_t>(std::size_t(length), 60));
    throw UsageError(
        fmt::format("{} processes were started together, and MPI joins {} of them; start them by the mpirun of "
                    "the MPI that the program is linked with ({}), or by srun --mpi=pmix",
                    launched_processes(), ranks.size(), name.substr(0, name.find_first_of(",\n"))));
}

}  // namespace

int run_launched_rank(bool json, const std::function<int(const std::shared_ptr<Communicator>&)>& body) {
    const auto ranks = std::make_shared<MpiCommunicator>();
    const bool first = ranks->rank() == 0;
    if (!first) spdlog::set_level(spdlog::level::off);
    // All is said before MPI is finalised: then the other ranks end, and mpirun kills what has not ended yet.
    return guarded(json && first, [&] {
        try {
            require_all_launched(*ranks);
            return body(ranks);
        } catch (const Error& error) {
            ranks->abort(error.code(), error.what());
            throw;
        } catch (const std::bad_alloc&) {
            ranks->abort(ExitCode::out_of_memory, "out of memory");
            throw;
        } catch (const std::exception& error) {
            ranks->abort(ExitCode::internal, error.what());
            throw;
        }
    });
}

}  // namespace hyperplane
