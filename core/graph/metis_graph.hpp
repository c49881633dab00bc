// SPDX-License-Identifier: BSD-3-Clause
// A graph as METIS reads it, and METIS's answers as errors of this program. Only for sources that are built with METIS.
#pragma once

#include <fmt/format.h>
#include <metis.h>
#include <unistd.h>

#include <csignal>
#include <limits>
#include <mutex>
#include <string>

#include "core/error.hpp"
#include "core/graph/graph.hpp"

namespace hyperplane {

/// One at a time exists in a process: METIS draws from the random numbers of the C library, which all threads share, so
/// that ranks in several threads would find different answers.
class MetisGraph {
public:
    /// Throws UsageError if the graph has more edges than METIS's indices count. `key`: what asked for METIS, such as
    /// "ordering.name = nested_dissection"; `instead`: what to use if that fails.
    MetisGraph(const Graph& graph, std::string key, std::string instead)
        : key_(std::move(key)), instead_(std::move(instead)), vertices_(idx_t(graph.vertices())) {
        constexpr Index most = std::numeric_limits<idx_t>::max();
        const Index edges = graph.neighbour.size();
        if (edges > most)
            throw UsageError(
                fmt::format("{}: the graph has {} directed edges, and METIS's {}-bit indices count {}; use {}", key_,
                            edges, 8 * sizeof(idx_t), most, instead_));
        begin_ = Buffer<idx_t>(graph.context(), label, vertices_ + 1);
        neighbour_ = Buffer<idx_t>(graph.context(), label, edges);
        std::copy(graph.begin.begin(), graph.begin.end(), begin_.begin());
        std::copy(graph.neighbour.begin(), graph.neighbour.end(), neighbour_.begin());
        METIS_SetDefaultOptions(options_);
        options_[METIS_OPTION_SEED] = 1;
    }

    idx_t* vertices() { return &vertices_; }
    idx_t* begin() { return begin_.data(); }
    idx_t* neighbour() { return neighbour_.data(); }
    idx_t* options() { return options_; }

    /// Calls METIS; throws what its status says. `function` is the one that `call` calls and whose status it returns.
    /// While METIS works it takes SIGTERM from the whole process, and leaves off where one comes. It is passed on to
    /// whoever had it before; if that does not end the process, METIS begins again.
    template <typename Call>
    void run(const char* function, const Call& call) const {
        int status = call();
        for (int again = 0; status == METIS_ERROR && again < most_signals; ++again) {
            std::raise(SIGTERM);
            status = call();
        }
        if (raised_its_own() && status == METIS_OK) status = METIS_ERROR;
        if (status == METIS_OK) return;
        if (status == METIS_ERROR_MEMORY)
            throw OutOfMemory(fmt::format("{}: METIS ran out of memory; use {}", key_, instead_));
        throw Error(ExitCode::internal, fmt::format("{}: {} returned {}", key_, function, status));
    }

    static constexpr const char* label = "row order";

private:
    /// METIS tells itself of some errors by raising SIGTERM, and goes on where that is blocked. A signal that somebody
    /// else has sent stays pending.
    static bool raised_its_own() {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        siginfo_t from{};
        constexpr timespec at_once{};
        if (sigtimedwait(&set, &from, &at_once) != SIGTERM) return false;
        const bool own = from.si_pid == getpid() && from.si_code != SI_QUEUE;
        if (!own) sigqueue(getpid(), SIGTERM, {});
        return own;
    }

    static constexpr int most_signals = 10;  // an error of METIS's own has the same status

    static std::mutex& only_one() {
        static std::mutex mutex;
        return mutex;
    }

    std::unique_lock<std::mutex> lock_{only_one()};
    std::string key_, instead_;
    idx_t vertices_, options_[METIS_NOPTIONS];
    Buffer<idx_t> begin_, neighbour_;
};

}  // namespace hyperplane
