// SPDX-License-Identifier: BSD-3-Clause
#include "apps/signals.hpp"

#include <atomic>
#include <csignal>

namespace hyperplane {
namespace {

std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch only lock-free atomics");

void note(int signal) {
    noted.store(signal, std::memory_order_relaxed);
}

}  // namespace

void catch_stop_signals() {
    struct sigaction action = {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    for (int signal : {SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
    action.sa_flags = SA_RESTART | SA_RESETHAND;
    sigaction(SIGINT, &action, nullptr);
}

int stop_signal() {
    return noted.load(std::memory_order_relaxed);
}

}  // namespace hyperplane
