// SPDX-License-Identifier: BSD-3-Clause
// The threads of a thread block as fibers of one thread, which give way where they wait for each other: a kernel's
// text, compiled for the host, runs in one order of many and ends the same each time. In each round fibers are taken in
// another order, so that an error in what a kernel waits for is likely to show.
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace fibers {

struct Place {
    unsigned x = 0, y = 0;
};
/// The thread that runs; its x is its number within the block.
inline Place thread_place;

/// A barrier of `count` fibers.
struct Barrier {
    int count = 0, arrived = 0, times = 0;
};

struct Fiber {
    static constexpr std::size_t stack_bytes = 256 * 1024;
    ucontext_t state{};
    std::unique_ptr<char[]> stack{new char[stack_bytes]};
    bool done = false;
    const Barrier* awaited = nullptr;  ///< where it waits, if it does
    int time = 0;                      ///< how often that barrier had been passed before
    bool waits() const { return awaited && awaited->times == time; }
};

struct Team {
    ucontext_t scheduler{};
    std::vector<Fiber> fibers;
    std::function<void()> body;
};
inline Team team;

/// Lets the other fibers run before this one goes on.
inline void give_way() {
    swapcontext(&team.fibers[thread_place.x].state, &team.scheduler);
}
/// Returns when all fibers of the barrier have come.
inline void synchronise(Barrier& barrier) {
    const int time = barrier.times;
    if (++barrier.arrived == barrier.count) {
        barrier.arrived = 0;
        ++barrier.times;
        return;
    }
    Fiber& now = team.fibers[thread_place.x];
    now.awaited = &barrier, now.time = time;
    give_way();
    now.awaited = nullptr;
}

inline void run_fiber() {
    team.body();
    team.fibers[thread_place.x].done = true;
}

/// Runs body() on `threads` fibers. Returns false if all that have not ended wait at barriers. One thread of the host
/// at a time may call it.
inline bool run(unsigned threads, std::function<void()> body) {
    team.body = std::move(body);
    if (team.fibers.size() < threads) team.fibers.resize(threads);
    for (unsigned thread = 0; thread < threads; ++thread) {
        Fiber& fiber = team.fibers[thread];
        fiber.done = false, fiber.awaited = nullptr;
        getcontext(&fiber.state);
        fiber.state.uc_stack.ss_sp = fiber.stack.get();
        fiber.state.uc_stack.ss_size = Fiber::stack_bytes;
        fiber.state.uc_link = &team.scheduler;
        makecontext(&fiber.state, run_fiber, 0);
    }
    unsigned left = threads;
    for (unsigned round = 0; left > 0; ++round) {
        bool all_wait = true;
        for (unsigned turn = 0; turn < threads; ++turn) {
            thread_place.x = round % 3 == 0   ? turn
                             : round % 3 == 1 ? threads - 1 - turn
                                              : (37 * turn + round) % threads;
            Fiber& fiber = team.fibers[thread_place.x];
            if (fiber.done || fiber.waits()) continue;
            all_wait = false;
            swapcontext(&team.scheduler, &fiber.state);
            left -= fiber.done;
        }
        if (all_wait) return false;
    }
    return true;
}

}  // namespace fibers
