// SPDX-License-Identifier: BSD-3-Clause
#include "core/ranks/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace hyperplane {
namespace {

/// Holds what all ranks share: the messages that are on their way to each rank, and the parts of gathers. Memory grows
/// with the number of ranks and with what is on its way, not with the number of pairs. After an abort, messages that
/// were sent before are still received, so that ranks which all meet the same error end with it.
class Exchange {
public:
    explicit Exchange(int ranks) : ranks_(ranks), arrived_(ranks), inbox_(ranks) {
        for (Gather& gather : gathers_) gather.parts.resize(std::size_t(ranks));
    }
    int ranks() const { return ranks_; }

    void send(int from, int to, std::span<const double> values) {
        Inbox one;  // so that the lock is not held while memory is allocated
        one.emplace(from, std::vector<double>(values.begin(), values.end()));
        {
            const std::lock_guard lock(mutex_);
            inbox_[std::size_t(to)].insert(one.extract(one.begin()));
        }
        arrived_[std::size_t(to)].notify_one();  // without the lock: the woken rank would have to wait for it
    }
    std::vector<double> receive(int from, int to) {
        Inbox::node_type message;  // freed after the lock
        std::unique_lock lock(mutex_);
        Inbox& inbox = inbox_[std::size_t(to)];
        Inbox::iterator first;
        const auto found = [&] { return (first = inbox.lower_bound(from)) != inbox.end() && first->first == from; };
        arrived_[std::size_t(to)].wait(lock, [&] { return found() || aborted_; });
        if (!found()) throw RanksAborted(code_, reason_);
        message = inbox.extract(first);
        lock.unlock();
        return std::move(message.mapped());
    }
    /// Calls take(part) for the parts of all ranks, in their order; `number` is that of the gather, from 0.
    template <class Take>
    void gather(int rank, std::int64_t number, std::span<const double> mine, const Take& take) {
        // Two gathers take turns: a rank writes its part of gather n + 2 after all ranks came to gather n + 1, and so
        // after all have read gather n.
        Gather& now = gathers_[number % 2];
        const std::int64_t complete = ranks_ * (number / 2 + 1);
        now.parts[std::size_t(rank)].assign(mine.begin(), mine.end());
        {
            std::unique_lock lock(mutex_);
            if (++now.came == complete) {
                lock.unlock();  // the woken ranks would have to wait for it
                gathered_.notify_all();
            } else {
                gathered_.wait(lock, [&] { return aborted_ || now.came >= complete; });
                if (now.came < complete) throw RanksAborted(code_, reason_);
            }
        }
        for (const std::vector<double>& part : now.parts) take(part);
        if (++now.read == complete)
            for (std::vector<double>& part : now.parts)
                if (part.capacity() > most_kept) part = {};
    }
    void abort(ExitCode code, const std::string& reason) {
        const std::lock_guard lock(mutex_);
        if (!aborted_) code_ = code, reason_ = reason;
        aborted_ = true;
        for (std::condition_variable& waiting : arrived_) waiting.notify_all();
        gathered_.notify_all();
    }

private:
    /// Messages by their sender; those of one sender are in the order in which they were sent.
    using Inbox = std::multimap<int, std::vector<double>>;
    struct Gather {
        std::vector<std::vector<double>> parts;  ///< [rank]
        std::int64_t came = 0;                   ///< ranks that have written their parts, of all gathers so far
        std::atomic<std::int64_t> read = 0;      ///< ranks that have read all parts, of all gathers so far
    };
    static constexpr std::size_t most_kept = 256;  ///< values of a part whose memory the next gather finds again

    const int ranks_;
    std::mutex mutex_;
    std::vector<std::condition_variable> arrived_;  ///< something for a rank
    std::condition_variable gathered_;              ///< all parts of a gather
    std::vector<Inbox> inbox_;                      ///< [to]
    std::array<Gather, 2> gathers_;
    bool aborted_ = false;
    ExitCode code_ = ExitCode::internal;
    std::string reason_;
};

class ThreadCommunicator final : public Communicator {
public:
    ThreadCommunicator(const std::shared_ptr<Exchange>& exchange, int rank) : exchange_(exchange), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return exchange_->ranks(); }
    int sharing_cores() const override { return size(); }
    bool one_process() const override { return true; }
    int ranks_on_host() const override { return size(); }
    int place_on_host() const override { return rank_; }
    void send(int to, std::span<const double> values) override { exchange_->send(rank_, to, values); }
    void receive(int from, std::span<double> values) override {
        const std::vector<double> message = exchange_->receive(from, rank_);
        if (message.size() != values.size())
            throw Error(ExitCode::internal, fmt::format("rank {} expected {} values of rank {}, which sent {}", rank_,
                                                        values.size(), from, message.size()));
        std::copy(message.begin(), message.end(), values.begin());
    }
    void all_gather(std::span<const double> mine, std::span<double> all) override {
        std::size_t at = 0;
        const auto append = [&](std::span<const double> part) {
            if (at + part.size() > all.size())
                throw Error(ExitCode::internal, "the ranks' parts are more than what is gathered");
            std::copy(part.begin(), part.end(), all.begin() + std::ptrdiff_t(at));
            at += part.size();
        };
        exchange_->gather(rank_, gathers_++, mine, append);
        if (at != all.size()) throw Error(ExitCode::internal, "the ranks' parts are less than what is gathered");
    }
    void abort(ExitCode code, const std::string& reason) override {
        exchange_->abort(code, fmt::format("rank {}: {}", rank_, reason));
    }

private:
    std::shared_ptr<Exchange> exchange_;
    int rank_;
    std::int64_t gathers_ = 0;  ///< begun so far
};

}  // namespace

void run_ranks(int ranks, const std::function<void(const std::shared_ptr<Communicator>&)>& body) {
    const auto exchange = std::make_shared<Exchange>(ranks);
    std::mutex mutex;
    std::exception_ptr first;
    const auto run = [&](int rank) {
        const auto communicator = std::make_shared<ThreadCommunicator>(exchange, rank);
        const auto end_all = [&](ExitCode code, const std::string& reason) {
            {
                const std::lock_guard lock(mutex);
                if (!first) first = std::current_exception();
            }
            communicator->abort(code, reason);
        };
        try {
            body(communicator);
        } catch (const Error& error) {
            end_all(error.code(), error.what());
        } catch (const std::bad_alloc&) {
            end_all(ExitCode::out_of_memory, "out of memory");
        } catch (const std::exception& error) {
            end_all(ExitCode::internal, error.what());
        }
    };
    std::vector<std::thread> threads;
    int rank = 1;
    try {
        for (; rank < ranks; ++rank) threads.emplace_back(run, rank);
        run(0);
    } catch (const std::system_error& error) {
        const std::string reason = fmt::format(
            "out of memory: the system starts no thread for rank {} of {} ({}); ask for fewer ranks, or allow more "
            "threads (ulimit -u, the control group's pids.max) and memory for their stacks",
            rank, ranks, error.code().message());
        exchange->abort(ExitCode::out_of_memory, reason);
        const std::lock_guard lock(mutex);
        first = std::make_exception_ptr(OutOfMemory(reason));
    }
    for (std::thread& thread : threads) thread.join();
    if (first) std::rethrow_exception(first);
}

}  // namespace hyperplane
