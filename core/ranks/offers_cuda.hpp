// SPDX-License-Identifier: BSD-3-Clause
// How ranks on GPUs exchange what is queued once: each copies what it needs out of another rank's memory.
//
//     one rank                               another rank
//     offers memory                          takes the offer: its stream waits until what the first one had queued
//                                            by then is done; queues copies from there
//     waits for the acknowledgement:         acknowledges
//     its stream waits for these copies
//
// Only streams wait for the work, with CUDA's events; the hosts exchange addresses. No stream waits for what is not
// queued yet, so whatever the host allocates or frees in between, and however many ranks share a GPU, all work ends.
#pragma once

#include <vector>

#include "core/device/context.hpp"
#include "core/ranks/slab_ends.hpp"

namespace hyperplane::cuda {

/// A rank offers addresses in its memory, and numbers that say more about them.
struct Offer {
    std::vector<const void*> addresses;  ///< taken: those by which the taking rank reaches them
    std::vector<double> numbers{};
};
void offer(const Context& context, int to, const Offer& offered);
/// An offer with so many addresses and numbers.
Offer take_offer(const Context& context, int from, std::size_t addresses, std::size_t numbers = 0);
/// Tells a rank that its offer has been read when what is queued now is done.
void acknowledge(const Context& context, int to);
/// Lets the stream wait, before whatever is queued from now on, until a rank has read this one's offer.
void await_acknowledgement(const Context& context, int from);

/// Exchanges arrays as hyperplane::exchange_arrays does, in the memory of the context's GPU. Between hosts it may be
/// recorded.
void exchange_arrays(const Context& context, const EndArrays& low, const EndArrays& high, OuterEnds outer);

}  // namespace hyperplane::cuda
