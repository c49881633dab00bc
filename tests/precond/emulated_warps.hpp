// SPDX-License-Identifier: BSD-3-Clause
// Kernels whose warps work together, their text compiled for the host: each thread of a block is a fiber, which gives
// way where the lanes of its warp or the threads of its block meet. In each round fibers are taken in another order. A
// source that includes this compiles with -iquote tests/precond/emulated, where what is written in PTX has a
// replacement, and includes the host's headers before, the text after.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

// NOLINTBEGIN(bugprone-reserved-identifier): names that CUDA gives to a kernel's text
namespace emulated_warps {

struct Place {
    unsigned x = 0, y = 0;
};
inline Place thread_place, block_place, block_size;

struct Copy {
    double* to;
    const double* from;
};

/// A barrier of some fibers.
struct Meeting {
    int arrived = 0, times = 0;
};

struct Fiber {
    ucontext_t state{};
    std::vector<char> stack = std::vector<char>(64 * 1024);
    bool done = false;
    const Meeting* awaited = nullptr;             ///< where it waits, if it does
    int time = 0;                                 ///< of that meeting
    double shown = 0.0, left = 0.0, right = 0.0;  ///< what other lanes of the warp read
    std::vector<Copy> copies;                     ///< since the last commit
    std::deque<std::vector<Copy>> groups;

    void commit() {
        groups.push_back(copies);
        copies.clear();
    }
    void wait(int pending) {
        for (; int(groups.size()) > pending; groups.pop_front())
            for (const Copy& one : groups.front()) *one.to = *one.from;
    }
};

struct Block {
    ucontext_t scheduler{};
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::vector<Meeting> warps;
    Meeting all;
    std::function<void()> body;
};
inline Block block;

inline Fiber& now() {
    return *block.fibers[thread_place.x];
}
inline void meet(Meeting& meeting, int count) {
    const int time = meeting.times;
    if (++meeting.arrived == count) {
        meeting.arrived = 0;
        ++meeting.times;
    }
    if (meeting.times != time) return;
    now().awaited = &meeting, now().time = time;
    swapcontext(&now().state, &block.scheduler);
    now().awaited = nullptr;
}
inline void meet_warp() {
    meet(block.warps[thread_place.x / 32], 32);
}
inline void meet_all() {
    meet(block.all, int(block_size.x));
}
inline Fiber& of_lane(unsigned lane) {
    return *block.fibers[thread_place.x / 32 * 32 + lane % 32];
}
inline double shuffled(double value, unsigned lane) {
    now().shown = value;
    meet_warp();
    const double found = of_lane(lane).shown;
    meet_warp();
    return found;
}
/// sum += left right as precond/factors/mma.cuh defines it.
inline void multiply_add(double left, double right, double (&sum)[2]) {
    now().left = left, now().right = right;
    meet_warp();
    const unsigned lane = thread_place.x % 32;
    for (unsigned k = 0; k < 4; ++k)
        for (unsigned m = 0; m < 2; ++m)
            sum[m] += of_lane(lane / 4 * 4 + k).left * of_lane((2 * (lane % 4) + m) * 4 + k).right;
    meet_warp();
}

inline void run_fiber() {
    block.body();
    now().done = true;
}

/// Runs body() on `threads` threads of each thread block, one thread block after the other. Returns false if all fibers
/// wait.
inline bool launch(unsigned blocks_x, unsigned blocks_y, unsigned threads, const std::function<void()>& body) {
    block_size.x = threads;
    block.body = body;
    for (unsigned number = 0; number < blocks_x * blocks_y; ++number) {
        block_place = {number % blocks_x, number / blocks_x};
        block.warps.assign(threads / 32, {});
        block.all = {};
        block.fibers.resize(threads);
        for (std::unique_ptr<Fiber>& fiber : block.fibers) {
            if (!fiber) fiber = std::make_unique<Fiber>();
            fiber->done = false;
            fiber->wait(0);
            getcontext(&fiber->state);
            fiber->state.uc_stack.ss_sp = fiber->stack.data();
            fiber->state.uc_stack.ss_size = fiber->stack.size();
            fiber->state.uc_link = &block.scheduler;
            makecontext(&fiber->state, run_fiber, 0);
        }
        unsigned left = threads;
        for (unsigned round = 0; left > 0; ++round) {
            bool all_wait = true;
            for (unsigned turn = 0; turn < threads; ++turn) {
                thread_place.x = round % 3 == 0   ? turn
                                 : round % 3 == 1 ? threads - 1 - turn
                                                  : (37 * turn + round) % threads;
                const Fiber& fiber = now();
                if (fiber.done || (fiber.awaited && fiber.awaited->times == fiber.time)) continue;
                all_wait = false;
                swapcontext(&block.scheduler, &now().state);
                left -= fiber.done;
            }
            if (all_wait) return false;
        }
    }
    return true;
}

}  // namespace emulated_warps

struct alignas(16) double2 {
    double x, y;
};
// The text calls them.
using std::max;  // NOLINT(misc-unused-using-decls)
using std::min;  // NOLINT(misc-unused-using-decls)
inline double __shfl_sync(unsigned /*mask*/, double value, int lane) {
    return emulated_warps::shuffled(value, unsigned(lane));
}
inline double __shfl_xor_sync(unsigned /*mask*/, double value, int step) {
    return emulated_warps::shuffled(value, emulated_warps::thread_place.x % 32 ^ unsigned(step));
}
inline void __syncwarp() {
    emulated_warps::meet_warp();
}
inline void __syncthreads() {
    emulated_warps::meet_all();
}
inline unsigned __ballot_sync(unsigned /*mask*/, bool predicate) {
    emulated_warps::now().shown = predicate ? 1.0 : 0.0;
    emulated_warps::meet_warp();
    unsigned bits = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        if (emulated_warps::of_lane(lane).shown > 0.0) bits |= 1u << lane;
    emulated_warps::meet_warp();
    return bits;
}
inline void __threadfence_block() {}
inline void __nanosleep(unsigned /*ns*/) {
    swapcontext(&emulated_warps::now().state, &emulated_warps::block.scheduler);
}
inline unsigned atomicOr(unsigned* at, unsigned bits) {
    const unsigned before = *at;
    *at |= bits;
    return before;
}
inline double __ldcg(const double* at) {
    return *at;
}

#define OPERANDS_AS_RESULTS 1
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__
#define __constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __grid_constant__
#define __launch_bounds__(...)
#define threadIdx emulated_warps::thread_place
#define blockIdx emulated_warps::block_place
#define blockDim emulated_warps::block_size
// NOLINTEND(bugprone-reserved-identifier)
