// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/signals.hpp"

#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <span>
#include <thread>

#include "core/ranks/cuts.hpp"

namespace hyperplane {
namespace {

constexpr int stops[] = {SIGTERM, SIGUSR1, SIGHUP, SIGINT};
/// METIS takes this signal from the whole process while it works: in its own thread it then leaves off wherever it is,
/// be it within malloc, and in another thread it crashes. So no handler is ever called for this one.
constexpr int blocked[] = {SIGTERM};
constexpr int handled[] = {SIGUSR1, SIGHUP, SIGINT};
std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch only lock-free atomics");

/// How many more calls of stop_signal there are until one sends `at_look` itself; 0: none does.
long looks_left = 0;
int at_look = SIGTERM;

void note(int signal) {
    noted.store(signal, std::memory_order_relaxed);
}

sigset_t set_of(std::span<const int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : signals) sigaddset(&set, signal);
    return set;
}

void mask(int how, std::span<const int> signals) {
    const sigset_t set = set_of(signals);
    pthread_sigmask(how, &set, nullptr);
}

/// Notes a SIGTERM that has come while it was blocked.
void take_blocked() {
    static const sigset_t set = set_of(blocked);
    constexpr timespec at_once{};
    if (const int signal = sigtimedwait(&set, nullptr, &at_once); signal > 0) note(signal);
}

/// Ends the process by the first signal that is blocked and comes, as if it were not blocked.
[[noreturn]] void end_by_blocked() {
    const sigset_t set = set_of(blocked);
    for (;;) {
        int signal = 0;
        if (sigwait(&set, &signal) != 0) continue;
        std::signal(signal, SIG_DFL);
        mask(SIG_UNBLOCK, blocked);
        std::raise(signal);
    }
}

/// Reads HYPERPLANE_STOP_AT, which is LOOKS or LOOKS:SIGNAL.
void read_stop_at() {
    const char* value = std::getenv("HYPERPLANE_STOP_AT");
    if (!value) return;
    char* end = nullptr;
    looks_left = std::strtol(value, &end, 10);
    if (*end == ':') at_look = std::atoi(end + 1);
}

bool is_ignored(int signal) {
    struct sigaction now = {};
    return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void hold_stop_signals() {
    mask(SIG_BLOCK, stops);
}

void catch_stop_signals() {
    for (int signal : handled) {
        if ((signal == SIGHUP || signal == SIGINT) && is_ignored(signal)) continue;
        struct sigaction action = {};
        action.sa_handler = note;
        action.sa_flags = signal == SIGINT ? SA_RESTART | SA_RESETHAND : SA_RESTART;
        sigaction(signal, &action, nullptr);
    }
    read_stop_at();
    mask(SIG_BLOCK, blocked);
    mask(SIG_UNBLOCK, handled);
}

void release_stop_signals() {
    std::thread(end_by_blocked).detach();
    mask(SIG_UNBLOCK, handled);
}

std::string signal_name(int signal) {
    const char* const name = sigabbrev_np(signal);
    return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

int stop_signal() {
    if (looks_left > 0 && --looks_left == 0) std::raise(at_look);
    take_blocked();
    return noted.load(std::memory_order_relaxed);
}

int stop_signal(const Context& context) {
    return int(of_first_rank(context, is_first_rank(context) ? stop_signal() : 0));
}

}  // namespace hyperplane
