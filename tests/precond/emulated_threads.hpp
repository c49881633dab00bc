// SPDX-License-Identifier: BSD-3-Clause
// This header lets the text of a kernel be compiled for the host, so that a machine without a GPU checks kernels, too:
// each thread of a block is a fiber, which gives way at barriers and where it polls, and the lanes of a warp exchange
// values.
#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "precond/fibers.hpp"

namespace emulated {

using fibers::thread_place, fibers::Place;
inline Place block_place;
inline Place grid;  // thread blocks of a launch

/// Lanes of a warp that exchange values.
struct Lanes {
    explicit Lanes(unsigned mask) : barrier{std::popcount(mask)} {}
    fibers::Barrier barrier;
    long long values[32] = {};
};
class Warp {
public:
    Lanes& of(unsigned mask) { return lanes_.try_emplace(mask, mask).first->second; }

private:
    std::map<unsigned, Lanes> lanes_;
};
struct Block {
    explicit Block(int threads) : all{threads}, warps(std::size_t(threads / 32)) {}
    fibers::Barrier all;
    std::vector<Warp> warps;
};
inline Block* block = nullptr;

inline Lanes& lanes(unsigned mask) {
    return block->warps[thread_place.x / 32].of(mask);
}
inline void synchronise_lanes(unsigned mask = ~0U) {
    fibers::synchronise(lanes(mask).barrier);
}
/// The values of the lanes of a mask, by `look`.
template <class Look>
auto exchanged(long long own, const Look& look, unsigned mask = ~0U) {
    Lanes& mine = lanes(mask);
    mine.values[thread_place.x % 32] = own;
    fibers::synchronise(mine.barrier);
    const auto result = look(mine.values);
    fibers::synchronise(mine.barrier);
    return result;
}
inline unsigned ballot(bool own) {
    return exchanged(own, [](const long long* values) {
        unsigned bits = 0;
        for (int lane = 0; lane < 32; ++lane) bits |= unsigned(values[lane] != 0) << lane;
        return bits;
    });
}
template <class T>
T shuffled(unsigned mask, T own, int lane) {
    if constexpr (std::is_same_v<T, double>)
        return std::bit_cast<double>(shuffled(mask, std::bit_cast<long long>(own), lane));
    else
        return exchanged(
            own, [&](const long long* values) { return T(values[lane]); }, mask);
}
/// A lane of this thread's group of `width` lanes, as a lane of the warp.
inline int lane_of_group(int lane, int width = 32) {
    return int(thread_place.x % 32) / width * width + lane % width;
}
inline unsigned largest(unsigned own) {
    return exchanged(own, [](const long long* values) { return unsigned(*std::max_element(values, values + 32)); });
}
template <class T, class Choose>
T replaced(T& target, const Choose& choose) {
    const T before = target;
    target = choose(before);
    return before;
}

/// Runs body() on the threads of thread blocks with these numbers, one block after the other. Throws where all threads
/// of a block wait for each other.
template <class Body>
void launch(const std::vector<int>& blocks, int threads, const Body& body) {
    grid = {unsigned(blocks.size())};
    for (const int at : blocks) {
        Block now(threads);
        block = &now;
        block_place = {unsigned(at)};
        if (!fibers::run(unsigned(threads), body)) throw std::logic_error("all threads of a block wait");
    }
}

}  // namespace emulated

// NOLINTBEGIN(clang-diagnostic-reserved-*): names that CUDA gives to a kernel's text
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(threads)
#define threadIdx emulated::thread_place
#define blockIdx emulated::block_place
#define gridDim emulated::grid
#define __syncthreads() fibers::synchronise(emulated::block->all)
#define __syncwarp(...) emulated::synchronise_lanes(__VA_ARGS__)
#define __ballot_sync(mask, value) emulated::ballot(value)
#define __all_sync(mask, value) (emulated::ballot(value) == ~0u)
#define __any_sync(mask, value) (emulated::ballot(value) != 0)
#define __popc(bits) __builtin_popcount(bits)
#define __shfl_sync(mask, value, ...) emulated::shuffled(mask, value, emulated::lane_of_group(__VA_ARGS__))
#define __shfl_xor_sync(mask, value, distance, ...) emulated::shuffled(mask, value, int(threadIdx.x % 32) ^ (distance))
#define __reduce_max_sync(mask, value) emulated::largest(value)
#define __ffs(bits) __builtin_ffs(int(bits))
#define __ffsll(bits) __builtin_ffsll(bits)
#define __nanosleep(time) fibers::give_way()
#define __shfl_up_sync(mask, value, distance) \
    emulated::shuffled(mask, value, int(threadIdx.x % 32) - (int(threadIdx.x % 32) < (distance) ? 0 : (distance)))
#define __ldg(at) (*(at))
#define __ldcg(at) (*(at))
// NOLINTEND(clang-diagnostic-reserved-*)
