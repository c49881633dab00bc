// SPDX-License-Identifier: BSD-3-Clause
#include "core/ranks/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace hyperplane {
namespace {

/// What all ranks share: a queue of messages for each pair of ranks. After an abort, messages that were sent before are
/// still received, so that ranks which all meet the same error end with it.
class Exchange {
public:
    explicit Exchange(int ranks) : ranks_(ranks), arrived_(ranks), queues_(std::size_t(ranks) * ranks) {}
    int ranks() const { return ranks_; }

    void send(int from, int to, std::span<const double> values) {
        std::vector<double> message(values.begin(), values.end());
        {
            const std::lock_guard lock(mutex_);
            queue(from, to).push_back(std::move(message));
        }
        arrived_[to].notify_one();  // without the lock: the woken rank would have to wait for it
    }
    std::vector<double> receive(int from, int to) {
        std::unique_lock lock(mutex_);
        std::deque<std::vector<double>>& messages = queue(from, to);
        arrived_[to].wait(lock, [&] { return aborted_ || !messages.empty(); });
        if (messages.empty()) throw RanksAborted(code_, reason_);
        std::vector<double> values = std::move(messages.front());
        messages.pop_front();
        return values;
    }
    void abort(ExitCode code, const std::string& reason) {
        const std::lock_guard lock(mutex_);
        if (!aborted_) code_ = code, reason_ = reason;
        aborted_ = true;
        for (std::condition_variable& waiting : arrived_) waiting.notify_all();
    }

private:
    std::deque<std::vector<double>>& queue(int from, int to) { return queues_[std::size_t(from) * ranks_ + to]; }
    const int ranks_;
    std::mutex mutex_;
    std::vector<std::condition_variable> arrived_;         ///< something for a rank
    std::vector<std::deque<std::vector<double>>> queues_;  ///< [from][to]
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
        // Every rank sends to all others, so the last one to arrive finds all messages and need not wait.
        for (int to = 0; to < size(); ++to)
            if (to != rank_) send(to, mine);
        std::size_t at = 0;
        const auto append = [&](std::span<const double> part) {
            if (at + part.size() > all.size())
                throw Error(ExitCode::internal, "the ranks' parts are more than what is gathered");
            std::copy(part.begin(), part.end(), all.begin() + std::ptrdiff_t(at));
            at += part.size();
        };
        for (int from = 0; from < size(); ++from)
            from == rank_ ? append(mine) : append(exchange_->receive(from, rank_));
        if (at != all.size()) throw Error(ExitCode::internal, "the ranks' parts are less than what is gathered");
    }
    void abort(ExitCode code, const std::string& reason) override {
        exchange_->abort(code, fmt::format("rank {}: {}", rank_, reason));
    }

private:
    std::shared_ptr<Exchange> exchange_;
    int rank_;
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
