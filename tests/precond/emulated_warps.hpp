// SPDX-License-Identifier: BSD-3-Clause
// Kernels whose warps work together, their text compiled for the host: each thread of a thread block is a fiber, which
// gives way where the lanes of its warp or the threads of its thread block synchronise. A source that includes this
// compiles with -iquote tests/precond/emulated, where what is written in PTX has a replacement, and includes the host's
// headers before, the text after.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <stdexcept>
#include <vector>

#include "precond/fibers.hpp"

// NOLINTBEGIN(clang-diagnostic-reserved-*): names that CUDA gives to a kernel's text
namespace emulated_warps {

using fibers::thread_place, fibers::Place;
inline Place block_place, block_size;

struct Copy {
    double* to;
    const double* from;
};

/// A lane is a thread within its warp: this is what it has besides its fiber.
struct Lane {
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
    std::vector<Lane> lanes;
    std::vector<fibers::Barrier> warps;
    fibers::Barrier all;
};
inline Block block;

inline Lane& now() {
    return block.lanes[thread_place.x];
}
inline void synchronise_warp() {
    fibers::synchronise(block.warps[thread_place.x / 32]);
}
inline void synchronise_block() {
    fibers::synchronise(block.all);
}
inline Lane& of_lane(unsigned lane) {
    return block.lanes[thread_place.x / 32 * 32 + lane % 32];
}
inline double shuffled(double value, unsigned lane) {
    now().shown = value;
    synchronise_warp();
    const double found = of_lane(lane).shown;
    synchronise_warp();
    return found;
}
/// sum += left right as precond/factors/mma.cuh defines it.
inline void multiply_add(double left, double right, double (&sum)[2]) {
    now().left = left, now().right = right;
    synchronise_warp();
    const unsigned lane = thread_place.x % 32;
    for (unsigned k = 0; k < 4; ++k)
        for (unsigned m = 0; m < 2; ++m)
            sum[m] += of_lane(lane / 4 * 4 + k).left * of_lane((2 * (lane % 4) + m) * 4 + k).right;
    synchronise_warp();
}

/// Runs body() on `threads` threads of each thread block, one thread block after the other. Returns false if all fibers
/// wait.
inline bool launch(unsigned blocks_x, unsigned blocks_y, unsigned threads, const std::function<void()>& body) {
    block_size.x = threads;
    for (unsigned number = 0; number < blocks_x * blocks_y; ++number) {
        block_place = {number % blocks_x, number / blocks_x};
        block.warps.assign(threads / 32, {32});
        block.all = {int(threads)};
        block.lanes.resize(threads);
        for (Lane& lane : block.lanes) lane.wait(0);
        if (!fibers::run(threads, body)) return false;
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
    emulated_warps::synchronise_warp();
}
inline void __syncthreads() {
    emulated_warps::synchronise_block();
}
inline unsigned __ballot_sync(unsigned /*mask*/, bool predicate) {
    emulated_warps::now().shown = predicate ? 1.0 : 0.0;
    emulated_warps::synchronise_warp();
    unsigned bits = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        if (emulated_warps::of_lane(lane).shown > 0.0) bits |= 1u << lane;
    emulated_warps::synchronise_warp();
    return bits;
}
inline void __threadfence_block() {}
inline void __nanosleep(unsigned /*ns*/) {
    fibers::give_way();
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
// NOLINTEND(clang-diagnostic-reserved-*)
